"""One host that takes half a minute for a page and ten that are dead, in a real crawl: whom they hold up."""

import asyncio
from itertools import pairwise
from statistics import median

import pytest

from actors.leasing import SHORTEST
from actors.watch import TURN_SECONDS
from benchmarks.simweb.log import violations
from tests.cluster.running import Command
from tests.shared import figure
from tests.troubled import Host, black_hole, dead, pages, serving

pytestmark = pytest.mark.ray

DELAY, SLOW, LAST_WAIT = 0.2, 30.0, 10.0
ROBOTS_TIMEOUT = 10.0
SEEDS = 4
HEALTHY = {f"h{number}.test": Host(pages(60)) for number in range(6)}


async def test_slow_and_dead_hosts_hold_up_nobody_and_the_end_is_on_time(tmp_path):
    (listener, *fillers) = black_hole()
    try:
        hole = listener.getsockname()[1]
        hosts = {**HEALTHY, "slow.test": Host(pages(1, SLOW)), **dead(hole, 1, SEEDS)}
        async with serving(hosts) as web:
            config, seeds = tmp_path / "crawl.toml", tmp_path / "seeds.txt"
            config.write_text(
                web.config(
                    politeness={"delay": DELAY, "last_wait": LAST_WAIT},
                    fetch={"first_byte_timeout": SLOW + 10.0},
                    robots={"timeout": ROBOTS_TIMEOUT},
                )
            )
            seeds.write_text("\n".join(web.seeds))
            command = Command(
                tmp_path, tmp_path / "out", ("--seeds", str(seeds), "--config", str(config))
            )
            end = await asyncio.to_thread(command.run)
            judge(web, command, end)
    finally:
        for one in (listener, *fillers):
            one.close()


def judge(web, command, end):
    assert end.code == 0, end.errors
    kinds, rows = {}, command.rows("host", "kind", "error", "fetched_at").to_pylist()
    for row in rows:
        kinds.setdefault(row["host"], []).append((row["kind"], row["error"]))
    bad = web.hosts.keys() - HEALTHY.keys() - {"slow.test"}
    for name in HEALTHY:
        assert kinds[name] == [("fetched", None)] * 61
    assert kinds["slow.test"] == [("fetched", None)] * 2
    for name in bad:
        assert len(kinds[name]) == 1 + SEEDS
        assert all(error for _, error in kinds[name]), kinds[name]
    assert violations(web.log, DELAY) == []
    assert end.summary["hosts_given_up"] == len(bad) - 1, "but the one that has no name"

    first = min(request.start for request in web.log)
    gaps = [later.start - one.end for name in HEALTHY for one, later in pairwise(web.requests(name))]  # fmt: skip
    healthy = max(request.end for name in HEALTHY for request in web.requests(name))
    slow = web.requests("slow.test")
    assert healthy < slow[-1].start, "the slow host's second page is asked when the others are done"
    late = max(row["fetched_at"] for row in rows).timestamp() - slow[-1].end
    bound = LAST_WAIT + TURN_SECONDS + SHORTEST + ROBOTS_TIMEOUT
    assert 0.0 < late < bound + 5.0
    figure(
        "back-off", "a slow host and ten dead ones, on Ray", rows_of_dead=sum(len(kinds[name]) for name in bad),
        gap_of_others=round(median(gaps), 3), others_done_at=round(healthy - first, 1),
        slow_done_at=round(slow[-1].end - first, 1), last_row_after=round(late, 1), bound=bound,
    )  # fmt: skip
