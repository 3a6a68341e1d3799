"""The reader of HTML: one parse, one walk over the elements, all facts.

Knows markup; knows nothing of bytes, encodings and the network.
"""

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode, create_tag

from crawler.page.facts import Asked, Page, Source
from crawler.page.links import MAX_TEXT, Links, in_language
from crawler.page.nesting import bounded
from crawler.page.refresh import parse_refresh
from crawler.page.srcset import parse_srcset
from crawler.page.text import BREAKS, INNER_BREAKS, UNSEEN, UNSEEN_SOURCE, collapse
from crawler.url.wire import resolve

Attributes = dict[str, str | None]

# How often a page's text may be looked at for the words of its links. Once is enough, unless links are inside of links:
# 17,000 of them (`<a><svg><a><svg>`, 280 kB) took a minute.
_TEXTS = 4

_LINKS = ("a", "area", "frame", "iframe", "link", "meta")

# Lexbor numbers the elements it knows; comparing numbers spares making a string for each node.
_BREAK_IDS = frozenset(create_tag(tag).tag_id for tag in BREAKS)
_INNER_IDS = frozenset(create_tag(tag).tag_id for tag in INNER_BREAKS)
_LINK_IDS = frozenset(create_tag(tag).tag_id for tag in _LINKS)
_SRCSET_IDS = frozenset(create_tag(tag).tag_id for tag in ("img", "source"))
_NOTED_IDS = {create_tag(tag).tag_id: tag for tag in [*UNSEEN, "base"]}
_WALKED_IDS = _BREAK_IDS | _LINK_IDS | _NOTED_IDS.keys()

# Directives of robots metas (Google's and Bing's lists, and the opt-outs for training), to tell them from other metas.
_DIRECTIVES = frozenset({"all", "follow", "index", "indexifembedded", "max-image-preview", "max-snippet",
                         "max-video-preview", "noai", "noarchive", "nocache", "nofollow", "noimageai",
                         "noimageindex", "noindex", "none", "noodp", "nopagereadaloud", "nositelinkssearchbox",
                         "nosnippet", "notranslate", "noydir", "unavailable_after"})  # fmt: skip

# In XML an empty-element tag closes itself; read as HTML, `<script/>` would swallow the page.
# A tag that does not is matched as well: looked into again from each `<` inside its values, 140 kB took forty seconds.
_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<([A-Za-z][\w.-]*)((?:\s++(?:[^\s<>=/]|/(?!>))++(?:\s*+=\s*+(?:\"[^\"]*\"|'[^']*'))?)*+)\s*+(/>)?",
    re.DOTALL,
)
_VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param",
                   "source", "track", "wbr"})  # fmt: skip


def read_html(source: Source) -> Page:
    """The facts of a page of HTML. Broken markup is read as a browser reads it."""
    parser = LexborHTMLParser(bounded(source.text, BREAKS))
    parser.strip_tags(UNSEEN_SOURCE, recursive=True)
    asked = source.asked
    nodes, noted = _walk(parser, _LINK_IDS | _SRCSET_IDS if asked.srcset else _LINK_IDS)
    base = _base(parser, source.url) if "base" in noted else source.url
    page = Page(source.content_type, source.charset, base, _language(parser), _title(parser))
    links = Links(base, source.charset, source.max_links)
    robots: list[tuple[str, str]] = []
    # A refresh for visitors without scripts says "switch scripts on"; links inside noscript are as good as others.
    unscripted = {node.mem_id for node in parser.css("noscript > meta")} if noted else ()
    room = _TEXTS * len(source.text)
    for node in nodes:
        tag = node.tag
        if tag == "a":
            room -= _add_anchor(links, node, room)
        elif tag == "meta":
            _add_meta(None if node.mem_id in unscripted else links, robots, node.attributes)
        elif tag == "link":
            _add_relation(links, page, node.attributes, asked)
        else:
            _add_embedded(links, tag or "", node.attributes)
    page.links, page.unresolved = links.links, links.unresolved
    page.meta_robots = tuple(robots)
    if unseen := [tag for tag in UNSEEN if tag in noted]:
        parser.strip_tags(unseen, recursive=True)
    page.text = collapse(parser.body.text()) if parser.body else ""  # a frameset has no body
    return page


def read_xhtml(source: Source) -> Page:
    """The facts of a page of XHTML, with HTML's forgiveness: an XML parser would refuse what servers send."""
    return read_html(source._replace(text=_TAG.sub(_closed, source.text)))


def _closed(tag: re.Match[str]) -> str:
    name, attributes, closes = tag.groups()
    return f"<{name}{attributes}></{name}>" if closes and name.lower() not in _VOID else tag[0]


def _base(parser: LexborHTMLParser, url: str) -> str:
    """The document base URL (HTML section 2.4.3): the first `<base href>`, if it resolves."""
    node = parser.css_first("base[href]")
    return (node and resolve(node.attributes["href"] or "", url)) or url


def _language(parser: LexborHTMLParser) -> str | None:
    root = parser.root
    attributes = root.attributes if root else {}
    return (attributes.get("lang") or attributes.get("xml:lang") or "").strip() or None


def _title(parser: LexborHTMLParser) -> str | None:
    node = parser.css_first("head > title") or parser.css_first(":not(svg) > title")
    return (collapse(node.text()) or None) if node else None


def text_of(markup: str) -> str:
    """The words in a piece of HTML, such as feeds quote."""
    if "<" not in markup and "&" not in markup:
        return collapse(markup)
    return read_html(Source(markup, "text/html", "utf-8", "", 0)).text


def _walk(parser: LexborHTMLParser, link_ids: frozenset[int]) -> tuple[list[LexborNode], set[str]]:
    """The elements that may hold links or directives, in document order, and which of `_NOTED_IDS` there are.

    On the way, spaces are put around the elements that separate words: then the text of any element is its words.
    """
    wanted: list[LexborNode] = []
    breaks: list[LexborNode] = []
    noted: set[str] = set()
    root = parser.root
    walked = _WALKED_IDS | link_ids
    for node in root.traverse() if root else ():
        tag = node.tag_id
        if tag not in walked:
            continue
        if tag in _BREAK_IDS:
            breaks.append(node)
        if tag in link_ids:
            wanted.append(node)
        if tag in _NOTED_IDS:
            noted.add(_NOTED_IDS[tag])
    for node in breaks:
        node.insert_before(" ")
        if node.tag_id not in _INNER_IDS:
            node.insert_after(" ")
    return wanted, noted


def _words(attribute: str | None) -> str:
    return collapse(attribute.lower()) if attribute else ""


def _cut(text: str | None) -> str:
    return collapse(text)[:MAX_TEXT] if text else ""


def _add_anchor(links: Links, node: LexborNode, room: int) -> int:
    """Takes a link, with its words if there is `room`; how many characters were looked at for them."""
    # Hundreds a page, so `_words` and `_cut` are written out.
    attributes = node.attributes
    if "xlink:href" in attributes:  # how SVG before version 2 writes it
        attributes.setdefault("href", attributes["xlink:href"])
    if "href" in attributes:
        rel = attributes.get("rel")
        inside = node.text() if room > 0 else ""
        text = " ".join(inside.split())[:MAX_TEXT]
        extra = in_language(attributes["hreflang"]) if "hreflang" in attributes else None
        links.add(
            attributes["href"] or "", collapse(rel.lower()) if rel else "", text, "link", extra
        )
        return len(inside)
    return 0


def _add_embedded(links: Links, tag: str, attributes: Attributes) -> None:
    if tag == "area":
        if "href" in attributes:
            rel, text = _words(attributes.get("rel")), _cut(attributes.get("alt"))
            links.add(attributes["href"] or "", rel, text, tag)
    elif tag in ("img", "source"):  # here only if they are asked for
        _add_candidates(links, attributes.get("srcset"), _cut(attributes.get("alt")))
    elif source := attributes.get("src"):
        links.add(source, "", _cut(attributes.get("title") or attributes.get("name")), tag)


def _add_candidates(links: Links, srcset: str | None, text: str) -> None:
    for href in parse_srcset(srcset) if srcset else ():
        links.add(href, "", text, "srcset")


def _add_relation(links: Links, page: Page, attributes: Attributes, asked: Asked) -> None:
    href, rel = attributes.get("href"), _words(attributes.get("rel"))
    if asked.srcset:
        _add_candidates(links, attributes.get("imagesrcset"), "")
    if href and rel:
        media, title = attributes.get("type") or "", _cut(attributes.get("title"))
        canonical = links.relate(
            href, rel, media, title, attributes.get("hreflang"), feeds=asked.feeds
        )
        page.canonical = page.canonical or canonical


def _add_meta(links: Links | None, robots: list[tuple[str, str]], attributes: Attributes) -> None:
    """Takes a directive, or a refresh where there are `links` to take it."""
    content = attributes.get("content")
    if not content:
        return
    if _words(attributes.get("http-equiv")) == "refresh":
        refresh = parse_refresh(content)
        if links and refresh and refresh[1]:
            links.add(refresh[1], "", "", "refresh")
    elif (name := _words(attributes.get("name"))) and _is_directive(content):
        robots.append((name, content.strip()))


def _is_directive(content: str) -> bool:
    for part in content.lower().replace(";", ",").split(","):
        words = part.partition(":")[0].split()  # "noindex nofollow" are two
        if words and _DIRECTIVES.issuperset(words):
            return True
    return False
