import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from crawler.dataset.settled import filtered, slots_of, totals_of
from crawler.url.keys import slot_of
from tests.crawler.dataset.samples import built, outcome


@given(st.lists(st.sampled_from(["example.org", "example.net", "127.0.0.1", "a.github.io"])))
def test_slots_are_those_of_the_sites(sites):
    slots = slots_of(pa.array(sites, pa.string()))
    assert slots.type == pa.uint16()
    assert slots.to_pylist() == [slot_of(site) for site in sites]


@given(st.lists(st.integers(0, 5)), st.frozensets(st.integers(0, 5)))
def test_filtering_keeps_the_wanted_slots(slots, wanted):
    batch = pa.record_batch({"slot": pa.array(slots, pa.uint16())})
    assert filtered(batch, None) is batch
    assert filtered(batch, wanted)["slot"].to_pylist() == [slot for slot in slots if slot in wanted]


def test_totals():
    rows = built(
        outcome("https://example.org/1", wire_bytes=None, body=b"xy"),
        outcome("https://example.org/2"),
    ).rows
    assert totals_of(rows) == {
        "rows.fetched": 2,
        "bytes.wire": 100,
        "bytes.body": 2 + len(b"<p>hello"),
    }
    assert totals_of(rows.slice(0, 0)) == {"bytes.wire": 0, "bytes.body": 0}
