"""Which spellings are one URL: the judge's own rules, written without sight of the crawler's.

They cover what worlds contain: case of scheme and host, fragment, dot segments, escapes of unreserved characters and
the case of the rest, tracking parameters, session ids that bear a known name, order of the query.
"""

import re
from string import ascii_letters, digits
from urllib.parse import urlsplit

_UNRESERVED = frozenset(ascii_letters + digits + "-._~")
_ESCAPE = re.compile(r"%([0-9a-fA-F]{2})")
_TRACKING = re.compile(r"(utm_.*|gclid|fbclid|phpsessid|jsessionid)", re.IGNORECASE)


def normal_target(target: str) -> str:
    """Path and query (`/a/../p?b=1&a=2`) as every spelling of them is compared: `/p?a=2&b=1`."""
    path, _, query = target.partition("#")[0].partition("?")
    path = _ESCAPE.sub(_escape, _without_dots(path))
    path = "/".join(_without_session(segment) for segment in path.split("/"))
    fields = [field for field in _ESCAPE.sub(_escape, query).split("&") if field]
    kept = sorted(
        (field for field in fields if not _TRACKING.fullmatch(field.partition("=")[0])), key=_name
    )
    return f"{path or '/'}?{'&'.join(kept)}" if kept else path or "/"


def identity(url: str) -> str:
    """The spelling under which a URL of any row or log is compared."""
    parts = urlsplit(url)
    netloc = parts.netloc.rpartition("@")[2].lower().removesuffix(":80")
    return f"http://{netloc}{normal_target(url.partition('//')[2][len(parts.netloc) :])}"


def _escape(found: re.Match[str]) -> str:
    character = chr(int(found[1], 16))
    return character if character in _UNRESERVED else found[0].upper()


def _without_dots(path: str) -> str:
    if "." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == "..":
            del kept[max(1, len(kept) - 1) :]
        elif segment != ".":
            kept.append(segment)
    return "/".join(kept) + ("/" if segments[-1] in (".", "..") else "")


def _without_session(segment: str) -> str:
    head, _, parameter = segment.partition(";")
    return head if _TRACKING.fullmatch(parameter.partition("=")[0]) else segment


def _name(field: str) -> str:
    return field.partition("=")[0]
