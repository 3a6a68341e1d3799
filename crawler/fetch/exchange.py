"""One exchange as decisions: what the head of an answer means, and what is kept of it.

Pure: no socket, no clock. It must not know aiohttp, hosts or politeness.
"""

import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from crawler.config import Config
from crawler.fetch.inflight import Share
from crawler.outcomes import Kind
from crawler.url import wire

REDIRECTS = frozenset({301, 302, 303, 307, 308})

# An answer may be slow at first (a server that thinks, a congested path); its rate is judged after so
# many seconds.
SPEED_GRACE = 5.0

# The rest of an answer whose body is not wanted is read up to this size, so that its connection can
# be used again: cheaper for both sides than a new handshake.
DRAIN = 64 * 1024

# As far as it goes: "text/html charset=utf-8" and "text/html, text/html" are written too. What names
# no type is read, and judged by its bytes.
_MEDIA_TYPE = re.compile(r"\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+)")

_NOT_ASCII = {code: f"%{code:02X}" for code in range(0x80, 0x100)}


class Limits(NamedTuple):
    """What one exchange may take: seconds in all, decoded bytes, media types (`None`: any)."""

    total: float
    max_body: int
    types: frozenset[str] | None


class Answer(NamedTuple):
    """What came back for one request, or why nothing did.

    `fetched_at`, `ended_at`: wall-clock seconds at the start of the request and at the end of the
    response; `elapsed`: seconds between. `wire_bytes`: bytes of body as they came, before decoding.
    `ip`: the address connected to, which with a proxy is the proxy's. `tls_verified`: whether the
    certificate was; `None` without TLS. `truncated`: the body was cut at the limit, or broke off
    (then `error` says why). `retry_after`: seconds the server asked for, not capped. `stale`: a
    connection kept from an earlier exchange had died; it says nothing about the URL or the host.
    `nameless`: the host has no name or no address, whatever URL of it is asked for. `ours`: nobody
    could be asked, through no fault of the host. `share`: of the bytes in flight, held as long as the answer is.
    """

    kind: Kind
    fetched_at: float
    ended_at: float
    elapsed: float = 0.0
    status: int | None = None
    redirect_to: str | None = None
    ip: str | None = None
    tls_verified: bool | None = None
    content_type: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    wire_bytes: int = 0
    truncated: bool = False
    headers: list[tuple[str, str]] | None = None
    body: bytes | None = None
    error: str | None = None
    retry_after: float | None = None
    stale: bool = False
    nameless: bool = False
    ours: bool = False
    share: Share | None = None


class Head(NamedTuple):
    """The verdict on the head of an answer: its kind, and whether its body is wanted."""

    kind: Kind
    read: bool = False
    redirect_to: str | None = None
    error: str | None = None


def page_limits(config: Config) -> Limits:
    """The limits of a page."""
    fetch = config.fetch
    types = frozenset(name.lower() for name in fetch.types)
    return Limits(fetch.total_timeout, fetch.max_body, types)


def sitemap_limits(config: Config) -> Limits:
    """The limits of a sitemap: its own size, whatever type it is sent as."""
    return Limits(config.fetch.total_timeout, config.sitemaps.max_bytes, None)


def robots_limits(config: Config) -> Limits:
    """The limits of a robots.txt: its own time and size, whatever type it is sent as."""
    return Limits(config.robots.timeout, config.robots.max_bytes, None)


def head_verdict(
    url: str,
    status: int,
    headers: Mapping[str, str],
    limits: Limits,
    *,
    conditional: bool = False,
) -> Head:
    """What a status and its headers mean (RFC 9110 §15).

    `headers` finds names in any case; octets that are not UTF-8 stand in it as surrogates. An
    excluded media type is told before any body is read; an answer that names none is read.
    `conditional`: the request named a version that we have; without one a 304 is nonsense.
    """
    if 200 <= status < 300:
        if limits.types is not None and not _wanted(headers.get("Content-Type"), limits.types):
            return Head(Kind.EXCLUDED_TYPE)
        return Head(Kind.FETCHED, read=True)
    if status == 304 and conditional:
        return Head(Kind.NOT_MODIFIED)
    if status in REDIRECTS:
        return _redirect(url, headers.get("Location"))
    return Head(Kind.HTTP_ERROR)


def _wanted(content_type: str | None, types: frozenset[str]) -> bool:
    if not content_type:
        return True
    named = _MEDIA_TYPE.match(content_type)
    return named is None or named[1].lower() in types


def _redirect(url: str, location: str | None) -> Head:
    if location is None:
        return Head(Kind.HTTP_ERROR, error="redirect without a Location")
    target = wire.resolve(_ascii(location), url)
    if target is None:
        return Head(
            Kind.HTTP_ERROR,
            error=f"redirect to something else than a web page: {_ascii(location)[:200]}",
        )
    return Head(Kind.REDIRECT, redirect_to=target)


def _ascii(value: str) -> str:
    """A header's octets as a browser reads a Location: those beyond ASCII percent-encoded."""
    if value.isascii():
        return value
    return value.encode("utf-8", "surrogateescape").decode("latin-1").translate(_NOT_ASCII)


def drains(kind: Kind, value: str | None) -> bool:
    """Whether an unwanted body, of such a Content-Length, is worth reading for the connection's sake."""
    length = content_length(value)
    if length is not None:
        return length <= DRAIN
    return kind is not Kind.EXCLUDED_TYPE


def content_length(value: str | None) -> int | None:
    """The value of a Content-Length, if it is one."""
    return int(value) if value is not None and value.isascii() and value.isdecimal() else None


def too_slow(received: int, seconds: float, min_bytes_per_second: int) -> bool:
    """Whether an answer that has brought `received` bytes in `seconds` is slower than it may be."""
    return seconds > SPEED_GRACE and received < min_bytes_per_second * seconds


def retry_after(value: str | None, now: float) -> float | None:
    """Seconds to wait by a Retry-After header (RFC 9110 §10.2.3: seconds or a date).

    Never negative, not capped; `None` if there is none or it cannot be read.
    """
    if value is None:
        return None
    value = value.strip()
    if value.isascii() and value.isdecimal():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, moment.timestamp() - now)
