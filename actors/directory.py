"""The one place that allots epochs and shares out the budget of pages.

It is tiny and holds nothing that cannot be told again: an epoch's floor comes from the shard's own storage with each
registration, and what a shard was granted comes with each draw.
"""

from actors.orphan import end_with_parent


class Directory:
    """Invariant: no two incarnations of a shard have the same epoch; no more pages are granted than the budget has."""

    def __init__(self, shards: int, epoch_floor: int, max_pages: int | None) -> None:
        self._shards = shards
        self._floor = epoch_floor
        self._max_pages = max_pages
        self._epochs: dict[int, int] = {}
        self._granted: dict[int, int] = {}

    def __repr__(self) -> str:
        return f"<Directory {len(self._epochs)} shards, granted {sum(self._granted.values())} of {self._max_pages}>"

    async def register(self, shard: int, epoch_floor: int) -> int:
        """A shard (re)starts: its next epoch, above every one seen in storage or given before."""
        epoch = 1 + max(self._epochs.get(shard, self._floor), epoch_floor)
        self._epochs[shard] = epoch
        return epoch

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


class DirectoryActor(Directory):
    """The directory as an actor. It stands here because a process imports the module that its actor is from."""

    def __init__(self, shards: int, epoch_floor: int, max_pages: int | None) -> None:
        end_with_parent()
        super().__init__(shards, epoch_floor, max_pages)
