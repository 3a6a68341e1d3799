"""The list of an output's segments: one immutable JSON entry each, and what their rows add up to.

A segment counts from the moment its entry is there. It must not know how rows are stored.
"""

import json
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crawler.dataset.output import MANIFEST, Output
from crawler.dataset.wal import SegmentName
from crawler.errors import OutputError


class Totals:
    """Rows and bytes received, by kind of outcome. Adds up."""

    __slots__ = ("rows", "wire_bytes")

    def __init__(self, rows: dict[str, int], wire_bytes: dict[str, int]) -> None:
        self.rows = Counter(rows)
        self.wire_bytes = Counter(wire_bytes)

    @classmethod
    def of(cls, rows: pa.RecordBatch) -> Self:
        """The totals of one batch of rows."""
        kinds = rows["kind"].dictionary_encode()
        names, indices = kinds.dictionary.to_pylist(), kinds.indices.to_numpy()
        wire = pc.fill_null(rows["wire_bytes"], 0).to_numpy()
        counts = np.bincount(indices, minlength=len(names)).tolist()
        # Float weights are exact up to 2**53 bytes.
        sizes = np.bincount(indices, weights=wire, minlength=len(names)).astype(np.int64).tolist()
        return cls(dict(zip(names, counts, strict=True)), dict(zip(names, sizes, strict=True)))

    def add(self, other: "Totals") -> None:
        """Take the other's counts in."""
        self.rows.update(other.rows)
        self.wire_bytes.update(other.wire_bytes)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Totals)
            and self.rows == other.rows
            and self.wire_bytes == other.wire_bytes
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Totals(rows={dict(self.rows)}, wire_bytes={dict(self.wire_bytes)})"


class Entry(NamedTuple):
    """One segment. `file`: relative to the output; times in seconds; `batches`: ranges of append ids, ends included."""

    file: str
    shard: int
    epoch: int
    sequence: int
    rows: int
    bytes: int
    kinds: dict[str, int]
    wire_bytes: dict[str, int]
    first_fetched_at: float
    last_fetched_at: float
    sealed_at: float
    batches: tuple[tuple[int, int], ...]

    @property
    def name(self) -> SegmentName:
        """The segment's name."""
        return SegmentName(self.shard, self.sequence, self.epoch)


def names(output: Output, shard: int | None = None) -> list[SegmentName]:
    """The segments of one shard, or of all, oldest first within a shard. Raises `OutputError`."""
    stems = (PurePosixPath(name) for name in output.names(MANIFEST))
    found = (SegmentName.parse(path.stem) for path in stems if path.suffix == ".json")
    return sorted(name for name in found if name and shard in {None, name.shard})


def read(output: Output, name: SegmentName) -> Entry | None:
    """One entry, `None` if the segment is not listed. Raises `OutputError`."""
    text = output.read(MANIFEST, f"{name}.json")
    if text is None:
        return None
    try:
        tree = json.loads(text)
        ranges = tuple((first, last) for first, last in tree["batches"])
        return Entry(**{**tree, "batches": ranges})
    except (ValueError, TypeError, KeyError):
        message = f"{output.path(MANIFEST, f'{name}.json')}: not a manifest entry"
        raise OutputError(message) from None


def entries(output: Output, shard: int | None = None) -> Iterator[Entry]:
    """The entries of one shard, or of all, oldest first within a shard. Raises `OutputError`."""
    yield from filter(None, (read(output, name) for name in names(output, shard)))


def write(output: Output, entry: Entry, *, sync: bool) -> None:
    """List a segment. Raises `OutputError`."""
    output.put(json.dumps(entry._asdict()).encode(), MANIFEST, f"{entry.name}.json", sync=sync)


def ranges(numbers: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Numbers as ranges with both ends included."""
    found: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return tuple(found)


class Batches:
    """Which appends of one epoch are in which segment. Small: ids mostly come in a row, so a segment is a range.

    Invariant: ranges are sorted and do not overlap; two of one segment do not touch.
    """

    def __init__(self) -> None:
        self._ranges: list[tuple[int, int, int]] = []

    def add(self, spans: Iterable[tuple[int, int]], sequence: int) -> None:
        """Note that a segment holds these ranges of ids."""
        for first, last in spans:
            self._join(first, last, sequence)

    def _join(self, first: int, last: int, sequence: int) -> None:
        """One range more; with those of its segment that it touches it becomes one."""
        at = end = bisect_left(self._ranges, (first,))
        if end < len(self._ranges) and self._ranges[end][::2] == (last + 1, sequence):
            last = self._ranges[end][1]
            end += 1
        if at and self._ranges[at - 1][1:] == (first - 1, sequence):
            at -= 1
            first = self._ranges[at][0]
        self._ranges[at:end] = [(first, last, sequence)]

    def find(self, batch_id: int) -> int | None:
        """The segment that holds an append, `None` if there is none."""
        at = bisect_right(self._ranges, batch_id, key=lambda span: span[0]) - 1
        if at < 0 or self._ranges[at][1] < batch_id:
            return None
        return self._ranges[at][2]
