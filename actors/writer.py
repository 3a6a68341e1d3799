"""The writer of one shard's rows: acknowledges what is durable. Knows nothing of Ray."""

import asyncio
import time
from collections.abc import Callable

import pyarrow as pa

from actors.orphan import end_with_parent
from crawler.config import Dataset
from crawler.dataset.journal import Journal
from crawler.dataset.output import Output
from crawler.errors import FencedError

# How often an open segment's age is looked at.
TICK_SECONDS = 5.0


class Writer:
    """Invariant: one call at a time touches the journal, in a thread, so that the actor goes on answering.

    The journal is opened when it is needed: by the first call in a new process, and by the next one after an error has
    closed it. What was left open before becomes segments then.
    """

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
        self._ticking: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"<Writer {self._shard}, epoch {self._journal.epoch}>"

    async def floor(self) -> int:
        """The newest epoch that the disk or the manifest knows; the shard's next one must be above it."""
        async with self._lock:
            return await asyncio.to_thread(self._journal.floor)

    async def open(self, epoch: int) -> None:
        """Shuts out older epochs; what an earlier process left open becomes segments. Idempotent."""
        async with self._lock:
            await self._open(epoch)

    async def append(self, epoch: int, batch: int, rows: pa.RecordBatch) -> int:
        """Makes rows durable; returns the sequence number of their segment. Idempotent by (epoch, batch)."""
        async with self._lock:
            await self._open(epoch)
            return await asyncio.to_thread(self._journal.append, epoch, batch, rows, self._clock())

    async def seal(self) -> None:
        """Whatever was ever acknowledged, by an earlier process too, can be read as segments."""
        async with self._lock:
            await self._open()
            await asyncio.to_thread(self._journal.seal, self._clock())

    async def close(self) -> None:
        """Seals and stops."""
        async with self._lock:
            await self._open()
            await asyncio.to_thread(self._journal.close, self._clock())
            # While the lock is held the tick sleeps or waits for it: no thread of its own is left at work.
            if self._ticking is not None:
                self._ticking.cancel()
                self._ticking = None

    async def _open(self, epoch: int | None = None) -> None:
        """Opens the journal if need be, in `epoch` or in its newest one; raises what the tick ended with."""
        ticking = self._ticking
        if ticking is not None and ticking.done():
            self._ticking = None
            ticking.result()
        at = self._journal.epoch
        if epoch is None:
            epoch = await asyncio.to_thread(self._journal.floor) if at is None else at
        if at is not None and epoch < at:
            # The journal would close before it says so, and that would hit the incarnation that has it.
            message = f"shard {self._shard}: epoch {epoch} is over, epoch {at} has the journal"
            raise FencedError(message)
        if epoch != at:
            await asyncio.to_thread(self._journal.open, epoch, self._clock())
        if self._ticking is None:
            self._ticking = asyncio.create_task(self._tick())

    async def _tick(self) -> None:
        """Ends with the first error, which the next caller gets."""
        while True:
            await asyncio.sleep(TICK_SECONDS)
            async with self._lock:
                await asyncio.to_thread(self._journal.tick, self._clock())


class WriterActor(Writer):
    """A writer as an actor. It stands here because a process imports the module that its actor is from."""

    def __init__(self, shard: int, output: Output, config: Dataset) -> None:
        end_with_parent()
        super().__init__(shard, output, config)
