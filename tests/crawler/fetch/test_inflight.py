"""Bytes in flight: the budget by itself, and a process that serves many hosts with large bodies."""

import asyncio
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.config import Config, Fetch, Runtime
from crawler.fetch import exchange
from crawler.fetch.client import Client
from crawler.fetch.inflight import FREE, Inflight
from crawler.fetch.serve import serve
from crawler.outcomes import Kind
from tests.crawler.fetch.asking import configured
from tests.crawler.fetch.raw_server import speaking
from tests.crawler.fetch.test_serve import Collected, host, lease
from tests.shared import figure

MB = 1024 * 1024
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"


async def somebody_waits(inflight):
    while "1 waiting" not in repr(inflight):  # noqa: ASYNC110
        await asyncio.sleep(0.001)


async def test_who_comes_first_draws_first():
    inflight = Inflight(100)
    first = inflight.draw(60)
    large = asyncio.create_task(inflight.wait(80))
    await asyncio.sleep(0)
    assert inflight.draw(10) is None, "nobody overtakes"
    small = asyncio.create_task(inflight.wait(10))
    del first
    shares = await asyncio.gather(large, small)
    assert [share.size for share in shares] == [80, 10]
    shares.clear()
    del large, small
    await asyncio.sleep(0)
    assert (inflight.held, inflight.most) == (0, 90)


async def test_who_leaves_holds_up_nobody_behind():
    inflight = Inflight(100)
    first = inflight.draw(60)
    large = asyncio.create_task(inflight.wait(80))
    await asyncio.sleep(0)
    small = asyncio.create_task(inflight.wait(10))
    await asyncio.sleep(0)
    large.cancel()
    async with asyncio.timeout(10):
        share = await small
    assert (first.size, share.size, inflight.held) == (60, 10, 70)


async def test_one_that_is_larger_than_the_budget_has_it_alone():
    inflight = Inflight(100)
    share = inflight.draw(1000)
    assert (share.size, inflight.draw(1)) == (100, None)
    share.shrink(30)
    assert (inflight.held, inflight.draw(70).size) == (30, 70)
    assert repr(inflight) == "<Inflight 30 of 100 bytes, 0 waiting>"


@given(st.lists(st.tuples(st.integers(0, 60), st.booleans(), st.booleans()), max_size=30))
def test_whoever_leaves_and_however_nothing_is_lost(steps):
    async def run():
        inflight = Inflight(100)
        tasks = []
        for size, cancel, finish in steps:
            task = asyncio.create_task(inflight.wait(size))
            tasks.append(task)
            await asyncio.sleep(0)
            if cancel:
                tasks[len(tasks) // 2].cancel()
            if finish:
                await asyncio.sleep(0)
                tasks = [task for task in tasks if not task.done()]
            assert inflight.held <= 100
        while tasks:  # each that has its share lets it go: the others come to theirs
            await asyncio.sleep(0)
            tasks = [task for task in tasks if not task.done()]
        del task
        return inflight.held

    assert asyncio.run(run()) == 0 if steps else True


@pytest.mark.slow
async def test_the_wait_for_room_is_not_the_servers(monkeypatch):
    monkeypatch.setattr(exchange, "SPEED_GRACE", 0.01)
    config = configured(
        total_timeout=1.0, min_bytes_per_second=1000, max_body=MB, max_bytes_in_flight=MB
    )

    async def speak(_):
        yield HEAD % MB + bytes(MB)

    async with speaking(speak) as port, Client(config, time.time) as client:
        share = client.inflight.draw(MB)
        task = asyncio.create_task(
            client.get(f"http://127.0.0.1:{port}/", exchange.page_limits(config))
        )
        began = time.monotonic()
        await somebody_waits(client.inflight)
        await asyncio.sleep(1.3)
        assert not task.done()
        del share
        answer = await task
        assert time.monotonic() - began > 1.2
        assert (answer.kind, len(answer.body), answer.truncated) == (Kind.FETCHED, MB, False)
        assert answer.elapsed < 1.0
        assert client.inflight.held == MB
        del answer, task
        await asyncio.sleep(0)  # the loop itself lets go of the task
        assert client.inflight.held == 0


async def test_a_small_body_does_not_wait_and_a_cancelled_one_leaves_nothing():
    config = configured(max_body=MB, max_bytes_in_flight=MB)

    async def speak(target):
        yield HEAD % int(target[1:]) + bytes(int(target[1:]))

    async with speaking(speak) as port, Client(config, time.time) as client:
        share = client.inflight.draw(MB)
        url, limits = f"http://127.0.0.1:{port}/", exchange.page_limits(config)
        assert len((await client.get(f"{url}{FREE}", limits)).body) == FREE
        task = asyncio.create_task(client.get(f"{url}{FREE + 1}", limits))
        await somebody_waits(client.inflight)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        del share
        assert client.inflight.draw(MB).size == MB


@pytest.mark.slow
async def test_many_hosts_with_large_bodies_at_once():
    """A consumer that is slow, sixty hosts of two megabytes each, a budget of eight."""
    budget, size, hosts = 8 * MB, 2 * MB, 60
    config = Config(
        fetch=Fetch(allow_private=True, max_body=4 * MB, max_bytes_in_flight=budget),
        runtime=Runtime(batch_bytes=MB, batch_seconds=0.02),
    )

    async def speak(target):
        if target == "/robots.txt":
            yield b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"
        elif int(target[1:]) % 2:
            yield HEAD % size + bytes(size)
        else:
            yield b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
            for _ in range(size // 65536):
                yield b"10000\r\n" + bytes(65536) + b"\r\n"
            yield b"0\r\n\r\n"

    class Slow(Collected):
        async def emit(self, batch, delivery):
            await asyncio.sleep(0.01)
            self.sizes.append(0 if batch is None else batch.nbytes)
            self.deliveries.append(delivery)

    class Server:
        def url(self, target, name):
            return f"http://{name}:{port}{target}"

    got = Slow()
    got.sizes = []
    began = time.monotonic()
    async with speaking(speak, host="0.0.0.0") as port, Client(config, time.time) as client:
        work = lease(*(host(Server(), number, 2) for number in range(1, hosts + 1)))
        await serve(work, client, config, clock=time.time, emit=got.emit)
        held, most = client.inflight.held, client.inflight.most
    assert sum(got.sizes) > hosts * 2 * size
    assert (held, most <= budget) == (0, True)
    assert most > budget / 2
    figure("fetch: bytes in flight", "60 hosts, 2 bodies of 2 MiB each, budget 8 MiB",
           seconds=time.monotonic() - began, peak_MiB=most / MB)  # fmt: skip
