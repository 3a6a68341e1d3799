"""Reads pages in a process of its own, with bounds on time and memory: what kills or stops a reader costs one page.

The process (`child`) is started for the first page and kept for the next ones. Knows nothing of readers and of Ray.
"""

import contextlib
import io
import os
import pickle
import socket
import subprocess
import sys
from collections.abc import Callable

from crawler.config import Page as Limits
from crawler.errors import ApartError
from crawler.page.child import LENGTH, READY, Answer, Request
from crawler.page.facts import NOTHING_MORE, Asked, Extra, Page, PageLinks
from crawler.page.header import NO_HEADERS, LinkHeaders

# A start takes 0.4 s on an idle machine.
START_SECONDS = 30.0
# The facts of a page of ten megabytes that is one list of links take about as much again.
MOST_BYTES = 256 * 1024 * 1024

_PROGRAM = "from crawler.page.child import main; main()"
_MIB = 1024 * 1024
_FACTS = {(kind.__module__, kind.__name__): kind for kind in (Answer, Extra, Page, PageLinks)}


class ReaderError(Exception):
    """Why a page could not be read, as its row says it."""


class _DiedError(Exception):
    """The process ended, or ran out of memory, with a page; the text says how."""


class Apart:
    """Invariant: what a page leads to depends on no page before it, and no call lasts longer than its bounds."""

    def __init__(
        self, limits: Limits, clock: Callable[[], float], alive: Callable[[], None] = lambda: None
    ) -> None:
        """Starts nothing yet. `alive` is called before every step that may take its time."""
        self._limits = limits
        self._clock = clock
        self._alive = alive
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._deadline = 0.0

    def __repr__(self) -> str:
        return f"<Apart {'no process' if self._process is None else self._process.pid}>"

    @property
    def pid(self) -> int | None:
        """The process that would be asked next, if there is one."""
        return self._process.pid if self._process else None

    def read_page(
        self,
        body: bytes,
        content_type: str | None,
        url: str,
        max_links: int,
        headers: LinkHeaders = NO_HEADERS,
        asked: Asked = NOTHING_MORE,
    ) -> Page:
        """What `crawler.page.page.read_page` gives, from the other process.

        Raises `ReaderError` where the page cannot be read, `ApartError` where no process starts. A process that died
        with a page may owe that to the page before: only one that was started for this page proves it.
        """
        request = pickle.dumps(Request(body, content_type, url, max_links, headers, asked))
        while True:
            fresh = self._ensure()
            try:
                answer = self._ask(request)
            except _DiedError as error:
                self.close()
                if fresh:
                    raise ReaderError(str(error)) from None
            except TimeoutError:
                self.close()
                message = f"its reader took more than {self._limits.apart_seconds:g} s"
                raise ReaderError(message) from None
            else:
                if answer.page is None:
                    raise ReaderError(answer.error)
                return answer.page

    def close(self) -> None:
        """Ends the process, if there is one, whatever it is doing."""
        if self._socket is not None:
            self._socket.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._socket = self._process = None

    def _ensure(self) -> bool:
        """Has a process ready to read; whether it is a new one."""
        if self._process is not None and self._process.poll() is None:
            return False
        for _ in range(2):
            self.close()
            self._alive()
            if self._start():
                return True
        code = self._process.poll() if self._process else None
        self.close()
        message = f"the process that reads pages apart does not start ({_end(code)})"
        raise ApartError(message)

    def _start(self) -> bool:
        """Whether a new process is ready to read. Raises `ApartError` where the machine has none to give."""
        try:
            self._launch()
        except OSError as error:
            self.close()
            message = f"the process that reads pages apart does not start ({error.strerror})"
            raise ApartError(message) from None
        self._deadline = self._clock() + START_SECONDS
        with contextlib.suppress(_DiedError, TimeoutError):
            return self._receive(1) == READY
        return False

    def _launch(self) -> None:
        """Makes the process and the connection to it; raises `OSError`."""
        self._socket, theirs = socket.socketpair()
        with theirs:
            # As this process finds modules, so must the other, wherever Ray has put them; -P: and not beside them.
            path = os.pathsep.join(entry or os.curdir for entry in sys.path)
            limits = (str(self._limits.apart_memory), str(os.getpid()))
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _PROGRAM, *limits],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": path},
            )

    def _ask(self, request: bytes) -> Answer:
        """Raises `_DiedError`, `TimeoutError`."""
        self._alive()
        self._deadline = self._clock() + self._limits.apart_seconds
        self._send(LENGTH.pack(len(request)) + request)
        (size,) = LENGTH.unpack(self._receive(LENGTH.size))
        if size > MOST_BYTES:
            message = f"its reader's answer is larger than {MOST_BYTES // _MIB} MiB"
            raise _DiedError(message)
        answer = _facts(self._receive(size))
        if answer.page is None and answer.error is None:
            message = f"its reader needed more than {self._limits.apart_memory / _MIB:g} MiB"
            raise _DiedError(message)
        return answer

    def _send(self, message: bytes) -> None:
        connection = self._bounded()
        try:
            connection.sendall(message)
        except ConnectionError:
            raise _DiedError(self._ended()) from None

    def _receive(self, size: int) -> bytes:
        parts, missing = [], size
        while missing:
            try:
                part = self._bounded().recv(min(missing, _MIB))
            except ConnectionError:
                part = b""
            if not part:
                raise _DiedError(self._ended())
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

    def _bounded(self) -> socket.socket:
        """The connection, with what is left of the time; all of it for sending, and for the next part received."""
        left = self._deadline - self._clock()
        if left <= 0:
            raise TimeoutError
        assert self._socket is not None
        self._socket.settimeout(left)
        return self._socket

    def _ended(self) -> str:
        """How the process ended whose end of the connection is closed; it has as long for that as for an answer."""
        assert self._process is not None
        try:
            code = self._process.wait(max(0.0, self._deadline - self._clock()))
        except subprocess.TimeoutExpired:
            raise TimeoutError from None
        return f"its reader crashed ({_end(code)})"


def _end(code: int | None) -> str:
    """The end of a process in words, by its return code."""
    if code is None:
        return f"no answer within {START_SECONDS:g} s"
    return f"signal {-code}" if code < 0 else f"exit code {code}"


class _FactsOnly(pickle.Unpickler):
    """Makes values and facts of pages and nothing else, whoever wrote the bytes: a library may have been taken over."""

    def find_class(self, module: str, name: str) -> type:
        try:
            return _FACTS[module, name]
        except KeyError:
            message = f"{module}.{name} is no fact of a page"
            raise pickle.UnpicklingError(message) from None


def _facts(reply: bytes) -> Answer:
    try:
        answer = _FactsOnly(io.BytesIO(reply)).load()
        if isinstance(answer, Answer):
            return answer
    except Exception:  # noqa: BLE001  damaged pickles raise about anything
        answer = None
    message = "its reader's answer cannot be understood"
    raise _DiedError(message)
