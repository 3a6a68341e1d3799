"""One shard: owns the frontier of its slots, lends it out, and takes the outcomes back.

Knows nothing of Ray: the tasks, the peers and the clock come from outside. All methods run on one asyncio loop.
"""

import asyncio
import logging
import random
import shutil
from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa

from actors.courier import Courier
from actors.leasing import Leases, Permits
from actors.links import Outbox
from actors.pipeline import Pipeline
from actors.restore import restore
from actors.ring import Ring
from actors.spec import ShardSpec, ShardStats
from actors.work import Peers, Work
from crawler.errors import FencedError, StateError
from crawler.frontier.errands import Mail
from crawler.frontier.frontier import Frontier
from crawler.frontier.lease import Content
from crawler.outcomes import PAGES

log = logging.getLogger(__name__)

# After something happened a shard waits this long for more: one lease of many hosts costs less than many leases.
GATHER_SECONDS = 0.03
# The longest sleep: a bound, should no event and no moment end it.
REST_SECONDS = 1.0
# An old incarnation holds RocksDB's lock until its process is gone.
LOCK_SECONDS = 60.0


class Shard:
    """Invariant: everything accepted by `add_links` is in the frontier, which survives the process."""

    def __init__(self, spec: ShardSpec, clock: Callable[[], float] | None = None) -> None:
        self.spec = spec
        self._clock = clock or spec.clock.here()
        self._ring = Ring(spec.shards)
        self._work: Work
        self._peers: Peers
        self._frontier: Frontier
        self._leases: Leases
        self._outbox: Outbox
        self._courier: Courier
        self._ready = asyncio.Event()
        self._over = asyncio.Event()
        self._stopping = self._stopped = self._closing = False
        self._received = 0
        self._epochs: dict[int, int] = {}

    def __repr__(self) -> str:
        return f"<Shard {self.spec.number} of {self.spec.shards}>"

    async def run(self, work: Work, peers: Peers) -> None:
        """Restores the frontier and crawls until `close`; after `stop` it only ends what is under way.

        It does not return before that: a process that is started in place of this one must take up what it left.
        """
        self._work, self._peers = work, peers
        frontier = await self._open()
        self._frontier = frontier
        frontier.set_epoch(await self._peers.register(frontier.epoch))
        await self._peers.open_writer()
        await self._restore(frontier)
        self._compose(frontier)
        self._ready.set()
        try:
            await self._lend()
        finally:
            await self._leases.cancel()
            await self._courier.close()
            self._over.set()

    async def _lend(self) -> None:
        while not self._closing:
            stopping = self._stopping
            self._leases.changed.clear()
            self._courier.carry()
            await self._leases.more(stopping=stopping)
            self._stopped = stopping and self._leases.empty
            await self._rest()

    async def _open(self) -> Frontier:
        """The frontier of this shard's directory, once the process that had it before has let go of it."""
        spec = self.spec
        until = self._clock() + LOCK_SECONDS
        while True:
            now = self._clock()
            try:
                frontier = Frontier(
                    spec.state, spec.config, rng=random.Random(spec.number), now=now
                )
            except StateError as error:
                if "lock" not in str(error).lower() or now > until:
                    raise
                log.info("waiting for an earlier process to let go of %s", spec.state)
                await asyncio.sleep(0.1)
            else:
                if frontier.whole or frontier.fresh:
                    return frontier
                # A rebuild was cut off, and is begun again from nothing.
                frontier.close()
                await asyncio.to_thread(shutil.rmtree, spec.state)

    async def _restore(self, frontier: Frontier) -> None:
        spec = self.spec
        if not frontier.whole:
            # The rows of every shard name links of this one: all of them must be readable.
            await self._peers.seal()
        slots = self._ring.slots_of(spec.number)
        rows = await asyncio.to_thread(restore, frontier, spec, slots, self._clock)
        if rows:
            log.info("shard %d: took %d rows from the journal", spec.number, rows)

    def _compose(self, frontier: Frontier) -> None:
        spec = self.spec
        frontier.shard = spec.number
        self._outbox = Outbox(self._ring.owners, spec.number, self._deliver)
        self._courier = Courier(
            frontier.relay, self._ring.owners, spec.number, self._peers.post, self._clock
        )
        pipeline = Pipeline(
            self._work, self._peers, self._outbox, frontier, self._first_with, self._clock
        )
        fetched = sum(frontier.counters.get(f"rows.{kind}", 0) for kind in PAGES)
        permits = Permits(self._peers, fetched, limited=spec.config.budget.max_pages is not None)
        self._leases = Leases(spec, self._work, frontier, pipeline, permits, self._clock)

    async def _rest(self) -> None:
        """Sleeps until something happened, or until the next host is ready."""
        leases = self._leases
        at = None if leases.held else leases.next_ready()
        seconds = REST_SECONDS if at is None else min(REST_SECONDS, max(0.0, at - self._clock()))
        try:
            async with asyncio.timeout(seconds):
                await leases.changed.wait()
        except TimeoutError:
            return
        if leases.open:
            await asyncio.sleep(GATHER_SECONDS)

    async def add_links(
        self, source: int, epoch: int, sequence: int, links: pa.RecordBatch
    ) -> dict[str, int]:
        """Takes links (schema LINKS) for this shard's slots; returns counts by reason.

        Idempotent: the same links again are `known`. Raises `FencedError` for a source that has a newer incarnation.
        """
        await self._ready.wait()
        if epoch < self._epochs.setdefault(source, epoch):
            message = f"links {sequence} of shard {source}, epoch {epoch}: epoch {self._epochs[source]} is running"
            raise FencedError(message)
        self._epochs[source] = epoch
        self._received += 1
        counts = self._frontier.discover(links, self._clock())
        self._leases.changed.set()
        return counts

    async def post(self, mail: Sequence[Mail]) -> None:
        """Takes errands for hosts of this shard, and answers to those of its own. Idempotent."""
        await self._ready.wait()
        self._frontier.relay.post(mail, self._clock())
        self._leases.changed.set()

    async def first_with(self, contents: list[Content]) -> list[str | None]:
        """For each content: the URL that had it first, or `None` where that is this one. Idempotent."""
        await self._ready.wait()
        digests, keys, urls = zip(*contents, strict=True)
        return self._frontier.first_with(digests, keys, urls)

    async def _deliver(self, shard: int, sequence: int, links: pa.RecordBatch) -> Mapping[str, int]:
        if shard == self.spec.number:  # no message for what is at home
            return await self.add_links(shard, self._frontier.epoch, sequence, links)
        return await self._peers.add_links(shard, sequence, links)

    async def _first_with(self, shard: int, contents: list[Content]) -> list[str | None]:
        if shard == self.spec.number:
            return await self.first_with(contents)
        return await self._peers.first_with(shard, contents)

    async def stop(self) -> None:
        """No new leases; `stats` tells when the open ones have ended and their rows are written. Idempotent."""
        self._stopping = True
        await self._ready.wait()
        self._leases.changed.set()

    async def last_call(self, until: float | None) -> None:
        """The crawl waits for failing hosts and retries until then; `None`: as long as need be. Idempotent."""
        await self._ready.wait()
        self._frontier.last_call(until, self._clock())
        self._leases.changed.set()

    async def cut_off(self, moment: float) -> None:
        """The crawl has no network (0.0: it has one again): hosts that cannot be reached are excused. Idempotent."""
        await self._ready.wait()
        self._frontier.outage.tell(moment)

    async def close(self) -> None:
        """Ends `run` and closes the frontier; links can no longer come. Who never opened one has nothing to close."""
        if self._ready.is_set():
            self._ready.clear()
            self._closing = True
            self._leases.changed.set()
            await self._over.wait()
            self._frontier.close()

    async def stats(self) -> ShardStats:
        """What the shard is doing."""
        if not self._ready.is_set():
            return ShardStats(self.spec.number)
        frontier, leases, now = self._frontier, self._leases, self._clock()
        return ShardStats(
            number=self.spec.number,
            epoch=frontier.epoch,
            ready=True,
            idle=frontier.idle and leases.empty,
            stopped=self._stopped,
            sent=self._outbox.messages,
            received=self._received,
            stalled=frontier.stalled(now),
            next_ready=frontier.next_ready(now),
            answers=leases.answers,
            answered_at=frontier.outage.answered_at,
            cut_off_at=frontier.outage.cut_off_at,
            struck=frontier.outage.struck,
            leases=leases.open,
            batches=leases.batches,
            leases_lost=leases.lost,
            counters={**frontier.counters, **leases.counters},
            frontier=frontier.stats(now),
        )
