"""A frontier from the journal: the rows since the state's mark, or, where there is no state, all rows there are."""

from collections.abc import Callable

from actors.spec import ShardSpec
from crawler.dataset.replay import replay
from crawler.frontier.frontier import Frontier
from crawler.url.admit import Admission


def restore(
    frontier: Frontier, spec: ShardSpec, slots: frozenset[int], clock: Callable[[], float]
) -> int:
    """Brings a just opened frontier up to the journal; returns the number of rows read.

    With its state intact only this shard's own newer segments are read, and only for what they settle: their links were
    acknowledged by their owners before the rows were written.
    """
    admission = Admission(spec.config, spec.seeds)
    own = None if frontier.fresh else spec.number
    after = -1 if frontier.fresh else frontier.mark
    rows = 0
    for replayed in replay(
        spec.output, admission, spec.config, shard=own, after=after, slots=slots
    ):
        now = clock()
        if frontier.fresh:
            frontier.discover(replayed.links, now)
        frontier.restore(replayed.settled, now, counters=replayed.counters, mark=after)
        rows += replayed.rows
    return rows
