"""What is known of a page once it was read. Values only: no bytes, no trees, no network."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple


class Extra(NamedTuple):
    """What is known of one link besides where it leads; few links have any of it.

    `hreflang`: the language of its target. `lastmod` (epoch seconds), `changefreq`, `priority` (0 to 1): a sitemap's.
    """

    hreflang: str | None = None
    lastmod: float | None = None
    changefreq: str | None = None
    priority: float | None = None


@dataclass(slots=True)
class PageLinks:
    """The occurrences of links in a page, in document order: four lists of the same length, one entry a link.

    Lists, not a value for each link: a page has hundreds, and whoever takes them writes columns.
    `urls`: absolute wire URLs. `rels`: the attribute, lower-cased, spaces collapsed. `texts`: at most 256 characters;
    empty where links lie in each other without end.
    `vias`: what it was found in: `link` (a, `<link>`, a `Link` header), `area`, `iframe`, `frame`, `refresh`,
    `canonical`, `srcset`, `feed` (an entry of one, or a `<link>` to one), `sitemap`.
    `extras`: by the position of the link.
    """

    urls: list[str] = field(default_factory=list)
    rels: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    vias: list[str] = field(default_factory=list)
    extras: dict[int, Extra] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.urls)


@dataclass(slots=True)
class Page:
    """The facts of one page. What a page does not say is `None` or empty.

    `base`: what its links are resolved against. `canonical`: absolute. `meta_robots`: (name in lower case, content)
    of every `<meta>` that holds a robots directive, whomever it addresses. `unresolved`: occurrences of links that
    are not among the `links`, by reason: `not_http`, `invalid_url`, `too_long`, `link_limit`; found = links +
    unresolved.
    """

    content_type: str
    charset: str | None
    base: str
    language: str | None = None
    title: str | None = None
    canonical: str | None = None
    text: str = ""
    meta_robots: tuple[tuple[str, str], ...] = ()
    links: PageLinks = field(default_factory=PageLinks)
    unresolved: dict[str, int] = field(default_factory=dict)


class Asked(NamedTuple):
    """Links that are not wanted by everybody: candidates of `srcset`, `<link>`s to feeds."""

    srcset: bool = False
    feeds: bool = False


NOTHING_MORE = Asked()


class Body(NamedTuple):
    """A body as it was served, its type and where it comes from. At most `max_links` links are taken from it.

    `content_type`: the header. `media`: the type that was found.
    """

    data: bytes
    content_type: str | None
    media: str
    url: str
    max_links: int
    asked: Asked = NOTHING_MORE


class Source(NamedTuple):
    """A decoded body and where it comes from. At most `max_links` links are taken from it."""

    text: str
    content_type: str
    charset: str
    url: str
    max_links: int
    asked: Asked = NOTHING_MORE


class Reader(NamedTuple):
    """How bodies of one type are read. `apart`: only in a process of its own (`crawler.page.apart`)."""

    read: Callable[[Body], Page]
    apart: bool = False
