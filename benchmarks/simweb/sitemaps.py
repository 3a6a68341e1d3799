"""The sitemaps of a world: where they lie, what they list, in which form; and what robots.txt names. Pure.

Truth reads `Listing.pages`, `Listing.listings` and `Listing.goal`; `listing_bytes` writes them. Four manners of hosts
take turns: a plain sitemap, and feeds that robots.txt names; an index that it names, with zipped and plain text parts;
a redirect to indexes that nest too deep; a page for people where the sitemap should be, and a sitemap on another host.
All list pages that nothing else leads to, and some a page of another site, for which they must not speak.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from gzip import compress
from html import escape
from typing import NamedTuple

from benchmarks.simweb.hosts import Host, Page

HIDDEN = 4
USUAL = "/sitemap.xml"


class Form(StrEnum):
    """How a listing is written, or what else is where one might be."""

    URLSET = "urlset"
    ZIPPED = "zipped"
    INDEX = "index"
    TEXT = "text"
    RSS = "rss"
    ATOM = "atom"
    REDIRECT = "redirect"
    SOFT_ERROR = "soft_error"


@dataclass(frozen=True, slots=True)
class Listing:
    """One file. `pages`, `listings`: the URLs that it lists, as identities. `goal`: a redirect's target."""

    form: Form
    pages: tuple[str, ...] = ()
    listings: tuple[str, ...] = ()
    goal: str = ""


class Sitemaps(NamedTuple):
    """`files` by (host number, target); `named` by host number: what its robots.txt names, as identities."""

    files: dict[tuple[int, str], Listing]
    named: dict[int, tuple[str, ...]]


def hidden_pages(host: Host) -> list[Page]:
    """Pages that only sitemaps lead to; their numbers are beyond those of all others."""
    return [Page(host.number, 1_000_000 + n, f"/only-listed/{n}") for n in range(HIDDEN)]


def make_sitemaps(hosts: list[Host], url: Callable[[Host, str], str]) -> Sitemaps:
    """The sitemaps of all hosts; `url` gives the identity of a target."""
    made = Sitemaps({}, {})
    for host in hosts:
        others = [other for other in hosts if other.site != host.site]
        stranger = others[host.number % len(others)] if others else host
        _MANNERS[host.number % len(_MANNERS)](host, stranger, url, made)
    return made


Url = Callable[[Host, str], str]


def _hidden(url: Url, host: Host, *numbers: int) -> tuple[str, ...]:
    return tuple(url(host, f"/only-listed/{n}") for n in numbers)


def _plain(host: Host, stranger: Host, url: Url, made: Sitemaps) -> None:
    pages = (url(host, "/"), *_hidden(url, host, 0, 1), *_hidden(url, stranger, 3))
    made.files[host.number, USUAL] = Listing(Form.URLSET, pages)
    made.files[host.number, "/news.rss"] = Listing(Form.RSS, _hidden(url, host, 2))
    news = (*_hidden(url, host, 3), *_hidden(url, stranger, 3))
    made.files[host.number, "/news.atom"] = Listing(Form.ATOM, news)
    made.named[host.number] = (url(host, "/news.rss"), url(host, "/news.atom"))


def _parts(host: Host, _stranger: Host, url: Url, made: Sitemaps) -> None:
    parts = (url(host, "/maps/one.xml.gz"), url(host, "/maps/two.txt"))
    made.files[host.number, "/maps/index.xml"] = Listing(Form.INDEX, listings=parts)
    made.files[host.number, "/maps/one.xml.gz"] = Listing(Form.ZIPPED, _hidden(url, host, 0))
    made.files[host.number, "/maps/two.txt"] = Listing(Form.TEXT, _hidden(url, host, 1, 2))
    made.named[host.number] = (url(host, "/maps/index.xml"),)


def _nested(host: Host, _stranger: Host, url: Url, made: Sitemaps) -> None:
    first, second, third = (f"/index-{n}.xml" for n in range(3))
    made.files[host.number, USUAL] = Listing(Form.REDIRECT, goal=url(host, first))
    made.files[host.number, first] = Listing(Form.INDEX, listings=(url(host, second),))
    made.files[host.number, second] = Listing(
        Form.INDEX, listings=(url(host, third), url(host, "/list.xml"))
    )
    made.files[host.number, third] = Listing(Form.INDEX, listings=(url(host, "/too-deep.xml"),))
    made.files[host.number, "/list.xml"] = Listing(Form.URLSET, _hidden(url, host, 0))
    made.files[host.number, "/too-deep.xml"] = Listing(Form.URLSET, _hidden(url, host, 1))


def _elsewhere(host: Host, stranger: Host, url: Url, made: Sitemaps) -> None:
    made.files[host.number, USUAL] = Listing(Form.SOFT_ERROR, _hidden(url, host, 2))
    target = f"/for-{host.name}.xml"
    third = _hidden(url, stranger, 2)
    made.files[stranger.number, target] = Listing(Form.URLSET, (*_hidden(url, host, 0), *third))
    made.named[host.number] = (url(stranger, target),)


_MANNERS = (_plain, _parts, _nested, _elsewhere)


def listing_bytes(listing: Listing) -> tuple[bytes, str]:
    """The body of a file, and the Content-Type that it is sent with, which is not always true."""
    match listing.form:
        case Form.TEXT:
            return "\n".join(listing.pages).encode(), "text/plain"
        case Form.RSS:
            items = "".join(
                f"<item><title>News</title><link>{escape(page)}</link>"
                "<pubDate>Sat, 07 Nov 2026 10:00:00 GMT</pubDate></item>"
                for page in listing.pages
            )
            return _xml(f'<rss version="2.0"><channel>{items}</channel></rss>'), "text/html"
        case Form.ATOM:
            entries = "".join(
                f'<entry><link href="{escape(page)}"/><updated>2026-11-07T10:00:00Z</updated></entry>'
                for page in listing.pages
            )
            feed = f'<feed xmlns="http://www.w3.org/2005/Atom">{entries}</feed>'
            return _xml(feed), "application/atom+xml"
        case Form.SOFT_ERROR:
            anchors = "".join(f'<a href="{escape(page)}">see</a>' for page in listing.pages)
            return f"<!DOCTYPE html><p>Nothing here. {anchors}".encode(), "text/html"
        case _:
            return _sitemap(listing)


def _sitemap(listing: Listing) -> tuple[bytes, str]:
    index = listing.form is Form.INDEX
    root, name = ("sitemapindex", "sitemap") if index else ("urlset", "url")
    entries = "".join(
        f"<{name}><loc>{escape(url)}</loc><lastmod>2026-11-0{1 + n % 9}</lastmod></{name}>"
        for n, url in enumerate(listing.listings or listing.pages)
    )
    body = _xml(f'<{root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{root}>')
    if listing.form is Form.ZIPPED:
        return compress(body, mtime=0), "application/octet-stream"
    return body, "application/xml"


def _xml(text: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()
