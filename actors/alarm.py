"""Ends a worker process that hangs, whatever holds it: also C code that never lets go of the interpreter."""

import faulthandler
import os

# Where a hung process stands would be pages of text in the log of the crawl; the row of the page says that it hung.
_NOWHERE = os.open(os.devnull, os.O_WRONLY)


def set_alarm(seconds: float) -> None:
    """Ends this process in so many seconds, without a word; a second call replaces the first. About 100 µs."""
    faulthandler.dump_traceback_later(seconds, exit=True, file=_NOWHERE)


def cancel_alarm() -> None:
    """No end after all."""
    faulthandler.cancel_dump_traceback_later()
