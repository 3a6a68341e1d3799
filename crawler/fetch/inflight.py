"""The bytes of large bodies that one process holds: a budget that they draw on.

A body draws once, for all that it may become, before it grows beyond `FREE`: so whoever holds a
share can always finish, and nobody waits for one who waits. It must not know HTTP.
"""

import asyncio
from collections import deque

# A body up to this size never waits. So a process holds the budget, and this for every host that it
# serves.
FREE = 256 * 1024


class Share:
    """Bytes drawn from the budget; given back when nobody holds it any more.

    It travels with the body, wherever that goes: an answer that is put into a batch, tried again or
    thrown away with its cancelled lease gives its bytes back when it is gone.
    """

    __slots__ = ("_inflight", "size")

    def __init__(self, inflight: "Inflight", size: int) -> None:
        self._inflight = inflight
        self.size = size

    def shrink(self, size: int) -> None:
        """Give back what is beyond `size`."""
        if size < self.size:
            surplus, self.size = self.size - size, size
            self._inflight.give_back(surplus)

    def __del__(self) -> None:
        self._inflight.give_back(self.size)


class Inflight:
    """At most `limit` bytes are drawn; who comes first draws first."""

    def __init__(self, limit: int) -> None:
        self.held = 0
        self.most = 0
        self._limit = limit
        self._waiting: deque[tuple[asyncio.Future[Share], int]] = deque()

    def __repr__(self) -> str:
        return f"<Inflight {self.held} of {self._limit} bytes, {len(self._waiting)} waiting>"

    def draw(self, size: int) -> Share | None:
        """A share of `size` bytes, or of all there are; `None` if it has to be waited for."""
        size = min(size, self._limit)
        if self._waiting or self.held + size > self._limit:
            return None
        return self._share(size)

    async def wait(self, size: int) -> Share:
        """The share, once the others have given back enough."""
        future: asyncio.Future[Share] = asyncio.get_running_loop().create_future()
        self._waiting.append((future, min(size, self._limit)))
        self._serve()
        try:
            return await future
        except asyncio.CancelledError:
            del future  # which may have got its share just now
            self._serve()  # those behind it need not wait for it
            raise

    def give_back(self, size: int) -> None:
        """Take bytes back, and serve whoever waits for them."""
        self.held -= size
        self._serve()

    def _serve(self) -> None:
        while self._waiting:
            future, wanted = self._waiting[0]
            if not future.done():
                if self.held + wanted > self._limit:
                    break
                future.set_result(self._share(wanted))
            self._waiting.popleft()

    def _share(self, size: int) -> Share:
        self.held += size
        self.most = max(self.most, self.held)
        return Share(self, size)
