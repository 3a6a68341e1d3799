"""From a WAL to an immutable Parquet segment, in steps of which each may be the last before a kill.

::

    WAL ──write──► tmp/… ──rename──► pages/day=…/….parquet ──► manifest/….json ──► WAL deleted

Everything a segment is called and holds follows from its WAL, so the steps can be begun again from the first.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crawler.config import Dataset
from crawler.dataset import manifest
from crawler.dataset.manifest import Entry, Totals
from crawler.dataset.output import PAGES, Output
from crawler.dataset.schema import ROWS
from crawler.dataset.wal import Recovered, SegmentName, recover
from crawler.errors import OutputError

# A row group is held in memory while it is written and while it is read: small enough for many readers at once,
# large enough that compression and footers are not felt.
ROW_GROUP_BYTES = 32 * 1024 * 1024

# Few values, or values that come again within a row group (menus: the same links on every page of a site).
_DICTIONARY = (
    "host", "site", "kind", "found_on", "found_via", "ip", "content_type", "charset", "language",
    "headers.list.element.name", "headers.list.element.value", "robots_directives.list.element",
    "outlinks.list.element.url", "outlinks.list.element.rel", "outlinks.list.element.text",
)  # fmt: skip

# What nobody selects rows by; the bounds of long values would only fill the footer.
_NO_STATISTICS = {"headers", "body", "title", "text", "outlinks", "robots_directives", "error"}
_STATISTICS = [name for name in ROWS.names if name not in _NO_STATISTICS]


class _Written(NamedTuple):
    """What was seen while the rows went by."""

    rows: int
    totals: Totals
    batches: list[int]
    first: float
    last: float


def seal(
    output: Output, path: Path, name: SegmentName, config: Dataset, *, writer: int, now: float
) -> Entry | None:
    """Make a segment of a closed WAL and delete the WAL; `None` if it holds no rows.

    `writer`: the epoch that seals, so that two incarnations never share a temporary file. `now` (seconds) is noted in
    the manifest only. May be called again after a kill at any point. Raises `OutputError`; the WAL is then still there.
    """
    entry = manifest.read(output, name)
    if entry is None:
        entry = _make(output, path, name, config, writer, now)
    path.unlink(missing_ok=True)
    return entry


def _make(
    output: Output, path: Path, name: SegmentName, config: Dataset, writer: int, now: float
) -> Entry | None:
    temporary = output.temporary(f"{name}.{writer}")
    try:
        with recover(path) as batches:
            written = write_parquet(output, temporary, batches, config)
    except (OSError, pa.ArrowException) as error:
        message = f"{output.root}: segment {name} cannot be written: {error}"
        raise OutputError(message) from error
    if written is None:
        return None
    size = output.filesystem.get_file_info(temporary).size
    parts = (PAGES, f"day={datetime.fromtimestamp(written.first, UTC):%Y-%m-%d}", f"{name}.parquet")
    output.publish(temporary, *parts, sync=config.sync)
    entry = Entry(
        file="/".join(parts),
        shard=name.shard,
        epoch=name.epoch,
        sequence=name.sequence,
        rows=written.rows,
        bytes=size,
        kinds=dict(written.totals.rows),
        wire_bytes=dict(written.totals.wire_bytes),
        first_fetched_at=written.first,
        last_fetched_at=written.last,
        sealed_at=now,
        batches=manifest.ranges(written.batches),
    )
    manifest.write(output, entry, sync=config.sync)
    return entry


def write_parquet(
    output: Output, path: str, batches: Iterable[Recovered], config: Dataset
) -> _Written | None:
    """Stream batches into one Parquet file, a row group at a time; `None`, and no file, if there are no rows.

    The first moment is the first row's and the last is the latest, so the day of a segment follows from its rows.
    """
    total, ids, firsts, lasts = Totals({}, {}), list[int](), list[int](), list[int]()
    with output.filesystem.open_output_stream(path) as sink, _writer(sink, config) as writer:
        for group in _row_groups(_noting(batches, ids)):
            for batch in group:
                total.add(Totals.of(batch))
                moments = batch["fetched_at"].cast(pa.int64())
                firsts.append(moments[0].as_py())
                lasts.append(pc.max(moments).as_py())
            table = pa.Table.from_batches(group)
            writer.write_table(table, row_group_size=table.num_rows)
    rows = total.rows.total()
    if not rows:
        output.filesystem.delete_file(path)
        return None
    return _Written(rows, total, ids, firsts[0] / 1e6, max(lasts) / 1e6)


def _writer(sink: pa.NativeFile, config: Dataset) -> pq.ParquetWriter:
    return pq.ParquetWriter(
        sink,
        ROWS,
        compression="zstd",
        compression_level=config.compression_level,
        use_dictionary=list(_DICTIONARY),
        write_statistics=_STATISTICS,
        write_page_index=True,
    )


def _noting(batches: Iterable[Recovered], ids: list[int]) -> Iterator[pa.RecordBatch]:
    for batch_id, rows in batches:
        ids.append(batch_id)
        yield rows


def _row_groups(batches: Iterable[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    group, size = list[pa.RecordBatch](), 0
    for batch in batches:
        if not batch.num_rows:
            continue
        group.append(batch)
        size += batch.nbytes
        if size >= ROW_GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group
