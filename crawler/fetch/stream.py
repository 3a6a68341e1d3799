"""The bridge from asyncio to a plain generator, for a task that may only be sync.

Loop, thread and client belong to the process and outlive the lease: connections, DNS answers and
imports are kept for the next one. It must not know Ray, nor what is in a batch.

The thread is a daemon: a worker process must be able to exit whatever its connections do. The loop
runs while the consumer is paused, so that clocks and time-outs go on meaning what they say.
"""

import asyncio
import atexit
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from queue import Empty, SimpleQueue
from threading import Thread

import pyarrow as pa

from crawler.config import Config
from crawler.fetch.client import Client
from crawler.fetch.columns import EMPTY
from crawler.fetch.serve import serve
from crawler.frontier.lease import Delivery, Lease

# Pairs of batch and delivery that wait for the consumer.
PENDING = 2

# Seconds between two looks for an interrupt: one that is set from another thread (as Ray's
# cancellation is) does not wake a thread that waits for a lock.
INTERRUPT_POLL = 0.25

Pair = tuple[pa.RecordBatch | None, Delivery]
Clock = Callable[[], float]

# By the configuration, which has no hash, and whose text is no key: it hides the secrets. Touched on
# the loop only.
_clients: list[tuple[Config, Clock, Client]] = []


def stream(lease: Lease, config: Config, clock: Clock) -> Iterator[pa.RecordBatch | Delivery]:
    """Serve a lease by a clock; yields a batch of `FETCHED` (perhaps empty) and its `Delivery`, in turns.

    The last delivery says `end`; a stream without it was lost. Closing the generator, or an
    interrupt, ends the requests at once. What goes wrong in `serve` is raised here.
    """
    loop = _loop()
    pairs: SimpleQueue[Pair | None] = SimpleQueue()
    slots = asyncio.Semaphore(PENDING)
    work = asyncio.run_coroutine_threadsafe(_serve(lease, config, clock, pairs, slots), loop)
    try:
        while (pair := _next(pairs)) is not None:
            loop.call_soon_threadsafe(slots.release)
            batch, delivery = pair
            yield EMPTY if batch is None else batch
            yield delivery
        work.result()
    finally:
        work.cancel()


async def _serve(
    lease: Lease,
    config: Config,
    clock: Clock,
    pairs: SimpleQueue[Pair | None],
    slots: asyncio.Semaphore,
) -> None:
    async def emit(batch: pa.RecordBatch | None, delivery: Delivery) -> None:
        await slots.acquire()
        pairs.put((batch, delivery))

    try:
        await serve(lease, await _client(config, clock), config, clock=clock, emit=emit)
    finally:
        pairs.put(None)


async def _client(config: Config, clock: Clock) -> Client:
    for known, same, client in _clients:
        if known == config and same is clock:
            return client
    client = await Client(config, clock).__aenter__()
    _clients.append((config, clock, client))
    return client


def _next(pairs: SimpleQueue[Pair | None]) -> Pair | None:
    while True:
        with suppress(Empty):
            return pairs.get(timeout=INTERRUPT_POLL)


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    Thread(target=loop.run_forever, name="fetch", daemon=True).start()
    atexit.register(_close, loop)
    return loop


def _close(loop: asyncio.AbstractEventLoop) -> None:
    """Say goodbye to the servers when the process ends, if that is quickly done."""

    async def close() -> None:
        while _clients:
            await _clients.pop()[-1].__aexit__(None, None, None)

    with suppress(TimeoutError):
        asyncio.run_coroutine_threadsafe(close(), loop).result(timeout=1.0)
