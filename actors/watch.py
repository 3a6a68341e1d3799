"""When a crawl is over, and what there is to say of it meanwhile. Pure: rounds of statistics in, a verdict out.

A message under way keeps its sender from being idle (it waits for the acknowledgement). So when every shard is idle in
two rounds, the second begun after the first ended, and no shard sent or took a message in between, nothing is under way
anywhere (Mattern's four counters, 1987).

Nothing is left but failing hosts and retries when every shard is idle or stalled in two such rounds. That makes the
*last call*: a moment until which they are waited for, or less long if none of them may be asked before it. Nobody is
given up sooner. It is called off when a message or a good answer shows that there is work again; a host that only goes
on failing does not move it.

While the crawl is *cut off* (`crawler.frontier.outage`) there is no last call, and failures to reach a host are not
counted. If that lasts too long the crawl ends as it is: nobody is given up, and it can be resumed.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from actors.spec import ShardStats
from crawler.config import Config
from crawler.frontier.outage import cut_off
from crawler.outcomes import PAGES, Kind

# Hosts whose moment comes just before the last call have so long to get a lease.
TURN_SECONDS = 1.0


class Ending(StrEnum):
    """Why a crawl ended."""

    COMPLETE = "complete"
    MAX_PAGES = "max_pages"
    MAX_BYTES = "max_bytes"
    MAX_SECONDS = "max_seconds"
    STOPPED = "stopped"
    CUT_OFF = "cut_off"


@dataclass(frozen=True, slots=True)
class Totals:
    """All shards together at one moment. `kinds`: final rows by kind; `links`: links by what became of them."""

    pages: int = 0
    rows: int = 0
    wire_bytes: int = 0
    body_bytes: int = 0
    queued: int = 0
    leased: int = 0
    hosts_ready: int = 0
    hosts_waiting: int = 0
    hosts_parked: int = 0
    hosts_given_up: int = 0
    urls_known: int = 0
    requests: int = 0
    duplicates: int = 0
    leases: int = 0
    leases_lost: int = 0
    bloom_false_positive_rate: float = 0.0
    kinds: dict[str, int] = field(default_factory=dict)
    found: int = 0
    links: dict[str, int] = field(default_factory=dict)

    @property
    def accounted(self) -> int:
        """Links that became new or known URLs or were dropped for a counted reason; equals `found`."""
        return sum(self.links.values())


class Watch:
    """Looks at one round of statistics after the other.

    `last_call`: until when failing hosts and retries are waited for (0.0: no longer), `None` while there is other work;
    `news`: the last round has changed it, and the shards must be told. `cut_off`: since when the crawl is, 0.0 if it
    is not; it ends `outage_wait` seconds later. `cut_off_news`: some shard has not been told.
    """

    def __init__(self, config: Config, began: float) -> None:
        self._budget = config.budget
        self._began = began
        self._last_wait = config.politeness.last_wait
        self.outage_wait = config.politeness.outage_wait
        self._counts: list[tuple[int, int, int, int]] = []
        self._idle = self._quiet = False
        self._before: dict[int, int] = {}
        self.last_call: float | None = None
        self.news = False
        self.cut_off = 0.0
        self.cut_off_news = False

    @property
    def pages_before(self) -> int:
        """Pages that the shards had when they were first ready: a shard counts what its state and the journal have."""
        return sum(self._before.values())

    def verdict(self, stats: Sequence[ShardStats], now: float) -> Ending | None:
        """Why the crawl is over, or `None`. Each round must begin after the one before has ended."""
        budget, totals = self._budget, total(stats)
        self._meet(stats)
        if budget.max_pages is not None and totals.pages >= budget.max_pages:
            return Ending.MAX_PAGES
        if budget.max_bytes is not None and totals.wire_bytes >= budget.max_bytes:
            return Ending.MAX_BYTES
        if budget.max_seconds is not None and now - self._began >= budget.max_seconds:
            return Ending.MAX_SECONDS
        counts = [(shard.epoch, shard.sent, shard.received, shard.answers) for shard in stats]
        same, self._counts = counts == self._counts, counts
        idle = all(shard.ready and shard.idle for shard in stats)
        quiet = all(shard.ready and (shard.idle or shard.stalled) for shard in stats)
        was_idle, self._idle = self._idle, idle
        was_quiet, self._quiet = self._quiet, quiet
        if same and was_idle and idle:
            return Ending.COMPLETE
        self._look_for_outage(stats, now)
        if self.cut_off and now - self.cut_off >= self.outage_wait:
            return Ending.CUT_OFF
        told = self.last_call
        if not same or self.cut_off:
            self.last_call = None
        elif told is None and was_quiet and quiet:
            self.last_call = now + self._last_wait
        elif told and (now > told + TURN_SECONDS or (quiet and _in_vain(stats, told))):
            self.last_call = 0.0
        self.news = self.last_call != told
        return None

    def _meet(self, stats: Sequence[ShardStats]) -> None:
        for shard in stats:
            if shard.ready and shard.number not in self._before:
                self._before[shard.number] = total([shard]).pages

    def _look_for_outage(self, stats: Sequence[ShardStats], now: float) -> None:
        answered = [shard.answered_at for shard in stats]
        told = [shard.cut_off_at for shard in stats]
        struck = [since for shard in stats for since in shard.struck]
        if not (self.outage_wait and cut_off(answered, told, struck)):
            self.cut_off = 0.0
        elif not self.cut_off:
            self.cut_off = now
        self.cut_off_news = any(
            shard.ready and bool(shard.cut_off_at) != bool(self.cut_off) for shard in stats
        )


def _in_vain(stats: Sequence[ShardStats], until: float) -> bool:
    """Whether nobody is being asked, nor can be before then."""
    return not any(
        shard.leases
        or shard.batches
        or (shard.next_ready is not None and shard.next_ready <= until)
        for shard in stats
    )


def next_ready(stats: Sequence[ShardStats]) -> float | None:
    """The next moment at which anybody can be asked, `None` if there is none."""
    return min((shard.next_ready for shard in stats if shard.next_ready is not None), default=None)


def total(stats: Sequence[ShardStats]) -> Totals:
    """The sum of all shards."""
    counters: Counter[str] = Counter()
    for shard in stats:
        counters.update(shard.counters)
    frontiers = [shard.frontier for shard in stats if shard.frontier is not None]
    kinds = {kind.value: rows for kind in Kind if (rows := counters[f"rows.{kind}"])}
    return Totals(
        pages=sum(counters[f"rows.{kind}"] for kind in PAGES),
        rows=sum(kinds.values()),
        wire_bytes=counters["bytes.wire"],
        body_bytes=counters["bytes.body"],
        queued=sum(frontier.queued + frontier.due for frontier in frontiers),
        leased=sum(frontier.leased for frontier in frontiers),
        hosts_ready=sum(frontier.hosts_ready for frontier in frontiers),
        hosts_waiting=sum(frontier.hosts_waiting for frontier in frontiers),
        hosts_parked=sum(frontier.hosts_parked for frontier in frontiers),
        hosts_given_up=sum(frontier.hosts_given_up for frontier in frontiers),
        urls_known=sum(frontier.urls_known for frontier in frontiers),
        requests=counters["requests"] + counters["robots_fetched"],
        duplicates=counters["rows.duplicate"],
        leases=sum(shard.leases for shard in stats),
        leases_lost=sum(shard.leases_lost for shard in stats),
        bloom_false_positive_rate=max(
            (frontier.bloom_measured_fp_rate for frontier in frontiers), default=0.0
        ),
        kinds=kinds,
        found=counters["links.found"],
        links={
            name.removeprefix("links."): count
            for name, count in sorted(counters.items())
            if name.startswith("links.") and name != "links.found"
        },
    )
