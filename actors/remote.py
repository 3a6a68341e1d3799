"""Every Ray call between the parts of a crawl. What Ray raises becomes `LostError` here."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import ray
from ray.exceptions import (
    NodeDiedError,
    ObjectLostError,
    OutOfMemoryError,
    OwnerDiedError,
    RayError,
    TaskCancelledError,
    WorkerCrashedError,
)

from actors import tasks
from actors.orphan import end_with_parent
from actors.shard import Shard
from actors.spec import ShardSpec
from actors.work import Facts, Handle, LostError, Source
from crawler.frontier.errands import Mail
from crawler.frontier.lease import Content, Delivery, Lease

# A stream that gives nothing for this long after its lease could have ended is dead: a report can get lost.
SILENCE_SECONDS = 180.0
# Objects that may lie between a fetch task and its shard: a batch and its delivery are two.
STREAM_WINDOW = 4

# How often a parse task is tried again when its process or node dies. Ray itself tries again, without end and with
# growing pauses, what it ended because memory was short: that passes, and the second try needs little.
PARSE_RETRIES = 2

_LOST = (
    NodeDiedError,
    ObjectLostError,
    OutOfMemoryError,
    OwnerDiedError,
    TaskCancelledError,
    WorkerCrashedError,
)

# A handle; Ray's own type says nothing of its methods.
Actor = Any


class Others(NamedTuple):
    """All actors of a crawl; shards and writers by number."""

    directory: Actor
    writers: list[Actor]
    shards: list[Actor]


class RayWork:
    """The stateless tasks, as Ray tasks."""

    def __init__(self, spec: ShardSpec) -> None:
        plan = spec.plan
        self._run = spec.run
        # In the store once: workers read it in place. Owned here, so that it is there again after a restart.
        self._clock = spec.clock.here()
        self._packed = ray.put(tasks.pack(spec.config, spec.seeds, spec.clock))
        self._silence = spec.config.fetch.total_timeout + SILENCE_SECONDS
        # A replayed stream is silently wrong (completion order differs), so Ray must never retry a fetch.
        self._fetch: Any = ray.remote(tasks.fetch).options(
            num_cpus=plan.fetch_cpus,
            max_retries=0,
            num_returns="streaming",
            _generator_backpressure_num_objects=STREAM_WINDOW,
        )
        self._parse: Any = ray.remote(parse).options(
            num_cpus=plan.parse_cpus, max_retries=PARSE_RETRIES, num_returns=2
        )

    async def fetch(self, lease: Lease) -> AsyncIterator[tuple[Handle, Delivery]]:
        """Serves a lease; see `Work.fetch`."""
        stream, ended = self._fetch.remote(lease, self._run, self._packed), False
        try:
            while not ended:
                batch = await self._next(stream, lease)
                delivery: Delivery = await (await self._next(stream, lease))
                ended = delivery.end
                yield batch, delivery
        except (RayError, StopAsyncIteration, TimeoutError) as error:
            raise LostError(_line(error)) from error
        finally:
            # One that said `end` ends by itself. A cancellation that crosses its end may be why Ray 2.60 once aborted
            # this process ("Tried to complete task that was not pending").
            if not ended:
                ray.cancel(stream)

    async def _next(self, stream: Any, lease: Lease) -> Any:
        silence = max(0.0, lease.deadline - self._clock()) + self._silence
        return await asyncio.wait_for(anext(stream), silence)

    async def parse(
        self, batch: Handle, duplicates: Mapping[int, str], source: Source
    ) -> tuple[Handle, Facts]:
        """Rows and facts of a batch; see `Work.parse`."""
        rows, facts = self._parse.remote(batch, self._run, self._packed, duplicates, source)
        try:
            return rows, await facts
        except _LOST as error:
            raise LostError(_line(error)) from error

    async def gave_up(self, batch: pa.RecordBatch) -> Handle:
        """Puts a batch where a parse task finds it."""
        return ray.put(batch)


def parse(
    batch: pa.RecordBatch, run: str, packed: Any, duplicates: Mapping[int, str], source: Source
) -> tuple[pa.RecordBatch, Facts]:
    """`tasks.parse` as a Ray task. Where the first try took its process with it, the others read every page apart.

    Whatever it died of: Ray says how often a task was tried, not why again. The rows are the same, only slower.
    """
    tries: int = ray.get_runtime_context().worker.core_worker.get_current_task_attempt_number()
    return tasks.parse(batch, run, packed, duplicates, source, apart=tries > 0)


def warm_up() -> None:
    """Does nothing, in a worker that has then imported what the tasks need."""


class RayPeers:
    """The directory, the writers and the other shards, through their handles.

    Handles stay valid when an actor's process is started again.
    """

    def __init__(self, number: int, others: Others) -> None:
        self._number = number
        self._others = others
        self._writer = others.writers[number]
        self._epoch = -1

    async def register(self, epoch_floor: int) -> int:
        """See `Peers.register`."""
        # The state may be gone where the rows are not: batches of an epoch that comes again would be taken for known.
        floor = max(epoch_floor, await again(self._writer.floor).remote())
        self._epoch = await again(self._others.directory.register).remote(self._number, floor)
        return self._epoch

    async def open_writer(self) -> None:
        """See `Peers.open_writer`."""
        await again(self._writer.open).remote(self._epoch)

    async def seal(self) -> None:
        """See `Peers.seal`."""
        await asyncio.gather(*(again(writer.seal).remote() for writer in self._others.writers))

    async def add_links(
        self, shard: int, sequence: int, links: pa.RecordBatch
    ) -> Mapping[str, int]:
        """See `Peers.add_links`."""
        counts: Mapping[str, int] = await again(self._others.shards[shard].add_links).remote(
            self._number, self._epoch, sequence, links
        )
        return counts

    async def first_with(self, shard: int, contents: list[Content]) -> list[str | None]:
        """See `Peers.first_with`."""
        firsts: list[str | None] = await again(self._others.shards[shard].first_with).remote(
            contents
        )
        return firsts

    async def post(self, shard: int, mail: Sequence[Mail]) -> None:
        """See `Peers.post`."""
        try:
            await again(self._others.shards[shard].post).remote(mail)
        except RayError as error:
            raise LostError(_line(error)) from error

    async def append(self, batch: int, rows: Handle) -> int:
        """See `Peers.append`."""
        sequence: int = await again(self._writer.append).remote(self._epoch, batch, rows)
        return sequence

    async def draw(self, granted: int, want: int) -> int:
        """See `Peers.draw`."""
        grant: int = await again(self._others.directory.draw).remote(self._number, granted, want)
        return grant


class ShardActor(Shard):
    """A shard as an actor: it makes its own ends of the wires."""

    def __init__(self, spec: ShardSpec) -> None:
        end_with_parent()
        super().__init__(spec)

    async def crawl(self, others: Others) -> None:
        """See `Shard.run`. Ray calls it again, with the same handles, in the process that replaces a dead one.

        The handles come here and not to the constructor, about whose arguments Ray 2.60 prints a warning (ray#53727).
        """
        await self.run(RayWork(self.spec), RayPeers(self.spec.number, others))


def again(method: Any) -> Any:
    """An idempotent method of an actor: Ray calls it again when the actor's process dies, however often that happens.

    Only such methods get this: with a default for the whole actor, a call that kills its actor would kill it for ever.
    """
    return method.options(max_task_retries=-1, enable_task_events=False)


def _line(error: BaseException) -> str:
    """An error of Ray in one line (its own have a page)."""
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0] if text else ''}"
