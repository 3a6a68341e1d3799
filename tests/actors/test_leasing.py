"""Permits and leases: what is lent is never more than granted, and never lost."""

import asyncio
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.directory import Directory
from actors.leasing import Leases, Permits
from actors.links import Outbox
from actors.pipeline import Pipeline
from actors.plan import Plan
from actors.ring import Ring
from actors.spec import ShardSpec
from actors.work import Facts, LostError
from crawler.config import Config, Runtime
from crawler.dataset.output import Output
from crawler.fetch.columns import EMPTY
from crawler.frontier.frontier import Frontier
from crawler.frontier.lease import Delivery, Incident, RetryLater
from crawler.frontier.links import SETTLED
from crawler.outcomes import Kind
from crawler.url.keys import slot_of
from tests.clock import CLOCK
from tests.crawler.frontier.builders import link, links, report, settled

NOW = 1_000_000.0


class Drawing:
    """A directory with one shard, whose answers may be held back."""

    def __init__(self, pages):
        self.directory = Directory(1, 0, pages)
        self.granted = 0
        self.answering = asyncio.Event()
        self.answering.set()
        self.asked = asyncio.Event()

    async def draw(self, granted, want):
        self.asked.set()
        await self.answering.wait()
        grant = await self.directory.draw(0, granted, want)
        self.granted = granted + grant
        return grant


def held(permits):
    return permits.fetched + permits._leased + permits._in_hand


@given(
    budget=st.integers(1, 60),
    steps=st.lists(st.tuples(st.sampled_from(["more", "back", "give"]), st.integers(1, 30))),
)
def test_leased_in_hand_and_fetched_are_what_was_granted(budget, steps):
    async def play():
        peers = Drawing(budget)
        permits, leased = Permits(peers, fetched=0, limited=True), 0
        for step, number in steps:
            if step == "more":
                urls = await permits.available(number)
                assert 0 <= urls <= number
                permits.lease(urls)
                leased += urls
            elif step == "back":
                back = min(number, leased)
                permits.back(back, pages=back // 2)
                leased -= back
            elif not leased:
                await permits.give_back()
            assert held(permits) <= peers.granted <= budget
            assert permits._leased == leased

    asyncio.run(play())


async def test_what_comes_back_while_the_directory_answers_is_not_forgotten():
    peers = Drawing(10)
    permits = Permits(peers, fetched=0, limited=True)
    permits.lease(await permits.available(10))
    peers.answering.clear()
    peers.asked.clear()
    asking = asyncio.create_task(permits.available(5))
    await peers.asked.wait()
    permits.back(10, pages=6)
    peers.answering.set()
    assert await asking == 4
    assert held(permits) == 10


async def test_no_more_is_kept_than_can_be_used():
    peers = Drawing(10)
    permits = Permits(peers, fetched=0, limited=True)
    permits.lease(await permits.available(10))
    permits.back(10)
    assert await permits.available(3) == 3
    assert peers.granted == 3


async def test_without_a_budget_nobody_is_asked():
    permits = Permits(None, fetched=0, limited=False)
    assert await permits.available(7) == 7
    await permits.give_back()


class Scripted:
    """`Work` that plays what it is told for each lease, and settles every row as fetched."""

    def __init__(self, script):
        self.script = script
        self.leases = []
        self.lose_batches = 0
        self.given_up = []

    async def fetch(self, lease):
        self.leases.append(lease)
        for step in self.script(lease):
            if isinstance(step, Exception):
                raise step
            yield [url for host in lease.hosts for url in host.urls if url.key in step.keys], step

    async def parse(self, batch, duplicates, source):
        if self.lose_batches:
            self.lose_batches -= 1
            message = "gone"
            raise LostError(message)
        rows = settled(*(row(url) for url in batch))
        counters = Counter(f"rows.{kind}" for kind in rows["kind"].to_pylist())
        return rows, Facts(rows, links(), counters)

    async def gave_up(self, batch):
        self.given_up += zip(batch["kind"].to_pylist(), batch["error"].to_pylist(), strict=True)
        return batch.to_pylist()


def row(url):
    """The SETTLED row of a leased URL, or of the FETCHED row of one that was given up."""
    get = url.get if isinstance(url, dict) else lambda name: getattr(url, name, None)
    given = dict.fromkeys(SETTLED.names)
    host = get("host") or get("url").split("/")[2]
    return given | {
        "slot": slot_of(host), "host": host, "site": host, "key": get("key"), "visit": get("visit"),
        "kind": get("kind") or "fetched", "fetched_at": NOW,
    }  # fmt: skip


class Journal:
    """`Peers` that take every row, and say so."""

    def __init__(self):
        self.appended = 0
        self.full = False

    async def append(self, batch, rows):
        if self.full:
            message = "no space"
            raise OSError(message)
        self.appended += rows.num_rows
        return 1

    async def draw(self, granted, want):
        return want


class Stage:
    """Leases over a real frontier and pipeline, with scripted work."""

    def __init__(self, folder, script, **runtime):
        config = Config(runtime=Runtime(**runtime))
        self.now = NOW
        self.frontier = Frontier(folder / "state", config, rng=random.Random(0), now=NOW)
        self.work, self.journal = Scripted(script), Journal()
        spec = ShardSpec(
            0,
            1,
            config,
            (),
            Output.open(str(folder)),
            Plan(2, 1, 0.25, 1, 1.0, batches=2),
            "run",
            CLOCK,
        )
        outbox = Outbox(Ring(1).owners, 0, None)
        pipeline = Pipeline(self.work, self.journal, outbox, self.frontier, None, lambda: self.now)
        permits = Permits(self.journal, 0, limited=True)
        self.permits = permits
        self.leases = Leases(spec, self.work, self.frontier, pipeline, permits, lambda: self.now)

    def add(self, *hosts_and_keys):
        rows = [link(host, key, slot=slot_of(host)) for host, key in hosts_and_keys]
        self.frontier.discover(links(*rows), self.now)

    async def step(self, seconds=0.0):
        """One round of the shard's loop, until nothing is under way."""
        self.now += seconds
        await self.leases.more(stopping=False)
        while not self.leases.empty:
            self.leases.changed.clear()
            await self.leases.changed.wait()
        self.frontier.check()
        assert self.permits._leased == self.frontier.leased

    def close(self):
        self.frontier.close()


@pytest.fixture
def stage(tmp_path):
    stages = []

    def make(script, **runtime):
        stages.append(Stage(tmp_path, script, **runtime))
        return stages[-1]

    yield make
    for one in stages:
        one.close()


def delivery(*keys, reports=(), requests=0, end=False):
    return Delivery(keys, (None,) * len(keys), tuple(reports), requests, 0, end=end)


def keys_of(lease):
    return [url.key for host in lease.hosts for url in host.urls]


def all_well(lease):
    """Every URL in one batch, then the hosts' reports and the end."""
    yield delivery(*keys_of(lease), requests=len(keys_of(lease)))
    yield delivery(reports=[report(host.host, lease.deadline) for host in lease.hosts], end=True)


async def test_a_lease_comes_to_its_end(stage):
    one = stage(all_well)
    one.add(("a.example", 1), ("a.example", 2), ("b.example", 3))
    await one.step()
    assert one.frontier.idle
    assert one.journal.appended == 3
    assert one.leases.counters["requests"] == 3
    assert repr(one.leases) == "<Leases 0 open, 0 batches, 0 lost>"
    assert not one.leases.held


async def test_lost_before_anything_came(stage):
    one = stage(lambda _: [LostError("gone")])
    one.add(("a.example", 1), ("b.example", 2))
    await one.step()
    assert (one.leases.lost, one.journal.appended) == (1, 0)
    assert one.frontier.queued == 2
    assert one.frontier.next_ready(NOW) == NOW + 1.0  # they may have been asked just now

    one.work.script = all_well
    await one.step(seconds=1.0)
    assert one.frontier.idle
    assert [keys_of(lease) for lease in one.work.leases] in ([[1, 2]] * 2, [[1, 2], [2, 1]])


async def test_lost_after_some_came(stage):
    def script(lease):
        yield delivery(1, reports=[report("a.example", NOW)])
        yield LostError("gone")

    one = stage(script)
    one.add(("a.example", 1), ("b.example", 2), ("b.example", 3))
    await one.step()
    assert one.journal.appended == 1
    assert one.frontier.queued == 2
    assert one.permits.fetched == 1


async def test_a_host_that_fetch_tasks_die_of_ends_and_takes_no_other_with_it(stage):
    def script(lease):
        deadly = any(host.host == "deadly.example" for host in lease.hosts)
        return [LostError("the process died")] if deadly else all_well(lease)

    one = stage(script, lease_hosts=8)
    one.add(("deadly.example", 0), *((f"{number}.example", number) for number in range(1, 30)))
    while not one.frontier.idle:
        await one.step(seconds=max(0.0, one.frontier.next_ready(one.now) - one.now))
        assert len(one.work.leases) < 100
    assert one.journal.appended == 30
    [(kind, reason)] = one.work.given_up
    assert kind == "gave_up"
    assert "the fetch task died that asked it" in reason
    alone = [lease for lease in one.work.leases if len(lease.hosts) == 1]
    assert one.leases.lost - len(alone) <= 3


async def test_a_lost_batch_is_leased_again_but_its_hosts_are_not_punished(stage):
    one = stage(all_well)
    one.work.lose_batches = 1
    one.add(("a.example", 1), ("a.example", 2))
    await one.step()
    assert (one.frontier.queued, one.journal.appended, one.permits.fetched) == (2, 0, 0)
    await one.step(seconds=10.0)
    assert (one.frontier.queued, one.journal.appended, one.permits.fetched) == (0, 2, 2)


async def test_reports_give_back_what_was_not_tried_and_what_is_tried_again(stage):
    def script(lease):
        later = [RetryLater(1, Kind.TIMEOUT, None, 30.0)]
        incident = Incident(Kind.TIMEOUT, None, None)
        yield delivery(
            reports=[report("a.example", NOW, unused=(2,), retries=later, incident=incident)],
            end=True,
        )

    one = stage(script)
    one.add(("a.example", 1), ("a.example", 2))
    await one.step()
    assert (one.frontier.queued, one.frontier.due, one.journal.appended) == (1, 1, 0)


async def test_urls_of_hopeless_hosts_get_their_rows_without_a_fetch(stage):
    def script(lease):
        incident = Incident(Kind.CONNECT_ERROR, None, None)
        yield delivery(
            reports=[report("a.example", NOW, successes=0, unused=(1, 2), incident=incident)],
            end=True,
        )

    one = stage(script)
    one.add(("a.example", 1), ("a.example", 2))
    for _ in range(10):
        await one.step(seconds=4000.0)
    assert len(one.work.leases) == 10  # eight, and one after each of two parks
    await one.step(seconds=4000.0)
    assert [kind for kind, _ in one.work.given_up] == ["gave_up"] * 2
    assert one.frontier.idle
    await one.step()  # what was in hand for them goes back
    assert (one.journal.appended, one.permits.fetched, held(one.permits)) == (2, 0, 0)


async def test_a_failure_is_raised_by_the_next_round(stage):
    one = stage(all_well)
    one.journal.full = True
    one.add(("a.example", 1))
    await one.step()
    for stopping in (False, True):
        with pytest.raises(OSError, match="no space"):
            await one.leases.more(stopping=stopping)


async def test_an_unexpected_error_of_a_stream_is_a_failure_too(stage):
    one = stage(lambda _: [ValueError("a bug")])
    one.add(("a.example", 1))
    await one.step()
    with pytest.raises(ValueError, match="a bug"):
        await one.leases.more(stopping=False)


async def test_no_more_leases_than_planned_and_none_when_stopping(stage):
    gate = asyncio.Event()

    class Waiting(Scripted):
        async def fetch(self, lease):
            self.leases.append(lease)
            await gate.wait()
            yield EMPTY, delivery(end=True)

    one = stage(all_well, lease_urls=1)
    one.work = one.leases._work = Waiting(None)
    one.add(("a.example", 1), ("b.example", 2), ("c.example", 3))
    await one.leases.more(stopping=True)
    assert one.leases.held
    assert one.leases.empty
    await one.leases.more(stopping=False)
    assert one.leases.full(apart=False)
    await asyncio.sleep(0)
    assert (one.leases.open, one.leases.batches, len(one.work.leases)) == (2, 0, 2)
    await one.leases.cancel()
    assert one.leases.empty
    assert one.frontier.leased == 0
    assert one.frontier.queued == 3


async def test_leases_are_short_when_few_hosts_are_ready_and_long_when_many_are(stage):
    one = stage(all_well, lease_hosts=10, lease_seconds=10.0, lease_urls=1000)
    one.add(("a.example", 1))
    await one.step()
    one.add(*((f"{name}.example", 10 + ord(name)) for name in "cdefghi"))
    await one.step()
    one.add(*((f"{name}.example", 100 + ord(name)) for name in "jklmnopqrstuvwxyz"))
    await one.step()
    assert [lease.deadline - NOW for lease in one.work.leases[:3]] == [2.0, 7.0, 10.0]


async def test_refused_permits_wait_for_news_not_for_a_moment(stage):
    one = stage(all_well)

    async def draw(granted, want):
        return 0

    one.journal.draw = draw
    one.add(("a.example", 1))
    await one.leases.more(stopping=False)
    assert one.leases.held
    assert one.frontier.next_ready(NOW) == NOW


async def test_leases_that_wait_for_a_slow_host_take_no_place_of_others(stage):
    class Waiting(Scripted):
        async def fetch(self, lease):
            self.leases.append(lease)
            await asyncio.Event().wait()
            yield EMPTY, delivery(end=True)

    one = stage(all_well, lease_urls=1)
    one.work = one.leases._work = Waiting(None)
    one.add(*((f"{name}.example", ord(name)) for name in "abcdef"))
    await one.leases.more(stopping=False)
    assert one.leases.open == 2
    assert one.leases.next_ready() is None, "what is ready waits for a place"
    one.now += 6.0  # the leases' two seconds are over, but no more than a slow answer ago
    await one.leases.more(stopping=False)
    assert one.leases.open == 2
    one.now += 2.0
    assert one.leases.next_ready() == one.now
    await one.leases.more(stopping=False)
    assert one.leases.open == 3, "there is one place for such leases"
    one.now += 100.0
    await one.leases.more(stopping=False)
    assert one.leases.open == 3
    await one.leases.cancel()


async def test_leases_that_are_late_because_of_us_keep_their_place(stage):
    one = stage(all_well)
    one.leases._open = {1: (NOW, False), 2: (NOW, False)}
    one.now += 100.0
    assert not one.leases.full(apart=False)
    for _ in range(2):  # no room for batches: what has been fetched cannot be handed on
        await one.leases._room.acquire()
    assert one.leases.full(apart=False)


async def test_hosts_that_failed_are_leased_apart_in_places_of_their_own(stage):
    def script(lease):
        incident = Incident(Kind.CONNECT_ERROR, None, None)
        yield delivery(
            reports=[
                report(host.host, NOW, successes=0, unused=keys_of(lease), incident=incident)
                if host.host == "a.example"
                else report(host.host, NOW, unused=keys_of(lease))
                for host in lease.hosts
            ],
            end=True,
        )

    one = stage(script, lease_hosts=1)
    one.add(("a.example", 1), ("b.example", 2))
    await one.step()
    one.work.leases.clear()
    one.work.script = all_well
    await one.step(seconds=100.0)
    assert sorted([host.host for host in lease.hosts] for lease in one.work.leases) == [
        ["a.example"],
        ["b.example"],
    ]
    assert one.frontier.idle


class Sharing(Journal):
    """`Journal` of one of several shards that draw from one directory."""

    def __init__(self, directory, shard):
        super().__init__()
        self.directory, self.shard = directory, shard

    async def draw(self, granted, want):
        return await self.directory.draw(self.shard, granted, want)


async def test_permits_of_a_host_that_must_be_left_alone_are_for_the_other_shards(stage):
    def refused(lease):
        incident = Incident(Kind.HTTP_ERROR, 503, 3600.0)
        yield delivery(
            reports=[
                report("a.example", NOW, successes=0, unused=keys_of(lease), incident=incident)
            ],
            end=True,
        )

    one, directory = stage(refused), Directory(2, 0, 5)
    await directory.draw(1, 0, 0)
    one.permits._peers = Sharing(directory, 0)
    one.add(*(("a.example", key) for key in range(5)))
    await one.step()
    assert one.frontier.next_ready(one.now) == NOW + 3600.0
    await one.step()
    assert await directory.draw(1, 0, 5) == 5


async def test_a_shard_that_can_ask_nobody_says_what_it_has_used(stage):
    one, directory = stage(all_well), Directory(2, 0, 5)
    one.frontier.restore(
        settled(), NOW, counters={}, mark=0
    )  # everyone may have been asked just now
    one.permits._peers = Sharing(directory, 0)
    one.permits.fetched = 2
    one.add(("a.example", 1))
    await one.step()
    assert (one.frontier.queued, one.work.leases) == (1, [])
    assert await directory.draw(1, 0, 5) == 3
