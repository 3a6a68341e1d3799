"""From attributes to links: resolving against the base, which `<link>`s lead to pages.

Knows nothing of trees; scope, keys and robots are decided elsewhere.
"""

from crawler.page.facts import PageLinks
from crawler.page.labels import CODECS
from crawler.url.scope import unresolved
from crawler.url.wire import resolve

MAX_TEXT = 256

# <link rel> values whose target is a page a reader could go to (HTML section 4.6.7, and the older names that sites
# still use). Style sheets, icons, preloads, manifests, feeds by type, pingbacks are not.
_PAGE_RELS = frozenset({"alternate", "author", "appendix", "bookmark", "chapter", "chapters", "contents",
                        "copyright", "first", "glossary", "help", "home", "index", "last", "license", "next",
                        "prev", "previous", "privacy-policy", "search", "section", "start", "subsection",
                        "terms-of-service", "toc", "top", "up"})  # fmt: skip
_PAGE_TYPES = frozenset({"", "text/html", "application/xhtml+xml"})

# No reference resolves to it: a value that a page's references are not yet resolved to.
_UNKNOWN = ""


def leads_to_page(rels: list[str], media: str) -> bool:
    """Whether the target of a `<link>` with these `rel` tokens and this `type` is a page to follow."""
    essence = media.partition(";")[0].strip().lower()
    return essence in _PAGE_TYPES and "stylesheet" not in rels and not _PAGE_RELS.isdisjoint(rels)


class Links:
    """The links of one page, in document order, and the count of what is not one.

    Invariant: `len(links) + sum(unresolved.values())` is the number of calls of `add`.
    """

    __slots__ = ("_base", "_codec", "_limit", "_resolved", "links", "unresolved")

    def __init__(self, base: str, charset: str, limit: int) -> None:
        """`charset` is the page's: queries are sent in it (URL Standard section 4.4, "query state")."""
        # UTF-16 and UTF-32 pages send UTF-8 (Encoding Standard section 4.3, "output encoding").
        self._codec = "utf-8" if charset.startswith("utf-") else CODECS.get(charset, "utf-8")
        self._base = base
        self._limit = limit
        self._resolved: dict[str, str | None] = {}
        self.links = PageLinks()
        self.unresolved: dict[str, int] = {}

    def add(self, href: str, rel: str, text: str, via: str) -> None:
        """Takes one occurrence of a link, as written."""
        url = self.resolve(href)
        links = self.links
        if url is None:
            self._count(str(unresolved(href)))
        elif len(links.urls) >= self._limit:
            self._count("link_limit")
        else:
            links.urls.append(url)
            links.rels.append(rel)
            links.texts.append(text)
            links.vias.append(via)

    def resolve(self, href: str) -> str | None:
        """The wire URL of a reference, if it has one. Menus repeat, so each is worked out once a page."""
        reference = href.partition("#")[0]
        # A wire URL has no fragment. But blanks before one stay, which the parser takes off where it finds them last.
        if "" < reference[-1:] <= " ":
            reference = href
        url = self._resolved.get(reference, _UNKNOWN)
        if url is _UNKNOWN:
            url = self._resolved[reference] = resolve(reference, self._base, self._codec)
        return url

    def _count(self, reason: str) -> None:
        self.unresolved[reason] = self.unresolved.get(reason, 0) + 1
