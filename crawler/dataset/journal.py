"""One shard's journal: rows come in, are durable, and become segments.

::

    open(epoch) ──► append … append ──(size, age, seal)──► a segment ──► append … ──► close

It takes `now` as an argument and must not know who calls it: a later incarnation simply opens with a higher epoch.
"""

import fcntl
import os
from pathlib import Path

import pyarrow as pa

from crawler.config import Dataset
from crawler.dataset import manifest
from crawler.dataset.manifest import Batches
from crawler.dataset.output import TEMPORARY, Output
from crawler.dataset.schema import ROWS
from crawler.dataset.segment import seal
from crawler.dataset.wal import SegmentName, Wal, leftovers, take_over
from crawler.errors import FencedError, OutputError


class Journal:
    """A row is in the journal once `append` has returned, and then for good; in one segment, and once per batch id.

    Not open until `open`; an error while writing closes it (nothing acknowledged is lost), `open` opens it again.
    """

    def __init__(self, output: Output, shard: int, config: Dataset) -> None:
        self._output = output
        self._shard = shard
        self._config = config
        self._wal: Wal | None = None
        self._opened_at = 0.0
        self._next = 1
        self._batches = Batches()
        self.epoch: int | None = None

    @property
    def sequence(self) -> int:
        """The number of the newest segment, open or sealed; 0 before the first."""
        return self._next - 1

    @property
    def due(self) -> float | None:
        """The moment from which `tick` would seal; `None` if no segment is open."""
        return None if self._wal is None else self._opened_at + self._config.segment_seconds

    def floor(self) -> int:
        """The newest epoch that was here: a segment has it, or it only opened the journal. Raises `OutputError`."""
        known = max((name.epoch for name in self._known()), default=0)
        return max(known, _read_epoch(self._fence_path))

    def open(self, epoch: int, now: float) -> None:
        """Begin an epoch, or take it up again: everything that earlier incarnations left becomes segments.

        Raises `FencedError` for an epoch below one that was here, `OutputError` if the disk refuses.
        """
        self._drop_wal()
        try:
            self._fence(epoch)
            self._next = 1 + max((name.sequence for name in self._known()), default=0)
            for name, path in leftovers(self._output.wal, self._shard):
                seal(self._output, take_over(path), name, self._config, writer=epoch, now=now)
            self._clear_temporaries()
        except OSError as error:
            message = f"{self._output.wal}: {error.strerror or error}"
            raise OutputError(message) from error
        self._batches = Batches()
        for entry in manifest.entries(self._output, self._shard):
            if entry.epoch == epoch:
                self._batches.add(entry.batches, entry.sequence)
        self.epoch = epoch

    def append(
        self,
        epoch: int,
        batch_id: int,
        rows: pa.RecordBatch | pa.Table,
        now: float,
    ) -> int:
        """Take rows (schema ROWS) in; they are durable on return. Returns the sequence of the segment they are in.

        The same `(epoch, batch_id)` again writes nothing and answers the same. Raises `FencedError` (another epoch is
        open), `OutputError` (the disk refuses: the journal is then closed, and the rows may or may not be in it).
        """
        self._assert_open(epoch)
        known = self._batches.find(batch_id)
        if known is not None:
            return known
        batch = _one_batch(rows)
        try:
            wal = self._wal or self._start(epoch, now)
            wal.append(batch_id, batch)
        except FencedError:
            self._drop_wal()
            raise
        except (OSError, pa.ArrowException) as error:
            self._drop_wal()
            message = f"{self._output.wal}: rows cannot be written: {error}"
            raise OutputError(message) from error
        self._batches.add([(batch_id, batch_id)], wal.name.sequence)
        if wal.size >= self._config.segment_bytes:
            self.seal(now)
        return wal.name.sequence

    def tick(self, now: float) -> bool:
        """Seal the open segment if it is old enough; says whether it did. Raises `OutputError`."""
        due = self.due
        if due is None or now < due:
            return False
        self.seal(now)
        return True

    def seal(self, now: float) -> None:
        """Make a segment of the rows appended so far. Raises `OutputError`: they are durable, the journal is closed."""
        wal, epoch = self._wal, self.epoch
        if wal is None or epoch is None:
            return
        self._drop_wal()
        seal(self._output, wal.path, wal.name, self._config, writer=epoch, now=now)
        self.epoch = epoch

    def close(self, now: float) -> None:
        """Seal what is open and take nothing more. Raises `OutputError`."""
        self.seal(now)
        self.epoch = None

    # --- the open segment --------------------------------------------------------------------------------------

    def _start(self, epoch: int, now: float) -> Wal:
        name = SegmentName(self._shard, self._next, epoch)
        self._next += 1
        self._wal = Wal(self._output.wal, name, ROWS, sync=self._config.sync)
        self._opened_at = now
        # Looked at after the file is there: whoever fenced us before this sees the file, whoever did it later is seen.
        if _read_epoch(self._fence_path) != epoch:
            message = f"shard {self._shard}: epoch {epoch} is over, a later one has the journal"
            raise FencedError(message)
        return self._wal

    def _drop_wal(self) -> None:
        wal, self._wal, self.epoch = self._wal, None, None
        if wal is not None:
            try:
                wal.close()
            except OSError:
                # The end mark of the stream is a courtesy; what counts was synced before.
                return

    # --- the fence ---------------------------------------------------------------------------------------------

    @property
    def _fence_path(self) -> Path:
        return self._output.wal / f"{self._shard:04d}.epoch"

    def _assert_open(self, epoch: int) -> None:
        if self.epoch is None:
            message = f"journal of shard {self._shard}: not open"
            raise OutputError(message)
        if epoch != self.epoch:
            message = f"shard {self._shard}: rows of epoch {epoch}, but epoch {self.epoch} has the journal"
            raise FencedError(message)

    def _known(self) -> list[SegmentName]:
        wals = [name for name, _ in leftovers(self._output.wal, self._shard)]
        return manifest.names(self._output, self._shard) + wals

    def _fence(self, epoch: int) -> None:
        """Make `epoch` the journal's. The lock orders two incarnations that open at once."""
        self._output.wal.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._fence_path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            floor = self.floor()
            if epoch < floor:
                message = f"shard {self._shard}: epoch {epoch} is over, epoch {floor} was here"
                raise FencedError(message)
            # One write of a fixed width: a reader sees the old number or the new one.
            os.pwrite(descriptor, b"%020d\n" % epoch, 0)
            if self._config.sync:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _clear_temporaries(self) -> None:
        """Remove what earlier incarnations left half written; those that still live are fenced and may fail."""
        for file in self._output.names(TEMPORARY):
            segment = SegmentName.parse(file.partition(".")[0])
            if segment and segment.shard == self._shard:
                self._output.remove(TEMPORARY, file)


def _read_epoch(path: Path) -> int:
    try:
        return int(path.read_bytes() or 0)
    except (FileNotFoundError, ValueError):
        return 0


def _one_batch(rows: pa.RecordBatch | pa.Table) -> pa.RecordBatch:
    """Rows as the one record batch that is complete or not there."""
    if isinstance(rows, pa.Table):
        # Refused by Arrow (`ArrowInvalid`) if a column would hold 2 GiB or more.
        rows = pa.concat_batches(rows.to_batches() or [pa.RecordBatch.from_pylist([], ROWS)])
    if not rows.schema.equals(ROWS):
        message = f"rows do not have the dataset's schema: {rows.schema.names}"
        raise ValueError(message)
    return rows
