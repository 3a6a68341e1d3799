"""A shard that works until it is killed (by `test_killed`), and says after each step what it has taken in."""

import random
import sys
from pathlib import Path

from crawler.frontier.frontier import Frontier
from tests.crawler.frontier.builders import config, link, links, report, rows_of


def say(verb, keys):
    sys.stdout.write(f"{verb} {' '.join(map(str, keys))} .\n")
    sys.stdout.flush()


def main(path: Path) -> None:
    frontier = Frontier(path, config(politeness={"delay": 0}), rng=random.Random(1), now=0.0)
    now, mark = 1.0, 0
    while True:
        keys = range(int(now) * 50, int(now) * 50 + 50)
        frontier.discover(links(*(link(f"h{key % 3}", key) for key in keys)), now)
        say("found", keys)
        lease = frontier.lease(now, deadline=now + 10, max_hosts=2, max_urls=30)
        frontier.report([report(host.host, now) for host in lease.hosts], now)
        mark += lease.size
        frontier.settle(rows_of(lease), now, counters={"settled": lease.size}, mark=mark)
        say("settled", [url.key for host in lease.hosts for url in host.urls])
        now += 1


if __name__ == "__main__":
    main(Path(sys.argv[1]))
