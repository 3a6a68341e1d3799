"""The readers of XML: feeds, sitemaps met as pages, XHTML, and the text of everything else.

No declaration of a document type reaches a parser, so nothing is expanded and nothing is loaded. Knows text; knows
nothing of bytes and the network.
"""

import re
from collections.abc import Callable
from html import unescape

from crawler.page import feed
from crawler.page.facts import Extra, Page, Source
from crawler.page.html import read_xhtml, text_of
from crawler.page.links import MAX_TEXT, Links
from crawler.page.listing import ENTRIES, Entry, Listing, root_of
from crawler.page.sitemap import SitemapKind, SitemapLimits, read_sitemap
from crawler.page.text import collapse
from crawler.url.wire import resolve

# How much of a document may stand before its root.
_PROLOG = 64 * 1024
_FIRST = re.compile(
    r"(?>[^<]+|<\?.*?\?>|<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<![^\[>]*+(?:\[.*?\]\s*)?>)*+<([A-Za-z_][\w.:-]*)",
    re.DOTALL,
)
_MARKUP = re.compile(
    r"<!\[CDATA\[(.*?)(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|<[^>]*>?", re.DOTALL
)
_LANGUAGE = re.compile(r"[^>]*?\sxml:lang\s*=\s*[\"']([^\"'<>]*)")
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"

_FEEDS = frozenset({"rss", "rdf", "feed"})
# A feed's own title and link are in these, before its entries.
_HEADS = frozenset({"channel", "feed"})
_TEXTS = ("title", "description", "subtitle", "tagline", "summary")
_FIELDS = feed.FIELDS | {*_TEXTS, "language"}
_FOREIGN = feed.FOREIGN | {"language"}


def read_xml(source: Source) -> Page:
    """The facts of a document of XML; what it is shows at its root."""
    text = source.text
    first = _FIRST.match(text, 0, _PROLOG)
    name = first[1].lower().rpartition(":")[2] if first else ""
    if name == "html":
        return read_xhtml(source)
    root = root_of(text[:_PROLOG])
    if root and name in ENTRIES:
        return (_read_feed if name in _FEEDS else _read_sitemap)(source, root)
    start = first.start(1) - 1 if first else 0
    language = _LANGUAGE.match(text, start) if first else None
    return Page(
        source.content_type,
        source.charset,
        source.url,
        language=(language[1].strip() or None) if language else None,
        text=_text(text, start),
    )


def _text(xml: str, at: int) -> str:
    """All text between tags, from here on."""
    parts: list[str] = []
    for markup in _MARKUP.finditer(xml, at):
        parts += (unescape(xml[at : markup.start()]), markup[1] or "")
        at = markup.end()
    parts.append(unescape(xml[at:]))
    return collapse(" ".join(parts))


def _read_feed(source: Source, root: re.Match[str]) -> Page:
    page = Page(source.content_type, source.charset, source.url)
    links = Links(source.url, "utf-8", source.max_links)
    texts: list[str] = []
    name = root[1].lower()
    listing = Listing(name, _FIELDS, _FOREIGN, _taker(page, links, texts), _HEADS)
    listing.feed(source.text[root.start() :])
    listing.close()
    page.links, page.unresolved = links.links, links.unresolved
    page.text = collapse(" ".join(texts))
    return page


def _taker(page: Page, links: Links, texts: list[str]) -> Callable[[Entry], None]:
    def take(entry: Entry) -> None:
        said = {field.name: field.text for field in reversed(entry.fields)}
        words = [text_of(said[name]) for name in _TEXTS if name in said]
        title = text_of(said.get("title", "")) or None
        texts.extend(words)
        if entry.name in _HEADS:
            page.title = page.title or title
            language = said.get("language") or entry.attributes.get(_XML_LANG) or ""
            page.language = page.language or collapse(language) or None
        _add_entry(links, entry, title or "")

    return take


def _add_entry(links: Links, entry: Entry, title: str) -> None:
    href, lastmod, alternates = feed.read_entry(entry)
    base = links.base
    for reference in entry.bases:
        base = resolve(reference, base) or base
    references = [(language, other) for language, other in alternates if other != href]
    for language, reference in [(None, href), *references] if href is not None else references:
        extra = Extra(language, lastmod if language is None else None)
        links.add(
            resolve(reference or "", base) or reference or "", "", title[:MAX_TEXT], "feed", extra
        )


def _read_sitemap(source: Source, root: re.Match[str]) -> Page:
    """The entries of a sitemap as links. Those of an index are not pages."""
    body = source.text[root.start() :].encode("utf-8", "replace")
    limits = SitemapLimits(max_urls=len(body))  # the limit that counts is that of links
    sitemap = read_sitemap(body, "text/xml; charset=utf-8", source.url, limits)
    links = Links(source.url, "utf-8", source.max_links)
    if sitemap.kind is SitemapKind.URLSET:
        for url, lastmod, changefreq, priority, alternates in sitemap.entries:
            links.add(url, "", "", "sitemap", Extra(None, lastmod, changefreq, priority))
            for language, other in alternates:
                links.add(other, "", "", "sitemap", Extra(language))
        for reason, count in sitemap.dropped.items():
            if reason != "no_location":
                links.unresolved[reason] = links.unresolved.get(reason, 0) + count
    return Page(
        source.content_type,
        source.charset,
        source.url,
        links=links.links,
        unresolved=links.unresolved,
    )
