"""The reader of PDF: its text, the links that its annotations hold, its title and language.

It is for the process that reads apart: PDFium is large, written in C++ and the aim of attacks.
"""

import ctypes

import pypdfium2 as pdfium
from pypdfium2 import raw

from crawler.page.facts import Body, Page
from crawler.page.links import Links
from crawler.page.text import collapse

# What is read of a longer document; its text ends there. PDFium does 500 pages, or a million characters, a second: a
# tenth of the time that a page has by default.
MOST_PAGES = 1000
MOST_TEXT = 2 * 1024 * 1024

# PDFium's mark where a word was divided at the end of a line.
_DIVIDED = "\ufffe"
# Bytes; what is longer is no URL, and a document can say it a thousand times.
_MOST_URI = 64 * 1024


def read(body: Body) -> Page:
    """The facts of a PDF; what is damaged is read as far as PDFium repairs it.

    Raises `PdfiumError` for what is encrypted or no PDF at all.
    """
    with pdfium.PdfDocument(body.data) as document:
        page = Page(body.media, None, base=body.url, language=_language(document))
        page.title = collapse(document.get_metadata_value("Title")) or None
        links = Links(body.url, "utf-8", body.max_links)
        page.text = _read_pages(document, links)
        page.links, page.unresolved = links.links, links.unresolved
    return page


def _read_pages(document: pdfium.PdfDocument, links: Links) -> str:
    """The text of all pages; their links go to `links`. A page that is too damaged has neither."""
    texts, left = [], MOST_TEXT
    for number in range(min(len(document), MOST_PAGES)):
        try:
            page = document[number]
            text = page.get_textpage()
        except pdfium.PdfiumError:
            continue
        texts.append(text.get_text_bounded()[:left])
        for uri in _uris(document, page):
            links.add(uri, "", "", "link")
        text.close()
        page.close()
        left -= len(texts[-1])
        if left <= 0:
            break
    return collapse(" ".join(texts).replace(_DIVIDED, ""))


def _uris(document: pdfium.PdfDocument, page: pdfium.PdfPage) -> list[str]:
    """The targets of a page's annotations that lead out of the document, in their order (ISO 32000, 12.6.4.8)."""
    uris = []
    position, link = ctypes.c_int(0), raw.FPDF_LINK()
    while raw.FPDFLink_Enumerate(page, position, link):
        action = raw.FPDFLink_GetAction(link)
        if action and raw.FPDFAction_GetType(action) == raw.PDFACTION_URI:
            size = raw.FPDFAction_GetURIPath(document, action, None, 0)
            uri = ctypes.create_string_buffer(size)
            raw.FPDFAction_GetURIPath(document, action, uri, size)
            uris.append(uri.value[:_MOST_URI].decode("utf-8", "replace"))
    return uris


def _language(document: pdfium.PdfDocument) -> str | None:
    """The catalogue's `Lang` (ISO 32000, 14.9.2)."""
    size = raw.FPDFCatalog_GetLanguage(document, None, 0)
    text = ctypes.create_string_buffer(size)
    raw.FPDFCatalog_GetLanguage(document, ctypes.cast(text, ctypes.POINTER(raw.FPDF_WCHAR)), size)
    return text.raw.decode("utf-16-le", "replace").rstrip("\0").strip() or None
