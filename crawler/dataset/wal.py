"""One open segment on local disk: an Arrow IPC stream whose record batches carry the id of their append.

What `append` returned from is there after a kill (and, synced, after a power cut). It must not know Parquet.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Self

import pyarrow as pa
from pyarrow import ipc

from crawler.dataset.output import sync_path
from crawler.errors import FencedError

OPEN = ".wal"
# A file that was taken over by a later incarnation: its writer, should it still live, no longer finds it and stops.
TAKEN = ".taken"
_BATCH = b"batch"


class SegmentName(NamedTuple):
    """What a segment is called everywhere: as a WAL, as Parquet, in the manifest. Sorts by age within a shard."""

    shard: int
    sequence: int
    epoch: int

    def __str__(self) -> str:
        return f"{self.shard:04d}-{self.epoch:06d}-{self.sequence:08d}"

    @classmethod
    def parse(cls, stem: str) -> "SegmentName | None":
        """The name in a file's stem; `None` for a file that is none of ours."""
        parts = stem.split("-")
        if len(parts) != 3 or not all(part.isascii() and part.isdigit() for part in parts):
            return None
        shard, epoch, sequence = map(int, parts)
        return cls(shard, sequence, epoch)


class Recovered(NamedTuple):
    """One complete append: its id and its rows (a view of the mapped file)."""

    batch_id: int
    rows: pa.RecordBatch


class Wal:
    """An open segment. Its batches are those whose `append` returned, and perhaps one whose `append` did not."""

    def __init__(self, folder: Path, name: SegmentName, schema: pa.Schema, *, sync: bool) -> None:
        self.name = name
        self.path = folder / f"{name}{OPEN}"
        self._sync = sync
        self._file = pa.OSFile(str(self.path), "wb")
        self._descriptor = os.open(self.path, os.O_RDONLY)
        self._inode = os.fstat(self._descriptor).st_ino
        self._stream = ipc.new_stream(self._file, schema)
        if sync:
            sync_path(str(folder))

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return int(self._file.tell())

    def append(self, batch_id: int, rows: pa.RecordBatch) -> None:
        """Write one batch; durable on return. Raises `OSError`, and `FencedError` if the file was taken over.

        The order is what makes the fence tight: a successor renames the file before it reads it, so if the file is
        still in its place after the write, the successor will see the batch.
        """
        self._stream.write_batch(rows, custom_metadata={_BATCH: str(batch_id).encode()})
        if self._sync:
            os.fdatasync(self._descriptor)
        self._assert_ours()

    def close(self) -> None:
        """End the stream. Nothing can be appended afterwards."""
        try:
            self._stream.close()
            self._file.close()
        finally:
            os.close(self._descriptor)

    def _assert_ours(self) -> None:
        try:
            ours = self.path.stat().st_ino == self._inode
        except FileNotFoundError:
            ours = False
        if not ours:
            message = f"{self.path}: taken over by a later incarnation of shard {self.name.shard}"
            raise FencedError(message)


class Recovery:
    """The complete batches of a WAL, mapped, one at a time; a torn or foreign tail ends them silently."""

    def __init__(self, path: Path) -> None:
        self._file = pa.memory_map(str(path)) if path.stat().st_size else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def __iter__(self) -> Iterator[Recovered]:
        if self._file is None:
            return
        self._file.seek(0)
        try:
            reader = ipc.open_stream(self._file)
            while True:
                rows, metadata = reader.read_next_batch_with_custom_metadata()
                # After a power cut a tail may have its length but not its bytes.
                rows.validate(full=True)
                yield Recovered(int(metadata[_BATCH]), rows)
        except StopIteration:
            return
        except (pa.ArrowException, OSError, KeyError, TypeError, ValueError):
            # Whatever a torn tail makes the reader say, all that was promised to anyone lies before it.
            return


def recover(path: Path) -> Recovery:
    """The batches of a WAL that its writer left, to be used in a `with`. Raises `OSError` if there is none."""
    return Recovery(path)


def leftovers(folder: Path, shard: int | None = None) -> list[tuple[SegmentName, Path]]:
    """The WALs of a shard in a folder, or of all, oldest first within a shard."""
    found = []
    for path in folder.iterdir() if folder.is_dir() else ():
        name = SegmentName.parse(path.stem)
        if name and shard in {None, name.shard} and path.suffix in {OPEN, TAKEN}:
            found.append((name, path))
    return sorted(found)


def take_over(path: Path) -> Path:
    """Take a WAL from its writer, for good. Returns where it is now."""
    return path if path.suffix == TAKEN else path.rename(path.with_suffix(TAKEN))
