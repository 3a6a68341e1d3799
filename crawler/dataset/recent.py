"""Which links were sent on lately, so that a menu is not sent on again with every page.

A speed-up only: forgetting is always right, remembering what has not arrived loses links. It must not know why a link
counts.
"""

from collections.abc import Hashable

_DEPTHS = 1 << 16
_SENDERS = 1 << 16


class Recent:
    """The depth from which each of about `capacity` links was sent on, and with which batch of which sender.

    A link is held within the batch that it was noted with, and by others once that batch has arrived; until then it is
    sent on again. So whoever drops a link because it is held drops one that is where it belongs, or arrives together
    with the rest of its batch. Two generations stand for the order of use: the
    older is dropped when the younger holds half of the capacity. After a sender lost a batch, or began to count its
    batches anew, `forget` all.
    """

    __slots__ = ("_arrived", "_batch", "_half", "_old", "_young")

    def __init__(self, capacity: int) -> None:
        self._half = max(1, capacity // 2)
        # Batch, sender and depth in one number: a tuple would double the memory.
        self._young: dict[Hashable, int] = {}
        self._old: dict[Hashable, int] = {}
        self._arrived: dict[int, int] = {}
        self._batch = 0

    def __len__(self) -> int:
        return len(self._young.keys() | self._old.keys())

    def begin(self, sender: int, batch: int, arrived: int) -> None:
        """What is noted from now on goes with this batch (from 1) of a sender whose first `arrived` have arrived."""
        self._batch = (batch * _SENDERS + sender % _SENDERS) * _DEPTHS
        self._arrived[sender % _SENDERS] = arrived

    def holds(self, link: Hashable, depth: int) -> bool:
        """Whether a link (its key or its URL, but one of them throughout) has arrived from this depth or a better."""
        noted = self._young.get(link)
        if noted is None:
            noted = self._old.get(link)
            if noted is None:
                return False
            self._keep(link, noted)
        if noted % _DEPTHS > depth:
            return False
        if noted - noted % _DEPTHS == self._batch:
            return True
        batch, sender = divmod(noted // _DEPTHS, _SENDERS)
        return batch <= self._arrived.get(sender, 0)

    def note(self, link: Hashable, depth: int) -> None:
        """A link is sent on. Of two batches the earlier counts: it arrives sooner."""
        noted = self._young.get(link)
        if noted is None or noted % _DEPTHS > depth:
            self._keep(link, self._batch + min(depth, _DEPTHS - 1))

    def _keep(self, link: Hashable, noted: int) -> None:
        if len(self._young) >= self._half:
            self._old, self._young = self._young, {}
        self._young[link] = noted

    def forget(self) -> None:
        """What was sent on may not arrive."""
        self._young, self._old = {}, {}
