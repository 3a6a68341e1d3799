"""The wire URL: what is sent to the server. WHATWG parsing and serialising, without the fragment.

Nothing here judges a URL: whether it is wanted is `crawler.url.scope`, whether two are the same is
`crawler.url.normal`.

Credentials stay as WHATWG serialises them (`http://user:secret@host/`): without them it would be
another request, and so it is another URL, with another key.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from ada_url import join_url, normalize_url

_WEB = ("http://", "https://")

# Schemes that pages are full of and that never lead to a wire URL. Other schemes and other
# spellings get the same answer from the parser; these spare it (a `data:` link may be megabytes).
_ELSEWHERE = ("mailto:", "javascript:", "data:", "tel:", "sms:", "blob:", "about:", "whatsapp:")

# References that the parser would only append to their base: a path of characters that it leaves
# alone (no escape, so no hidden dot; no colon, so no scheme), a query likewise, any fragment. Two
# in three links of real pages are such, and this is a third of the parser's price.
_PLAIN = re.compile(
    r"((?:/(?!/)|[A-Za-z0-9_])[A-Za-z0-9_~!$&()*+,;=@./-]*"
    r"(?:\?[A-Za-z0-9_~!$&()*+,;=@.:/?%-]*)?)(?:#.*)?"
)

# A `<base>` may be as long as its page, and the starts of bases are remembered: memory is bounded.
_LONGEST_BASE = 4096

_SURROGATE = re.compile("[\ud800-\udfff]")
_NOT_IN_QUERY = re.compile(rb"[\x1b#\x80-\xff]")
_REFERENCE = re.compile(rb"&#([0-9]+);")


def wire(url: str) -> str | None:
    """The wire URL of an absolute URL; `None` unless it is http or https with a valid host.

    WHATWG URL standard §4.4 (parsing) and §4.5 (serialising, with *exclude fragment*).
    """
    try:
        return _web(normalize_url(url))
    except ValueError:
        scalar = _scalar(url)
        return wire(scalar) if scalar != url else None


def resolve(href: str, base: str, charset: str = "utf-8") -> str | None:
    """The wire URL of a link found where `base` is the base URL; `None` unless http or https.

    `href` is taken as it stands in the document: the parser itself strips blanks and removes tabs
    and newlines. `charset`: the Python codec of the document, which a query is written in (WHATWG
    URL §4.4, *query state*). Why there is no URL is told by `crawler.url.scope.unresolved`.
    """
    start = _start(base) if len(base) < _LONGEST_BASE else _NOWHERE
    rest = href[len(start.origin) :] if href.startswith(start.root) else href
    plain = _PLAIN.fullmatch(rest)
    if plain and start.origin and "/." not in rest:
        return (start.origin if rest[0] == "/" else start.directory) + plain[1]
    if href.startswith(_ELSEWHERE):
        return None
    if charset != "utf-8" and not href.isascii():
        href = _query_in(href, charset)
    return _parsed(href, base)


class _Start(NamedTuple):
    """Where the plain references of a base begin; an empty origin says that it is no web page."""

    origin: str
    root: str
    directory: str


_NOWHERE = _Start("", "/", "")


@lru_cache(maxsize=16)
def _start(base: str) -> _Start:
    url = wire(base)
    if url is None:
        return _NOWHERE
    path = url.index("/", url.index("://") + 3)
    return _Start(url[:path], url[: path + 1], url[: url.partition("?")[0].rindex("/") + 1])


def _parsed(href: str, base: str) -> str | None:
    try:
        return _web(join_url(base, href))
    except ValueError:
        scalar = _scalar(href), _scalar(base)
        return _parsed(*scalar) if scalar != (href, base) else None


def _web(url: str) -> str | None:
    if not url.startswith(_WEB):
        return None
    # In a serialised URL the first "#" can only begin the fragment: elsewhere it is written %23.
    return url[: url.index("#")] if "#" in url else url


def _scalar(text: str) -> str:
    """Lone surrogates become U+FFFD, as a DOM does before it parses (Web IDL, *USVString*)."""
    return _SURROGATE.sub("\ufffd", text)


def _query_in(href: str, charset: str) -> str:
    """The link with its query percent-encoded in a charset; what that lacks becomes `%26%23…%3B`.

    WHATWG URL §1.3, *percent-encode after encoding*. Only what the parser would take for UTF-8 is
    escaped here. UTF-16 pages have UTF-8 queries (Encoding §4.3, *get an output encoding*).
    """
    if charset.startswith("utf"):
        return href
    before, hash_, fragment = href.partition("#")
    path, mark, query = before.partition("?")
    octets = _REFERENCE.sub(rb"%26%23\1%3B", query.encode(charset, "xmlcharrefreplace"))
    escaped = _NOT_IN_QUERY.sub(lambda match: b"%%%02X" % match[0][0], octets)
    return f"{path}{mark}{escaped.decode('ascii')}{hash_}{fragment}"
