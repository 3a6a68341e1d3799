"""A shard's leases: how many, how large, how long; and what becomes of each. Knows nothing of Ray.

A lease is small when few hosts are ready and then ends soon, so that what is found meanwhile does not wait for it.
Hosts that are slow or have failed are leased apart from the others, in fetch tasks of which there is a number of their
own; a lease that is long past its deadline, because a host is slow that nobody knew to be, counts among those. So ten
hosts that take minutes to answer hold up each other, and no one else.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from actors.pipeline import Pipeline
from actors.spec import ShardSpec
from actors.work import Handle, LostError, Peers, Work
from crawler.fetch.columns import unfetched
from crawler.frontier.frontier import Frontier
from crawler.frontier.lease import Content, Delivery, HostLease, Lease
from crawler.frontier.politeness import SLOW_SECONDS
from crawler.outcomes import PAGES, Kind

log = logging.getLogger(__name__)

# The shortest lease, in seconds: what one host alone gets.
SHORTEST = 2.0
# URLs of hosts that are given up are closed in batches of this many rows.
HOPELESS_ROWS = 2_000


class Permits:
    """A shard's share of the budget of pages.

    Invariant: leased, in hand and fetched together never exceed what was granted.
    """

    def __init__(self, peers: Peers, fetched: int, limited: bool) -> None:
        self._peers = peers
        self._limited = limited
        self.fetched = fetched
        self._leased = 0
        self._in_hand = 0

    async def available(self, wanted: int) -> int:
        """How many URLs may be leased now, at most `wanted`."""
        if not self._limited:
            return wanted
        self._in_hand = min(wanted, self._in_hand)  # others may need the rest
        held = self.fetched + self._leased + self._in_hand
        granted = await self._peers.draw(held, wanted - self._in_hand)
        self._in_hand += granted  # to what it is now: batches came back meanwhile
        return min(wanted, self._in_hand)

    async def give_back(self) -> None:
        """Nothing can be asked here now: others may need the pages in hand, or to know what this shard has used."""
        if self._limited:
            self._in_hand = 0
            await self._peers.draw(self.fetched + self._leased, 0)

    def lease(self, urls: int) -> None:
        """`urls` are on their way."""
        self._leased += urls
        self._in_hand -= urls

    def back(self, urls: int, pages: int = 0) -> None:
        """`urls` are no longer on their way; `pages` of them became pages."""
        self._leased -= urls
        self._in_hand += urls - pages
        self.fetched += pages


class Leases:
    """Invariant: a leased URL is in exactly one of: an open lease, a batch in the pipeline, or back in the queue.

    `changed`: something happened that `more` should see. `held`: what is ready waits for that, not for its moment.
    """

    def __init__(
        self,
        spec: ShardSpec,
        work: Work,
        frontier: Frontier,
        pipeline: Pipeline,
        permits: Permits,
        clock: Callable[[], float],
    ) -> None:
        self._runtime = spec.config.runtime
        self._plan = spec.plan
        self._work = work
        self._frontier = frontier
        self._pipeline = pipeline
        self._permits = permits
        self._clock = clock
        self._room = asyncio.Semaphore(spec.plan.batches)
        self._tasks: set[asyncio.Task[None]] = set()
        self._open: dict[int, tuple[float, bool]] = {}  # deadline, apart
        self._failure: BaseException | None = None
        self.changed = asyncio.Event()
        self.held = False
        self.lost = 0
        self.answers = 0
        self.counters: Counter[str] = Counter()

    def __repr__(self) -> str:
        return f"<Leases {self.open} open, {self.batches} batches, {self.lost} lost>"

    @property
    def open(self) -> int:
        """Fetch tasks under way."""
        return len(self._open)

    @property
    def batches(self) -> int:
        """Batches between fetch and settle."""
        return len(self._tasks) - self.open

    @property
    def empty(self) -> bool:
        """Nothing is under way."""
        return not self._tasks

    def full(self, *, apart: bool) -> bool:
        """As many leases of this kind are open as the plan allows."""
        plan = self._plan
        # With no room for batches a lease may be late because of us.
        limit = 0.0 if self._room.locked() else self._clock() - SLOW_SECONDS
        late = sum(alone or deadline < limit for deadline, alone in self._open.values())
        if apart:
            return late >= plan.late
        return self.open - late >= plan.leases or self.open >= plan.leases + plan.late

    async def more(self, *, stopping: bool) -> None:
        """Opens as many leases as the plan and the frontier allow; closes the URLs of hopeless hosts.

        Raises what a lease or a batch failed with, if it was not a loss.
        """
        if self._failure is not None:
            raise self._failure
        self.held = stopping or self._room.locked()
        if stopping:
            return
        self._close_hopeless()
        await self._open_all(apart=False)
        await self._open_all(apart=True)
        now = self._clock()
        if not any(self._frontier.ready(now, apart=apart) for apart in (False, True)):
            await self._permits.give_back()

    def next_ready(self) -> float | None:
        """The next moment at which `more` may find something to do; `None`: not before something happens."""
        return self._frontier.next_ready(
            self._clock(), common=not self.full(apart=False), apart=not self.full(apart=True)
        )

    async def _open_all(self, *, apart: bool) -> None:
        while not self.full(apart=apart) and self._frontier.ready(self._clock(), apart=apart):
            wanted = min(self._runtime.lease_urls, self._frontier.queued + self._frontier.due)
            urls = await self._permits.available(wanted) if wanted else 0
            lease = self._lease(urls, apart) if urls or self._frontier.errands else None
            if lease is None:
                self.held = self.held or urls < min(1, wanted)
                return
            self._permits.lease(lease.size)
            self._open[lease.number] = lease.deadline, apart
            self._start(self._serve(lease))

    def _lease(self, urls: int, apart: bool) -> Lease | None:
        now, runtime = self._clock(), self._runtime
        share = self._frontier.ready(now, apart=apart) / runtime.lease_hosts
        seconds = min(runtime.lease_seconds, max(SHORTEST, share * runtime.lease_seconds))
        return self._frontier.lease(
            now,
            deadline=now + seconds,
            max_hosts=runtime.lease_hosts,
            max_urls=urls,
            apart=apart,
        )

    async def _serve(self, lease: Lease) -> None:
        """Follows one fetch task to its end; what it did not answer for goes back to the queue."""
        keys = {url.key for host in lease.hosts for url in host.urls}
        hosts = {host.host for host in lease.hosts}
        try:
            async for batch, delivery in self._work.fetch(lease):
                self._take(delivery, keys, hosts)
                if delivery.keys:
                    keys.difference_update(delivery.keys)
                    await self._room.acquire()
                    leased = len(delivery.keys)
                    self._start(self._push(batch, delivery.keys, delivery.contents, leased))
        except LostError as error:
            self.lost += 1
            log.warning("lease %d lost, its URLs are leased again: %s", lease.number, error)
        finally:
            del self._open[lease.number]
            self._frontier.abandon(keys)
            self._frontier.release(hosts, self._clock())
            self._permits.back(len(keys))

    def _take(self, delivery: Delivery, keys: set[int], hosts: set[str]) -> None:
        now = self._clock()
        self._frontier.report(delivery.reports, now)
        self.counters["requests"] += delivery.requests
        self.counters["robots_fetched"] += delivery.robots_fetched
        for report in delivery.reports:
            self.answers += report.successes
            hosts.discard(report.host)
            back = {*report.unused, *(retry.key for retry in report.retries)}
            keys.difference_update(back)
            self._permits.back(len(back))
        self.changed.set()

    async def _push(
        self,
        batch: Handle,
        keys: tuple[int, ...],
        contents: Sequence[Content | None],
        permits: int,
    ) -> None:
        """Takes one batch to the end. A lost batch's URLs go back to the queue. `permits`: what it was leased with."""
        try:
            counters = await self._pipeline.push(batch, contents)
            self._permits.back(permits, sum(counters[f"rows.{kind}"] for kind in PAGES))
        except LostError as error:
            log.warning("a batch of %d URLs was lost, they are leased again: %s", len(keys), error)
            self._frontier.abandon(keys)
            self._permits.back(permits)
        finally:
            self._room.release()

    def _close_hopeless(self) -> None:
        """Rows for the URLs of given-up hosts, made here: there is nothing to fetch."""
        closed = self._frontier.hopeless(HOPELESS_ROWS) if not self._room.locked() else []
        if closed:
            self._start(self._close(closed))

    async def _close(self, closed: list[tuple[HostLease, Kind, str]]) -> None:
        batch = unfetched(closed, self._clock())
        keys = tuple(batch.column("key").to_pylist())
        await self._room.acquire()
        await self._push(await self._work.gave_up(batch), keys, [None] * len(keys), permits=0)

    def _start(self, step: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(step)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self.changed.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            self._failure = self._failure or error

    async def cancel(self) -> None:
        """Drops everything under way; what is lost is leased again after a restart."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
