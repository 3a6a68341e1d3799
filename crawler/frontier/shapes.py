"""How many URLs of one shape a host may have: the counts that end calendars, session ids and filters.

Only URLs that are new are counted, and only those with a shape (`crawler.url.shape`); where there is no limit nothing
is. A count is never taken back: a URL of a trap has been fetched, whatever came of it.
"""

from crawler.config import Config
from crawler.frontier.host import Host
from crawler.frontier.store import Batch, Store, pack_key
from crawler.url.shape import Shape, Trap, shape_of


class Shapes:
    """The counts that one write batch changes: of templates, and (as 1) the choices that have been seen."""

    def __init__(self, config: Config, store: Store) -> None:
        budget = config.budget
        self._stored = store.shapes
        self._calendar_years = budget.calendar_years
        self._limits = {
            Trap.TOKENS: budget.token_urls,
            Trap.PARAMETERS: budget.parameter_choices,
        }
        self._counts: dict[bytes, int] = {}
        self._changed: dict[bytes, int] = {}

    def let_in(self, host: Host, url: bytes, *, always: bool) -> Trap | None:
        """Counts a new URL of the host; or says of what it is one too many, unless it is let in `always`."""
        shape = shape_of(url.decode())
        if shape is None:
            return None
        limit = self._limit(shape)
        if limit is None:
            return None
        choice = None if shape.choice is None else host.prefix + pack_key(shape.choice)
        if choice is not None and self._count(choice):
            return None
        template = host.prefix + pack_key(shape.template)
        count = self._count(template)
        if count >= limit and not always:
            return shape.trap
        self._change(template, count + 1)
        if choice is not None:
            self._change(choice, 1)
        return None

    def save(self, batch: Batch) -> None:
        """Puts the new counts into the batch."""
        for key, count in self._changed.items():
            batch.put(key, count.to_bytes(4, "big"), self._stored.handle)

    def _limit(self, shape: Shape) -> int | None:
        if shape.trap is Trap.CALENDAR:
            return self._calendar_years and self._calendar_years * shape.a_year
        return self._limits[shape.trap]

    def _change(self, key: bytes, count: int) -> None:
        self._counts[key] = self._changed[key] = count

    def _count(self, key: bytes) -> int:
        count = self._counts.get(key)
        if count is None:
            stored = self._stored.get(key)
            count = self._counts[key] = 0 if stored is None else int.from_bytes(stored, "big")
        return count
