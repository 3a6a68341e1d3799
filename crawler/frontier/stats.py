"""What a shard tells of its frontier, as one value."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FrontierStats:
    """A moment's counts. URLs are `queued` (unleased), `leased`, or `due` (waiting for a retry); hosts likewise.

    `hosts_parked` are among those that wait; `hosts_given_up` counts all since the crawl began (one that was given up
    for an end that did not come, and has its rows or a restart behind it, may count again). `bloom_fill` is 1.0 when
    the next filter is due; `bloom_measured_fp_rate` is the share of unknown keys for which the store was asked in vain,
    since the shard opened.
    """

    queued: int
    leased: int
    due: int
    hosts_ready: int
    hosts_waiting: int
    hosts_parked: int
    hosts_leased: int
    hosts_given_up: int
    urls_known: int
    bloom_bits: int
    bloom_fill: float
    bloom_measured_fp_rate: float
    counters: dict[str, int]
