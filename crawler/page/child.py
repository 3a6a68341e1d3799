"""The process behind `apart`: reads the pages it is sent, one at a time, within limits that it sets itself.

`main` is all that it runs; its standard input is one end of a socket pair. It ends with its parent, after a minute
without a page, and once it has grown: the next page deserves all of the memory.
"""

import ctypes
import os
import pickle
import resource
import select
import signal
import struct
import sys
from pathlib import Path
from typing import BinaryIO, NamedTuple

from crawler.page.facts import NOTHING_MORE, Asked, Page
from crawler.page.header import NO_HEADERS, LinkHeaders
from crawler.page.page import read_page

# Before every message: how many bytes follow.
LENGTH = struct.Struct(">Q")
# What it says when it can read.
READY = b"\n"

IDLE_SECONDS = 60.0
# Of the memory that one page may take, what may be in use when the next begins.
_GROWTH = 0.25
_OPEN_FILES = 32  # libraries are loaded when a page first needs them
_PR_SET_PDEATHSIG = 1


class Request(NamedTuple):
    """One page to be read; the arguments of `read_page`."""

    body: bytes
    content_type: str | None
    url: str
    max_links: int
    headers: LinkHeaders = NO_HEADERS
    asked: Asked = NOTHING_MORE


class Answer(NamedTuple):
    """What came of it: a page, or what its reader raised, or neither where memory ran out."""

    page: Page | None
    error: str | None = None


def answer(request: Request) -> bytes:
    """The pickled `Answer`; what a reader raises is its error."""
    try:
        return pickle.dumps(Answer(read_page(*request)), pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        return pickle.dumps(Answer(None))
    except Exception as error:  # noqa: BLE001  whatever it is, the page's row says it
        return pickle.dumps(Answer(None, f"{type(error).__name__}: {error}"))


def main() -> None:
    """Answers until no more pages come or memory is short. Arguments: what a page may take (bytes), the parent."""
    memory, parent = map(int, sys.argv[1:])
    # Ctrl-C is for the crawl, which ends this process when it is done with it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with(parent)
    begin = _size()
    _limit(begin + memory)
    requests, answers = os.fdopen(0, "rb"), os.fdopen(os.dup(0), "wb")
    answers.write(READY)
    answers.flush()
    # What a library prints goes nowhere. Until here, why it cannot start went to the parent's log.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    while _size() - begin <= _GROWTH * memory and (request := _next(requests)) is not None:
        reply = answer(request)
        answers.write(LENGTH.pack(len(reply)) + reply)
        answers.flush()


def _next(requests: BinaryIO) -> Request | None:
    """The next page to read; `None`: no more will come."""
    if not select.select([requests], [], [], IDLE_SECONDS)[0]:
        return None
    length = requests.read(LENGTH.size)
    if len(length) < LENGTH.size:
        return None
    (size,) = LENGTH.unpack(length)
    request: Request = pickle.loads(requests.read(size))
    return request


def _end_with(parent: int) -> None:
    """Has the kernel end this process with its parent (with the thread that started it), whatever it is doing then."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit("its parent has ended")


def _limit(address_space: int) -> None:
    """Bounds what an attacked library could take: memory (bytes), files, disk."""
    for limit, most in (
        (resource.RLIMIT_AS, address_space),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(limit, (most, most))


def _size() -> int:
    """The address space in use, in bytes."""
    pages, *_ = Path("/proc/self/statm").read_bytes().split()
    return int(pages) * resource.getpagesize()
