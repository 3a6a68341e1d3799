import threading
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crawler.config import Dataset
from crawler.dataset import manifest, segment
from crawler.dataset.output import Output
from crawler.dataset.schema import ROWS, VERSION
from crawler.dataset.segment import seal, write_parquet
from crawler.dataset.wal import Recovered, SegmentName, Wal
from crawler.errors import OutputError
from tests.crawler.dataset.samples import START, pages

CONFIG = Dataset(sync=False)
NAME = SegmentName(3, 7, 2)


@pytest.fixture
def output(tmp_path):
    output = Output.open(str(tmp_path / "out"))
    output.wal.mkdir(parents=True)
    return output


def wal(output, *batches):
    wal = Wal(output.wal, NAME, ROWS, sync=False)
    for batch_id, rows in batches:
        wal.append(batch_id, rows)
    wal.close()
    return wal.path


def make(output, path, writer=2):
    return seal(output, path, NAME, CONFIG, writer=writer, now=9.0)


def parquet(output):
    return sorted(Path(output.root, "pages").rglob("*"))


def test_a_segment_holds_the_rows_of_its_wal(output):
    path = wal(output, (4, pages(1, 3)), (5, pages(4, 2)))
    entry = make(output, path)
    assert entry.file == "pages/day=2023-11-14/0003-000002-00000007.parquet"
    table = pq.read_table(output.path(entry.file), partitioning=None)
    assert table.schema.equals(ROWS, check_metadata=False)
    assert table.to_pylist() == pages(1, 5).to_pylist()
    assert entry == manifest.read(output, NAME)
    assert entry._replace(bytes=0) == manifest.Entry(
        entry.file,
        3,
        2,
        7,
        5,
        0,
        {"fetched": 5},
        {"fetched": 500},
        START + 1,
        START + 5,
        9.0,
        ((4, 5),),
    )
    assert entry.bytes == Path(output.path(entry.file)).stat().st_size
    assert not path.exists()


def test_the_file_says_what_it_is(output):
    entry = make(output, wal(output, (1, pages(1, 3))))
    file = pq.ParquetFile(output.path(entry.file))
    assert file.schema_arrow.metadata[b"raycrawl.schema"] == str(VERSION).encode()
    group = file.metadata.row_group(0)
    columns = {group.column(i).path_in_schema: group.column(i) for i in range(group.num_columns)}
    assert {column.compression for column in columns.values()} == {"ZSTD"}
    assert columns["url_key"].is_stats_set
    assert columns["url_key"].has_column_index
    assert not columns["body"].is_stats_set
    assert not columns["outlinks.list.element.url"].is_stats_set
    assert columns["kind"].has_dictionary_page
    assert not columns["body"].has_dictionary_page


def test_every_column_named_for_the_writer_exists(output):
    entry = make(output, wal(output, (1, pages(1, 1))))
    group = pq.ParquetFile(output.path(entry.file)).metadata.row_group(0)
    leaves = {group.column(i).path_in_schema for i in range(group.num_columns)}
    assert set(segment._DICTIONARY) <= leaves
    assert set(segment._NO_STATISTICS) <= set(ROWS.names)


def test_a_wal_without_rows_leaves_nothing(output):
    path = wal(output)
    assert make(output, path) is None
    empty = wal(output, (1, pages(1, 1).slice(0, 0)))
    assert make(output, empty) is None
    assert not path.exists()
    assert (manifest.names(output), output.names("tmp"), output.names("pages")) == ([], [], [])


def test_a_torn_wal_gives_what_was_whole(output):
    path = wal(output, (4, pages(1, 3)), (5, pages(4, 2)))
    path.write_bytes(path.read_bytes()[:-200])
    assert make(output, path).rows == 3


def test_sealing_after_a_kill_at_any_point_gives_one_file(output):
    path = wal(output, (4, pages(1, 3)), (5, pages(4, 2)))
    content = path.read_bytes()

    # Killed while writing: half a temporary file.
    Path(output.temporary(f"{NAME}.2")).write_bytes(b"PAR1half")
    first = make(output, path)

    # Killed between the rename and the manifest.
    path.write_bytes(content)
    output.remove("manifest", f"{NAME}.json")
    second = make(output, path, writer=3)

    # Killed between the manifest and the deletion.
    path.write_bytes(content)
    third = make(output, path, writer=4)

    # Killed after the deletion.
    fourth = make(output, path, writer=5)

    assert first == second == third == fourth
    assert [file.name for file in parquet(output) if file.is_file()] == [f"{NAME}.parquet"]
    assert output.names("tmp") == []
    assert not path.exists()


def test_a_missing_wal_without_a_manifest_entry_is_told(output):
    with pytest.raises(OutputError, match="cannot be written"):
        make(output, output.wal / f"{NAME}.wal")


def test_a_refused_segment_keeps_its_wal(output):
    path = wal(output, (4, pages(1, 3)))
    Path(output.root, "pages").write_bytes(b"in the way")
    with pytest.raises(OutputError):
        make(output, path)
    assert path.exists()
    Path(output.root, "pages").unlink()
    assert make(output, path).rows == 3


def test_rows_go_by_in_groups_of_bounded_size(output, monkeypatch):
    batches = [Recovered(n, pages(n * 10, 10)) for n in range(10)]
    monkeypatch.setattr(segment, "ROW_GROUP_BYTES", 3 * batches[0].rows.nbytes)
    path = output.temporary("x")
    written = write_parquet(output, path, batches, CONFIG)
    groups = pq.ParquetFile(path).metadata
    assert (written.rows, groups.num_row_groups) == (100, 4)
    assert [groups.row_group(i).num_rows for i in range(4)] == [30, 30, 30, 10]


def test_no_more_than_one_group_is_ahead_of_the_file(output, monkeypatch):
    batch = pages(1, 10)
    monkeypatch.setattr(segment, "ROW_GROUP_BYTES", 2 * batch.nbytes)
    sizes = []

    def batches():
        for n in range(40):
            sizes.append(Path(path).stat().st_size)
            yield Recovered(n, batch)

    path = output.temporary("x")
    write_parquet(output, path, batches(), CONFIG)
    growth = [later > earlier for earlier, later in pairwise(sizes[1:])]
    assert sum(growth) >= 18


def test_memory_does_not_grow_with_the_segment(output, monkeypatch):
    rows = pages(1, 20, words=400)
    monkeypatch.setattr(segment, "ROW_GROUP_BYTES", 2 * rows.nbytes)
    peaks = []
    for size in (4, 40):
        path = wal(output, *((n, rows) for n in range(size)))
        default, pool = pa.default_memory_pool(), pa.proxy_memory_pool(pa.default_memory_pool())
        pa.set_memory_pool(pool)
        try:
            make(output, path)
        finally:
            pa.set_memory_pool(default)
        output.remove("manifest", f"{NAME}.json")
        peaks.append(pool.max_memory())
    assert 0 < peaks[1] < 1.5 * peaks[0]


@pytest.mark.slow
def test_a_reader_never_sees_a_partial_file(output):
    rows = pages(1, 400, words=2000)
    seen, stop = set(), threading.Event()

    def watch():
        while not stop.is_set():
            for file in Path(output.root).rglob("*.parquet"):
                seen.add(pq.read_metadata(file).num_rows)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for sequence in range(6):
            name = SegmentName(3, sequence, 2)
            log = Wal(output.wal, name, ROWS, sync=False)
            log.append(1, rows)
            log.close()
            seal(output, log.path, name, CONFIG, writer=2, now=9.0)
    finally:
        stop.set()
        watcher.join()
    assert seen == {400}
