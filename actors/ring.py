"""Which shard owns which slot: a consistent-hash ring with virtual nodes (Karger et al., 1997).

Pure and the same in every process: the ring is a function of the number of shards.
"""

from functools import cached_property

import mmh3
import numpy as np
import numpy.typing as npt

from crawler.url.keys import SLOTS

# Points a shard has on the ring. The spread of the shares falls with the root of this number: 256 keeps 8 shards
# within about a fifth of the mean (tests/actors/test_ring.py), and the ring of 64 shards is built in 20 ms.
POINTS = 256


class Ring:
    """Invariant: every slot has exactly one owner, and adding a shard moves slots only to it."""

    def __init__(self, shards: int, points: int = POINTS) -> None:
        self.shards = shards
        self._points = points

    def __repr__(self) -> str:
        return f"<Ring {self.shards} shards, {SLOTS} slots>"

    @cached_property
    def owners(self) -> npt.NDArray[np.int64]:
        """The shard of every slot, shape (1024,)."""
        marks = np.array(
            [
                mmh3.hash64(f"shard-{shard}/{point}", signed=False)[0]
                for shard in range(self.shards)
                for point in range(self._points)
            ],
            dtype=np.uint64,
        )
        shard_of_mark = np.repeat(np.arange(self.shards), self._points)
        order = np.argsort(marks)
        slots = np.array(
            [mmh3.hash64(f"slot-{slot}", signed=False)[0] for slot in range(SLOTS)], dtype=np.uint64
        )
        following = np.searchsorted(marks[order], slots) % len(marks)
        owners: npt.NDArray[np.int64] = shard_of_mark[order][following]
        return owners

    def slots_of(self, shard: int) -> frozenset[int]:
        """The slots that a shard owns."""
        return frozenset(np.flatnonzero(self.owners == shard).tolist())
