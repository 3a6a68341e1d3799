"""Which links were sent on lately, so that a menu is not sent on again with every page.

A speed-up only: forgetting is always right, remembering what did not arrive loses links. It must not know why a link
counts.
"""

from collections.abc import Hashable


class Recent:
    """The best depth from which each of about `capacity` links was sent on.

    Two generations stand for the order of use: the older is dropped when the younger holds half of the capacity.
    Whoever notes a link before it has arrived, and may lose or drop it then, must `forget` all.
    """

    __slots__ = ("_half", "_old", "_young")

    def __init__(self, capacity: int) -> None:
        self._half = max(1, capacity // 2)
        self._young: dict[Hashable, int] = {}
        self._old: dict[Hashable, int] = {}

    def __len__(self) -> int:
        return len(self._young.keys() | self._old.keys())

    def holds(self, link: Hashable, depth: int) -> bool:
        """Whether a link (its key or its URL, but one of them throughout) was sent on from this depth or a better."""
        best = self._young.get(link)
        if best is None:
            best = self._old.get(link)
            if best is None:
                return False
            self.note(link, best)
        return best <= depth

    def note(self, link: Hashable, depth: int) -> None:
        """A link is sent on."""
        if len(self._young) >= self._half:
            self._old, self._young = self._young, {}
        self._young[link] = depth

    def forget(self) -> None:
        """What was sent on may not have arrived."""
        self._young, self._old = {}, {}
