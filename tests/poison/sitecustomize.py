"""Makes HTML deadly: in every Python process that finds this folder on its path, and only for pages that ask for it.

Python imports a module of this name when it starts. A page asks with `<!--poison NAME-->`; the page whose URL is
`POISONED_URL` crashes its reader whatever it says.
"""

import ctypes
import os
import re
import sys
import time

from crawler.page import page

_ASKED = re.compile(rb"<!--poison (\w+)-->")


def _hang_in_c():
    re.match(r"(?:a+)+$", "a" * 60 + "b")  # never lets go of the interpreter


def _swell():
    hoard = []
    while True:
        hoard.append(b"x" * 10_000_000)


def _swell_quietly():
    _swell.hoard = b"x" * 120_000_000  # and keeps it, as a leak does


POISONS = {
    "abort": os.abort,
    "segfault": lambda: ctypes.string_at(0),
    "exit": lambda: os._exit(3),
    "leave": lambda: sys.exit(4),
    "hang": lambda: time.sleep(3600),
    "hang_in_c": _hang_in_c,
    "swell": _swell,
    "leak": _swell_quietly,
    "garbage": lambda: os.write(0, b"\0\0\0\0\0\0\0\7garbage"),
    "endless": lambda: os.write(0, b"\xff" * 64),
    "half": lambda: os.write(0, b"\0\0\0\0\0\0\0\7ga") and time.sleep(3600),
    "code": lambda: os.write(0, b"\0\0\0\0\0\0\0\x1dcposix\nabort\n(tR" + b"." * 12),
    "files": lambda: [os.open("/dev/null", os.O_RDONLY) for _ in range(100)],
    "disk": lambda: os.write(os.open("/tmp", os.O_TMPFILE | os.O_WRONLY), b"x"),
    "print": lambda: os.write(1, b"noise") + os.write(2, b"noise"),
}


def _poisoned(read):
    def read_poisoned(body):
        asked = _ASKED.search(body.data)
        if asked:
            POISONS[asked[1].decode()]()
        if body.url == os.environ.get("POISONED_URL"):
            os.abort()
        return read(body)

    return read_poisoned


reader = page.READERS["text/html"]
page.READERS["text/html"] = reader._replace(read=_poisoned(reader.read))
