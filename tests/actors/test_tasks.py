"""The two tasks: what a worker process keeps between tasks, and when it must forget."""

import contextlib

import pyarrow as pa
import pytest

from actors import tasks
from actors.work import Part, Source
from crawler.config import Scope, ScopeMode
from crawler.dataset.schema import ROWS
from crawler.frontier.lease import Delivery, Lease
from tests.crawler.dataset.samples import PLAIN, SEEDS, fetched, outcome, page

CONFIG = PLAIN
SOURCE = Source(shard=0, epoch=1, losses=0, batch=1, arrived=0)


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch):
    monkeypatch.setattr(tasks, "_kept", None)


@pytest.fixture
def packed():
    return tasks.pack(CONFIG, SEEDS)


def batch(*paths, link="/menu"):
    """Pages that all have the same link."""
    body = page(f"<a href='{link}'>menu</a>")
    return fetched(outcome(f"https://example.org{path}", body=body) for path in paths)


def parse(rows, packed, part=None, duplicates=None, source=SOURCE, run="run"):
    part = part or Part(0, rows.num_rows)
    return tasks.parse(rows, run, packed, part, duplicates or {}, source)


def urls(facts):
    return facts.links["url"].to_pylist()


def test_rows_facts_and_links_of_a_batch(packed):
    rows, facts = parse(batch("/a", "/b"), packed)
    assert rows.schema == ROWS
    assert rows["url"].to_pylist() == ["https://example.org/a", "https://example.org/b"]
    assert facts.settled["key"].to_pylist() == rows["url_key"].to_pylist()
    assert facts.counters["rows.fetched"] == 2
    assert facts.counters["links.found"] == 2
    assert urls(facts) == ["https://example.org/menu"]  # the second page's is known to be under way


def test_a_part_of_a_batch(packed):
    duplicates = {0: "https://example.org/0", 2: "https://example.org/1"}
    rows, _ = parse(batch("/a", "/b", "/c", "/d"), packed, Part(1, 3), duplicates)
    assert rows["url"].to_pylist() == ["https://example.org/b", "https://example.org/c"]
    assert rows["duplicate_of"].to_pylist() == [None, "https://example.org/1"]


def test_a_part_in_quarantine_is_written_unread(packed):
    rows, facts = parse(batch("/a", "/b"), packed, Part(1, 2, quarantine=True))
    (row,) = rows.to_pylist()
    assert row["kind"] == "parse_failed"
    assert row["body"].startswith(b"<html>")
    assert urls(facts) == []


def test_what_has_arrived_is_not_sent_again_what_may_not_have_is(packed):
    def sent(path, source):
        return bool(urls(parse(batch(path), packed, source=source)[1]))

    first, second = SOURCE, SOURCE._replace(batch=2)
    assert sent("/a", first)
    assert sent("/b", second)  # the first batch is still under way
    assert not sent("/c", SOURCE._replace(batch=3, arrived=1))
    other = Source(shard=1, epoch=7, losses=0, batch=1, arrived=0)
    assert not sent("/d", other)
    for changed in (SOURCE._replace(losses=1), SOURCE._replace(epoch=2), other._replace(losses=1)):
        assert sent("/e", changed)
        assert not sent("/f", changed._replace(batch=2, arrived=1))


def test_another_run_has_other_rules(packed):
    assert urls(parse(batch("/a", link="https://other.example/"), packed)[1]) == []
    wide = CONFIG.model_copy(update={"scope": Scope(mode=ScopeMode.ANY)})
    wide = tasks.pack(wide, SEEDS)
    rows = batch("/a", link="https://other.example/")
    assert urls(parse(rows, wide, run="another")[1]) == ["https://other.example/"]


def test_the_rules_are_unpacked_once_a_run(packed):
    parse(batch("/a"), packed)
    kept = tasks._kept
    parse(batch("/b"), None)
    assert tasks._kept is kept


def test_a_lease_without_hosts_ends_at_once(packed):
    lease = Lease(1, 0, 1, deadline=0.0, hosts=())
    with contextlib.closing(tasks.fetch(lease, "run", packed)) as stream:
        rows, delivery = list(stream)
    assert isinstance(rows, pa.RecordBatch)
    assert rows.num_rows == 0
    assert delivery == Delivery((), (), (), 0, 0, end=True)
