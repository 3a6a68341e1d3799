"""A Bloom filter over URL keys that grows: "never seen" is certain, "perhaps seen" is for the store to answer.

Scalable Bloom filters (Almeida, Baquero, Preguiça and Hutchison 2007): when a filter is full a larger one with a
tighter rate joins it, so that the rates of all together stay below the rate asked for. Nothing here knows of RocksDB:
the filter is rebuilt from the store's keys when a shard opens.
"""

from collections.abc import Iterator
from itertools import islice

from rbloom import Bloom

GROWTH = 2
TIGHTENING = 0.5
_SLICE = 10_000


class Seen:
    """No key that was added is ever called unseen.

    Keys are 64-bit hashes already, and rbloom derives all its bits from one by a 128-bit linear congruence. For hashes
    the measured rate is the nominal one (within 5 %); for consecutive integers it was up to 1.6 times as high.
    """

    def __init__(self, capacity: int, rate: float) -> None:
        self._capacity = capacity
        self._rate = rate * (1 - TIGHTENING)
        self._filters = [Bloom(self._capacity, self._rate)]
        self._newest = 0
        self.size = 0
        self.negatives = 0
        self.false_positives = 0

    def __repr__(self) -> str:
        return f"<Seen {self.size} keys, {len(self._filters)} filters, {self.bits} bits>"

    @property
    def bits(self) -> int:
        """Bits of all filters."""
        return sum(bloom.size_in_bits for bloom in self._filters)

    @property
    def fill(self) -> float:
        """How full the newest filter is: 1.0 just before the next one is added."""
        return self._newest / self._capacity

    @property
    def measured_rate(self) -> float:
        """Of the keys the store did not have, the share that the filters took for seen."""
        return self.false_positives / self.negatives if self.negatives else 0.0

    def perhaps(self, keys: list[int]) -> list[bool]:
        """For each key: `False` if it was certainly never added."""
        if len(self._filters) == 1:
            only = self._filters[0]
            return [key in only for key in keys]
        newest_first = self._filters[::-1]
        return [any(key in bloom for bloom in newest_first) for key in keys]

    def add(self, keys: list[int]) -> None:
        """Adds keys that were not there before (adding one twice only fills the filter sooner)."""
        while keys:
            keys = self._fill(keys)

    def fill_from(self, rows: Iterator[bytes]) -> None:
        """Adds the keys (the last eight octets) of stored rows, without holding many of them at once."""
        while part := [
            int.from_bytes(row[-8:], "big", signed=True) for row in islice(rows, _SLICE)
        ]:
            self.add(part)

    def observe(self, negatives: int, false_positives: int) -> None:
        """Counts keys that the store did not have, and how many of them were taken for seen."""
        self.negatives += negatives
        self.false_positives += false_positives

    def _fill(self, keys: list[int]) -> list[int]:
        if self._newest == self._capacity:
            self._capacity *= GROWTH
            self._rate *= TIGHTENING
            self._filters.append(Bloom(self._capacity, self._rate))
            self._newest = 0
        room = self._capacity - self._newest
        now, later = keys[:room], keys[room:]
        self._filters[-1].update(now)
        self._newest += len(now)
        self.size += len(now)
        return later
