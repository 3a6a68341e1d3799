"""What is known of a page once it was read. Values only: no bytes, no trees, no network."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple


class PageLink(NamedTuple):
    """One occurrence of a link in a page.

    `url`: absolute wire URL. `rel`: the attribute, lower-cased, spaces collapsed. `text`: at most 256 characters.
    `via`: what it was found in: `link` (a, area, `<link>`), `area`, `iframe`, `frame`, `refresh`, `canonical`.
    """

    url: str
    rel: str
    text: str
    via: str


@dataclass(slots=True)
class Page:
    """The facts of one page. What a page does not say is `None` or empty.

    `base`: what its links are resolved against. `canonical`: absolute. `meta_robots`: (name in lower case, content)
    of every `<meta>` that holds a robots directive, whomever it addresses. `unresolved`: occurrences of links that
    did not become a `PageLink`, by reason: `not_http`, `invalid_url`, `link_limit`; found = links + unresolved.
    """

    content_type: str
    charset: str | None
    base: str
    language: str | None = None
    title: str | None = None
    canonical: str | None = None
    text: str = ""
    meta_robots: tuple[tuple[str, str], ...] = ()
    links: list[PageLink] = field(default_factory=list)
    unresolved: dict[str, int] = field(default_factory=dict)


class Source(NamedTuple):
    """A decoded body and where it comes from. At most `max_links` links are taken from it."""

    text: str
    content_type: str
    charset: str
    url: str
    max_links: int


Reader = Callable[[Source], Page]
