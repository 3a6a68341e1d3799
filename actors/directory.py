"""The one place that allots epochs, introduces peers, and shares out the budget of pages.

It is tiny and holds nothing that cannot be told again: an epoch's floor comes from the shard's own storage with each
registration, and what a shard was granted comes with each draw.
"""

import asyncio
from typing import Any, NamedTuple


class Peer(NamedTuple):
    """A shard as the others see it."""

    epoch: int
    shard: Any
    writer: Any


class Directory:
    """Invariant: no two incarnations of a shard have the same epoch; no more pages are granted than the budget has."""

    def __init__(self, shards: int, epoch_floor: int, max_pages: int | None) -> None:
        self._shards = shards
        self._floor = epoch_floor
        self._max_pages = max_pages
        self._peers: dict[int, Peer] = {}
        self._granted: dict[int, int] = {}
        self._complete = asyncio.Event()

    def __repr__(self) -> str:
        return f"<Directory {len(self._peers)} shards, granted {sum(self._granted.values())} of {self._max_pages}>"

    async def register(self, shard: int, epoch_floor: int, handle: Any, writer: Any) -> int:
        """A shard (re)starts: its next epoch, above every one seen in storage or given before."""
        last = self._peers[shard].epoch if shard in self._peers else self._floor
        epoch = max(last, epoch_floor) + 1
        self._peers[shard] = Peer(epoch, handle, writer)
        if len(self._peers) == self._shards:
            self._complete.set()
        return epoch

    async def peers(self) -> dict[int, Peer]:
        """Every shard with its newest epoch, once all of them have registered."""
        await self._complete.wait()
        return dict(self._peers)

    async def draw(self, shard: int, granted: int, want: int) -> int:
        """Grants up to `want` more pages to a shard that has `granted` so far (used or still in hand).

        Nothing is granted before every shard has said once what it has: a resumed crawl begins with pages used.
        """
        self._granted[shard] = granted
        if self._max_pages is None or len(self._granted) < self._shards:
            return want if self._max_pages is None else 0
        grant = max(0, min(want, self._max_pages - sum(self._granted.values())))
        self._granted[shard] += grant
        return grant
