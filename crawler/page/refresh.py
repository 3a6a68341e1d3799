"""The `content` of `<meta http-equiv=refresh>`: HTML section 4.2.5.3, "shared declarative refresh steps".

Knows one string; knows nothing of trees, bases and URLs.
"""

import re

_SPACE = "\t\n\f\r "
_TIME = re.compile(r"[\t\n\f\r ]*([0-9]*)(\.?)[0-9.]*")
_SEPARATOR = re.compile(r"[\t\n\f\r ]*[;,]?[\t\n\f\r ]*")
_URL = re.compile(r"url[\t\n\f\r ]*=[\t\n\f\r ]*", re.IGNORECASE)


def parse_refresh(content: str) -> tuple[int, str | None] | None:
    """Whole seconds and the target as written (`None`: the page itself); `None` where a browser would not refresh."""
    time = _TIME.match(content)
    assert time is not None  # every part is optional
    if not time[1] and not time[2]:
        return None
    # Longer than 20 digits is as good as never, and Python refuses to convert thousands.
    seconds = int(time[1][:20] or 0)
    rest = content[time.end() :]
    if not rest:
        return seconds, None
    if rest[0] not in "\t\n\f\r ;,":
        return None
    separator = _SEPARATOR.match(rest)
    assert separator is not None
    rest = rest[separator.end() :]
    if not rest:
        return seconds, None
    return seconds, _target(rest)


def _target(rest: str) -> str:
    if prefix := _URL.match(rest):
        rest = rest[prefix.end() :]
    quote = rest[:1]
    if quote and quote in "\"'":
        rest = rest[1:].partition(quote)[0]
    # The URL parser strips these anyway; done here so that the target reads as what is fetched.
    return rest.strip(_SPACE).replace("\t", "").replace("\n", "").replace("\r", "")
