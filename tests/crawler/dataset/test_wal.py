import os
import struct
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.dataset.schema import ROWS
from crawler.dataset.wal import SegmentName, Wal, leftovers, recover, take_over
from crawler.errors import FencedError
from tests.crawler.dataset.samples import pages

NAME = SegmentName(3, 7, 2)


def read(path):
    with recover(path) as batches:
        return [(batch_id, rows.to_pylist()) for batch_id, rows in batches]


def written(folder, *, close=True):
    wal = Wal(folder, NAME, ROWS, sync=False)
    ends = []
    for batch_id, count in ((5, 2), (9, 1), (6, 3)):
        wal.append(batch_id, pages(batch_id, count))
        ends.append(wal.size)
    if close:
        wal.close()
    return wal, ends


def test_what_was_appended_is_read_back_with_its_id(tmp_path):
    wal, _ = written(tmp_path)
    assert read(wal.path) == [
        (n, pages(n, count).to_pylist()) for n, count in ((5, 2), (9, 1), (6, 3))
    ]


def test_what_was_appended_is_there_before_the_file_is_closed(tmp_path):
    wal, _ = written(tmp_path, close=False)
    assert [batch_id for batch_id, _ in read(wal.path)] == [5, 9, 6]
    wal.close()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wal")
    wal, ends = written(folder)
    return folder, wal.path.read_bytes(), ends


@given(data=st.data())
def test_a_file_torn_anywhere_gives_all_batches_before_the_tear(whole, data):
    folder, content, ends = whole
    near = st.builds(lambda end, by: end + by, st.sampled_from(ends), st.integers(-9, 9))
    at = data.draw(
        st.one_of(st.integers(0, len(content)), near.filter(lambda n: n <= len(content)))
    )
    torn = folder / "torn"
    torn.write_bytes(content[:at])
    assert [batch_id for batch_id, _ in read(torn)] == [5, 9, 6][: sum(end <= at for end in ends)]


@given(at=st.integers(0, 3000), junk=st.binary(max_size=64))
def test_a_foreign_tail_never_raises_and_costs_no_batch_before_it(whole, at, junk):
    folder, content, ends = whole
    cut = max(0, len(content) - at)
    torn = folder / "junk"
    torn.write_bytes(content[:cut] + junk)
    found = [batch_id for batch_id, _ in read(torn)]
    assert found[: sum(end <= cut for end in ends)] == [5, 9, 6][: sum(end <= cut for end in ends)]


def test_a_tail_of_zeros_as_after_a_power_cut_is_no_batch(whole):
    folder, content, ends = whole
    torn = folder / "zeros"
    torn.write_bytes(content[: ends[1]] + bytes(len(content) - ends[1]))
    assert [batch_id for batch_id, _ in read(torn)] == [5, 9]


def test_a_batch_whose_offsets_were_lost_is_no_batch(whole):
    folder, content, ends = whole
    torn = folder / "offsets"
    # The metadata arrived, then the offsets of a text column came out as nonsense.
    offsets = content.find(b"https://example.org/6", ends[1]) - 16
    assert content[offsets : offsets + 16] == struct.pack("<4i", 0, 21, 42, 63)
    torn.write_bytes(
        content[:offsets] + struct.pack("<4i", 0, 42, 21, 63) + content[offsets + 16 :]
    )
    assert [batch_id for batch_id, _ in read(torn)] == [5, 9]


def test_an_arrow_stream_that_is_not_ours_is_no_batch(tmp_path):
    path = tmp_path / "other.wal"
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, ROWS) as stream:
        stream.write_batch(pages(1, 1))
    assert read(path) == []


def test_a_missing_wal_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        recover(tmp_path / "none.wal")


def test_a_writer_whose_file_was_taken_over_stops(tmp_path):
    wal, _ = written(tmp_path, close=False)
    taken = take_over(wal.path)
    with pytest.raises(FencedError, match="taken over"):
        wal.append(10, pages(10, 1))
    assert [batch_id for batch_id, _ in read(taken)][:3] == [5, 9, 6]
    wal.close()


def test_a_writer_whose_name_another_file_has_stops(tmp_path):
    wal, _ = written(tmp_path, close=False)
    take_over(wal.path)
    wal.path.write_bytes(b"")
    with pytest.raises(FencedError):
        wal.append(10, pages(10, 1))
    wal.close()


def test_what_was_taken_over_stays_taken(tmp_path):
    wal, _ = written(tmp_path)
    taken = take_over(wal.path)
    assert take_over(taken) == taken
    assert not wal.path.exists()


def test_leftovers_are_those_of_the_shard_oldest_first(tmp_path):
    for name in ("0003-000002-00000010.wal", "0003-000004-00000009.taken", "0004-000001-00000001.wal", "0003.epoch",
                 "0003-000002-00000011.txt", "x-y-z.wal"):  # fmt: skip
        (tmp_path / name).touch()
    assert [(name.sequence, path.suffix) for name, path in leftovers(tmp_path, 3)] == [
        (9, ".taken"),
        (10, ".wal"),
    ]
    assert {name.shard for name, _ in leftovers(tmp_path)} == {3, 4}
    assert leftovers(tmp_path / "none", 3) == []


@given(st.integers(0), st.integers(0), st.integers(0))
def test_a_name_says_what_it_is_made_of(shard, sequence, epoch):
    name = SegmentName(shard, sequence, epoch)
    assert SegmentName.parse(str(name)) == name


@given(st.text())
def test_other_names_are_not_ours(text):
    name = SegmentName.parse(text)
    assert name is None or [int(part) for part in text.split("-")] == [
        name.shard,
        name.epoch,
        name.sequence,
    ]


@pytest.mark.parametrize("sync", [True, False])
def test_an_append_is_on_disk_before_it_returns(tmp_path, monkeypatch, sync):
    sizes, fdatasync = [], os.fdatasync
    monkeypatch.setattr(
        os, "fdatasync", lambda fd: (sizes.append(os.fstat(fd).st_size), fdatasync(fd))
    )
    wal = Wal(tmp_path, NAME, ROWS, sync=sync)
    wal.append(1, pages(1, 1))
    assert sizes == ([wal.size] if sync else [])
    wal.close()


def test_synced_appends_close_their_files(tmp_path):
    before = len(list(Path("/proc/self/fd").iterdir()))
    wal = Wal(tmp_path, NAME, ROWS, sync=True)
    wal.append(1, pages(1, 1))
    wal.close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert len(read(wal.path)) == 1
