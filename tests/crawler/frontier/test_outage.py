import pytest

from crawler.frontier.host import Host
from crawler.frontier.lease import Incident
from crawler.frontier.meta import Meta
from crawler.frontier.outage import Outage, cut_off
from crawler.frontier.politeness import Clock
from crawler.frontier.records import HostRecord
from crawler.frontier.store import Store
from crawler.outcomes import Kind
from tests.crawler.frontier.builders import report

NOW = 1_000.0


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "state", block_cache=1 << 20, write_buffer=1 << 20)
    yield store
    store.close()


def outage(store):
    return Outage(Meta(store))


def host(name="a.example", *, since=NOW, served=True):
    return Host(7, name, HostRecord(name, 0, 0, Clock(since=since, served=served), None))


def unreached(kind=Kind.CONNECT_ERROR, status=None, **fields):
    return report("a.example", NOW, incident=Incident(kind, status, None), successes=0, **fields)


def note(seen, store, *pairs):
    batch = store.batch()
    for one, said in pairs:
        seen.note(one, said, batch)
    store.write(batch)


def test_the_last_answer_is_remembered_over_restarts(store):
    seen = outage(store)
    assert seen.answered_at == 0.0
    note(
        seen, store, *((host(), report("a.example", at, answered_at=at)) for at in (5.5, 9.5, 7.5))
    )
    assert seen.answered_at == outage(store).answered_at == 9.5


def test_sites_that_were_well_are_struck_by_what_a_dead_network_looks_like(store):
    for kind in Kind:
        seen = outage(store)
        note(seen, store, (host(), unreached(kind)))
        assert bool(seen.struck) == (kind in {Kind.DNS_ERROR, Kind.CONNECT_ERROR, Kind.TIMEOUT})
        seen = outage(store)
        note(seen, store, (host(served=False), unreached(kind)), (host(), unreached(kind, 503)))
        assert seen.struck == ()


def test_the_last_sites_to_fail_are_kept_each_with_its_last_host(store):
    seen, other = outage(store), host("a.example", since=NOW + 9)
    hosts = [host(f"{n}.example", since=NOW + n) for n in (4, 1, 3, 5, 2)]
    note(seen, store, (other, unreached()), *((one, unreached()) for one in [host(), *hosts]))
    assert sorted(seen.struck) == [NOW + 4, NOW + 5, NOW + 9]


def test_enough_sites_must_have_failed_since_the_last_answer_of_any():
    assert cut_off([5.0, 3.0], [0.0], [6.0, 4.0, 7.0, 8.0])
    assert not cut_off([5.0, 6.0], [0.0], [6.0, 4.0, 7.0, 8.0])
    assert cut_off([], [], [1.0, 1.0, 1.0])


def test_what_is_cut_off_remains_so_until_somebody_answers(store):
    assert cut_off([5.0, 6.0], [0.0, 6.5], [])
    assert not cut_off([5.0, 7.0], [0.0, 6.5], [])
    outage(store).tell(6.5)
    assert outage(store).cut_off_at == 6.5
    outage(store).tell(0.0)
    assert outage(store).cut_off_at == 0.0
