"""A whole crawl in one process and one loop: the real shards, writers and tasks, with plain calls where Ray would be.

`Faults` says what goes wrong; a crawl whose block is left before `end` ends like a killed one: nothing is settled,
sealed or handed back any more.
"""

import asyncio
from collections import Counter
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import pyarrow.dataset as pads

from actors import tasks
from actors.directory import Directory
from actors.plan import plan
from actors.ring import Ring
from actors.shard import Shard
from actors.sowing import parcels
from actors.spec import ShardSpec
from actors.watch import Ending, Watch, total
from actors.work import LostError
from actors.writer import Writer
from crawler.dataset import manifest
from crawler.dataset.output import Output
from crawler.errors import OutputError
from crawler.fetch.client import Client
from crawler.fetch.columns import EMPTY
from crawler.fetch.serve import serve
from crawler.url.admit import Admission
from jobs.claiming import leave_other_layouts
from tests.clock import CLOCK, now

# Between two rounds of statistics.
POLL_SECONDS = 0.02
_runs = count()


class Faults:
    """What goes wrong.

    `lose_streams`, `lose_batches`: so many of the first ones. `poison`: parsers that meet this URL
    crash.
    `silent_after`: from so many rows on appends are durable, but nobody is told of it. `full_after`: from so many rows
    on the disk is full, which is told when the crawl is being stopped.
    """

    def __init__(
        self, lose_streams=0, lose_batches=0, poison=None, silent_after=None, full_after=None
    ):
        self.lose_streams = lose_streams
        self.lose_batches = lose_batches
        self.poison = poison
        self.silent_after = silent_after
        self.full_after = full_after
        self.happened = Counter()

    def due(self, fault):
        """Whether one of the faults of this kind happens now."""
        left = getattr(self, fault)
        if left:
            setattr(self, fault, left - 1)
            self.happened[fault] += 1
        return bool(left)


class LocalWork:
    """`Work` by plain calls."""

    def __init__(self, config, seeds, client, faults):
        self._config = config
        self._packed = tasks.pack(config, seeds, CLOCK)
        self._run = f"run-{next(_runs)}"
        self._client = client
        self._faults = faults

    async def fetch(self, lease):
        pairs = asyncio.Queue(maxsize=2)

        async def emit(batch, delivery):
            await pairs.put((EMPTY if batch is None else batch, delivery))

        serving = asyncio.create_task(
            serve(lease, self._client, self._config, clock=now, emit=emit)
        )
        try:
            ended = False
            while not ended:
                batch, delivery = await pairs.get()
                # What was served is lost: the URLs of this batch, and all that come after it.
                if delivery.keys and self._faults.due("lose_streams"):
                    message = "the stream broke off"
                    raise LostError(message)
                ended = delivery.end
                yield batch, delivery
            await serving
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)

    async def parse(self, batch, duplicates, source):
        await asyncio.sleep(0)
        if self._faults.due("lose_batches"):
            message = "the batch is gone"
            raise LostError(message)
        # A first try that would take this process down is not made.
        crashed = self._faults.poison in batch.column("url").to_pylist()
        if crashed:
            self._faults.happened["crash"] += 1
        return tasks.parse(batch, self._run, self._packed, duplicates, source, apart=crashed)

    async def gave_up(self, batch):
        return batch


class LocalPeers:
    """`Peers` by plain calls."""

    def __init__(self, number, crawl):
        self._number = number
        self._crawl = crawl
        self._epoch = -1

    async def register(self, epoch_floor):
        floor = max(epoch_floor, await self._crawl.writers[self._number].floor())
        self._epoch = await self._crawl.directory.register(self._number, floor)
        return self._epoch

    async def open_writer(self):
        await self._crawl.writers[self._number].open(self._epoch)

    async def seal(self):
        await asyncio.gather(*(writer.seal() for writer in self._crawl.writers))

    async def add_links(self, shard, sequence, links):
        return await self._crawl.shards[shard].add_links(self._number, self._epoch, sequence, links)

    async def first_with(self, shard, contents):
        return await self._crawl.shards[shard].first_with(contents)

    async def post(self, shard, mail):
        await self._crawl.shards[shard].post(mail)

    async def append(self, batch, rows):
        await self._crawl.may_append()
        sequence = await self._crawl.writers[self._number].append(self._epoch, batch, rows)
        await self._crawl.appended(rows.num_rows)
        return sequence

    async def draw(self, granted, want):
        return await self._crawl.directory.draw(self._number, granted, want)


class LocalCrawl:
    """The graph of `actors.crawl`, without Ray."""

    def __init__(self, config, seeds, out: Path, client, faults):
        shards = config.runtime.shards
        self.config, self.seeds, self.faults = config, tuple(seeds), faults
        self.output = Output.open(str(out))
        leave_other_layouts(self.output, config, now())
        floor = max((name.epoch for name in manifest.names(self.output)), default=0)
        self.directory = Directory(shards, floor, config.budget.max_pages)
        self.rows = 0
        self._written = asyncio.Condition()
        self._faulty, self._stopping = asyncio.Event(), asyncio.Event()
        work = LocalWork(config, self.seeds, client, faults)
        shape = plan(4, shards)
        self.writers = [Writer(n, self.output, config.dataset) for n in range(shards)]
        self.shards = [
            Shard(ShardSpec(n, shards, config, self.seeds, self.output, shape, "run", CLOCK))
            for n in range(shards)
        ]
        self.runs = [
            asyncio.create_task(shard.run(work, LocalPeers(n, self)))
            for n, shard in enumerate(self.shards)
        ]

    async def sow(self):
        """Gives the seeds to their shards, once these are restored."""
        owners = Ring(len(self.shards)).owners
        sown = parcels(self.seeds, Admission(self.config, self.seeds), owners)
        for sequence, (owner, links) in enumerate(sown):
            await self._while_it_runs(self.shards[owner].add_links(-1, 0, sequence, links))

    async def until_restored(self):
        """Until every shard has taken in what the journal has."""
        ready = asyncio.gather(*(shard._ready.wait() for shard in self.shards))
        await self._while_it_runs(ready)

    async def appended(self, rows):
        """Some rows are durable; holds the news back for ever where the fault is due."""
        async with self._written:
            self.rows += rows
            self._written.notify_all()
        if self.faults.silent_after is not None and self.rows >= self.faults.silent_after:
            self._faulty.set()
            await asyncio.Event().wait()

    async def may_append(self):
        """Whether the disk takes more rows; raises where it does not."""
        if self.faults.full_after is not None and self.rows >= self.faults.full_after:
            self._faulty.set()
            await self._stopping.wait()
            message = "no space"
            raise OutputError(message)

    async def until_rows(self, rows):
        """Until this crawl has made so many rows durable."""

        async def enough():
            async with self._written:
                await self._written.wait_for(lambda: self.rows >= rows)

        await self._while_it_runs(enough())

    async def until_requests(self, more):
        """Until so many more requests for URLs have been made, answered or not."""
        goal = self._requests + more

        async def enough():
            while True:
                if self._requests >= goal:
                    return
                await asyncio.sleep(POLL_SECONDS)

        await self._while_it_runs(enough())

    @property
    def _requests(self):
        return sum(shard._leases.counters["requests"] for shard in self.shards)

    async def until_faulty(self):
        """Until one of the faults that wait for a number of rows has happened."""
        await self._while_it_runs(self._faulty.wait())

    async def _while_it_runs(self, step):
        """A step's end, or what a shard failed with meanwhile."""
        step = asyncio.ensure_future(step)
        done, _ = await asyncio.wait([step, *self.runs], return_when=asyncio.FIRST_COMPLETED)
        if step not in done:
            step.cancel()
            for run in done:
                run.result()
        return await step

    async def stats(self):
        return [await shard.stats() for shard in self.shards]

    async def until_over(self):
        """Watches until the crawl ends by itself; returns why."""
        watch = Watch(self.config, now())
        while True:
            for run in self.runs:
                if run.done():
                    run.result()
            verdict = watch.verdict(await self.stats(), now())
            if verdict:
                return verdict
            if watch.news:
                await asyncio.gather(*(shard.last_call(watch.last_call) for shard in self.shards))
            if watch.cut_off_news:
                await asyncio.gather(*(shard.cut_off(watch.cut_off) for shard in self.shards))
            await asyncio.sleep(POLL_SECONDS)

    async def end(self):
        """Stops and closes everything in order; returns the totals."""
        await asyncio.gather(*(shard.stop() for shard in self.shards))
        self._stopping.set()
        await self._while_it_runs(self._until_stopped())
        totals = total(await self.stats())
        for shard in self.shards:
            shard._frontier.check()
        await asyncio.gather(*(writer.close() for writer in self.writers))
        await asyncio.gather(*(shard.close() for shard in self.shards))
        return totals

    async def _until_stopped(self):
        stats = await self.stats()
        while not all(shard.stopped for shard in stats):
            await asyncio.sleep(POLL_SECONDS)
            stats = await self.stats()

    async def finish(self):
        """Crawls to the end; returns the totals."""
        ending = await self.until_over()
        assert ending is Ending.COMPLETE, ending
        return await self.end()

    async def kill(self):
        """Ends every task where it stands, and lets go of the databases as the end of a process would."""
        tasks_ = [*self.runs, *(w._ticking for w in self.writers if w._ticking)]
        for task in tasks_:
            task.cancel()
        await asyncio.gather(*tasks_, return_exceptions=True)
        if tasks._kept is not None:
            tasks._kept.apart.close()
        for shard in self.shards:
            await shard.close()


@asynccontextmanager
async def local_crawl(config, seeds, out, faults=None):
    """A running crawl in this process, its seeds sown. What is not ended when the block is left is killed."""
    async with Client(config, now) as client:
        crawl = LocalCrawl(config, seeds, out, client, faults or Faults())
        try:
            await crawl.sow()
            yield crawl
        finally:
            await crawl.kill()


def rows_of(out, *columns):
    """The rows of an output, as tuples."""
    table = pads.dataset(Path(out, "pages"), exclude_invalid_files=False).to_table(list(columns))
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))
