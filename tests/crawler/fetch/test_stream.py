"""The sync generator over the loop that outlives it."""

import _thread
import asyncio
import signal
import subprocess
import sys
import time
from contextlib import closing
from threading import Thread, Timer

import pyarrow as pa
import pytest

from crawler.config import Config, Fetch, Runtime
from crawler.fetch import stream as module
from crawler.fetch.fetched import FETCHED
from crawler.fetch.stream import stream
from crawler.frontier.lease import Delivery, HostLease, Lease, LeasedUrl
from tests.crawler.fetch.raw_server import reply, serving

CONFIG = Config(fetch=Fetch(allow_private=True), runtime=Runtime(batch_seconds=0.02))


class ServerThread:
    """A `RawServer` in a loop of its own: the test's own thread is the consumer."""

    def __init__(self, answer):
        self._answer = answer

    def __enter__(self):
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever)
        self._thread.start()
        self._serving = serving(self._answer)
        self.server = self._run(self._serving.__aenter__())
        return self

    def __exit__(self, *failure):
        self._run(self._serving.__aexit__(None, None, None))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(5)

    def was_asked(self):
        self._run(self.server.was_asked.wait())

    def lease(self, count, number=1):
        origin = self.server.url("")
        urls = tuple(
            LeasedUrl(n, f"{origin}/{n}", 0, 0, 0, 0, 0, None, "seed") for n in range(count)
        )
        host = HostLease("127.0.0.1", "127.0.0.1", 3, 0.0, 0.0, (), urls)
        return Lease(number, 0, 1, time.time() + 20, (host,))


def page(_):
    return reply(b"<p>")


def test_batches_and_deliveries_come_in_turns_and_the_last_says_end():
    with ServerThread(page) as served:
        got = list(stream(served.lease(5), CONFIG, time.time))
    batches, deliveries = got[::2], got[1::2]
    assert all(isinstance(batch, pa.RecordBatch) for batch in batches)
    assert all(batch.schema == FETCHED for batch in batches)
    assert all(isinstance(given, Delivery) for given in deliveries)
    assert len(batches) == len(deliveries)
    assert [given.end for given in deliveries] == [False] * (len(deliveries) - 1) + [True]
    for batch, given in zip(batches, deliveries, strict=True):
        assert batch["key"].to_pylist() == list(given.keys)
    assert sorted(key for given in deliveries for key in given.keys) == [0, 1, 2, 3, 4]


def test_an_empty_lease_is_an_empty_batch_and_an_end():
    batch, given = stream(Lease(1, 0, 1, time.time(), ()), CONFIG, time.time)
    assert (batch.num_rows, batch.schema) == (0, FETCHED)
    assert given == Delivery((), (), (), 0, 0, end=True)


def test_connections_are_kept_from_lease_to_lease():
    with ServerThread(page) as served:
        for number in range(3):
            list(stream(served.lease(2, number), CONFIG, time.time))
        assert served.server.connections == 1


def test_closing_the_generator_ends_the_requests():
    def first_only(target):
        return reply(b"<p>") if target in ("/robots.txt", "/0") else b""

    with ServerThread(first_only) as served:
        with closing(stream(served.lease(3), CONFIG, time.time)) as given:
            next(given)
        left = asyncio.run_coroutine_threadsafe(_leases_served(), module._loop())
        assert left.result(5) == 0
        assert "/2" not in served.server.targets


async def _leases_served():
    """Tasks that still serve a lease, once those that were cancelled have had their turn."""
    ours = [task for task in asyncio.all_tasks() if "_serve" in repr(task.get_coro())]
    ours = [task for task in ours if "_leases_served" not in repr(task.get_coro())]
    await asyncio.wait([asyncio.ensure_future(asyncio.sleep(0))])
    if ours:
        await asyncio.wait(ours, timeout=2)
    return sum(not task.done() for task in ours)


@pytest.fixture
def interruptible():
    """As in the foreground of a terminal: a shell lets what it starts in the background ignore interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_reaches_a_consumer_that_waits():
    with ServerThread(lambda _: b"") as served:
        timer = Timer(0.05, _thread.interrupt_main)
        timer.start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            list(stream(served.lease(1), CONFIG, time.time))
        timer.join()
        assert time.monotonic() - began < 5


def test_a_consumer_that_pauses_stops_the_requests():
    config = CONFIG.model_copy(update={"runtime": Runtime(batch_bytes=4000, batch_seconds=0.02)})
    with ServerThread(lambda _: reply(b"x" * 3000)) as served:
        given = stream(served.lease(60), config, time.time)
        next(given)
        seen = -1
        while len(served.server.asked) != seen:
            seen = len(served.server.asked)
            time.sleep(0.05)
        assert seen < 20
        rest = [thing for thing in given if isinstance(thing, pa.RecordBatch)]
        assert sum(batch.num_rows for batch in rest) >= 60 - seen
        assert len(served.server.asked) == 61


def test_what_goes_wrong_inside_is_raised_outside():
    damaged = HostLease("a", "a", 0, 0.0, 0.0, ("not a record",), ())
    with pytest.raises(ExceptionGroup) as caught:
        list(stream(Lease(1, 0, 1, time.time(), (damaged,)), CONFIG, time.time))
    assert caught.group_contains(AttributeError)


@pytest.mark.slow
def test_a_process_with_open_connections_exits_quietly():
    code = """
import logging, time
from crawler.fetch.stream import stream
from crawler.frontier.lease import Lease
from crawler.config import Config
logging.getLogger("asyncio").setLevel(logging.ERROR)  # that a step is slow depends on the machine
given = stream(Lease(1, 0, 1, 0.0, ()), Config(), time.time)
next(given)
"""
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", code], capture_output=True, timeout=20, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
