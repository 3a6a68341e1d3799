"""What a server feels of the back-off, and a crawl of bad hosts: whole crawls, judged from the server's log."""

from collections import Counter
from itertools import pairwise

import pytest

from actors.leasing import SHORTEST
from actors.watch import TURN_SECONDS
from benchmarks.simweb.log import violations
from crawler.loading import load
from tests.actors.inprocess import local_crawl, rows_of
from tests.clock import now
from tests.shared import figure
from tests.troubled import Host, black_hole, bursts, dead, pages, reply, serving

pytestmark = pytest.mark.slow

DELAY = 0.1
HEALTHY = {f"h{number}.test": Host(pages(60)) for number in range(4)}


async def crawl(web, folder, **branches):
    """Crawls a web to its end; the rows by host, and when the crawl began and ended."""
    toml = folder / "crawl.toml"
    politeness = {"delay": DELAY, **branches.pop("politeness", {})}
    toml.write_text(web.config(politeness=politeness, **branches))
    began = now()
    async with local_crawl(load(toml, {}), web.seeds, folder / "out") as running:
        totals = await running.finish()
    assert totals.found == totals.accounted
    rows = {}
    for host, kind, error in rows_of(folder / "out", "host", "kind", "error"):
        rows.setdefault(host, []).append((kind, error))
    return totals, rows, began, now()


def spent(web):
    """Seconds from the first to the last request of the healthy hosts."""
    log = [request for name in HEALTHY for request in web.requests(name)]
    return max(request.end for request in log) - min(request.start for request in log)


async def test_a_host_that_asks_for_time_gets_it_and_takes_none_from_others(tmp_path):
    asked = 5
    (tmp_path / "with").mkdir()
    (tmp_path / "without").mkdir()
    async with serving(HEALTHY) as web:
        await crawl(web, tmp_path / "without")
        alone = spent(web)
    async with serving({**HEALTHY, "bursts.test": Host(bursts(12, 5, 2, asked))}) as web:
        waits = {"backoff_base": 4.0, "retry_wait_factor": 0.1}
        _, rows, _, _ = await crawl(web, tmp_path / "with", politeness=waits)
        beside = spent(web)
        log = web.requests("bursts.test")
        refused = [request for request in log if request.status == 429]
        assert len(refused) >= 4
        wait = lambda before: asked if before.status == 429 else DELAY  # noqa: E731
        assert violations(log, wait) == []
        assert violations(web.log, DELAY) == []
        windows = [
            (before.end, later.start) for before, later in pairwise(log) if before.status == 429
        ]
        # In seconds alone nothing can be said: the machine may be slower this time than it was alone.
        first, last = windows[0], windows[-1]
        for name in HEALTHY:
            asked_within = sum(
                first[0] < request.start < first[1] for request in web.requests(name)
            )
            assert asked_within > 10, "it waited with the other"
            assert web.requests(name)[-1].end < last[0], "it waited for the other"
    waits = [end - begin for begin, end in windows]
    assert {kind for kind, _ in rows["bursts.test"]} == {"fetched"}
    assert len(rows["bursts.test"]) == 13
    figure(
        "back-off", "429 in bursts, Retry-After 5",
        refusals=len(refused), shortest_wait=round(min(waits), 3), longest_wait=round(max(waits), 1),
        others_took=round(beside, 1), alone=round(alone, 1),
    )  # fmt: skip


async def test_the_end_waits_for_ten_dead_hosts_no_longer_than_it_says(tmp_path):
    last_wait, slowest, seeds = 3.0, 2.0, 4
    (listener, *fillers) = black_hole()
    try:
        hole = listener.getsockname()[1]
        hosts = {**HEALTHY, **dead(hole, refused=1, seeds=seeds)}
        async with serving(hosts) as web:
            totals, rows, _, ended = await crawl(
                web, tmp_path, politeness={"last_wait": last_wait, "backoff_base": 1.0}
            )
            last = max(request.end for name in HEALTHY for request in web.requests(name))
            beside = spent(web)
            assert violations(web.log, DELAY) == []
            assert len(web.requests("later.test")) == 2, "robots.txt and one page"
    finally:
        for one in (listener, *fillers):
            one.close()
    for name in hosts:
        assert len(rows[name]) == (61 if name in HEALTHY else 1 + seeds), (name, rows[name])
    assert all(error for name, ends in rows.items() if name not in HEALTHY for _, error in ends)
    assert {kind for kind, _ in rows["unknown.test"]} == {"dns_error"}, "the last word, at once"
    assert totals.hosts_given_up == len(hosts) - len(HEALTHY) - 1
    bound = last_wait + TURN_SECONDS + SHORTEST + slowest
    assert ended - last <= bound + 10.0, (
        "their back-offs alone are minutes, their parking half an hour"
    )
    figure(
        "back-off", "ten dead hosts, last_wait 3", dead=len(hosts) - len(HEALTHY),
        rows=sum(len(rows[name]) for name in hosts if name not in HEALTHY),
        others_took=round(beside, 1), end_after_last_page=round(ended - last, 1), bound=bound,
    )  # fmt: skip


async def test_hosts_of_one_address_are_one_host_to_their_server(tmp_path):
    hosts = {f"h{number}.test": Host(pages(4)) for number in range(5)}
    names = {name: "127.0.9.1" if name != "h4.test" else "127.0.9.2" for name in hosts}
    async with serving(hosts) as web:
        _, rows, _, _ = await crawl(
            web, tmp_path, politeness={"address_delay": DELAY}, **{"dns.overrides": names}
        )
        by_address = [request._replace(host=names[request.host]) for request in web.log]
    assert violations(by_address, DELAY) == []
    assert {name: len(ends) for name, ends in rows.items()} == dict.fromkeys(hosts, 5)
    shared = [request for request in by_address if request.host == "127.0.9.1"]
    gaps = [later.start - before.end for before, later in pairwise(sorted(shared))]
    figure(
        "back-off", "four hosts on one address", requests=len(shared), shortest_wait=round(min(gaps), 3)
    )  # fmt: skip


async def test_a_link_to_a_dead_port_costs_its_row_and_no_page(tmp_path):
    well = pages(20)

    def manner(number, target):
        dead = '<a href="http://a.test:1/"></a><a href="https://a.test:1/2"></a>'
        home = reply("200 OK", dead + "".join(f'<a href="/{n}">{n}</a>' for n in range(1, 21)))
        return (0.0, home) if target == "/" else well(number, target)

    async with serving({"a.test": Host(manner)}) as web:
        waits = {"backoff_base": 1.0, "retry_wait_factor": 0.002, "last_wait": 3.0}
        totals, rows, _, _ = await crawl(web, tmp_path, politeness=waits)
        assert violations(web.log, DELAY) == []
    assert Counter(kind for kind, _ in rows["a.test"]) == {"fetched": 21, "robots_unreachable": 2}
    assert totals.hosts_given_up == 0
