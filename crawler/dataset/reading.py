"""One page, read: the values of its row's columns and its links. It must not know batches or Arrow."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from crawler.config import Page as Limits
from crawler.dataset.selection import relation
from crawler.dedup.digest import text_digest
from crawler.dedup.simhash import simhash
from crawler.errors import ApartError
from crawler.outcomes import Kind
from crawler.page.apart import Apart, ReaderError
from crawler.page.facts import Asked, Extra, Page
from crawler.page.header import NO_HEADERS, LinkHeaders
from crawler.page.page import read_page, reads_apart
from crawler.robots.directives import read_directives

# An error's text is for a reader; it is not a dump.
LONGEST_ERROR = 500


class Columns(NamedTuple):
    """The values of a row that reading its page gives; a row without a page keeps what it came with."""

    kind: str
    content_type: str | None
    error: str | None
    charset: str | None = None
    language: str | None = None
    title: str | None = None
    text: str | None = None
    canonical: str | None = None
    robots_directives: tuple[str, ...] | None = None
    text_digest: bytes | None = None
    simhash: int | None = None
    simhash_tokens: int | None = None


class Outlinks(NamedTuple):
    """A page's links as its row keeps them.

    `unresolved`: occurrences that have no wire URL, by reason. `extras`: more about a link, by its position.
    """

    urls: list[str]
    rels: list[str]
    texts: list[str]
    nofollow: bool
    unresolved: dict[str, int]
    extras: Mapping[int, Extra] = MappingProxyType({})


class RawPage(NamedTuple):
    """A body and what came with it. `fetched_at`: seconds. `robots`: the values of X-Robots-Tag."""

    url: str
    body: bytes
    content_type: str | None
    robots: list[str]
    fetched_at: float
    headers: LinkHeaders = NO_HEADERS


def essence(content_type: str | None) -> str | None:
    """A media type without its parameters."""
    return content_type and (content_type.partition(";")[0].strip().lower() or None)


def read(
    raw: RawPage, token: str, limits: Limits, elsewhere: Apart | None, *, apart: bool
) -> tuple[Columns, Outlinks]:
    """The facts of a page. A page that breaks its reader is `parse_failed` and has no links.

    `elsewhere`: where pages of some types, or with `apart` of every type, are read; without it, all are read here.
    Raises `ApartError`, which is no page's fault.
    """
    try:
        page = _page(raw, limits, elsewhere, apart=apart)
        return _said(page, raw, token, limits)
    except ApartError:
        raise
    except ReaderError as error:
        return _unread(raw, str(error))
    except Exception as error:  # noqa: BLE001  one page's reader must not harm the others
        return _unread(raw, f"{type(error).__name__}: {error}")


def _page(raw: RawPage, limits: Limits, elsewhere: Apart | None, *, apart: bool) -> Page:
    reading = read_page
    if elsewhere is not None and (apart or reads_apart(raw.body, raw.content_type)):
        reading = elsewhere.read_page
    asked = Asked(limits.srcset, limits.follow_feeds)
    return reading(raw.body, raw.content_type, raw.url, limits.max_links, raw.headers, asked)


def _unread(raw: RawPage, error: str) -> tuple[Columns, Outlinks]:
    failed = Columns(Kind.PARSE_FAILED.value, essence(raw.content_type), error[:LONGEST_ERROR])
    return failed, Outlinks([], [], [], nofollow=False, unresolved={})


def _said(page: Page, raw: RawPage, token: str, limits: Limits) -> tuple[Columns, Outlinks]:
    # By the time of the fetch, not of the reading: reading the same bytes again gives the same row.
    said = read_directives(page.meta_robots, raw.robots, token, raw.fetched_at)
    folded = page.text.casefold()
    fingerprint, tokens = simhash(folded)
    columns = Columns(
        Kind.FETCHED.value,
        page.content_type,
        None,
        page.charset,
        page.language,
        page.title,
        page.text if limits.store_text else None,
        page.canonical,
        said.names,
        text_digest(folded) if folded else None,
        fingerprint if tokens else None,
        tokens,
    )
    links = page.links
    rels = list(map(relation, links.rels, links.vias))
    return columns, Outlinks(
        links.urls, rels, links.texts, said.nofollow, page.unresolved, links.extras
    )
