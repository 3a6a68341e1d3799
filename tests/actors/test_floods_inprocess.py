"""Whole crawls, in one process, of a host that redirects without end, and of a page with more links than any needs."""

import time
from collections import Counter

import pytest

from crawler.config import Config
from tests.actors.inprocess import local_crawl, rows_of
from tests.crawler.fetch.raw_server import reply, serving
from tests.shared import figure, forget_peak, peak_mib

pytestmark = pytest.mark.slow

CHAINS, MOST = 100, 10
LINKS, PAGES = 120_000, 50


def config(**branches):
    common = {
        "fetch": {"allow_private": True}, "politeness": {"delay": 0}, "sitemaps": {"discover": False},
        "dataset": {"sync": False}, "robots": {"obey": False},
    }  # fmt: skip
    return Config.model_validate(common | branches)


def moved(target):
    return reply(status="302 Found", headers=(f"Location: {target}",))


def redirects(target):
    """A hundred chains of a million redirects, one that leads to itself, and two that lead to each other."""
    name, _, number = target[1:].rpartition("/")
    if name.startswith("chain"):
        return moved(f"/{name}/{(int(number) + 1) % 1_000_000}")
    if target in ("/self", "/there", "/back"):
        return moved({"/self": "/self", "/there": "/back", "/back": "/there"}[target])
    links = [f"/chain{chain}/0" for chain in range(CHAINS)] + ["/self", "/there"]
    return reply("".join(f"<a href={link}>x</a>" for link in links).encode())


async def test_redirects_without_end_are_some_rows_each(tmp_path):
    began = time.monotonic()
    async with serving(redirects) as server:
        chosen = config(scope={"max_redirects": MOST})
        async with local_crawl(chosen, [server.url("/")], tmp_path) as crawl:
            totals = await crawl.finish()
    rows = rows_of(tmp_path, "url", "kind", "error")
    ends = Counter(error for _, kind, error in rows if kind == "redirect")
    assert ends["redirect_limit"] == totals.links["redirect_limit"] == CHAINS
    assert ends["redirect loop"] == 1
    # A chain has a row for each of its hops; /there and /back have one each, for either is known to the other.
    assert ends.total() == CHAINS * (MOST + 1) + 1 + 2
    assert len({url for url, _, _ in rows}) == len(rows)
    assert totals.found == totals.accounted
    figure(
        "floods", f"{CHAINS} chains of a million redirects", seconds=time.monotonic() - began,
        requests=len(server.targets), rows=len(rows),
    )  # fmt: skip


def links(target):
    if target != "/":
        return reply(b"<p>here")
    return reply("".join(f"<a href=/{number}>x</a>" for number in range(LINKS)).encode())


async def test_a_page_of_a_hundred_thousand_links(tmp_path):
    chosen = config(budget={"pages_per_host": PAGES})
    forget_peak()
    before, began = peak_mib(), time.monotonic()
    async with serving(links) as server, local_crawl(chosen, [server.url("/")], tmp_path) as crawl:
        totals = await crawl.finish()
    most = chosen.page.max_links
    assert totals.links["link_limit"] == LINKS - most
    assert totals.links["budget_host"] == most - (PAGES - 1)
    assert totals.found == totals.accounted == LINKS
    figure(
        "floods", f"a page of {LINKS:,} links", seconds=time.monotonic() - began,
        grown_mib=peak_mib() - before, rows=totals.rows,
    )  # fmt: skip
