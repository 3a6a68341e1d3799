"""Which host is asked next: a heap of hosts by their next moment, and behind it ready queues by priority class.

The ready queues are the front queues of Mercator (Heydon and Najork 1999, section 3.2): a better class is drawn more
often, but none starves. Pure: moments and randomness are arguments, and a host is only a name here.
"""

import heapq
import random
from collections import OrderedDict

CLASSES = 8
_SHIFT = 5  # 256 priorities in 8 classes
# Each class is drawn twice as often as the next: strict order would starve the last, equal shares would be no order.
_WEIGHTS = [2.0 ** (CLASSES - 1 - i) for i in range(CLASSES)]


class Schedule:
    """A name is in one place: waiting in the heap, or ready in one class, or absent.

    The heap may hold outdated pairs; a pair counts only if it is what `_moments` says of its name.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, str]] = []
        self._moments: dict[str, tuple[float, int, int]] = {}
        self._ready: list[OrderedDict[str, None]] = [OrderedDict() for _ in range(CLASSES)]
        self._class: dict[str, int] = {}
        self._matured = float("-inf")

    def __contains__(self, name: str) -> bool:
        return name in self._moments or name in self._class

    def __repr__(self) -> str:
        return f"<Schedule {self.ready} ready, {self.waiting} waiting>"

    @property
    def ready(self) -> int:
        """Hosts that may be drawn."""
        return len(self._class)

    @property
    def waiting(self) -> int:
        """Hosts whose moment had not come at the last `mature`."""
        return len(self._moments)

    def put(self, name: str, moment: float, priority: int, turn: int = 0) -> None:
        """Puts or moves a host: from `moment` on it may be drawn, in the class of `priority` (0..255, lower is better).

        Of the hosts of one moment those with a lower `turn` are ready first.
        A host that is ready, and whose moment has come, keeps its place (in a better class if it has earned one).
        """
        rank = priority >> _SHIFT
        place = moment, turn, rank
        if self._moments.get(name) == place:
            return
        old = self._class.get(name)
        if old is not None and moment <= self._matured:
            if rank < old:
                del self._ready[old][name]
                self._enter(name, rank)
            return
        self.remove(name)
        self._moments[name] = place
        heapq.heappush(self._heap, (moment, turn, name))
        if len(self._heap) > 64 + 4 * len(self._moments):
            moments = self._moments.items()
            self._heap = [(moment, turn, name) for name, (moment, turn, _) in moments]
            heapq.heapify(self._heap)

    def remove(self, name: str) -> None:
        """Takes a host out, wherever it is, if it is anywhere."""
        self._moments.pop(name, None)
        rank = self._class.pop(name, None)
        if rank is not None:
            del self._ready[rank][name]

    def mature(self, now: float) -> None:
        """Moves every host whose moment has come to its ready queue."""
        self._matured = now
        heap = self._heap
        while heap and heap[0][0] <= now:
            moment, _, name = heapq.heappop(heap)
            place = self._moments.get(name)
            if place is not None and place[0] == moment:
                del self._moments[name]
                self._enter(name, place[2])

    def draw(self, rng: random.Random) -> str | None:
        """Takes out the host that has been ready longest in a class drawn with a bias to the better ones."""
        filled = [rank for rank in range(CLASSES) if self._ready[rank]]
        if not filled:
            return None
        rank = (
            filled[0]
            if len(filled) == 1
            else rng.choices(filled, [_WEIGHTS[rank] for rank in filled])[0]
        )
        name, _ = self._ready[rank].popitem(last=False)
        del self._class[name]
        return name

    def next_moment(self) -> float | None:
        """The earliest moment at which `mature` would find something; `None` if nothing waits."""
        heap = self._heap
        while heap and self._moments.get(heap[0][2], (None,))[0] != heap[0][0]:
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def _enter(self, name: str, rank: int) -> None:
        self._ready[rank][name] = None
        self._class[name] = rank
