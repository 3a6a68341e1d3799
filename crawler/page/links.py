"""From attributes to links: resolving against the base, which `<link>`s lead to pages.

Knows nothing of trees; scope, keys and robots are decided elsewhere.
"""

from crawler.page.facts import Extra, Page, PageLinks
from crawler.page.labels import CODECS
from crawler.url.scope import unresolved
from crawler.url.wire import resolve

MAX_TEXT = 256
_LONGEST_LANGUAGE = 64  # BCP 47 wants 35

# <link rel> values whose target is a page a reader could go to (HTML section 4.6.7, and the older names that sites
# still use). Style sheets, icons, preloads, manifests, feeds by type, pingbacks are not.
_PAGE_RELS = frozenset({"alternate", "author", "appendix", "bookmark", "chapter", "chapters", "contents",
                        "copyright", "first", "glossary", "help", "home", "index", "last", "license", "next",
                        "prev", "previous", "privacy-policy", "search", "section", "start", "subsection",
                        "terms-of-service", "toc", "top", "up"})  # fmt: skip
_PAGE_TYPES = frozenset({"", "text/html", "application/xhtml+xml"})
_FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml", "application/rdf+xml"})

# No reference resolves to it: a value that a page's references are not yet resolved to.
_UNKNOWN = ""


def leads_to_feed(rels: list[str], media: str) -> bool:
    """Whether a `<link>` is a feed's "autodiscovery" (HTML section 4.6.7.1)."""
    essence = media.partition(";")[0].strip().lower()
    return "feed" in rels or ("alternate" in rels and essence in _FEED_TYPES)


def leads_to_page(rels: list[str], media: str) -> bool:
    """Whether the target of a `<link>` with these `rel` tokens and this `type` is a page to follow."""
    essence = media.partition(";")[0].strip().lower()
    return essence in _PAGE_TYPES and "stylesheet" not in rels and not _PAGE_RELS.isdisjoint(rels)


def in_language(hreflang: str | None) -> Extra | None:
    """What a `hreflang` says of its link; `None` if there is none."""
    language = hreflang.strip()[:_LONGEST_LANGUAGE] if hreflang else ""
    return Extra(language) if language else None


class Links:
    """The links of one page, in document order, and the count of what is not one.

    Invariant: `len(links) + sum(unresolved.values())` is the number of calls of `add`.
    """

    __slots__ = ("_codec", "_limit", "_resolved", "base", "links", "unresolved")

    def __init__(self, base: str, charset: str, limit: int, page: Page | None = None) -> None:
        """`charset` is the page's: queries are sent in it (URL Standard section 4.4, "query state").

        `page`: one that has links already, to be added to.
        """
        # UTF-16 and UTF-32 pages send UTF-8 (Encoding Standard section 4.3, "output encoding").
        self._codec = "utf-8" if charset.startswith("utf-") else CODECS.get(charset, "utf-8")
        self.base = base
        self._limit = limit
        self._resolved: dict[str, str | None] = {}
        self.links = PageLinks() if page is None else page.links
        self.unresolved: dict[str, int] = {} if page is None else page.unresolved

    def add(self, href: str, rel: str, text: str, via: str, extra: Extra | None = None) -> None:
        """Takes one occurrence of a link, as written."""
        url = self.resolve(href)
        links = self.links
        if url is None:
            self._count(str(unresolved(href)))
        elif len(links.urls) >= self._limit:
            self._count("link_limit")
        else:
            if extra is not None and any(extra):
                links.extras[len(links.urls)] = extra
            links.urls.append(url)
            links.rels.append(rel)
            links.texts.append(text)
            links.vias.append(via)

    def relate(
        self, href: str, rel: str, media: str, text: str, hreflang: str | None, *, feeds: bool
    ) -> str | None:
        """Takes the link of a `<link>` or a `Link` header, if it leads to a page; gives the URL if it is the canonical.

        `feeds`: links to feeds count too.
        """
        rels = rel.split()
        extra = in_language(hreflang)
        if "canonical" in rels:
            self.add(href, rel, "", "canonical", extra)
            return self.resolve(href)
        if leads_to_page(rels, media):
            self.add(href, rel, text, "link", extra)
        elif feeds and leads_to_feed(rels, media):
            # The word is what a row keeps of how a link was found.
            self.add(href, rel if "feed" in rels else f"{rel} feed", text, "feed", extra)
        return None

    def resolve(self, href: str) -> str | None:
        """The wire URL of a reference, if it has one. Menus repeat, so each is worked out once a page."""
        reference = href.partition("#")[0]
        # A wire URL has no fragment. But blanks before one stay, which the parser takes off where it finds them last.
        if "" < reference[-1:] <= " ":
            reference = href
        url = self._resolved.get(reference, _UNKNOWN)
        if url is _UNKNOWN:
            url = self._resolved[reference] = resolve(reference, self.base, self._codec)
        return url

    def _count(self, reason: str) -> None:
        self.unresolved[reason] = self.unresolved.get(reason, 0) + 1
