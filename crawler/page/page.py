"""From a body to the facts of a page: its type, its encoding, then the reader of that type.

Knows bytes and two headers; knows nothing of the network, of scope and of storage. A new type is one reader in
`READERS`.
"""

from collections.abc import Sequence

from crawler.page.charset import declared_charset, decode, sniff
from crawler.page.facts import NOTHING_MORE, Asked, Page, PageLinks, Reader, Source
from crawler.page.header import parse_links
from crawler.page.html import read_html, read_xhtml
from crawler.page.links import MAX_TEXT, Links
from crawler.page.media import media_type
from crawler.page.text import collapse, read_plain
from crawler.page.xml import read_xml
from crawler.url.wire import resolve

__all__ = ["READERS", "Page", "PageLinks", "read_page"]

READERS: dict[str, Reader] = {
    "text/html": read_html,
    "application/xhtml+xml": read_xhtml,
    "text/plain": read_plain,
    "application/xml": read_xml,
    "text/xml": read_xml,
    "application/rss+xml": read_xml,
    "application/atom+xml": read_xml,
    "application/rdf+xml": read_xml,
}


def read_page(
    body: bytes,
    content_type: str | None,
    url: str,
    max_links: int,
    link_headers: Sequence[str] = (),
    asked: Asked = NOTHING_MORE,
) -> Page:
    """The facts of a body that was served at `url` with this `Content-Type` and these `Link` headers.

    A type without a reader gives a page without text, whose links are those of the headers. Never raises, whatever
    the bytes are.
    """
    media = media_type(content_type, body)
    reader = READERS.get(media)
    if reader is None:
        page = Page(media, declared_charset(content_type), base=url)
    else:
        charset = sniff(body, content_type)
        page = reader(Source(decode(body, charset), media, charset, url, max_links, asked))
    if link_headers:
        _add_headers(page, link_headers, Source("", media, "utf-8", url, max_links, asked))
    return page


def _add_headers(page: Page, values: Sequence[str], source: Source) -> None:
    """Adds the links of `Link` headers, but for those that speak of another page (`anchor`, RFC 8288 section 3.2).

    References are relative to the page itself, whatever its `<base>`. What the page says of itself comes first.
    """
    links = Links(source.url, "utf-8", source.max_links, page)
    for href, rel, anchor, hreflang, media, title in parse_links(values):
        if anchor is None or resolve(anchor, source.url) == source.url:
            text = collapse(title)[:MAX_TEXT]
            canonical = links.relate(href, rel, media, text, hreflang, feeds=source.asked.feeds)
            page.canonical = page.canonical or canonical
