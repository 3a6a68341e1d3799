"""A shard: who may send it links, which state it takes over, and when it sleeps. Without a web."""

import asyncio
import random

import pytest

from actors import shard as module
from actors.plan import plan
from actors.shard import Shard
from actors.spec import ShardSpec, ShardStats
from actors.watch import Ending
from crawler.config import Config
from crawler.dataset.output import Output
from crawler.errors import FencedError, StateError
from crawler.frontier.frontier import Frontier
from tests.actors.inprocess import local_crawl
from tests.clock import CLOCK
from tests.crawler.frontier.builders import fates, link, links


@pytest.fixture
def spec(tmp_path):
    return ShardSpec(0, 1, Config(), (), Output.open(str(tmp_path)), plan(2, 1), "run", CLOCK)


def frontier_of(spec):
    return Frontier(spec.state, spec.config, rng=random.Random(0), now=0.0)


async def test_without_seeds_the_crawl_is_complete(spec):
    async with local_crawl(spec.config, [], spec.output.root) as crawl:
        assert await crawl.until_over() is Ending.COMPLETE
        totals = await crawl.end()
    assert (totals.rows, totals.found) == (0, 0)


async def test_links_of_an_older_incarnation_are_refused(spec):
    async with local_crawl(spec.config, [], spec.output.root) as crawl:
        (shard,) = crawl.shards
        assert await shard.add_links(5, 3, 1, links()) == fates()
        await shard.add_links(5, 4, 1, links())
        with pytest.raises(FencedError, match="of shard 5, epoch 3: epoch 4 is running"):
            await shard.add_links(5, 3, 2, links())
        await shard.add_links(6, 3, 1, links())
        assert (await shard.stats()).received == 3


async def test_the_epoch_grows_with_every_incarnation_with_or_without_state(spec, tmp_path):
    epochs = []
    for step in range(4):
        async with local_crawl(spec.config, [], tmp_path) as crawl:
            await crawl.until_restored()
            (stats,) = await crawl.stats()
            epochs.append(stats.epoch)
        if step == 2:
            (tmp_path / "state").rename(tmp_path / "lost")
    assert epochs == sorted(set(epochs))


async def test_before_it_is_ready_it_says_so_and_waits(spec):
    shard = Shard(spec)
    assert repr(shard) == "<Shard 0 of 1>"
    assert await shard.stats() == ShardStats(0)
    steps = [shard.add_links(0, 1, 1, links()), shard.first_with([]), shard.stop()]
    waiting = [asyncio.ensure_future(step) for step in steps]
    await asyncio.sleep(0)
    assert not any(step.done() for step in waiting)
    for step in waiting:
        step.cancel()
    await shard.close()  # nothing was opened


async def test_it_waits_for_an_earlier_process_to_let_go_of_the_state(spec):
    earlier = frontier_of(spec)
    opening = asyncio.create_task(Shard(spec)._open())
    await asyncio.sleep(0)
    assert not opening.done()
    earlier.close()
    (await opening).close()


async def test_it_does_not_wait_for_ever(spec):
    earlier = frontier_of(spec)
    moments = iter([0.0, 1.0, module.LOCK_SECONDS + 0.1])
    try:
        with pytest.raises(StateError, match="in use by another process"):
            await Shard(spec, lambda: next(moments))._open()
    finally:
        earlier.close()


async def test_a_damaged_state_is_told_at_once(spec):
    frontier_of(spec).close()
    (spec.state / "CURRENT").write_text("nonsense\n")
    with pytest.raises(StateError, match="is damaged"):
        await Shard(spec)._open()


async def test_a_state_that_never_became_whole_is_begun_again(spec):
    partial = frontier_of(spec)
    partial.discover(links(link()), 0.0)
    partial.close()
    frontier = await Shard(spec)._open()
    assert frontier.fresh
    frontier.discover(links(link()), 0.0)
    frontier.set_whole()
    frontier.close()
    frontier = await Shard(spec)._open()
    assert frontier.queued == 1
    frontier.close()


@pytest.mark.parametrize("held", [True, False])
async def test_it_sleeps_while_what_is_ready_is_held(spec, held, monkeypatch):
    monkeypatch.setattr(module, "REST_SECONDS", 3600.0)
    async with local_crawl(spec.config, [], spec.output.root) as crawl:
        (shard,) = crawl.shards
        await crawl.end()
    shard._frontier = shard._leases._frontier = frontier_of(spec)
    shard._frontier.discover(links(link()), 0.0)  # ready now
    shard._leases.held = held
    shard._leases.changed.clear()
    resting = asyncio.create_task(shard._rest())
    done, _ = await asyncio.wait([resting], timeout=0.05 if held else 10.0)
    assert bool(done) is not held
    shard._leases.changed.set()
    await resting
    shard._frontier.close()
