"""From a body to the facts of a page: its type, its encoding, then the reader of that type.

Knows bytes and one header; knows nothing of the network, of scope and of storage. A new type is one reader in
`READERS`.
"""

from crawler.page.charset import declared_charset, decode, sniff
from crawler.page.facts import Page, PageLinks, Reader, Source
from crawler.page.html import read_html, read_xhtml
from crawler.page.media import media_type
from crawler.page.text import read_plain

__all__ = ["READERS", "Page", "PageLinks", "read_page"]

READERS: dict[str, Reader] = {
    "text/html": read_html,
    "application/xhtml+xml": read_xhtml,
    "text/plain": read_plain,
}

_XML = frozenset({"application/xml", "text/xml"})


def read_page(body: bytes, content_type: str | None, url: str, max_links: int) -> Page:
    """The facts of a body that was served at `url` with this `Content-Type`.

    A type without a reader gives a page without text and links. Never raises, whatever the bytes are.
    """
    media = media_type(content_type, body)
    reader = READERS.get(media)
    if media in _XML and b"<html" in body[:1024]:
        reader = read_xhtml
    if reader is None:
        return Page(media, declared_charset(content_type), base=url)
    charset = sniff(body, content_type)
    return reader(Source(decode(body, charset), media, charset, url, max_links))
