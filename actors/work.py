"""What a shard needs done by others, as interfaces: Ray stands behind them in a crawl, plain calls in tests.

A `Handle` is a batch that lies somewhere else (an object reference): a shard passes it on and never looks inside.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from crawler.frontier.errands import Mail
from crawler.frontier.lease import Content, Delivery, Lease

Handle = Any


class LostError(Exception):
    """A task's input or its stream is gone (a worker or a node died): lease the URLs again."""


class Source(NamedTuple):
    """Whose batch it is and which; how many of the shard's batches, all in a row, have had their links acknowledged.

    Where `epoch` or `losses` change, links that a worker noted for the shard may never arrive.
    """

    shard: int
    epoch: int
    losses: int
    batch: int
    arrived: int


class Facts(NamedTuple):
    """The small half of a parse task's answer; the rows stay where they were made."""

    settled: pa.RecordBatch
    links: pa.RecordBatch
    counters: Mapping[str, int]


class Work(Protocol):
    """The stateless tasks."""

    def fetch(self, lease: Lease) -> AsyncIterator[tuple[Handle, Delivery]]:
        """Serves a lease; raises `LostError` where the stream breaks off."""

    async def parse(
        self, batch: Handle, duplicates: Mapping[int, str], source: Source
    ) -> tuple[Handle, Facts]:
        """Rows and facts of a batch; raises `LostError`. A page that takes its reader down or holds it has its row too.

        `duplicates`: rows of the batch whose content another URL had first, and that URL.
        """

    async def gave_up(self, batch: pa.RecordBatch) -> Handle:
        """Puts outcomes that need no fetching where a parse task finds them."""


class Peers(Protocol):
    """The directory, the other shards, and the writers."""

    async def register(self, epoch_floor: int) -> int:
        """Announces a new incarnation; returns its epoch, with which everything after is sent."""

    async def open_writer(self) -> None:
        """Shuts out older incarnations and turns what they left open into segments."""

    async def add_links(
        self, shard: int, sequence: int, links: pa.RecordBatch
    ) -> Mapping[str, int]:
        """Delivers links; returns counts by reason."""

    async def first_with(self, shard: int, contents: list[Content]) -> list[str | None]:
        """Asks the owner of the digests for the URL that had each first, where that is another one."""

    async def post(self, shard: int, mail: Sequence[Mail]) -> None:
        """Delivers errands and what is told of them; raises `LostError`."""

    async def append(self, batch: int, rows: Handle) -> int:
        """Makes rows durable; returns the sequence number of the segment that holds them."""

    async def seal(self) -> None:
        """Makes every writer's rows readable as segments."""

    async def draw(self, granted: int, want: int) -> int:
        """Asks for more of the page budget."""
