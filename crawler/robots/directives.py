"""What a page says about itself to robots: `<meta name=robots>` and `X-Robots-Tag`, read together.

It is given names, contents and header values as text; it knows nothing of HTML, HTTP or rows.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

# Directives without a value. Only these are looked for where words stand side by side, no comma
# between them.
_FLAGS = frozenset(
    {
        "all", "index", "follow", "archive", "none", "noindex", "nofollow", "noarchive", "nocache",
        "nosnippet", "noimageindex", "notranslate", "noodp", "noydir", "indexifembedded",
        "nositelinkssearchbox", "noai", "noimageai",
    }
)  # fmt: skip
# Directives with a value after a colon: in a header, any other name before a colon is an agent's.
_VALUED = frozenset({"max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"})
_EVERYONE = frozenset({"robots", "*"})
_EXPIRY = "unavailable_after"

_SEPARATOR = re.compile("[,;]")

# Characters of one tag or header that are read: every directive there is, many times over.
_MAX_VALUE = 8192


class Directives(NamedTuple):
    """`names`: everything that was said to us, sorted, once each; values as written.

    `noindex`, `nofollow`: what it amounts to. Whoever forbids wins, whatever else was allowed.
    """

    names: tuple[str, ...]
    noindex: bool
    nofollow: bool


NOTHING_SAID = Directives((), noindex=False, nofollow=False)


def read_directives(
    meta: Iterable[tuple[str, str]], headers: Iterable[str], token: str, now: float
) -> Directives:
    """Join what `meta` tags (name, content) and `X-Robots-Tag` values say to all and to `token`.

    `now`: seconds since the epoch; an `unavailable_after` date at or before it means noindex. A
    date that cannot be read is recorded and means nothing.
    """
    audience = _EVERYONE | {token.lower()} if token else _EVERYONE
    said: set[str] = set()
    for name, content in meta:
        if name.strip().lower() in audience:
            said.update(_spell(part) for part in _parts(content))
    for value in headers:
        said.update(_said_in_header(value, audience))
    if not said:
        return NOTHING_SAID
    none = "none" in said
    expired = any(_has_passed(name, now) for name in said)
    return Directives(
        tuple(sorted(said)), none or expired or "noindex" in said, none or "nofollow" in said
    )


def _said_in_header(value: str, audience: frozenset[str]) -> Iterator[str]:
    """`agent: a, b` speaks to that agent up to the next `agent:`, for proxies join headers."""
    to_us = True
    for part in _parts(value):
        name, colon, rest = part.partition(":")
        scoped = bool(colon) and name.strip().lower() not in _VALUED
        if scoped:
            to_us = name.strip().lower() in audience
        said = rest.strip() if scoped else part
        if to_us and said:
            yield from map(_spell, _words(said))


def _parts(content: str) -> Iterator[str]:
    """The directives in one value. A date may hold a comma of its own."""
    pieces = [piece.strip() for piece in _SEPARATOR.split(content[:_MAX_VALUE])]
    pieces.reverse()
    while pieces:
        part = pieces.pop()
        if pieces and _is_half_date(part, pieces[-1]):
            yield f"{part}, {pieces.pop()}"
        elif part:
            yield from _words(part)


def _words(part: str) -> list[str]:
    words = part.lower().split()
    return words if len(words) > 1 and _FLAGS.issuperset(words) else [part]


def _is_half_date(part: str, following: str) -> bool:
    _, found, start = part.lower().partition(_EXPIRY)
    return bool(found) and _moment(start) is None and _moment(f"{start}, {following}") is not None


def _spell(part: str) -> str:
    name, colon, value = part.partition(":")
    name = " ".join(name.lower().split())
    return f"{name}:{value.strip()}" if colon else name


def _has_passed(name: str, now: float) -> bool:
    directive, _, value = name.partition(":")
    if directive != _EXPIRY:
        return False
    moment = _moment(value)
    return moment is not None and moment <= now


def _moment(text: str) -> float | None:
    """Seconds since the epoch of an ISO 8601, RFC 822 or RFC 850 date; without a zone it is UTC."""
    text = text.strip(" \t:")
    for read in (datetime.fromisoformat, parsedate_to_datetime, _parse_day):
        try:
            moment = read(text)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            continue
    return None


def _parse_day(text: str) -> datetime:
    return parsedate_to_datetime(text + " 00:00:00")
