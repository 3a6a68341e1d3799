"""A crawl of a web with every trap there is ends by itself, with all true pages and few wasted fetches."""

from collections import Counter
from urllib.parse import urlsplit

import pytest

from benchmarks.simweb.judge import differences
from benchmarks.simweb.options import Options
from benchmarks.simweb.running import running
from benchmarks.simweb.traps import TRAPS, trap_of
from benchmarks.simweb.truth import truth
from crawler.loading import load
from tests.actors.inprocess import local_crawl, rows_of
from tests.shared import figure

pytestmark = pytest.mark.slow

WORLD = Options(hosts=8, pages=60, troubles=False, traps="all")
LIMITS = {"calendar_years": 2, "token_urls": 40, "parameter_choices": 40, "hosts_per_site": 8}


@pytest.fixture(scope="module")
def web():
    with running(WORLD) as web:
        yield web


def crawl(web, folder, shards, **budget):
    tree = {"runtime.shards": shards, "runtime.batch_seconds": 0.03}
    tree |= {f"budget.{name}": limit for name, limit in (LIMITS | budget).items()}
    config = load(web.config_toml(folder, delay=0.002), tree)
    return local_crawl(config, web.seeds, folder / "out")


def wasted(world, urls):
    """How many of some URLs lie in each trap."""
    counts = Counter()
    for url in urls:
        place = world.find(url)
        if place and place.wild is not None:
            counts["wild"] += 1
        elif place and trap_of(place.target):
            counts[urlsplit(url).path.split("/")[1].removeprefix("trap-")] += 1
    return counts


@pytest.mark.parametrize("shards", [1, 3])
async def test_every_trap_ends(web, tmp_path, shards):
    async with crawl(web, tmp_path, shards) as crawling:
        totals = await crawling.finish()
    rows = rows_of(tmp_path / "out", "url", "kind")
    assert differences(web.world, truth(web.world), rows) == []
    assert totals.found == totals.accounted
    waste = wasted(web.world, [url for url, _ in rows])
    assert waste["calendar"] == 24
    assert waste["facets"] == 40
    assert waste["session"] == 41  # and the door, which has no token
    assert waste["sid"] <= 3  # however it is spelled, it is one of two pages (and the door to them)
    assert waste["wild"] <= 8
    assert waste.keys() == TRAPS.keys() | {"wild"}
    assert max(waste.values()) <= 41
    cut = {
        name: totals.links[name] for name in ("calendar", "tokens", "parameters", "hosts_per_site")
    }
    assert all(cut.values()), cut
    figure("traps", f"all traps, {shards} shards", rows=len(rows), **waste)
    figure("traps", f"links cut off, {shards} shards", **cut)


@pytest.mark.parametrize("state", ["kept", "lost"])
async def test_they_end_after_kills_too(web, tmp_path, state):
    """Rebuilt from the rows, a shard may let in others of a shape than it did before: at most as many again."""
    for rows in (40, 40, 40):
        async with crawl(web, tmp_path, 3) as crawling:
            await crawling.until_rows(rows)
        if state == "lost":
            for folder in (tmp_path / "out" / "state").glob("*"):
                folder.rename(tmp_path / f"gone-{folder.name}-{len(list(tmp_path.iterdir()))}")
    async with crawl(web, tmp_path, 3) as crawling:
        totals = await crawling.finish()
    rows = rows_of(tmp_path / "out", "url", "kind")
    assert differences(web.world, truth(web.world), rows) == []
    assert totals.found == totals.accounted
    waste = wasted(web.world, [url for url, _ in rows])
    most = 1 if state == "kept" else 2
    assert waste["calendar"] <= 24 * most
    assert max(waste["session"] - 1, waste["facets"]) <= 40 * most
    assert waste["wild"] <= 8 * most
    figure("traps", f"after kills, state {state}", rows=len(rows), **waste)
