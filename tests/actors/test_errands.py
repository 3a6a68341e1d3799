"""Robots.txt on other hosts, through two shards: the hosts' own logs say whether they were asked in their own time."""

import asyncio

import pytest

from crawler.loading import load
from tests.actors.inprocess import local_crawl, rows_of
from tests.actors.sites import RULES, SHARDS, Web, hosts_of
from tests.crawler.fetch.raw_server import reply

pytestmark = pytest.mark.slow

DELAY = 0.05
BACKOFF = {
    "backoff_base": 0.05,
    "backoff_cap": 0.1,
    "incidents_before_parking": 2,
    "parks_before_giving_up": 0,
}


def crawl(sites, out, **options):
    tree = {
        "scope.mode": "host", "fetch.allow_private": True, "runtime.shards": SHARDS, "runtime.batch_seconds": 0.02,
        "politeness.delay": DELAY, "sitemaps.discover": False,
    }  # fmt: skip
    tree |= {f"politeness.{name}": value for name, value in BACKOFF.items()} | options
    return local_crawl(load(None, tree), [site.url + "/" for site in sites], out)


def kinds(out):
    rows = rows_of(out, "url", "kind")
    assert len(dict(rows)) == len(rows)
    return dict(rows)


async def test_a_busy_host_is_asked_for_others_in_its_own_time(tmp_path):
    async with Web() as web:
        (busy,) = [await web.site(name, pages=25) for name in hosts_of(0, 1)]
        others = [await web.site(name) for shard in (0, 1) for name in hosts_of(shard, 4)[1:]]
        for number, site in enumerate(others):
            site.moves(f"{busy.url}/robots-{number % 4}.txt")
            busy.special[f"/robots-{number % 4}.txt"] = reply(RULES)
        async with crawl([busy, *others], tmp_path) as crawling:
            totals = await crawling.finish()
    assert busy.smallest_gap >= DELAY
    assert min(site.smallest_gap for site in others) >= DELAY
    asked = [target for target in busy.targets if target.startswith("/robots-")]
    assert set(asked) == {f"/robots-{number}.txt" for number in range(4)}
    assert busy.targets.index(asked[-1]) < len(busy.targets) - 1, "it was not busy"
    for number, site in enumerate(others):
        assert sorted(site.targets) == ["/", "/0", "/robots.txt"]
        told = next(one for one in busy.log if one.target == f"/robots-{number % 4}.txt")
        assert site.log[1].began >= told.ended
    ended = kinds(tmp_path)
    assert all(ended[site.url + "/secret"] == "robots_denied" for site in [busy, *others])
    assert totals.found == totals.accounted
    assert (totals.hosts_given_up, totals.leases_lost) == (0, 0)


async def test_who_redirects_to_one_another_or_to_itself_is_free_after_five(tmp_path):
    async with Web() as web:
        a, b, c, d = [await web.site(name) for shard in (0, 1) for name in hosts_of(shard, 2)]
        a.moves(c.url + "/robots.txt")
        c.moves(a.url + "/robots.txt")
        b.moves(d.url + "/r")
        d.moves(b.url + "/r", "/r")
        b.moves(b.url + "/rr", "/r")
        b.moves(d.url + "/last", "/rr")
        d.special["/last"] = reply(RULES)
        async with crawl([a, b, c, d], tmp_path) as crawling:
            await crawling.finish()
    ended = kinds(tmp_path)
    assert [ended[site.url + "/secret"] for site in (a, b, c, d)] == [
        "fetched", "robots_denied", "fetched", "robots_denied",
    ]  # fmt: skip
    asked = [site.targets.count("/robots.txt") for site in (a, b, c, d)]
    assert (asked[1], asked[3]) == (1, 1)
    assert (
        6 <= asked[0] + asked[2] <= 12
    )  # its own, and five each, some of them asked once for both
    assert min(site.smallest_gap for site in (a, b, c, d)) >= DELAY


async def test_who_cannot_be_asked_leaves_the_others_unreachable(tmp_path):
    async with Web() as web:
        (dead,), (a, b) = hosts_of(0, 1), [await web.site(name) for name in hosts_of(1, 2)]
        for site in (a, b):
            site.moves(f"http://{dead}:1/robots.txt")
        async with crawl([a, b], tmp_path) as crawling:
            totals = await crawling.finish()
    assert kinds(tmp_path) == {site.url + "/": "robots_unreachable" for site in (a, b)}
    assert totals.hosts_given_up == 3
    assert a.targets == b.targets == ["/robots.txt"] * BACKOFF["incidents_before_parking"]


async def test_a_failing_file_elsewhere_is_asked_again_and_then_holds(tmp_path):
    async with Web() as web:
        (b,), (a,) = (
            [await web.site(name) for name in hosts_of(0, 1)],
            [await web.site(name) for name in hosts_of(1, 1)],
        )
        a.moves(b.url + "/r")
        answers = iter([reply(status="500 No"), reply(RULES)])
        b.server.answer = lambda target: next(answers) if target == "/r" else b.answer(target)
        async with crawl([a], tmp_path) as crawling:
            await crawling.finish()
    assert b.targets == ["/r", "/r"]
    assert a.targets == ["/robots.txt", "/robots.txt", "/", "/0"]
    assert kinds(tmp_path)[a.url + "/secret"] == "robots_denied"


async def test_who_waits_in_a_crawl_that_is_killed_asks_anew(tmp_path):
    async with Web() as web:
        a, b = [(await web.site(hosts_of(shard, 1)[0])) for shard in (1, 0)]
        a.moves(b.url + "/r")
        asked = asyncio.Event()

        def hold(target):
            asked.set()
            return b""  # and nothing more, ever

        b.server.answer = hold
        async with crawl([a], tmp_path):
            await asked.wait()
        b.server.answer = lambda target: reply(RULES)
        async with crawl([a], tmp_path) as crawling:
            await crawling.finish()
    assert kinds(tmp_path) == {
        a.url + "/": "fetched", a.url + "/0": "fetched", a.url + "/secret": "robots_denied",
    }  # fmt: skip
    assert a.targets == ["/robots.txt", "/robots.txt", "/", "/0"]
