"""Outcomes and rows for the tests: small, real, and through the real code."""

from collections.abc import Iterable
from hashlib import sha256
from typing import Any

import pyarrow as pa

from crawler.config import Config, Sitemaps
from crawler.dataset.quarantine import Parsed
from crawler.dataset.rows import RowBuilder
from crawler.fetch.fetched import FETCHED
from crawler.url.admit import Admission
from crawler.url.keys import host_of, site_of, slot_of, url_key

SEEDS = ("https://example.org/",)
# Of rows that are not about sitemaps.
PLAIN = Config(sitemaps=Sitemaps(discover=False))
START = 1_700_000_000.25


def outcome(url: str, **columns: Any) -> dict[str, Any]:
    """One FETCHED row: a page without links unless told otherwise."""
    host = host_of(url)
    body = columns.get("body", b"<p>hello")
    row = dict.fromkeys(FETCHED.names)
    return row | {
        "key": url_key(url),
        "slot": slot_of(site_of(host)),
        "host": host,
        "site": site_of(host),
        "url": url,
        "visit": 1,
        "attempt": 0,
        "depth": 1,
        "hops": 0,
        "priority": 16,
        "found_via": "link",
        "kind": "fetched",
        "http_status": 200,
        "fetched_at": START,
        "elapsed_ms": 12,
        "content_type": "text/html; charset=utf-8",
        "wire_bytes": 100,
        "truncated": False,
        "headers": [],
        "body": body,
        "content_digest": sha256(body).digest() if body else None,
        **columns,
    }


def fetched(outcomes: Iterable[dict[str, Any]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(list(outcomes), schema=FETCHED)


def builder(config: Config | None = None, seeds: Iterable[str] = SEEDS) -> RowBuilder:
    config = config or PLAIN
    return RowBuilder(config, Admission(config, seeds), "raycrawl")


def built(*outcomes: dict[str, Any], config: Config | None = None) -> Parsed:
    return builder(config).build(fetched(outcomes))


def pages(first: int, count: int, words: int = 5) -> pa.RecordBatch:
    """Rows of `count` pages, numbered from `first`."""
    return built(
        *(
            outcome(
                f"https://example.org/{n}",
                fetched_at=START + n,
                body=b"<p>" + b"word%d " % n * words + b"<a href='/%d'>next</a>" % (n + 1),
            )
            for n in range(first, first + count)
        )
    ).rows


def page(*links: str, head: str = "") -> bytes:
    """The HTML of a page with these tags."""
    return f"<html><head>{head}</head><body>{' '.join(links)}</body></html>".encode()


def listing(root: str, urls: Iterable[str]) -> bytes:
    """A sitemap (`urlset`), an index (`sitemapindex`), a feed (`rss`), or a document that is none of them."""
    entry, field = {"sitemapindex": ("sitemap", "loc"), "rss": ("item", "link")}.get(
        root, ("url", "loc")
    )
    entries = "".join(f"<{entry}><{field}>{url}</{field}></{entry}>" for url in urls)
    return f"<{root}>{entries}</{root}>".encode()
