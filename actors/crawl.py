"""The graph of one crawl on Ray: built, watched, ended. The only place that starts Ray and makes actors.

It runs in the driver and does almost nothing: the driver's process competes with the work on a small machine.
"""

import logging
import os
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from actors.clock import RunClock
from actors.directory import DirectoryActor
from actors.plan import plan
from actors.remote import Others, ShardActor, again, warm_up
from actors.ring import Ring
from actors.sowing import parcels
from actors.spec import ShardSpec, ShardStats
from actors.writer import WriterActor
from crawler.config import Config
from crawler.dataset import manifest
from crawler.dataset.output import Output
from crawler.errors import CrawlError
from crawler.url.admit import Admission

log = logging.getLogger(__name__)

# How long an actor may take to answer before the crawl says that it waits; nothing is given up before.
ANSWER_SECONDS = 60.0
# The memory of the local object store: some batches of every task; the rest of the machine is for the work.
OBJECT_STORE_BYTES = 512 * 1024 * 1024


@contextmanager
def engine(config: Config) -> Iterator[None]:
    """Ray for the length of a crawl: the cluster that a submitted job runs on, or one of our own on this machine.

    `ray.init()` would join any cluster it finds here, so the local one is asked for by name; a job has `RAY_ADDRESS`.
    Raises `CrawlError` if Ray cannot be had, or breaks down under the crawl.
    """
    if ray.is_initialized():
        yield
        return
    try:
        if os.environ.get("RAY_ADDRESS"):
            ray.init(logging_level=logging.WARNING, namespace=f"raycrawl-{uuid.uuid4().hex}")
        else:
            _init_local(config)
    except Exception as error:
        # Ray raises what comes, bare `Exception` too. It grants its own processes 15 and 30 seconds, come what may.
        message = (
            f"Ray did not start (logs: /tmp/ray; a machine may be too busy for it): {_line(error)}"
        )
        raise CrawlError(message) from error
    try:
        yield
    except RayTaskError:
        raise
    except RayError as error:
        # A raylet or a whole cluster that died: nothing that a page of Python's could explain.
        message = f"Ray broke down under the crawl (logs: /tmp/ray): {_line(error)}"
        raise CrawlError(message) from error
    finally:
        ray.shutdown()


def _init_local(config: Config) -> None:
    # A cluster of one machine and one user listens on loopback only and dies with this process; the token that Ray 2.60
    # would write to the home directory and demand from then on from every other cluster there protects nothing here.
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    cores = len(os.sched_getaffinity(0))
    cpus = config.runtime.cpus or cores
    ray.init(
        address="local",
        num_cpus=cpus,
        include_dashboard=False,
        object_store_memory=OBJECT_STORE_BYTES,
        logging_level=logging.WARNING,
        log_to_driver=False,
        namespace=f"raycrawl-{uuid.uuid4().hex}",
        _system_config={
            # Ray ends idle workers above the CPU count after a second, and every new one imports everything again.
            "idle_worker_killing_time_threshold_ms": 600_000,
            # Actors are many and start at once; beyond four times this number Ray warns. CPUs that are not there start
            # nobody sooner.
            "worker_maximum_startup_concurrency": max(min(cpus, cores), config.runtime.shards + 1),
            # One for each CPU from the start is a second gained; with 64 on a machine of two cores everything on it
            # stood still for half a minute, and other starts of Ray failed by that.
            "prestart_worker_first_driver": cpus <= cores,
            # No dashboard, so nobody reads them.
            "enable_metrics_collection": False,
            "task_events_report_interval_ms": 0,
        },
    )


class Crawl:
    """The actors of one crawl. Owned by the driver: when it dies, all die, and the next start resumes."""

    def __init__(
        self, config: Config, seeds: Sequence[str], output: Output, clock: RunClock
    ) -> None:
        self._config = config
        self._seeds = tuple(seeds)
        self._output = output
        self._clock = clock
        self._ring = Ring(config.runtime.shards)
        self._shards: list[Any] = []
        self._writers: list[Any] = []
        self._runs: list[Any] = []

    def start(self) -> None:
        """Makes the actors, lets the shards restore themselves and gives them the seeds. Blocks until that is done."""
        config, count = self._config, self._config.runtime.shards
        run = uuid.uuid4().hex
        shape = plan(_cpus(), count, config.runtime.fetch_tasks)
        floor = max((name.epoch for name in manifest.names(self._output)), default=0)
        actor = {"num_cpus": 0, "max_restarts": -1}
        directory = (
            ray.remote(DirectoryActor)
            .options(**actor)
            .remote(count, floor, config.budget.max_pages)
        )
        # The first lease finds a worker that has begun to import while the actors did: one to two seconds sooner.
        first: Any = ray.remote(warm_up).options(num_cpus=shape.fetch_cpus)
        first.remote()
        writer, shard = ray.remote(WriterActor), ray.remote(ShardActor)
        for number, node in zip(range(count), cycle(_nodes()), strict=False):
            spec = ShardSpec(
                number, count, config, self._seeds, self._output, shape, run, self._clock
            )
            # A shard beside its writer: the rows' WAL is on that node's disk.
            place = NodeAffinitySchedulingStrategy(node, soft=True)
            placed = {**actor, "scheduling_strategy": place}
            self._writers.append(
                writer.options(**placed).remote(number, self._output, config.dataset)
            )
            self._shards.append(shard.options(**placed).remote(spec))
        others = Others(directory, self._writers, self._shards)
        self._runs = [again(shard.crawl).remote(others) for shard in self._shards]
        self._sow()

    def _sow(self) -> None:
        """Gives every seed to the shard that owns its host. Seeds that are known already change nothing."""
        admission = Admission(self._config, self._seeds)
        sown = parcels(self._seeds, admission, self._ring.owners)
        answers = [
            again(self._shards[owner].add_links).remote(-1, 0, sequence, links)
            for sequence, (owner, links) in enumerate(sown)
        ]
        self._answers(answers, "the shards restore their state and take the seeds")

    def stats(self) -> list[ShardStats]:
        """One round of statistics. Raises what a shard failed with."""
        return self._answers(
            [again(shard.stats).remote() for shard in self._shards], "the shards answer"
        )

    def last_call(self, until: float | None) -> None:
        """Tells every shard how long failing hosts and retries are waited for (`Watch.last_call`)."""
        self._answers(
            [again(shard.last_call).remote(until) for shard in self._shards],
            "the shards take the last call",
        )

    def cut_off(self, moment: float) -> None:
        """Tells every shard that the crawl has no network, or has it again (`Watch.cut_off`)."""
        self._answers(
            [again(shard.cut_off).remote(moment) for shard in self._shards],
            "the shards hear of the outage",
        )

    def stop(self) -> None:
        """No new leases from now on; `ShardStats.stopped` tells when the open ones have ended.

        To be told again until then: a process that is started in place of a dead one has not heard it.
        """
        self._answers(
            [again(shard.stop).remote() for shard in self._shards], "the shards take the stop"
        )

    def close(self) -> None:
        """Makes segments of all rows and lets go of the state."""
        self._answers(
            [again(writer.close).remote() for writer in self._writers],
            "the last segments are written",
        )
        self._answers([again(shard.close).remote() for shard in self._shards], "the shards close")

    def _answers(self, refs: Sequence[Any], what: str) -> list[Any]:
        """The answers to some calls; a shard that failed meanwhile raises what it failed with."""
        waiting, began = list(refs), time.monotonic()
        while waiting:
            _, waiting = ray.wait(waiting, num_returns=len(waiting), timeout=1.0)
            failed, _ = (
                ray.wait(self._runs, num_returns=len(self._runs), timeout=0)
                if self._runs
                else ([], [])
            )
            _get(failed)
            if waiting and time.monotonic() - began > ANSWER_SECONDS:
                log.warning("still waiting: %s", what)
                began = time.monotonic()
        return _get(list(refs))


def _get(refs: list[Any]) -> list[Any]:
    """Answers that are there. Of errors of ours or of Ray the error itself, not Ray's account of how it travelled."""
    try:
        return ray.get(refs)
    except RayTaskError as error:
        cause: BaseException = error
        while isinstance(cause, RayTaskError):
            cause = cause.cause
        raise cause if isinstance(cause, (CrawlError, RayError)) else error from None


def _line(error: BaseException) -> str:
    """What Ray says in paragraphs, in one line."""
    return " ".join(str(error).split())[:300]


def _nodes() -> list[str]:
    """The ids of the nodes that are for work, which have CPUs; of all, where those are still to come."""
    alive = [node for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]
    with_cpus = [node for node in alive if node["Resources"].get("CPU")]
    return sorted(node["NodeID"] for node in with_cpus or alive)


def _cpus() -> float:
    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    return resources.get("CPU", 1.0)
