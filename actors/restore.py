"""A frontier from the journal: the rows since the state's mark, or, where there is no state, all rows there are."""

from collections import Counter
from collections.abc import Callable

from actors.spec import ShardSpec
from crawler.dataset.replay import Replayed, replay
from crawler.dataset.selection import Selector
from crawler.frontier.frontier import Frontier
from crawler.url.admit import Admission


def restore(
    frontier: Frontier, spec: ShardSpec, slots: frozenset[int], clock: Callable[[], float]
) -> int:
    """Brings a just opened frontier up to the journal; returns the number of rows taken in.

    May be cut off at any point. A whole frontier then goes on: what is settled already is passed over. One that was
    being rebuilt must be begun again from an empty one, or its rows would be counted twice.
    """
    selector = Selector(Admission(spec.config, spec.seeds), spec.config)
    if frontier.whole:
        return _catch_up(frontier, spec, selector, clock)
    rows = 0
    for part in replay(spec.output, selector, slots=slots):
        now = clock()
        counts = frontier.discover(part.links, now)
        frontier.first_with(
            [content.digest for content in part.contents],
            [content.key for content in part.contents],
            [content.url for content in part.contents],
        )
        # Earlier segments of this number may be those of another number of shards: the mark must be past them.
        mark = part.sequence if part.shard == spec.number else 0
        _take(frontier, part, counts, now, mark)
        rows += part.rows
    frontier.set_whole()
    return rows


def _catch_up(
    frontier: Frontier, spec: ShardSpec, selector: Selector, clock: Callable[[], float]
) -> int:
    """Takes in what this shard wrote and did not settle before it ended.

    The links of these rows are where they belong: their owners acknowledged them before the rows were written.
    """
    rows = 0
    for part in replay(
        spec.output,
        selector,
        shard=spec.number,
        after=frontier.mark,
        pending=frontier.pending,
    ):
        _take(frontier, part, {"known": part.links.num_rows}, clock(), frontier.mark)
        rows += part.rows
    return rows


def _take(
    frontier: Frontier, part: Replayed, counts: dict[str, int], now: float, mark: int
) -> None:
    counters = Counter(part.counters)
    counters.update({f"links.{reason}": count for reason, count in counts.items()})
    frontier.restore(part.settled, now, counters=counters, mark=mark)
