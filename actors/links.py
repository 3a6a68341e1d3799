"""How links get from a page to the shards that own them: coalesced per destination, acknowledged, sent again.

A page's row may be written only when every owner of its links has them (design, step 2): `send` returns then.
Knows nothing of Ray: a destination is a `Deliver` function.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

# Sends the links to a shard; returns the counts by reason, which sum to the number of links.
Deliver = Callable[[int, int, pa.RecordBatch], Awaitable[Mapping[str, int]]]

FLUSH_ROWS = 2_000
FLUSH_SECONDS = 0.2


@dataclass(slots=True)
class _Parcel:
    """What waits for one destination: batches, and who waits for which of them."""

    batches: list[pa.RecordBatch] = field(default_factory=list)
    rows: int = 0
    sent: asyncio.Future[Counter[str]] | None = None


class Outbox:
    """Invariant: at most one message is under way to a destination; nothing is forgotten before it is acknowledged."""

    def __init__(self, owners: npt.NDArray[np.int64], home: int, deliver: Deliver) -> None:
        self.owners = owners
        self._home = home
        self._deliver = deliver
        self._parcels: dict[int, _Parcel] = {}
        self._locks: dict[int, asyncio.Lock] = {}
        self._sequence = 0
        self.messages = 0

    def __repr__(self) -> str:
        waiting = sum(parcel.rows for parcel in self._parcels.values())
        return f"<Outbox {waiting} links waiting, {self.messages} messages acknowledged>"

    async def send(self, links: pa.RecordBatch) -> Counter[str]:
        """Delivers links (schema LINKS) to their owners; returns, once all have them, the counts by reason."""
        if not links.num_rows:
            return Counter()
        owners = self.owners[links.column("slot").to_numpy(zero_copy_only=False)]
        parts = [
            (int(owner), links.filter(pa.array(owners == owner))) for owner in np.unique(owners)
        ]
        counts = await asyncio.gather(*(self._post(owner, part) for owner, part in parts))
        return sum(counts, Counter())

    async def _post(self, owner: int, part: pa.RecordBatch) -> Counter[str]:
        """One destination's part, coalesced with what others post to it meanwhile."""
        parcel = self._parcels.setdefault(owner, _Parcel())
        parcel.batches.append(part)
        parcel.rows += part.num_rows
        if parcel.sent is not None:
            return _share(await asyncio.shield(parcel.sent), part.num_rows)
        parcel.sent = asyncio.get_running_loop().create_future()
        try:
            counts = await self._flush(owner, parcel)
        except BaseException as error:
            if self._parcels.get(owner) is parcel:
                del self._parcels[owner]
            parcel.sent.set_exception(error)
            parcel.sent.exception()  # taken here: nobody else may be waiting for it
            raise
        parcel.sent.set_result(counts)
        return _share(counts, part.num_rows)

    async def _flush(self, owner: int, parcel: _Parcel) -> Counter[str]:
        # While the message before is under way this one fills up: under load no timer is needed.
        async with self._locks.setdefault(owner, asyncio.Lock()):
            if owner != self._home and parcel.rows < FLUSH_ROWS:
                await asyncio.sleep(FLUSH_SECONDS)
            del self._parcels[owner]
            self._sequence += 1
            batch = pa.concat_batches(parcel.batches)
            counts = await self._deliver(owner, self._sequence, batch)
        self.messages += 1
        return Counter(counts)


def _share(counts: Counter[str], rows: int) -> Counter[str]:
    """Takes the share of one part of a message out of the message's counts: as many as the part has links.

    Which of them is all the same, only their sums mean something. But a part's own sum must be right: the batch it came
    from may be the only one of the message to be settled before the process ends.
    """
    share: Counter[str] = Counter()
    for reason, count in counts.items():
        share[reason] = min(count, rows)
        rows -= share[reason]
    counts -= share
    return share
