"""A lease served against real servers: politeness proved from the server's log, batches, bounds."""

import asyncio
import gc
import time
from itertools import pairwise

import pytest

from crawler.config import Config, Fetch, Politeness, Robots, Runtime, Sitemaps
from crawler.fetch.client import Client
from crawler.fetch.serve import serve
from crawler.frontier.lease import HostLease, Lease, LeasedUrl
from crawler.outcomes import Kind
from tests.crawler.fetch.raw_server import reply, serving

SOON = 0.02


def configured(**runtime):
    return Config(
        fetch=Fetch(allow_private=True),
        runtime=Runtime(**{"batch_seconds": SOON, **runtime}),
    )


def host(server, number, count, delay=0.0):
    name = f"127.0.0.{number}"
    urls = tuple(
        LeasedUrl(number * 100 + n, server.url(f"/{n}", name), 0, 0, 0, 0, 0, None, "seed")
        for n in range(count)
    )
    return HostLease(name, name, number, 0.0, delay, (), urls)


def lease(*hosts, seconds=20.0):
    return Lease(1, 0, 1, time.time() + seconds, hosts)


class Collected:
    """What was emitted, and the invariants of every delivery."""

    def __init__(self):
        self.batches, self.deliveries = [], []

    async def emit(self, batch, delivery):
        assert not self.deliveries or not self.deliveries[-1].end
        assert list(delivery.keys) == ([] if batch is None else batch["key"].to_pylist())
        assert len(delivery.contents) == len(delivery.keys)
        self.batches.append(batch)
        self.deliveries.append(delivery)

    @property
    def rows(self):
        return [row for batch in self.batches if batch is not None for row in batch.to_pylist()]

    @property
    def reports(self):
        return {report.host: report for given in self.deliveries for report in given.reports}


async def served(work, config, collected=None):
    collected = collected or Collected()
    async with Client(config, time.time) as client:
        await serve(work, client, config, clock=time.time, emit=collected.emit)
    assert collected.deliveries[-1].end
    return collected


def site(target):
    return reply(status="404 No") if target == "/robots.txt" else reply(b"<p>" + target.encode())


async def test_every_url_of_every_host_comes_back_once():
    async with serving(site) as server:
        got = await served(lease(*(host(server, number, 3) for number in (1, 2, 3))), configured())
    assert sorted(row["key"] for row in got.rows) == [
        n * 100 + k for n in (1, 2, 3) for k in (0, 1, 2)
    ]
    assert {row["body"] for row in got.rows} == {b"<p>/0", b"<p>/1", b"<p>/2"}
    assert {row["kind"] for row in got.rows} == {Kind.FETCHED}
    assert set(got.reports) == {"127.0.0.1", "127.0.0.2", "127.0.0.3"}
    assert sum(given.requests for given in got.deliveries) == 9
    assert sum(given.robots_fetched for given in got.deliveries) == 3


async def test_one_connection_serves_an_origin_for_the_whole_lease():
    async with serving(site) as server:
        await served(lease(*(host(server, number, 10) for number in (1, 2))), configured())
    assert len(server.asked) == 22
    assert server.connections == 2


async def test_an_empty_lease_ends_at_once():
    got = await served(lease(), configured(batch_seconds=30))
    assert got.rows == []
    assert len(got.deliveries) == 1


@pytest.mark.slow
async def test_one_request_at_a_time_and_the_delay_between_in_the_servers_log():
    delay = 0.05
    async with serving(site) as server:
        await served(lease(*(host(server, number, 4, delay) for number in (1, 2))), configured())
    logs = [
        [asked for asked in server.asked if asked.host == name]
        for name in ("127.0.0.1", "127.0.0.2")
    ]
    for log in logs:
        assert [asked.target for asked in log] == ["/robots.txt", "/0", "/1", "/2", "/3"]
        for before, after in pairwise(log):
            assert after.began - before.ended >= delay
    assert server.most_in_flight == 1
    first, second = logs
    assert first[0].began < second[-1].began, "one by one"
    assert second[0].began < first[-1].began, "one by one"


async def test_robots_deny_without_a_request():
    rules = b"User-agent: raycrawl\nDisallow: /1\n"

    def answer(target):
        return reply(rules) if target == "/robots.txt" else reply()

    async with serving(answer) as server:
        got = await served(lease(host(server, 1, 3)), configured())
    assert server.targets == ["/robots.txt", "/0", "/2"]
    assert {row["url"][-1]: row["kind"] for row in got.rows} == {
        "0": "fetched", "1": "robots_denied", "2": "fetched",
    }  # fmt: skip
    assert len(got.reports["127.0.0.1"].robots) == 1


async def test_a_server_that_asks_to_wait_is_left_alone():
    def answer(target):
        if target == "/robots.txt":
            return reply(status="404 No")
        return reply(status="503 Later", headers=("Retry-After: 120",))

    async with serving(answer) as server:
        got = await served(lease(host(server, 1, 3)), configured())
    assert server.targets == ["/robots.txt", "/0"]
    report = got.reports["127.0.0.1"]
    assert report.incident == (Kind.HTTP_ERROR, 503, 120.0)
    assert [retry.key for retry in report.retries] == [100]
    assert report.unused == (101, 102)
    assert got.rows == []


async def test_no_request_starts_after_the_deadline():
    async with serving(site) as server:
        got = await served(lease(host(server, 1, 3), seconds=-0.001), configured())
    assert server.asked == []
    assert got.reports["127.0.0.1"].unused == (100, 101, 102)


async def test_batches_are_cut_by_size_even_when_more_is_waiting():
    body = b"x" * 3000
    much = asyncio.Event()

    def answer(target):
        if target == "/5":
            much.set()
        return reply(status="404 No") if target == "/robots.txt" else reply(body)

    class Slow(Collected):
        async def emit(self, batch, delivery):
            await much.wait()
            await super().emit(batch, delivery)

    async with serving(answer) as server:
        config = configured(batch_bytes=7000, batch_seconds=9)
        got = await served(lease(host(server, 1, 8)), config, Slow())
    sizes = [batch.num_rows for batch in got.batches if batch is not None]
    assert sizes == [2, 2, 2, 2]


async def test_what_is_ready_does_not_wait_for_a_full_batch():
    got, first = Collected(), asyncio.Event()

    async def emit(batch, delivery):
        await got.emit(batch, delivery)
        first.set()

    def answer(target):
        return b"" if target == "/1" else site(target)

    config = configured()
    async with serving(answer) as server, Client(config, time.time) as client:
        work = lease(host(server, 1, 2), host(server, 2, 1))
        task = asyncio.create_task(serve(work, client, config, clock=time.time, emit=emit))
        await first.wait()
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert 100 in got.deliveries[0].keys


async def test_a_report_never_overtakes_the_outcomes_of_its_host():
    body = b"x" * 3000

    def answer(target):
        return reply(status="404 No") if target == "/robots.txt" else reply(body)

    async with serving(answer) as server:
        hosts = [host(server, number, 5) for number in (1, 2, 3)]
        got = await served(lease(*hosts), configured(batch_bytes=4000))
    settled = set()
    for given in got.deliveries:
        settled |= set(given.keys)
        for report in given.reports:
            number = int(report.host.rpartition(".")[2])
            assert {number * 100 + n for n in range(5)} <= settled
    assert len(got.reports) == 3


async def test_a_blocked_consumer_stops_new_requests():
    body = b"x" * 3000
    gate, asked_for = asyncio.Event(), []

    def answer(target):
        return reply(status="404 No") if target == "/robots.txt" else reply(body)

    got = Collected()

    async def emit(batch, delivery):
        asked_for.append(len(delivery.keys))
        await gate.wait()
        await got.emit(batch, delivery)

    config = configured(batch_bytes=6000)
    async with serving(answer) as server, Client(config, time.time) as client:
        work = lease(host(server, 1, 50))
        task = asyncio.create_task(serve(work, client, config, clock=time.time, emit=emit))
        seen = -1
        while len(server.asked) != seen:
            seen = len(server.asked)
            await asyncio.sleep(0.05)
        assert seen < 12, "two batches wait, one is being emitted"
        gate.set()
        await task
    assert len(got.rows) == 50


async def test_cancelling_leaves_no_task_and_no_request():
    config = configured()
    async with serving(lambda _: b"") as server, Client(config, time.time) as client:
        before = asyncio.all_tasks()
        work = lease(*(host(server, number, 2) for number in range(1, 6)))
        emit = Collected().emit
        task = asyncio.create_task(serve(work, client, config, clock=time.time, emit=emit))
        await server.was_asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        ours = {left for left in asyncio.all_tasks() - before if "handle" not in repr(left)}
        assert ours == set()


@pytest.mark.parametrize("whole", [False, True])
async def test_cancelling_gives_the_bytes_in_flight_back_without_the_collector(whole):
    """Else the next lease waits for them, and while all wait nothing calls the collector."""
    size = 1 << 20
    config = Config(
        fetch=Fetch(allow_private=True, max_body=size, max_bytes_in_flight=2 * size),
        runtime=Runtime(batch_seconds=SOON),
    )

    def large(target):
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size
        return (
            site(target) if target == "/robots.txt" else head + bytes(size if whole else size // 2)
        )

    async def stuck(batch, delivery):
        await asyncio.Event().wait()

    async with serving(large) as server, Client(config, time.time) as client:
        gc.collect()
        gc.disable()
        try:
            work = lease(*(host(server, number, 2) for number in range(1, 5)))
            task = asyncio.create_task(serve(work, client, config, clock=time.time, emit=stuck))
            while client.inflight.held < 2 * size:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert client.inflight.held == 0
        finally:
            gc.enable()


async def test_what_goes_wrong_with_the_consumer_is_raised():
    async def emit(batch, delivery):
        raise ZeroDivisionError

    config = configured()
    async with serving(site) as server, Client(config, time.time) as client:
        with pytest.raises(ExceptionGroup) as caught:
            await serve(lease(host(server, 1, 2)), client, config, clock=time.time, emit=emit)
    assert caught.group_contains(ZeroDivisionError)


async def test_a_host_that_cannot_be_reached_has_a_report_too():
    config = Config(
        fetch=Fetch(allow_private=True, first_byte_timeout=0.05),
        robots=Robots(timeout=0.05),
        politeness=Politeness(delay=0),
        runtime=Runtime(batch_seconds=SOON),
    )
    async with serving(lambda _: b"") as server:
        got = await served(lease(host(server, 1, 2)), config)
    report = got.reports["127.0.0.1"]
    assert report.robots_failure == server.url("")
    assert report.incident.kind is Kind.TIMEOUT
    assert report.unused == (100, 101)


async def test_a_sitemap_has_limits_of_its_own():
    def big(target):
        if target == "/robots.txt":
            return reply(b"Sitemap: /other.gz")
        return reply(b"x" * 3000, headers=("Content-Type: application/octet-stream",))

    config = configured()
    fetch = config.fetch.model_copy(update={"max_body": 1024})
    config = config.model_copy(update={"fetch": fetch, "sitemaps": Sitemaps(max_bytes=2048)})
    async with serving(big) as server:
        urls = [
            (server.url("/sitemap.xml"), "link"),
            (server.url("/a.gz"), "index"),
            (server.url("/b.gz"), "link"),
        ]
        leased = tuple(
            LeasedUrl(n, url, 0, 0, 0, 0, 0, None, via) for n, (url, via) in enumerate(urls)
        )
        got = await served(
            lease(HostLease("127.0.0.1", "127.0.0.1", 1, 0.0, 0.0, (), leased)), config
        )
    said = {row["key"]: (row["kind"], len(row["body"] or b""), row["sitemaps"]) for row in got.rows}
    assert said == {
        0: ("fetched", 2048, ["/other.gz"]), 1: ("fetched", 2048, None), 2: ("excluded_type", 0, None),
    }  # fmt: skip
