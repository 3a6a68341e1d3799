"""The shard's own few numbers: its epoch, the journal's mark, what it knows of an outage, and named counters."""

from collections.abc import Mapping

import msgpack  # type: ignore[import-untyped]

from crawler.errors import FencedError
from crawler.frontier.store import Batch, Store

_EPOCH, _MARK, _COUNTERS, _WHOLE = b"epoch", b"mark", b"counters", b"whole"
_ANSWERED, _CUT_OFF = b"answered", b"cut_off"


class Meta:
    """`epoch`, `mark` and `answered_at` only grow; what is in memory is what was last put into a batch."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.epoch = _number(store.meta.get(_EPOCH))
        self.mark = _number(store.meta.get(_MARK))
        self.answered_at = _moment(store.meta.get(_ANSWERED))
        self.cut_off_at = _moment(store.meta.get(_CUT_OFF))
        self.whole = store.meta.get(_WHOLE) is not None
        stored = store.meta.get(_COUNTERS)
        self.counters: dict[str, int] = {} if stored is None else msgpack.unpackb(stored)

    def set_epoch(self, epoch: int) -> None:
        """Stores a new incarnation's number; raises `FencedError` if a later one has been here."""
        if epoch < self.epoch:
            message = (
                f"{self._store.path}: epoch {epoch} is over, epoch {self.epoch} has taken over"
            )
            raise FencedError(message)
        self.epoch = epoch
        batch = self._store.batch()
        batch.put(_EPOCH, msgpack.packb(epoch), self._store.meta.handle)
        self._store.write(batch)

    def set_whole(self) -> None:
        """Stores that everything the journal had has been taken in."""
        self.whole = True
        batch = self._store.batch()
        batch.put(_WHOLE, b"", self._store.meta.handle)
        self._store.write(batch)

    def advance(self, batch: Batch, mark: int) -> None:
        """Puts a new high-water mark into the batch, if it is one."""
        if mark > self.mark:
            self.mark = mark
            batch.put(_MARK, msgpack.packb(mark), self._store.meta.handle)

    def answer(self, batch: Batch, moment: float) -> None:
        """Puts the moment at which a host answered into the batch, if it is the last one."""
        if moment > self.answered_at:
            self.answered_at = moment
            batch.put(_ANSWERED, msgpack.packb(moment), self._store.meta.handle)

    def set_cut_off(self, moment: float) -> None:
        """Stores when the crawl was cut off; 0.0: it is not."""
        self.cut_off_at = moment
        batch = self._store.batch()
        batch.put(_CUT_OFF, msgpack.packb(moment), self._store.meta.handle)
        self._store.write(batch)

    def count(self, batch: Batch, counters: Mapping[str, int]) -> None:
        """Adds to the named counters and puts them into the batch."""
        if counters:
            for name, by in counters.items():
                self.counters[name] = self.counters.get(name, 0) + by
            batch.put(_COUNTERS, msgpack.packb(self.counters), self._store.meta.handle)


def _moment(stored: bytes | None) -> float:
    return 0.0 if stored is None else float(msgpack.unpackb(stored))


def _number(stored: bytes | None) -> int:
    return 0 if stored is None else int(msgpack.unpackb(stored))
