"""The writer of one shard's rows: acknowledges what is durable. Knows nothing of Ray."""

import asyncio
import time
from collections.abc import Callable

import pyarrow as pa

from crawler.config import Dataset
from crawler.dataset.journal import Journal
from crawler.dataset.output import Output

# How often an open segment's age is looked at.
TICK_SECONDS = 5.0


class Writer:
    """Invariant: one call at a time touches the journal, in a thread, so that the actor goes on answering."""

    def __init__(
        self,
        shard: int,
        output: Output,
        config: Dataset,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._shard = shard
        self._journal = Journal(output, shard, config)
        self._clock = clock
        self._lock = asyncio.Lock()
        self._epoch = -1
        self._ticking: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"<Writer {self._shard}, epoch {self._epoch}>"

    async def open(self, epoch: int) -> None:
        """Shuts out older epochs; what an earlier process left open becomes segments. Idempotent."""
        async with self._lock:
            await self._open(epoch)

    async def _open(self, epoch: int) -> None:
        if epoch != self._epoch:
            await asyncio.to_thread(self._journal.open, epoch, self._clock())
            self._epoch = epoch
        if self._ticking is None:
            self._ticking = asyncio.create_task(self._tick())

    async def append(self, epoch: int, batch: int, rows: pa.RecordBatch) -> int:
        """Makes rows durable; returns the sequence number of their segment. Idempotent by (epoch, batch).

        Opens the journal first where this process is a new one and has not been told yet.
        """
        async with self._lock:
            if self._epoch < epoch:
                await self._open(epoch)
            return await asyncio.to_thread(self._journal.append, epoch, batch, rows, self._clock())

    async def seal(self) -> None:
        """What was appended can be read as segments."""
        async with self._lock:
            if self._epoch >= 0:
                await asyncio.to_thread(self._journal.seal, self._clock())

    async def close(self) -> None:
        """Seals and stops."""
        if self._ticking is not None:
            self._ticking.cancel()
        async with self._lock:
            if self._epoch >= 0:
                await asyncio.to_thread(self._journal.close, self._clock())

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            async with self._lock:
                await asyncio.to_thread(self._journal.tick, self._clock())
