"""A crawl that loses its network: no host answers any more, in one process, with real connections."""

import asyncio
from collections import Counter

import pytest

from actors.watch import Ending
from benchmarks.simweb.log import violations
from crawler.loading import load
from tests.actors.inprocess import local_crawl, rows_of
from tests.troubled import Host, pages, serving

pytestmark = pytest.mark.slow

DELAY = 0.05
HOSTS = {f"h{number}.test": Host(pages(20)) for number in range(4)}
# Without an outage known as such a host is given up after half a second.
HASTY = {
    "delay": DELAY, "backoff_base": 0.2, "backoff_cap": 0.2, "retry_wait_factor": 0.001,
    "incidents_before_parking": 3, "parks_before_giving_up": 0,
}  # fmt: skip


def settings(web, folder, shards, **politeness):
    toml = folder / "crawl.toml"
    toml.write_text(
        web.config(
            politeness=HASTY | politeness, dns={"retry_wait": 0.2}, runtime={"shards": shards}
        )
    )
    return load(toml, {})


def kinds(folder):
    return Counter(kind for (kind,) in rows_of(folder / "out", "kind"))


@pytest.mark.parametrize("shards", [1, 3])
async def test_nothing_is_lost_by_an_outage(tmp_path, shards):
    async with serving(HOSTS) as web:
        config = settings(web, tmp_path, shards)
        async with local_crawl(config, web.seeds, tmp_path / "out") as crawl:
            await crawl.until_rows(8)
            finish = asyncio.create_task(crawl.finish())
            await web.close()
            await crawl.until_requests(10 * len(HOSTS))
            await web.open()
            totals = await finish
    assert kinds(tmp_path) == {"fetched": 21 * len(HOSTS)}
    assert totals.hosts_given_up == 0
    assert totals.found == totals.accounted
    assert violations(web.log, DELAY) == []


async def test_one_that_lasts_ends_the_crawl_which_can_be_resumed(tmp_path):
    async with serving(HOSTS) as web:
        config = settings(web, tmp_path, 1, outage_wait=1.0)
        async with local_crawl(config, web.seeds, tmp_path / "out") as crawl:
            await crawl.until_rows(8)
            await web.close()
            assert await crawl.until_over() is Ending.CUT_OFF
            await crawl.end()
        # Nor is anybody given up by another try while it lasts.
        async with local_crawl(config, web.seeds, tmp_path / "out") as crawl:
            assert await crawl.until_over() is Ending.CUT_OFF
            await crawl.end()
        assert kinds(tmp_path).keys() == {"fetched"}
        await web.open()
        async with local_crawl(config, web.seeds, tmp_path / "out") as crawl:
            totals = await crawl.finish()
    assert kinds(tmp_path) == {"fetched": 21 * len(HOSTS)}
    assert totals.found == totals.accounted
