"""The clock of one run of a crawl: it begins with the wall clock and goes on evenly, however that is set.

Network time, a paused virtual machine or an operator may set a wall clock by seconds in the middle of a crawl; by it a
host would be asked that much too soon, or not for that long.
"""

import platform
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

_BOOT = Path("/proc/sys/kernel/random/boot_id")
# It counts what a machine sleeps, which Linux's monotonic clock does not (macOS' does).
_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class RunClock(NamedTuple):
    """What the processes of a run are told. `machine`: where it began; `ahead`: its wall clock's lead, seconds."""

    machine: str
    ahead: float

    @classmethod
    def begin(cls) -> "RunClock":
        """The clock of a run that begins now, here."""
        return cls(_machine(), time.time() - _steady())

    def here(self) -> Callable[[], float]:
        """Gives the moment, in seconds since the epoch, in this process.

        All processes of the machine on which the run began agree; other machines have their wall clocks, which network
        time must keep together.
        """
        ahead = self.ahead
        return (lambda: _steady() + ahead) if self.machine == _machine() else time.time


def _steady() -> float:
    return time.clock_gettime(_STEADY)


@cache
def _machine() -> str:
    """Which machine this is since it was started. By name too: sandboxes may share a boot id, and macOS has none."""
    try:
        return f"{platform.node()} {_BOOT.read_text(encoding='ascii').strip()}"
    except OSError:
        return platform.node()
