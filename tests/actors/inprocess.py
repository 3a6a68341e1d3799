"""A whole crawl in one process and one loop: the real shards, writers and tasks, with plain calls where Ray would be.

`Web` can be told to lose streams and batches and to crash parsers, at chosen moments.
"""

import asyncio
import time
from collections import Counter
from contextlib import asynccontextmanager
from pathlib import Path

from actors import tasks
from actors.directory import Directory
from actors.plan import plan
from actors.ring import Ring
from actors.shard import Shard
from actors.spec import ShardSpec
from actors.watch import Watch, total
from actors.work import BrokenError, LostError
from actors.writer import Writer
from crawler.dataset.output import Output
from crawler.fetch.client import Client
from crawler.fetch.columns import EMPTY
from crawler.fetch.serve import serve
from crawler.url.admit import Admission, Admitted


class Faults:
    """What goes wrong: `lose_streams`, `lose_batches` of the next ones; parsers that meet a URL with `poison` crash."""

    def __init__(self, lose_streams=0, lose_batches=0, poison=None):
        self.lose_streams = lose_streams
        self.lose_batches = lose_batches
        self.poison = poison
        self.happened = Counter()


class LocalWork:
    """`Work` by plain calls."""

    def __init__(self, config, seeds, client, faults):
        self._config = config
        self._packed = tasks.pack(config, seeds)
        self._run = f"run-{id(self)}"
        self._client = client
        self._faults = faults

    async def fetch(self, lease):
        pairs = asyncio.Queue(maxsize=2)

        async def emit(batch, delivery):
            await pairs.put((EMPTY if batch is None else batch, delivery))

        serving = asyncio.create_task(
            serve(lease, self._client, self._config, clock=time.time, emit=emit)
        )
        try:
            ended = False
            while not ended:
                batch, delivery = await pairs.get()
                if self._faults.lose_streams:
                    self._faults.lose_streams -= 1
                    self._faults.happened["stream"] += 1
                    raise LostError("the stream broke off")
                ended = delivery.end
                yield batch, delivery
            await serving
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)

    async def parse(self, batch, part, duplicates, source):
        await asyncio.sleep(0)
        if self._faults.lose_batches:
            self._faults.lose_batches -= 1
            self._faults.happened["batch"] += 1
            raise LostError("the batch is gone")
        urls = batch.column("url").to_pylist()[part.start : part.stop]
        if (
            self._faults.poison
            and not part.quarantine
            and any(self._faults.poison in url for url in urls)
        ):
            self._faults.happened["crash"] += 1
            raise BrokenError("the parser crashed")
        return tasks.parse(batch, self._run, self._packed, part, duplicates, source)

    async def gave_up(self, batch):
        return batch


class LocalPeers:
    """`Peers` by plain calls."""

    def __init__(self, number, crawl):
        self._number = number
        self._crawl = crawl
        self._epoch = -1

    async def register(self, epoch_floor):
        self._epoch = await self._crawl.directory.register(self._number, epoch_floor, None, None)
        await self._crawl.directory.peers()
        return self._epoch

    async def open_writer(self):
        await self._crawl.writers[self._number].open(self._epoch)

    async def seal(self):
        await asyncio.gather(*(writer.seal() for writer in self._crawl.writers))

    async def add_links(self, shard, sequence, links):
        return await self._crawl.shards[shard].add_links(self._number, self._epoch, sequence, links)

    async def first_with(self, shard, contents):
        return await self._crawl.shards[shard].first_with(contents)

    async def append(self, batch, rows):
        return await self._crawl.writers[self._number].append(self._epoch, batch, rows)

    async def draw(self, granted, want):
        return await self._crawl.directory.draw(self._number, granted, want)


class LocalCrawl:
    """The graph of `actors.crawl`, without Ray."""

    def __init__(self, config, seeds, out: Path, client, faults):
        count = config.runtime.shards
        self.config, self.seeds = config, tuple(seeds)
        self.output = Output.open(str(out))
        self.directory = Directory(count, 0, config.budget.max_pages)
        work = LocalWork(config, self.seeds, client, faults)
        shape = plan(4, count)
        self.writers = [Writer(n, self.output, config.dataset) for n in range(count)]
        self.shards = [
            Shard(ShardSpec(n, count, config, self.seeds, self.output, shape, "run"))
            for n in range(count)
        ]
        self.runs = [
            asyncio.create_task(shard.run(work, LocalPeers(n, self)))
            for n, shard in enumerate(self.shards)
        ]

    async def sow(self):
        from actors.crawl import _seed_links

        admission, owners = Admission(self.config, self.seeds), Ring(len(self.shards)).owners
        for sequence, seed in enumerate(self.seeds):
            link = admission.admit(seed, 0)
            assert isinstance(link, Admitted), (seed, link)
            await self.shards[owners[link.slot]].add_links(
                -1, 0, sequence, _seed_links([link], admission)
            )

    async def until_over(self, watch=None):
        """Watches until the crawl ends by itself; returns the totals."""
        watch = watch or Watch(self.config.budget, time.time())
        while True:
            for run in self.runs:
                if run.done():
                    run.result()
            stats = [await shard.stats() for shard in self.shards]
            if watch.verdict(stats, time.time()):
                return total(stats)
            await asyncio.sleep(0.05)

    async def end(self):
        await asyncio.gather(*(shard.stop() for shard in self.shards))
        await asyncio.gather(*self.runs)
        totals = total([await shard.stats() for shard in self.shards])
        await asyncio.gather(*(writer.close() for writer in self.writers))
        for shard in self.shards:
            await shard.close()
        return totals


@asynccontextmanager
async def local_crawl(config, seeds, out, faults=None):
    """A running crawl in this process."""
    async with Client(config) as client:
        crawl = LocalCrawl(config, seeds, out, client, faults or Faults())
        await crawl.sow()
        try:
            yield crawl
        finally:
            for run in crawl.runs:
                run.cancel()
            await asyncio.gather(*crawl.runs, return_exceptions=True)
