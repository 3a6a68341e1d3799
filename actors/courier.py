"""What hosts do for one another (`crawler.frontier.errands`), on its way between the shards that own them.

Knows nothing of Ray: a destination is a `Post` function. What gets lost is asked for anew by who waits for it.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence

import numpy as np
import numpy.typing as npt

from actors.work import LostError
from crawler.frontier.errands import Mail, slot_for
from crawler.frontier.relay import Relay

log = logging.getLogger(__name__)

# Delivers to a shard; raises `LostError`.
Post = Callable[[int, Sequence[Mail]], Awaitable[None]]


class Courier:
    """Invariant: at most one message is under way to a destination; what comes meanwhile is the next one."""

    def __init__(
        self,
        relay: Relay,
        owners: npt.NDArray[np.int64],
        home: int,
        post: Post,
        clock: Callable[[], float],
    ) -> None:
        self._relay = relay
        self._owners = owners
        self._home = home
        self._post = post
        self._clock = clock
        self._waiting: defaultdict[int, list[Mail]] = defaultdict(list)
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def __repr__(self) -> str:
        waiting = sum(map(len, self._waiting.values()))
        return f"<Courier {waiting} waiting, {len(self._tasks)} messages under way>"

    def carry(self) -> None:
        """Sends what the relay has to send; what is for this shard itself is there when it returns."""
        while mail := self._relay.errands.outgoing():
            home: list[Mail] = []
            for one in mail:
                owner = int(self._owners[slot_for(one)])
                (home if owner == self._home else self._waiting[owner]).append(one)
            if home:
                self._relay.post(home, self._clock())
        for owner in self._waiting.keys() - self._tasks.keys():
            self._tasks[owner] = asyncio.create_task(self._send(owner))

    async def _send(self, owner: int) -> None:
        try:
            while mail := self._waiting.pop(owner, None):
                await self._post(owner, mail)
        except LostError as error:
            log.warning("shard %d cannot be told of robots.txt elsewhere: %s", owner, error)
        finally:
            self._tasks.pop(owner, None)

    async def close(self) -> None:
        """Drops what is under way."""
        tasks = list(self._tasks.values())
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
