"""From a body to the facts of a page: its type, then the reader of that type; of text, its encoding in between.

Knows bytes and three headers; knows nothing of the network, of scope and of storage. A new type is one file with a
reader, and its line in `READERS`.
"""

from collections.abc import Callable
from importlib import import_module

from crawler.page.charset import declared_charset, decode, sniff
from crawler.page.facts import NOTHING_MORE, Asked, Body, Page, PageLinks, Reader, Source
from crawler.page.header import NO_HEADERS, LinkHeaders, parse_links
from crawler.page.html import read_html, read_xhtml
from crawler.page.links import MAX_TEXT, Links
from crawler.page.media import media_type
from crawler.page.refresh import parse_refresh
from crawler.page.text import collapse, read_plain
from crawler.page.xml import read_xml
from crawler.url.wire import resolve

__all__ = ["READERS", "Page", "PageLinks", "read_page", "reads_apart"]


def decoded(read_text: Callable[[Source], Page]) -> Callable[[Body], Page]:
    """A reader of bodies, of one that wants their text."""

    def read(body: Body) -> Page:
        charset = sniff(body.data, body.content_type)
        text = decode(body.data, charset)
        return read_text(Source(text, body.media, charset, body.url, body.max_links, body.asked))

    return read


def loaded(module: str) -> Callable[[Body], Page]:
    """The function `read` of a module that is loaded with the first body: for libraries that few crawls need."""

    def read(body: Body) -> Page:
        page: Page = import_module(module).read(body)
        return page

    return read


_XML = Reader(decoded(read_xml))

READERS: dict[str, Reader] = {
    "text/html": Reader(decoded(read_html)),
    "application/xhtml+xml": Reader(decoded(read_xhtml)),
    "text/plain": Reader(decoded(read_plain)),
    "application/xml": _XML,
    "text/xml": _XML,
    "application/rss+xml": _XML,
    "application/atom+xml": _XML,
    "application/rdf+xml": _XML,
    "application/pdf": Reader(loaded("crawler.page.pdf"), apart=True),
}

_APART = frozenset(media for media, reader in READERS.items() if reader.apart)


def read_page(
    body: bytes,
    content_type: str | None,
    url: str,
    max_links: int,
    headers: LinkHeaders = NO_HEADERS,
    asked: Asked = NOTHING_MORE,
) -> Page:
    """The facts of a body that was served at `url` with this `Content-Type` and these headers, read here.

    A type without a reader gives a page without text, whose links are those of the headers. Readers of text never
    raise, whatever the bytes are.
    """
    media = media_type(content_type, body)
    reader = READERS.get(media)
    if reader is None:
        page = Page(media, declared_charset(content_type), base=url)
    else:
        page = reader.read(Body(body, content_type, media, url, max_links, asked))
    if headers != NO_HEADERS:
        _add_headers(page, headers, Source("", media, "utf-8", url, max_links, asked))
    return page


def reads_apart(body: bytes, content_type: str | None) -> bool:
    """Whether a body is of a type that must be read in a process of its own."""
    return media_type(content_type, body) in _APART


def _add_headers(page: Page, headers: LinkHeaders, source: Source) -> None:
    """Adds the links of headers, but for those that speak of another page (`anchor`, RFC 8288 section 3.2).

    References are relative to the page itself, whatever its `<base>`. What the page says of itself comes first.
    """
    links = Links(source.url, "utf-8", source.max_links, page)
    for href, rel, anchor, hreflang, media, title in parse_links(headers.links):
        if anchor is None or resolve(anchor, source.url) == source.url:
            text = collapse(title)[:MAX_TEXT]
            canonical = links.relate(href, rel, media, text, hreflang, feeds=source.asked.feeds)
            page.canonical = page.canonical or canonical
    for refresh in filter(None, map(parse_refresh, headers.refreshes)):
        if refresh[1]:
            links.add(refresh[1], "", "", "refresh")
