"""The two stateless tasks, as plain functions. What a worker process learns once it keeps for the next task.

They know nothing of Ray: `actors.remote` makes tasks of them.
"""

import gc
import pickle
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from actors.alarm import cancel_alarm, set_alarm
from actors.clock import RunClock
from actors.work import Facts, Source
from crawler.config import Config
from crawler.dataset.recent import Recent
from crawler.dataset.rows import RowBuilder
from crawler.fetch.stream import stream
from crawler.frontier.lease import Delivery, Lease
from crawler.page.apart import Apart
from crawler.robots.product import product_token
from crawler.url.admit import Admission

# Links a worker remembers having sent on; about 150 bytes each.
RECENT_LINKS = 200_000

# Reading pages makes many objects and hardly any cycles; the default (700, 10, 10) costs a sixth of the time.
GC_THRESHOLD = (50_000, 20, 50)


class _Kept(NamedTuple):
    run: str
    config: Config
    clock: Callable[[], float]
    builder: RowBuilder
    recent: Recent
    apart: Apart
    lives: dict[int, tuple[int, int]]


_kept: _Kept | None = None


def pack(config: Config, seeds: tuple[str, ...], clock: RunClock) -> npt.NDArray[np.uint8]:
    """A crawl's rules as tasks get them: bytes that lie in the object store and are read in place."""
    return np.frombuffer(pickle.dumps((config, Admission(config, seeds), clock)), dtype=np.uint8)


def _keep(run: str, packed: npt.NDArray[np.uint8]) -> _Kept:
    global _kept  # noqa: PLW0603  one crawl at a time is served by a worker process
    if _kept is None or _kept.run != run:
        if _kept is not None:
            _kept.apart.close()
        config, admission, clock = pickle.loads(packed.data)
        recent = Recent(RECENT_LINKS)
        # What is read apart has bounds of its own: the alarm begins anew with each page.
        apart = Apart(config.page, time.monotonic, partial(set_alarm, config.page.batch_seconds))
        builder = RowBuilder(config, admission, product_token(config.user_agent), recent, apart)
        _kept = _Kept(run, config, clock.here(), builder, recent, apart, {})
        # What was imported stays: the collector need not look at it again, nor often at what pages leave behind.
        gc.collect()
        gc.freeze()
        gc.set_threshold(*GC_THRESHOLD)
    return _kept


def fetch(
    lease: Lease, run: str, packed: npt.NDArray[np.uint8]
) -> Iterator[pa.RecordBatch | Delivery]:
    """Serves a lease: yields a batch of raw outcomes and its small `Delivery` in turn, the last saying `end`.

    `run` names the rules in `packed` (see `pack`): a worker unpacks them only when it is new to the run.
    """
    kept = _keep(run, packed)
    yield from stream(lease, kept.config, kept.clock)


def parse(
    batch: pa.RecordBatch,
    run: str,
    packed: npt.NDArray[np.uint8],
    duplicates: Mapping[int, str],
    source: Source,
    *,
    apart: bool,
) -> tuple[pa.RecordBatch, Facts]:
    """The rows of a batch, and what the shard needs to know of them; see `Work.parse`.

    May end the process: by a reader that crashes, and after `page.batch_seconds` by one that hangs. With `apart`, which
    is for the second try, only what is wrong with the machine can.
    """
    kept = _keep(run, packed)
    life = (source.epoch, source.losses)
    if kept.lives.setdefault(source.shard, life) != life:
        kept.lives[source.shard] = life
        kept.recent.forget()
    kept.recent.begin(source.shard, source.batch, source.arrived)
    set_alarm(kept.config.page.batch_seconds)
    try:
        parsed = kept.builder.build(batch, duplicates, apart=apart)
    finally:
        cancel_alarm()
    return parsed.rows, Facts(parsed.settled, parsed.links, parsed.counters)
