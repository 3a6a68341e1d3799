"""How many tasks of which size fit the CPUs there are. Pure: the one place that can starve or deadlock a crawl.

A fetch task that is held back by backpressure keeps its CPUs while it waits for a parse task to run. So the CPUs that
fetching may hold are capped, and the rest is enough for at least one parse task, on every size of machine.
"""

from typing import NamedTuple

# Fetching a page costs about a quarter of parsing it (benchmarks/README.md).
FETCH_SHARE = 0.25


class Plan(NamedTuple):
    """`leases`: fetch tasks a shard may have open, and `late`: how many more that wait for slow or failing hosts.

    `batches`: batches of a shard between fetch and settle.
    """

    leases: int
    late: int
    fetch_cpus: float
    parsers: int
    parse_cpus: float
    batches: int


def plan(cpus: float, shards: int, fetch_tasks: int = 0) -> Plan:
    """The plan for `cpus` logical CPUs and `shards` shards; `fetch_tasks` > 0 overrides their number in all.

    All fetch tasks together with one parse task always fit: shards * (leases + late) * fetch_cpus + parse_cpus <= cpus.
    """
    share = cpus * FETCH_SHARE
    wanted = fetch_tasks or max(2, round(share))
    leases = max(1, -(-wanted // shards))
    tasks = 2 * leases * shards
    fetch_cpus = _floor(min(1.0, share / tasks))
    rest = cpus - fetch_cpus * tasks
    parsers = max(1, round(rest))
    parse_cpus = _floor(min(1.0, rest / parsers))
    return Plan(
        leases, leases, fetch_cpus, parsers, parse_cpus, batches=2 + -(-2 * parsers // shards)
    )


def _floor(cpus: float) -> float:
    """Ray counts CPUs in steps of 1/10,000; rounding up could make the sum overflow the machine."""
    return max(0.0001, int(cpus * 10_000) / 10_000)
