"""The two tasks: what a worker process keeps between tasks, and when it must forget."""

import contextlib
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pyarrow as pa
import pytest

from actors import tasks
from actors.alarm import cancel_alarm, set_alarm
from actors.work import Source
from crawler.config import Scope, ScopeMode
from crawler.dataset.schema import ROWS
from crawler.frontier.lease import Delivery, Lease
from tests.clock import CLOCK
from tests.crawler.dataset.samples import PLAIN, SEEDS, fetched, outcome, page
from tests.shared import figure

ROOT = Path(__file__).resolve().parents[2]
POISON = ROOT / "tests" / "poison"
CONFIG = PLAIN
SOURCE = Source(shard=0, epoch=1, losses=0, batch=1, arrived=0)


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch):
    monkeypatch.setattr(tasks, "_kept", None)
    yield
    if tasks._kept:
        tasks._kept.apart.close()


@pytest.fixture
def packed():
    return tasks.pack(CONFIG, SEEDS, CLOCK)


def batch(*paths, link="/menu"):
    """Pages that all have the same link."""
    body = page(f"<a href='{link}'>menu</a>")
    return fetched(outcome(f"https://example.org{path}", body=body) for path in paths)


def parse(rows, packed, duplicates=None, source=SOURCE, run="run", apart=False):
    return tasks.parse(rows, run, packed, duplicates or {}, source, apart=apart)


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


@pytest.mark.slow
def test_pages_read_apart_give_the_same(packed):
    here = parse(batch("/a", "/b"), packed, run="here", duplicates={1: "https://example.org/1"})
    apart = parse(
        batch("/a", "/b"), packed, run="apart", duplicates={1: "https://example.org/1"}, apart=True
    )
    assert here == apart


@pytest.mark.slow
def test_a_worker_keeps_one_process_for_one_crawl(packed):
    parse(batch("/a"), packed, apart=True)
    process = psutil.Process(tasks._kept.apart.pid)
    parse(batch("/b"), packed)
    parse(batch("/c"), packed, apart=True)
    assert tasks._kept.apart.pid == process.pid
    parse(batch("/a"), packed, run="another")
    assert tasks._kept.apart.pid is None
    assert not process.is_running()


_HANGING = f"""
import sys
sys.path.insert(0, {str(POISON)!r})
import sitecustomize
from tests.actors import test_tasks
from actors import tasks
from crawler.config import Config
from tests.clock import CLOCK
from tests.crawler.dataset.samples import SEEDS, fetched, outcome

packed = tasks.pack(Config.model_validate({{"page": {{"batch_seconds": 2.0, "apart_seconds": 1.0}}}}), SEEDS, CLOCK)
pages = [(f"https://example.org/{{n}}", b"<p>words") for n in range(3)]
pages[1] = (pages[1][0], b"<!--poison hang_in_c-->")
rows = fetched(outcome(url, body=body) for url, body in pages)
sound = fetched([outcome(pages[0][0], body=pages[0][1])])
test_tasks.parse(sound, packed)
apart = test_tasks.parse(rows, packed, apart=True)[0]
tasks._kept.apart.close()
print(apart["kind"].to_pylist(), apart["error"].to_pylist()[1], flush=True)
test_tasks.parse(rows, packed)
print("not reached")
"""


@pytest.mark.slow
def test_a_batch_that_hangs_ends_its_process_and_one_read_apart_does_not():
    ended = subprocess.run(
        [sys.executable, "-c", _HANGING], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.stdout == "['fetched', 'parse_failed', 'fetched'] its reader took more than 1 s\n"
    assert (ended.returncode, ended.stderr) == (1, "")


def test_watching_costs_little():
    """A batch takes a hundred milliseconds and more."""
    times = []
    for _ in range(50):
        begin = time.perf_counter()
        set_alarm(60.0)
        cancel_alarm()
        times.append(time.perf_counter() - begin)
    figure("parser", "a batch is watched", microseconds=round(1e6 * min(times)))
    assert min(times) < 0.01


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
    wide = tasks.pack(wide, SEEDS, CLOCK)
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
