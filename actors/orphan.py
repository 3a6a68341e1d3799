"""Ends an actor's process when its parent, a raylet, has gone.

Ray looks whether the raylet's pid is still there, and so is that of a dead one whom nobody reaps: in a container whose
first process is no init. There a shard lived on for a minute, with the lock on its state, and a writer for ever.
"""

import os
import threading
import time

LOOK_SECONDS = 1.0


def end_with_parent() -> None:
    """Ends this process within `LOOK_SECONDS` of its parent's end."""
    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os._exit(1)
