from hypothesis import given
from hypothesis import strategies as st

from crawler.frontier.politeness import Clock
from crawler.frontier.records import (
    QUEUED,
    WAITING,
    Done,
    Entry,
    HostRecord,
    Live,
    entry_key,
    is_better,
    pack_done,
    pack_entry,
    pack_host,
    pack_live,
    pack_robots,
    unpack_entry,
    unpack_host,
    unpack_robots,
    unpack_url,
)
from crawler.outcomes import Kind

KEY = st.integers(-(2**63), 2**63 - 1)
SMALL = st.integers(0, 65535)
MOMENT = st.floats(0, 1e11)


@given(
    st.builds(
        Entry, KEY, st.binary(), st.integers(-1, 2**31 - 1), SMALL, st.integers(0, 255), SMALL, SMALL, st.binary(),
        st.binary(),
    )
)  # fmt: skip
def test_entries_round_trip(entry):
    value = pack_entry(entry)
    assert unpack_entry(value) == entry
    assert entry_key(value) == entry.key


@given(
    st.builds(
        Live,
        st.sampled_from([QUEUED, WAITING]),
        st.integers(0, 255),
        st.integers(0, 99),
        st.integers(0),
        SMALL,
    )
)
def test_live_records_round_trip(record):
    record = record._replace(place=record.place % 2**64)
    assert unpack_url(pack_live(*record)) == record


@given(st.builds(Done, SMALL, MOMENT, st.integers(0, 999), st.binary(), st.binary(), st.binary()))
def test_done_records_round_trip(record):
    assert unpack_url(pack_done(record)) == record


@given(
    st.builds(HostRecord, st.text(), st.integers(), SMALL,
              st.builds(Clock, MOMENT, MOMENT, SMALL, SMALL, SMALL, MOMENT, st.text(), MOMENT, MOMENT),
              st.sampled_from([None, Kind.GAVE_UP, Kind.ROBOTS_UNREACHABLE]), st.text())
)  # fmt: skip
def test_host_records_round_trip(record):
    record = record._replace(admitted=record.admitted % 2**63)
    assert unpack_host(pack_host(record)) == record


@given(st.binary(), MOMENT)
def test_robots_records_round_trip(rules, expires_at):
    assert unpack_robots(pack_robots(rules, expires_at)) == (rules, expires_at)


def test_a_link_is_better_if_it_is_nearer_or_more_urgent_and_the_url_is_not_done():
    live = pack_live(QUEUED, 50, 3, 1, 0)
    assert is_better(live, 2, 60)
    assert is_better(live, 4, 49)
    assert not is_better(live, 3, 50)
    assert not is_better(pack_done(Done(0, 0.0, 200, b"", b"", b"")), 0, 0)
