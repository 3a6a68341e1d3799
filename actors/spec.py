"""What a shard is told when it is made, and what it tells of itself."""

from dataclasses import dataclass, field
from pathlib import Path

from actors.clock import RunClock
from actors.plan import Plan
from crawler.config import Config
from crawler.dataset.output import Output
from crawler.frontier.stats import FrontierStats


@dataclass(frozen=True, slots=True)
class ShardSpec:
    """What a shard is told when it is made; it is told the same when its process is started again.

    `run` names this run of the crawl: workers that know it keep what they have unpacked.
    """

    number: int
    shards: int
    config: Config
    seeds: tuple[str, ...]
    output: Output
    plan: Plan
    run: str
    clock: RunClock

    @property
    def state(self) -> Path:
        """Where the shard's local state lies; with another number of shards it is another state."""
        return self.output.state / f"shard-{self.number}-of-{self.shards}"


@dataclass(frozen=True, slots=True)
class ShardStats:
    """A shard at one moment. `sent`, `received`: link messages acknowledged and taken, for the end of the crawl.

    `idle`: nothing is left. `stopped`: it was told to stop, and nothing is under way any more. `stalled`: nothing but
    failing hosts and retries is left. `answers`: those that count as a host being well. `next_ready`: the next moment
    at which somebody can be asked, `None` if there is none. `answered_at`, `cut_off_at`, `struck`: what it knows of an
    outage (`crawler.frontier.outage`).
    """

    number: int
    epoch: int = 0
    ready: bool = False
    idle: bool = False
    stopped: bool = False
    sent: int = 0
    received: int = 0
    stalled: bool = False
    next_ready: float | None = None
    answers: int = 0
    answered_at: float = 0.0
    cut_off_at: float = 0.0
    struck: tuple[float, ...] = ()
    leases: int = 0
    batches: int = 0
    leases_lost: int = 0
    counters: dict[str, int] = field(default_factory=dict)
    frontier: FrontierStats | None = None
