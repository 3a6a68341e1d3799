from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.dataset import manifest
from crawler.dataset.manifest import Batches, Entry, Totals, ranges
from crawler.dataset.output import Output
from crawler.dataset.wal import SegmentName
from crawler.errors import OutputError
from tests.crawler.dataset.samples import built, outcome


def entry(shard=1, sequence=1, epoch=1, rows=2):
    counts = {"fetched": rows}, {"fetched": 7}
    return Entry(
        "pages/x", shard, epoch, sequence, rows, 10, *counts, 1.0, 2.0, 3.0, ((1, 4), (6, 6))
    )


@pytest.fixture
def output(tmp_path):
    return Output.open(str(tmp_path))


def test_totals_count_rows_and_bytes_by_kind():
    rows = built(
        outcome("https://example.org/1", wire_bytes=10),
        outcome("https://example.org/2", wire_bytes=2**52 + 1),
        outcome("https://example.org/3", kind="timeout", wire_bytes=None, body=None),
    ).rows
    total = Totals.of(rows)
    assert total == Totals({"fetched": 2, "timeout": 1}, {"fetched": 2**52 + 11, "timeout": 0})
    total.add(total)
    assert total.rows == {"fetched": 4, "timeout": 2}
    assert total != 3
    assert repr(Totals({"a": 1}, {"a": 2})) == "Totals(rows={'a': 1}, wire_bytes={'a': 2})"


def test_entries_are_listed_oldest_first(output):
    listed = [entry(sequence=10, epoch=1), entry(sequence=9, epoch=3), entry(shard=0, sequence=11)]
    for one in listed:
        manifest.write(output, one, sync=False)
    output.put(b"", "manifest", "readme.txt", sync=False)
    output.put(b"", "manifest", "readme.json", sync=False)
    assert list(manifest.entries(output)) == [listed[2], listed[1], listed[0]]
    assert list(manifest.entries(output, shard=1)) == [listed[1], listed[0]]
    assert manifest.names(output, 0) == [SegmentName(0, 11, 1)]
    assert manifest.read(output, SegmentName(5, 5, 5)) is None


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"batches": []}'])
def test_a_damaged_entry_is_told(output, text):
    output.put(text, "manifest", f"{SegmentName(1, 2, 3)}.json", sync=False)
    with pytest.raises(OutputError, match="not a manifest entry"):
        list(manifest.entries(output))


@given(st.lists(st.integers(0, 30)))
def test_ranges_cover_the_numbers_and_nothing_else(numbers):
    found = ranges(numbers)
    assert sorted(set(numbers)) == [n for first, last in found for n in range(first, last + 1)]
    assert all(later[0] > earlier[1] + 1 for earlier, later in pairwise(found))


@given(st.permutations(range(12)).map(list), st.integers(0, 12))
def test_appends_that_come_one_by_one_are_a_range_for_each_segment(numbers, cut):
    batches, placed = Batches(), {n: 1 + (n >= cut) for n in numbers}
    for n in numbers:
        batches.add([(n, n)], placed[n])
    assert {n: batches.find(n) for n in range(-1, 13)} == {n: placed.get(n) for n in range(-1, 13)}
    assert len(batches._ranges) == len(set(placed.values()))


@given(st.dictionaries(st.integers(-3, 40), st.integers(1, 5)))
def test_batches_are_found_where_they_are(placed):
    batches = Batches()
    for sequence in set(placed.values()):
        batches.add(ranges(n for n, at in placed.items() if at == sequence), sequence)
    assert {n: batches.find(n) for n in range(-5, 45)} == {n: placed.get(n) for n in range(-5, 45)}
