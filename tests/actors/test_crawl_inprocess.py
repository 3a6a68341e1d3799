"""Whole crawls of a simulated web in one process, undisturbed and disturbed: always the rows of the truth.

The server's log is the witness of politeness, and of what was fetched twice.
"""

import shutil
import time
from pathlib import Path
from random import Random

import pytest

from actors.restore import restore
from actors.ring import Ring
from actors.watch import Ending, total
from benchmarks.simweb import log as logs
from benchmarks.simweb.judge import differences, disobeyed, patience
from benchmarks.simweb.options import Options
from benchmarks.simweb.running import running
from benchmarks.simweb.truth import Limits, _Search, truth
from crawler.errors import OutputError
from crawler.frontier.frontier import Frontier
from crawler.loading import load
from tests.actors.inprocess import Faults, local_crawl, rows_of
from tests.clock import now

pytestmark = pytest.mark.slow

DELAY = 0.02
POISON = Path(__file__).resolve().parents[1] / "poison"
WORLD = Options(hosts=8, pages=60, troubles=False, sitemaps=True)


@pytest.fixture(scope="module")
def web():
    with running(WORLD) as web:
        yield web


class Place:
    """One output for crawls of a web, and what there is to say of it."""

    def __init__(self, web, folder):
        self.web = web
        self.out = folder / "out"
        self.began = now()
        self._toml = web.config_toml(folder, DELAY)

    def crawl(self, shards=1, faults=None, **options):
        """A crawl with small batches and leases, so that there are many of them."""
        small = {"batch_seconds": 0.03, "lease_urls": 12, "urls_per_host": 4}
        tree = {f"runtime.{name}": value for name, value in small.items()}
        tree |= {name.replace("__", "."): value for name, value in options.items()}
        config = load(self._toml, {"runtime.shards": shards} | tree)
        return local_crawl(config, self.web.seeds, self.out, faults)

    @property
    def log(self):
        """What the server was asked since this place is there."""
        return [request for request in self.web.log() if request.start >= self.began]

    def faults(self, expected=None):
        """Everything that is wrong with the rows and the manners."""
        world, log = self.web.world, self.log
        expected = truth(world) if expected is None else expected
        lines = differences(world, expected, rows_of(self.out, "url", "kind"))
        lines += disobeyed(world, log)
        return lines + [str(one) for one in logs.violations(log, patience(world, DELAY))]

    @property
    def fetched_twice(self):
        return logs.refetched(self.log)

    def forget(self):
        shutil.rmtree(self.out / "state")


@pytest.fixture
def place(web, tmp_path):
    return Place(web, tmp_path)


@pytest.mark.parametrize("shards", [1, 3])
async def test_undisturbed(place, shards):
    async with place.crawl(shards) as crawl:
        totals = await crawl.finish()
    assert place.faults() == []
    assert place.fetched_twice == {}
    assert totals.found == totals.accounted > 0
    assert totals.rows == len(truth(place.web.world))
    assert (totals.queued, totals.leased, totals.leases_lost) == (0, 0, 0)


@pytest.mark.parametrize("shards", [1, 3])
async def test_streams_and_batches_are_lost(place, shards):
    faults = Faults(lose_streams=4, lose_batches=5)
    async with place.crawl(shards, faults) as crawl:
        totals = await crawl.finish()
    assert faults.happened == {"lose_streams": 4, "lose_batches": 5}
    assert totals.leases_lost == 4
    assert place.faults() == []
    assert totals.found == totals.accounted


class _Without(_Search):
    """The truth of a crawl to which one page says nothing."""

    def __init__(self, world, mute):
        super().__init__(world, world.seeds, Limits())
        self._mute = mute

    def _visit(self, url):
        kinds, onward = super()._visit(url)
        return (frozenset({"parse_failed"}), iter(())) if url == self._mute else (kinds, onward)


async def test_a_page_that_takes_the_parser_down(place, monkeypatch):
    world = place.web.world
    poison = next(
        url
        for url, kinds in sorted(truth(world).items())
        if kinds == {"fetched"} and url not in world.seeds
    )
    monkeypatch.syspath_prepend(str(POISON))
    monkeypatch.setenv("POISONED_URL", poison)
    faults = Faults(poison=poison)
    async with place.crawl(2, faults, runtime__batch_seconds=0.5) as crawl:
        totals = await crawl.finish()
    assert faults.happened["crash"] == 1
    assert place.faults(_Without(world, poison).run()) == []
    assert totals.found == totals.accounted
    (row,) = [
        row for row in rows_of(place.out, "kind", "url", "body", "error") if "parse_failed" in row
    ]
    assert row[1] == poison
    assert row[2].startswith(b"<!")
    assert row[3] == "its reader crashed (signal 6)"


async def interrupted(place, shards, rows=15):
    """A crawl that is stopped half-way; its totals."""
    async with place.crawl(shards) as crawl:
        await crawl.until_rows(rows)
        totals = await crawl.end()
    assert rows <= totals.rows < len(truth(place.web.world))
    assert totals.found == totals.accounted
    return totals


@pytest.mark.parametrize("state", ["kept", "lost"])
@pytest.mark.parametrize(("before", "after"), [(1, 1), (3, 3), (1, 3), (3, 1)])
async def test_stopped_and_resumed(place, before, after, state):
    half = await interrupted(place, before)
    if state == "lost":
        place.forget()
    async with place.crawl(after) as crawl:
        totals = await crawl.finish()
    assert place.faults() == []
    assert place.fetched_twice == {}
    assert totals.rows == len(truth(place.web.world)) > half.rows
    assert totals.found == totals.accounted


async def test_a_finished_crawl_has_nothing_left_to_do(place):
    async with place.crawl(2) as crawl:
        first = await crawl.finish()
    asked = len(place.log)
    for forget in (False, True):
        if forget:
            place.forget()
        async with place.crawl(2) as crawl:
            again = await crawl.finish()
        assert (again.rows, again.kinds, again.wire_bytes) == (
            first.rows, first.kinds, first.wire_bytes,
        )  # fmt: skip
        assert again.found == again.accounted
        assert len(place.log) == asked


@pytest.mark.parametrize("state", ["kept", "lost"])
@pytest.mark.parametrize(("before", "after"), [(1, 1), (3, 3), (3, 2), (1, 3)])
async def test_killed_again_and_again(place, before, after, state):
    for rows in (1, 7, 13):
        async with place.crawl(before) as crawl:
            await crawl.until_rows(rows)
        if state == "lost":
            place.forget()
    async with place.crawl(after) as crawl:
        totals = await crawl.finish()
    assert place.faults() == []
    assert totals.rows == len(truth(place.web.world))
    assert totals.found == totals.accounted


async def test_what_writers_left_open_counts_under_every_number_of_shards(place):
    async with place.crawl(3) as crawl:
        while not list((place.out / "wal").glob("000[12]-*.wal")):
            await crawl.until_rows(crawl.rows + 1)
    for shards in (1, 3):
        async with place.crawl(shards) as crawl:
            totals = await crawl.finish()
        assert place.faults() == []  # no URL has two rows
        assert totals.found == totals.accounted


async def test_killed_when_just_rebuilt_for_more_shards(place):
    half = await interrupted(place, 1)
    for _ in range(2):
        async with place.crawl(3) as crawl:
            await crawl.until_restored()
            assert total(await crawl.stats()).rows >= half.rows
    async with place.crawl(3) as crawl:
        totals = await crawl.finish()
    assert place.faults() == []
    assert totals.rows == len(truth(place.web.world))
    assert totals.found == totals.accounted


async def test_cut_off_while_it_rebuilds(place):
    half = await interrupted(place, 3)
    place.forget()
    async with place.crawl(3) as crawl:
        await crawl.until_restored()
        spec = crawl.shards[0].spec
    place.forget()
    moments = iter([time.time()])
    frontier = Frontier(spec.state, spec.config, rng=Random(0), now=time.time())
    slots = Ring(spec.shards).slots_of(spec.number)
    with pytest.raises(StopIteration):
        restore(frontier, spec, slots, lambda: next(moments))
    assert not frontier.whole
    assert frontier.counters
    frontier.close()
    async with place.crawl(3) as crawl:
        await crawl.until_restored()
        assert half.rows <= total(await crawl.stats()).rows
        totals = await crawl.finish()
    assert place.faults() == []
    assert totals.rows == len(truth(place.web.world))
    assert totals.found == totals.accounted


@pytest.mark.parametrize("state", ["kept", "lost"])
@pytest.mark.parametrize("shards", [1, 3])
async def test_killed_between_write_and_settle(place, shards, state):
    for _ in range(2):
        async with place.crawl(shards, Faults(silent_after=10)) as crawl:
            await crawl.until_faulty()
        if state == "lost":
            place.forget()
    async with place.crawl(shards) as crawl:
        totals = await crawl.finish()
    assert place.faults() == []
    assert totals.rows == len(truth(place.web.world))
    assert totals.found == totals.accounted


@pytest.mark.parametrize("pages", [1, 20])
async def test_the_budget_of_pages_is_met_exactly(place, pages):
    async with place.crawl(3, budget__max_pages=pages) as crawl:
        assert await crawl.until_over() is Ending.MAX_PAGES
        totals = await crawl.end()
    kinds = [kind for (kind,) in rows_of(place.out, "kind")]
    assert totals.pages == kinds.count("fetched") == pages
    assert totals.found == totals.accounted


async def test_the_budget_of_pages_holds_over_kills_and_can_be_raised(place):
    for rows in (5, 10):
        async with place.crawl(3, budget__max_pages=30) as crawl:
            await crawl.until_rows(rows)
    async with place.crawl(3, budget__max_pages=30) as crawl:
        assert await crawl.until_over() is Ending.MAX_PAGES
        assert (await crawl.end()).pages == 30
    async with place.crawl(3, budget__max_pages=1000) as crawl:
        totals = await crawl.finish()
    assert place.faults() == []
    assert totals.found == totals.accounted


async def test_a_budget_of_pages_that_is_not_used_up_ends_complete(place):
    pages = sum(kinds == {"fetched"} for kinds in truth(place.web.world).values())
    async with place.crawl(3, budget__max_pages=pages + 1) as crawl:
        totals = await crawl.finish()
    assert place.faults() == []
    assert totals.pages == pages  # of which sitemaps are none


async def test_budgets_of_bytes_and_seconds(place):
    async with place.crawl(2, budget__max_bytes=20_000) as crawl:
        assert await crawl.until_over() is Ending.MAX_BYTES
        totals = await crawl.end()
    assert totals.wire_bytes >= 20_000
    assert totals.found == totals.accounted
    async with place.crawl(2, budget__max_seconds=0) as crawl:
        assert await crawl.until_over() is Ending.MAX_SECONDS
        totals = await crawl.end()
    assert totals.found == totals.accounted
    async with place.crawl(2) as crawl:
        await crawl.finish()
    assert place.faults() == []


async def test_a_full_disk_ends_the_crawl_and_it_goes_on_from_there(place):
    wal = place.out / "wal" / "0000-000001-00000001.wal"
    async with place.crawl(1) as crawl:
        # The first lease is under way and the journal is open, but has no segment yet.
        wal.symlink_to("/dev/full")
        with pytest.raises(OutputError, match=r"rows cannot be written.*No space left") as raised:
            await crawl.until_over()
        assert str(raised.value).count("\n") == 0
    wal.unlink()
    async with place.crawl(1) as crawl:
        totals = await crawl.finish()
    assert place.faults() == []
    assert totals.found == totals.accounted


@pytest.mark.parametrize("shards", [1, 3])
async def test_a_failure_while_it_stops_is_not_lost(place, shards):
    async with place.crawl(shards, Faults(full_after=10)) as crawl:
        await crawl.until_faulty()
        with pytest.raises(OutputError, match="no space"):
            await crawl.end()
    async with place.crawl(shards) as crawl:
        totals = await crawl.finish()
    assert place.faults() == []
    assert totals.found == totals.accounted


async def test_a_broken_parser_ends_the_crawl(place, monkeypatch):
    async with place.crawl(1) as crawl:
        monkeypatch.setattr("actors.tasks.parse", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            await crawl.until_over()


async def test_hosts_that_are_dead_or_silent(tmp_path):
    with running(Options(hosts=14, pages=80, sitemaps=True)) as web:
        place = Place(web, tmp_path)
        quick = {
            "fetch__connect_timeout": 0.3, "fetch__first_byte_timeout": 0.5, "robots__timeout": 0.5,
        }  # fmt: skip
        async with place.crawl(2, **quick) as crawl:
            totals = await crawl.finish()
        assert place.faults() == []
        assert totals.hosts_given_up > 0
        assert totals.found == totals.accounted
