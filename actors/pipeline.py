"""A batch of outcomes on its way to the journal: compare, parse, pass on the links, write, settle. In this order.

The order is what makes the journal complete: a row is durable only after every link it names has reached its owner,
and a URL is settled only after its row is durable. Knows nothing of Ray.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence

from actors.links import Outbox
from actors.work import Facts, Handle, LostError, Peers, Source, Work
from crawler.frontier.frontier import Frontier
from crawler.frontier.lease import Content
from crawler.frontier.store import slot_of_digest

# Asks a shard for the URLs that had some contents first.
FirstWith = Callable[[int, list[Content]], Awaitable[list[str | None]]]


class Marks:
    """How far the journal is settled without a gap, so that a restart replays little and misses nothing.

    An append that is still under way will land in a segment no older than the newest one known when it began.
    Invariant: `mark` is below the segment of every append that is not settled.
    """

    def __init__(self, mark: int) -> None:
        self._newest = mark + 1
        self._open: Counter[int] = Counter()

    @property
    def mark(self) -> int:
        """All rows in segments up to this one are settled."""
        return min(self._open, default=self._newest) - 1

    def begin(self) -> int:
        """An append starts; the ticket goes back to `end`."""
        self._open[self._newest] += 1
        return self._newest

    def end(self, ticket: int, segment: int) -> None:
        """An append ended in `segment` and its rows are about to be settled.

        One that failed never ends: nobody knows whether its rows are durable, so the mark stays below them.
        """
        self._open[ticket] -= 1
        self._open += Counter()  # drops what fell to zero
        self._newest = max(self._newest, segment)


class Pipeline:
    """Invariant: what `push` returned for is durable and settled."""

    def __init__(
        self,
        work: Work,
        peers: Peers,
        outbox: Outbox,
        frontier: Frontier,
        first_with: FirstWith,
        clock: Callable[[], float],
    ) -> None:
        self._work = work
        self._peers = peers
        self._outbox = outbox
        self._frontier = frontier
        self._first_with = first_with
        self._clock = clock
        self._marks = Marks(frontier.mark)
        self._batches = 0
        self._losses = 0
        self._parses = 0
        self._unsent: set[int] = set()

    def __repr__(self) -> str:
        return f"<Pipeline {self._batches} batches, settled up to segment {self._marks.mark}>"

    async def push(self, batch: Handle, contents: Sequence[Content | None]) -> Counter[str]:
        """Takes a batch to the end; returns the counters of its rows. `contents`: of each row with a body.

        Raises `LostError` where the batch is gone; what its links did to the workers' memory is then void.
        """
        try:
            duplicates = await self._compare(contents)
            return await self._parse(batch, duplicates)
        except LostError:
            self._losses += 1
            raise

    async def _parse(self, batch: Handle, duplicates: dict[int, str]) -> Counter[str]:
        """The rest of the way, from the comparison on."""
        self._parses += 1
        number = self._parses
        self._unsent.add(number)
        arrived = min(self._unsent) - 1
        source = Source(self._frontier.shard, self._frontier.epoch, self._losses, number, arrived)
        try:
            rows, facts = await self._work.parse(batch, duplicates, source)
            counts = await self._outbox.send(facts.links)
        finally:
            # A batch that was lost must not hold up the others; `losses` tells the workers to forget it.
            self._unsent.discard(number)
        return await self._write(rows, facts, counts)

    async def _write(self, rows: Handle, facts: Facts, counts: Mapping[str, int]) -> Counter[str]:
        counters = Counter(facts.counters)
        counters.update({f"links.{reason}": count for reason, count in counts.items()})
        self._batches += 1
        ticket = self._marks.begin()
        segment = await self._peers.append(self._batches, rows)
        self._marks.end(ticket, segment)
        self._frontier.settle(
            facts.settled, self._clock(), counters=counters, mark=self._marks.mark
        )
        return counters

    async def _compare(self, contents: Sequence[Content | None]) -> dict[int, str]:
        """The rows whose bytes were seen before, with the URL that had them first."""
        asked: dict[int, list[int]] = defaultdict(list)
        for row, content in enumerate(contents):
            if content is not None:
                asked[int(self._outbox.owners[slot_of_digest(content.digest)])].append(row)
        answers = await asyncio.gather(
            *(
                self._first_with(owner, [content for row in rows if (content := contents[row])])
                for owner, rows in asked.items()
            )
        )
        return {
            row: first
            for rows, firsts in zip(asked.values(), answers, strict=True)
            for row, first in zip(rows, firsts, strict=True)
            if first is not None
        }
