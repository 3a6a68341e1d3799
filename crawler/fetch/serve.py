"""A whole lease: its hosts served side by side, their outcomes handed on in batches.

Thin: when to ask is `HostVisit`'s decision, how is `Client`'s. It must not know threads, Ray or the
shard.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pyarrow as pa

from crawler.config import Config
from crawler.fetch import columns, exchange
from crawler.fetch.client import Client
from crawler.fetch.columns import Row
from crawler.fetch.visit import Done, Get, HostVisit, Locate, Robots, Run, Wait
from crawler.frontier.lease import Delivery, HostLease, HostReport, Lease
from crawler.robots.product import product_token
from crawler.url.admit import Admission
from crawler.url.sitemaps import is_file

Emit = Callable[[pa.RecordBatch | None, Delivery], Awaitable[None]]


async def serve(
    lease: Lease, client: Client, config: Config, *, clock: Callable[[], float], emit: Emit
) -> None:
    """Serve all hosts of `lease`; `emit` gets each batch (`None`: empty) with its `Delivery`.

    The last delivery says `end`. While `emit` blocks, at most two batches are kept besides what is
    on the wire, and no request starts. Cancelling it leaves no task and no request behind.
    """
    outbox = _Outbox(config, emit)
    service = _Service(lease, client, config, clock, outbox)
    try:
        async with asyncio.TaskGroup() as group:
            sender = group.create_task(outbox.run())
            visits = [group.create_task(service.visit(host)) for host in lease.hosts]
            if visits:
                await asyncio.wait(visits)
            outbox.close()
            await sender
    finally:
        outbox.drop()


class _Service:
    """What the visits of one lease share."""

    def __init__(
        self,
        lease: Lease,
        client: Client,
        config: Config,
        clock: Callable[[], float],
        outbox: "_Outbox",
    ) -> None:
        self._deadline = lease.deadline
        self._excused = lease.excused
        self._client = client
        self._config = config
        self._clock = clock
        self._outbox = outbox
        self._token = product_token(config.user_agent)
        self._rekey = Admission(config, ()).rekey
        self._page_limits = exchange.page_limits(config)
        self._sitemap_limits = exchange.sitemap_limits(config)
        self._robots_limits = exchange.robots_limits(config)

    async def visit(self, host: HostLease) -> None:
        """Serve one host to its end: one request at a time."""
        visit = HostVisit(
            host, self._deadline, self._config, self._token, self._rekey, excused=self._excused
        )
        while True:
            await self._outbox.room()  # first, so that the moment is judged after the wait
            action = visit.next(self._clock())
            if isinstance(action, Wait):
                await asyncio.sleep(action.until - self._clock())
            elif not isinstance(action, Done):
                await self._ask(visit, action)
            self._hand_over(host, visit)
            if isinstance(action, Done):
                break
        self._outbox.report(visit.report())

    def _hand_over(self, host: HostLease, visit: HostVisit) -> None:
        """Apart, so that nothing here holds an answer while the host waits for its next turn."""
        for final in visit.take():
            self._outbox.put(columns.row(host, final))

    async def _ask(self, visit: HostVisit, action: Get | Robots | Run | Locate) -> None:
        if isinstance(action, Locate):
            visit.located(await self._client.locate(action.host))
            return
        if not isinstance(action, Get):
            self._outbox.robots_fetched += 1
            answer = await self._client.get(action.url, self._robots_limits)
            if isinstance(action, Robots):
                visit.robots_answer(action.origin, answer)
            else:
                visit.run_answer(answer)
            return
        leased = action.leased
        self._outbox.requests += 1
        discover = self._config.sitemaps.discover
        listed = is_file(leased.url, leased.found_via, discover=discover)
        limits = self._sitemap_limits if listed else self._page_limits
        answer = await self._client.get(
            leased.url, limits, etag=leased.etag, last_modified=leased.last_modified
        )
        visit.answered(leased, answer)


class _Outbox:
    """Outcomes and reports on their way out, in the order they came; bounded by two batches.

    So a host's report never overtakes the outcomes of its URLs.
    """

    def __init__(self, config: Config, emit: Emit) -> None:
        self.requests = 0
        self.robots_fetched = 0
        self._batch_bytes = config.runtime.batch_bytes
        self._batch_seconds = config.runtime.batch_seconds
        self._emit = emit
        self._waiting: deque[Row | HostReport] = deque()
        self._size = 0
        self._closed = False
        self._anything = asyncio.Event()
        self._enough = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()

    async def room(self) -> None:
        """Return once another answer may be taken."""
        await self._room.wait()

    def put(self, row: Row) -> None:
        """Take one outcome."""
        self._waiting.append(row)
        self._resize(row.size)
        self._anything.set()

    def report(self, report: HostReport) -> None:
        """Take the last word on a host."""
        self._waiting.append(report)
        self._anything.set()

    def close(self) -> None:
        """Nothing more will come."""
        self._closed = True
        self._anything.set()
        self._enough.set()

    def drop(self) -> None:
        """Hold nothing any more; asyncio may keep the frames of a cancelled lease until the collector comes by."""
        self._waiting.clear()

    async def run(self) -> None:
        """Emit when a batch is full or its first outcome or report is `batch_seconds` old."""
        end = False
        while not end:
            await self._anything.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._batch_seconds):
                    await self._enough.wait()
            end = await self._send()

    async def _send(self) -> bool:
        """Emit one batch; whether it was the last. The rows, and the bytes they hold, go with it."""
        rows, reports = self._cut()
        end = self._closed and not self._waiting
        batch = columns.batch(rows) if rows else None
        delivery = Delivery(
            keys=tuple(row.final.leased.key for row in rows),
            contents=columns.contents(rows),
            reports=tuple(reports),
            requests=self.requests,
            robots_fetched=self.robots_fetched,
            end=end,
        )
        self.requests = self.robots_fetched = 0
        try:
            await self._emit(batch, delivery)
        finally:
            rows.clear()
        return end

    def _cut(self) -> tuple[list[Row], list[HostReport]]:
        """The next batch: so many rows as reach `batch_bytes`, and the reports among them."""
        rows: list[Row] = []
        reports: list[HostReport] = []
        size = 0
        while self._waiting and size < self._batch_bytes:
            first = self._waiting.popleft()
            if isinstance(first, Row):
                rows.append(first)
                size += first.size
            else:
                reports.append(first)
        self._resize(-size)
        if not self._waiting and not self._closed:
            self._anything.clear()
        return rows, reports

    def _resize(self, change: int) -> None:
        self._size += change
        _set(self._enough, self._closed or self._size >= self._batch_bytes)
        _set(self._room, self._size < 2 * self._batch_bytes)


def _set(event: asyncio.Event, value: bool) -> None:
    if value:
        event.set()
    else:
        event.clear()
