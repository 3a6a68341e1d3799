"""From a body to the URLs that a site says it has: the sitemaps.org protocol, its indexes, text lists, and feeds.

Knows bytes and one header; knows nothing of the network, of scope and of storage, and drops nothing for where it
points: for which URLs a sitemap may speak is for whoever follows the entries.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from crawler.page import feed
from crawler.page.listing import LONGEST, Entry, Field, Listing, root_of
from crawler.page.moments import moment
from crawler.page.unpack import Texts
from crawler.url.parts import split
from crawler.url.scope import unresolved
from crawler.url.wire import resolve

_FIELDS = frozenset({"loc", "lastmod", "changefreq", "priority", "link"})
_FOREIGN = frozenset({"link"})  # XHTML's, for versions in other languages
_FEEDS = frozenset({"rss", "rdf", "feed"})
_FREQUENCIES = frozenset({"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"})

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_WEB = re.compile(r"https?:", re.IGNORECASE)
_LINE = re.compile(r"[\r\n]+")
# What a line that begins with the name of a host has if it is a sentence about it.
_PROSE = re.compile(r"[\s<>]")

# References to other languages repeat: every version of a page names all. Remembered, of one sitemap.
_REMEMBERED = 50_000


class SitemapKind(StrEnum):
    """What a body turned out to be. The entries of an index are sitemaps; those of the others are pages."""

    URLSET = "urlset"
    INDEX = "index"
    TEXT = "text"
    FEED = "feed"
    NOT_A_SITEMAP = "not_a_sitemap"


class SitemapLimits(NamedTuple):
    """What is read of one sitemap; the defaults are what the protocol allows it. Bytes count unpacked."""

    max_bytes: int = 50 * 1024 * 1024
    max_urls: int = 50_000


class SitemapEntry(NamedTuple):
    """One URL listed, in its wire form. What is not said, or not as the protocol wants it, is `None` or empty.

    `lastmod`: epoch seconds. `changefreq`: one of the protocol's seven words. `priority`: 0 to 1. `alternates`:
    (hreflang, wire URL) of versions in other languages, itself often among them.
    """

    url: str
    lastmod: float | None = None
    changefreq: str | None = None
    priority: float | None = None
    alternates: tuple[tuple[str, str], ...] = ()


class Sitemap(NamedTuple):
    """What a body lists, in its order, repetitions included.

    `truncated`: why there may be more, `max_bytes` or `max_urls` (a limit) or `damaged` (gzip that breaks off).
    `dropped`: how many entries are not among `entries`, and alternates not among theirs, by reason: `invalid_url`,
    `not_http`, `too_long`, `no_location`.
    """

    kind: SitemapKind
    entries: list[SitemapEntry]
    truncated: str | None
    dropped: dict[str, int]


def read_sitemap(body: bytes, content_type: str | None, url: str, limits: SitemapLimits) -> Sitemap:
    """What the body lists that was served at `url` (a wire URL), gzipped or not. Never raises.

    What it is shows in the body; of the `Content-Type` only the charset counts.
    """
    texts = Texts(body, content_type, limits.max_bytes)
    pieces = iter(texts)
    head = next(pieces, "")
    found = _Found(url, limits.max_urls)
    if root := root_of(head):
        kind = _read_listing(root[1].lower(), head[root.start() :], pieces, found)
    else:
        kind = _read_lines(head, pieces, found)
    return Sitemap(kind, found.entries, found.truncated or texts.cut, found.dropped)


class _Found:
    """The entries so far.

    Invariant: every reference taken is a URL in `entries` or counted in `dropped`, until `truncated` is set.
    """

    def __init__(self, url: str, max_urls: int) -> None:
        parts = split(url)
        self.entries: list[SitemapEntry] = []
        self.dropped: dict[str, int] = {}
        self.truncated: str | None = None
        self._url = url
        self._most = max_urls
        self._host = parts.host.lower() if parts else ""
        self._alternates: dict[str, str | None] = {}

    def add(self, entry: SitemapEntry, bases: tuple[str, ...] = ()) -> None:
        """Takes an entry whose references are as written, to be resolved against the last of `bases`."""
        base = self._url
        for reference in bases:
            base = resolve(reference, base) or base
        url = self._wire(entry.url, base)
        if url is None:
            return
        if len(self.entries) >= self._most:
            self.truncated = "max_urls"
            return
        alternates = tuple(
            (language, found)
            for language, href in entry.alternates
            if (found := self._alternate(href, base)) is not None
        )
        self.entries.append(entry._replace(url=url, alternates=alternates))

    def drop(self, reason: str) -> None:
        """Counts an entry that is none."""
        self.dropped[reason] = self.dropped.get(reason, 0) + 1

    def names_host(self, href: str) -> bool:
        """Whether a reference without a scheme begins with the sitemap's own host: it was meant to be absolute."""
        return bool(self._host) and href.partition("/")[0].lower() == self._host

    def _alternate(self, href: str, base: str) -> str | None:
        """Bases differ in feeds only, which have few entries and hardly any alternates."""
        if len(self._alternates) >= _REMEMBERED:
            self._alternates.clear()
        known = f"{base} {href}" if base != self._url else href
        if known not in self._alternates:
            self._alternates[known] = self._wire(href, base)
        return self._alternates[known]

    def _wire(self, href: str, base: str) -> str | None:
        if len(href) > LONGEST:
            self.drop("too_long")
            return None
        if self.names_host(href):
            href = f"//{href}"
        url = resolve(href, base)
        if url is None:
            self.drop(str(unresolved(href)))
        return url


def _read_listing(root: str, head: str, pieces: Iterator[str], found: _Found) -> SitemapKind:
    entries: set[str] = set()

    def take(entry: Entry) -> None:
        entries.add(entry.name)
        _take_sitemap_entry(entry, found)

    if root in _FEEDS:
        listing = Listing(
            root, feed.FIELDS, feed.FOREIGN, lambda entry: _take_feed_entry(entry, found)
        )
    else:
        listing = Listing(root, _FIELDS, _FOREIGN, take)
    listing.feed(head)
    for piece in pieces:
        if found.truncated:
            break
        listing.feed(piece)
    else:
        listing.close()
    if root in _FEEDS:
        return SitemapKind.FEED
    # The names of roots are mixed up more easily than those of entries.
    index = root == "sitemapindex" if len(entries) != 1 else "sitemap" in entries
    return SitemapKind.INDEX if index else SitemapKind.URLSET


def _take_feed_entry(entry: Entry, found: _Found) -> None:
    href, lastmod, alternates = feed.read_entry(entry)
    if href is None:
        found.drop("no_location")
    else:
        found.add(SitemapEntry(href, lastmod, alternates=alternates), entry.bases)


def _take_sitemap_entry(entry: Entry, found: _Found) -> None:
    """A second `loc` begins a second entry, with what follows it; without any, the text of the entry is one."""
    fields = entry.fields
    places = [at for at, field in enumerate(fields) if field.name == "loc" and field.text.strip()]
    if len(places) < 2:
        _take_fields(fields, found)
        return
    for start, end in zip([0, *places[1:]], [*places[1:], len(fields)], strict=True):
        _take_fields(fields[start:end], found)


def _take_fields(fields: list[Field], found: _Found) -> None:
    said: dict[str, str] = {}
    alternates: list[tuple[str, str]] = []
    for name, text, attributes in fields:
        if name != "link":
            said[name] = said.get(name) or text.strip()
        elif (href := attributes.get("href", "").strip()) and "hreflang" in attributes:
            alternates.append((attributes["hreflang"], href))
    location = said.get("loc") or said.get("")
    if not location:
        found.drop("no_location")
        return
    lastmod = moment(said["lastmod"]) if "lastmod" in said else None
    changefreq = said["changefreq"].lower() if "changefreq" in said else None
    priority = _fraction(said["priority"]) if "priority" in said else None
    known = changefreq if changefreq in _FREQUENCIES else None
    found.add(SitemapEntry(location, lastmod, known, priority, tuple(alternates)))


def _fraction(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number <= 1 else None


def _read_lines(head: str, pieces: Iterator[str], found: _Found) -> SitemapKind:
    """A list of URLs, one a line. Markup is none, nor is text in which no line is a URL."""
    if head.lstrip("\ufeff \t\r\n").startswith("<"):
        return SitemapKind.NOT_A_SITEMAP
    held = head
    for piece in pieces:
        *lines, held = _LINE.split(held)
        _take_lines(lines, found)
        if found.truncated:
            break
        held = held[: LONGEST + 1] + piece
    _take_lines(_LINE.split(held), found)
    if found.entries or found.truncated:
        return SitemapKind.TEXT
    found.dropped.clear()  # of what was no list, nothing was dropped
    return SitemapKind.NOT_A_SITEMAP


def _take_lines(lines: list[str], found: _Found) -> None:
    for line in lines:
        href = line.strip("\ufeff").strip()
        if _WEB.match(href) or (found.names_host(href) and not _PROSE.search(href)):
            found.add(SitemapEntry(href))
        elif href:
            found.drop(str(unresolved(href)))
