"""A robots.txt on a host of another shard, as real processes: the hosts' own logs are the witnesses."""

import asyncio

import pytest

from tests.actors.sites import RULES, SHARDS, Web, hosts_of
from tests.cluster.running import Command
from tests.crawler.fetch.raw_server import reply

pytestmark = pytest.mark.ray

DELAY = 0.1


async def test_a_busy_host_is_asked_for_others_in_its_own_time(tmp_path):
    async with Web() as web:
        (busy,) = [await web.site(name, pages=100) for name in hosts_of(0, 1)]
        others = [await web.site(name) for name in hosts_of(1, 3)]
        for number, site in enumerate(others):
            site.moves(f"{busy.url}/r{number}")
            busy.special[f"/r{number}"] = reply(RULES)
        seeds = [site.url + "/" for site in (busy, *others)]
        config = tmp_path / "crawl.toml"
        config.write_text(
            f'[politeness]\ndelay = {DELAY}\n[scope]\nmode = "host"\n[sitemaps]\ndiscover = false\n'
        )
        arguments = (*seeds, "--config", str(config), "--shards", str(SHARDS), "--allow-private")
        command = Command(tmp_path, tmp_path / "out", arguments)
        completed = await asyncio.to_thread(command.run)
    assert (completed.code, completed.summary["ending"]) == (0, "complete")
    assert min(site.smallest_gap for site in (busy, *others)) >= DELAY
    assert [site.targets for site in others] == [["/robots.txt", "/", "/0"]] * len(others)
    assert busy.targets.index("/r0") < len(busy.targets) - 1, "it was not busy"
    rows = command.rows("url", "kind").to_pylist()
    denied = {row["url"] for row in rows if row["kind"] == "robots_denied"}
    assert denied == {site.url + "/secret" for site in (busy, *others)}
