"""From a body to the facts of a page: its type, then the reader of that type; of text, its encoding in between.

Knows bytes and one header; knows nothing of the network, of scope and of storage. A new type is one file with a reader,
and its line in `READERS`.
"""

from collections.abc import Callable
from importlib import import_module

from crawler.page.charset import declared_charset, decode, sniff
from crawler.page.facts import Body, Page, PageLinks, Reader, Source
from crawler.page.html import read_html, read_xhtml
from crawler.page.media import media_type
from crawler.page.text import read_plain

__all__ = ["READERS", "Page", "PageLinks", "read_page", "reads_apart"]


def decoded(read_text: Callable[[Source], Page]) -> Callable[[Body], Page]:
    """A reader of bodies, of one that wants their text."""

    def read(body: Body) -> Page:
        charset = sniff(body.data, body.content_type)
        text = decode(body.data, charset)
        return read_text(Source(text, body.media, charset, body.url, body.max_links))

    return read


def loaded(module: str) -> Callable[[Body], Page]:
    """The function `read` of a module that is loaded with the first body: for libraries that few crawls need."""

    def read(body: Body) -> Page:
        page: Page = import_module(module).read(body)
        return page

    return read


READERS: dict[str, Reader] = {
    "text/html": Reader(decoded(read_html)),
    "application/xhtml+xml": Reader(decoded(read_xhtml)),
    "text/plain": Reader(decoded(read_plain)),
    "application/pdf": Reader(loaded("crawler.page.pdf"), apart=True),
}

_XML = frozenset({"application/xml", "text/xml"})
_APART = frozenset(media for media, reader in READERS.items() if reader.apart)


def read_page(body: bytes, content_type: str | None, url: str, max_links: int) -> Page:
    """The facts of a body that was served at `url` with this `Content-Type`, read in this process.

    A type without a reader gives a page without text and links. Readers of text never raise, whatever the bytes are.
    """
    media = media_type(content_type, body)
    if media in _XML and b"<html" in body[:1024]:
        reader = READERS["application/xhtml+xml"]
    elif media in READERS:
        reader = READERS[media]
    else:
        return Page(media, declared_charset(content_type), base=url)
    return reader.read(Body(body, content_type, media, url, max_links))


def reads_apart(body: bytes, content_type: str | None) -> bool:
    """Whether a body is of a type that must be read in a process of its own."""
    return media_type(content_type, body) in _APART
