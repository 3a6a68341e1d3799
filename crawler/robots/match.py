"""Which of many patterns takes a path: that with the most octets (RFC 9309 §2.2.2), in linear time.

Patterns and paths are normalised (`crawler.robots.escapes`) before they come here, so `*` and a
last `$` are operators and nothing else. It knows nothing of groups or of files.
"""

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

NO_MATCH = -1

# Higher than any pattern's rank, and odd: an Allow.
_ALWAYS = 2**31 - 1

# Parts between `*` that are looked for in each path; the real file with most has a tenth of it. With as many as half a
# megabyte may hold, one path would take a fifth of a second.
MAX_PARTS = 4_000


class Wild(NamedTuple):
    """A pattern with `*` inside: `head`, each of `middle` in order, then `tail` at the very end."""

    rank: int
    head: str
    middle: tuple[str, ...]
    tail: str | None

    def matches(self, path: str) -> bool:
        """Whether the pattern takes `path`.

        The leftmost place is always the best for a part between two `*`, so nothing is tried twice.
        """
        if not path.startswith(self.head):
            return False
        at = len(self.head)
        for part in self.middle:
            at = path.find(part, at)
            if at < 0:
                return False
            at += len(part)
        return self.tail is None or (path.endswith(self.tail) and len(path) - len(self.tail) >= at)


def rank_of(pattern: str, *, allow: bool) -> int:
    """The precedence of a pattern: octets first, then Allow before Disallow. Odd: an Allow."""
    return 2 * len(pattern) + allow


class Matcher:
    """A set of patterns. Most are plain prefixes: a binary search finds the longest that fits.

    Invariant: `_prefixes` is sorted; `_parents[i]` is the longest other prefix in it that begins
    `_prefixes[i]`, or -1; `_ranks[i]` is the best rank along that chain.
    """

    __slots__ = ("_exact", "_parents", "_prefixes", "_ranks", "_wild")

    def __init__(self, ranked: Iterable[tuple[int, str]]) -> None:
        """Take `(rank, pattern)` pairs.

        Past `MAX_PARTS` a pattern is read the careful way: a Disallow ends at its first `*`, an Allow is left out.
        """
        self._exact = {"/robots.txt": _ALWAYS}
        wild: list[Wild] = []
        parts = 0
        prefixes: dict[str, int] = {}
        for rank, pattern in ranked:
            anchored = pattern.endswith("$")
            head, *rest = pattern.removesuffix("$").split("*")
            tail = rest.pop() if rest and anchored else None
            middle = tuple(filter(None, rest))
            if middle or tail:
                parts += len(middle) + 1
                if parts <= MAX_PARTS:
                    wild.append(Wild(rank, head, middle, tail or None))
                elif rank % 2 == 0:
                    prefixes[head] = max(rank, prefixes.get(head, NO_MATCH))
            elif anchored and tail is None:
                self._exact[head] = max(rank, self._exact.get(head, NO_MATCH))
            else:
                prefixes[head] = max(rank, prefixes.get(head, NO_MATCH))
        self._wild = tuple(sorted(wild, key=lambda pattern: -pattern.rank))
        self._prefixes = sorted(prefixes)
        self._nest(prefixes)

    def _nest(self, prefixes: dict[str, int]) -> None:
        self._parents: list[int] = []
        self._ranks: list[int] = []
        for at, prefix in enumerate(self._prefixes):
            parent = at - 1
            while parent >= 0 and not prefix.startswith(self._prefixes[parent]):
                parent = self._parents[parent]
            self._parents.append(parent)
            self._ranks.append(
                max(prefixes[prefix], self._ranks[parent] if parent >= 0 else NO_MATCH)
            )

    def best(self, path: str) -> int:
        """The highest rank among the patterns that take `path`, or `NO_MATCH`."""
        best = self._exact.get(path, NO_MATCH)
        at = bisect_right(self._prefixes, path) - 1
        while at >= 0:
            if path.startswith(self._prefixes[at]):
                best = max(best, self._ranks[at])
                break
            at = self._parents[at]
        for pattern in self._wild:
            if pattern.rank < best:
                break
            if pattern.matches(path):
                return pattern.rank
        return best
