"""An HTTP/1.1 server in one asyncio loop: a listening socket per address, GET only, a log of every request.

Knows nothing of worlds: `respond` maps (Host header, target, gzip wished) to an answer. It must cost a small part of
what the crawler under test costs, so an answer is one ready-made bytes object and header blocks are parsed once.
"""

import asyncio
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from benchmarks.simweb.answers import Answer, answer
from benchmarks.simweb.log import Request, render

Respond = Callable[[str, str, bool], Answer]
# Host, user agent, whether gzip is accepted, If-None-Match.
Headers = tuple[str, str, bool, str]

CONTROL = "127.0.0.1"
_MOST_HEADER_BLOCKS = 20_000
_MOST_HEADER_BYTES = 65536

# Seconds between two looks at the clock: as exactly is known when a client gave up.
BEAT = 0.05


class Web:
    """Answers and logs. Moments are taken from the monotonic clock and shifted to the wall clock when written."""

    def __init__(self, respond: Respond) -> None:
        self.respond = respond
        self.requests: list[tuple[float, float, int, str, str, str]] = []
        self._headers: dict[bytes, Headers] = {}
        self._shift = time.time() - time.monotonic()
        self._beats = (0.0, 0.0)

    async def beat(self) -> None:
        """Goes on for ever, beside the connections."""
        while True:
            self._beats = self._beats[1], time.monotonic()
            await asyncio.sleep(BEAT)

    @property
    def certain(self) -> float:
        """The last moment of which it is certain that a client was there of whose leaving has been heard just now.

        Not now: where this process was put to sleep, a client may have gone, and waited for its delay, meanwhile. Nor
        the last beat: it may have been late itself, behind a look at the sockets.
        """
        return self._beats[0]

    def headers(self, block: bytes) -> Headers:
        """What counts of the lines after the request line; a client sends the same ones again and again."""
        parsed = self._headers.get(block)
        if parsed is None:
            lines = (line.partition(":") for line in block.decode("latin-1").split("\r\n"))
            fields = {name.strip().lower(): value.strip() for name, _, value in lines}
            parsed = (
                fields.get("host", "").lower(),
                fields.get("user-agent", "").replace("\t", " "),
                "gzip" in fields.get("accept-encoding", ""),
                fields.get("if-none-match", ""),
            )
            if len(self._headers) >= _MOST_HEADER_BLOCKS:
                self._headers.clear()
            self._headers[block] = parsed
        return parsed

    def log_text(self) -> str:
        """The log so far (`log.render`)."""
        shift = self._shift
        return render(
            Request(start + shift, end + shift, status, host, target, agent)
            for start, end, status, host, target, agent in self.requests
        )

    def answer(self, netloc: str, target: str, gzip: bool, known: str) -> Answer:
        """The answer to one request, 304 where its entity tag is `known`; /__log exists on 127.0.0.1 alone."""
        if netloc.startswith(f"{CONTROL}:") and target == "/__log":
            return answer(
                200, self.log_text().encode(), ("Content-Type: text/plain; charset=utf-8",)
            )
        made = self.respond(netloc, target, gzip)
        if known and known == made.etag:
            return answer(304, headers=(f"ETag: {known}",))._replace(wait=made.wait)
        return made


class Connection(asyncio.Protocol):
    """One connection: one request at a time; what arrives early waits in the buffer."""

    __slots__ = ("_buffer", "_current", "_timer", "_transport", "_web")

    _transport: asyncio.Transport

    def __init__(self, web: Web) -> None:
        self._web = web
        self._buffer = b""
        self._current: tuple[float, str, str, str] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keeps the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answers as soon as a whole request is there."""
        if self._buffer:
            data = self._buffer + data
        end = data.find(b"\r\n\r\n")
        if end < 0 or self._current:
            self._buffer = data
            if len(data) > _MOST_HEADER_BYTES:
                self._transport.abort()
            return
        self._buffer = data[end + 4 :]
        self._serve(data, end)

    def _serve(self, data: bytes, end: int) -> None:
        start = time.monotonic()
        line_end = data.find(b"\r\n")
        method, _, rest = data[:line_end].decode("latin-1").partition(" ")
        target = rest.partition(" ")[0].expandtabs(1)
        netloc, agent, gzip, known = self._web.headers(data[line_end + 2 : end])
        made = self._web.answer(netloc, target, gzip, known) if method == "GET" else answer(405)
        self._current = (start, netloc.partition(":")[0], target, agent)
        if made.wait == 0.0:
            self._finish(made)
        elif made.wait is not None:
            self._timer = asyncio.get_running_loop().call_later(made.wait, self._finish, made)

    def _finish(self, made: Answer) -> None:
        # The clock is read before the write: a client that has the last byte cannot have had it earlier than that,
        # even if this process is put to sleep in between. So a log never accuses a polite client.
        self._note(made.status)
        self._transport.write(made.raw)
        if self._buffer:
            self.data_received(b"")

    def _note(self, status: int, end: float | None = None) -> None:
        if self._current and not self._current[2].startswith("/__"):
            start, host, target, agent = self._current
            end = time.monotonic() if end is None else max(start, end)
            self._web.requests.append((start, end, status, host, target, agent))
        self._current = None

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """A request that was never answered ends here, with status 0."""
        if self._timer:
            self._timer.cancel()
        if self._current:
            self._note(0, self._web.certain)


def listen(addresses: Iterable[str], port: int) -> tuple[int, list[socket.socket]]:
    """A bound socket on every address, all at one port; 0 chooses one that is free on all.

    Raises: `OSError` where a port other than 0 is taken.
    """
    addresses = list(addresses)
    # Sockets and connections both count; the soft limit of many systems is 1024.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 65536)), hard))
    for _ in range(20):
        try:
            return _bind(addresses, port)
        except OSError:
            if port:
                raise
    message = "no port is free on all addresses"
    raise OSError(message)


def _bind(addresses: list[str], port: int) -> tuple[int, list[socket.socket]]:
    sockets: list[socket.socket] = []
    try:
        for address in addresses:
            bound = socket.create_server((address, port), backlog=512)
            sockets.append(bound)
            port = bound.getsockname()[1]
    except OSError:
        for bound in sockets:
            bound.close()
        raise
    return port, sockets


def serve(
    web: Web,
    sockets: list[socket.socket],
    ready: Callable[[], None],
    log: Path | None,
    *,
    child: bool,
) -> None:
    """Serves until SIGTERM or SIGINT (a child: or until its standard input closes), then writes the log.

    SIGUSR1 writes the log at once. `ready` is called when all sockets accept.
    """
    asyncio.run(_serve(web, sockets, ready, log, child))
    _write(web, log)


async def _serve(
    web: Web, sockets: list[socket.socket], ready: Callable[[], None], log: Path | None, child: bool
) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGUSR1, _write, web, log)
    if child:
        loop.add_reader(sys.stdin.fileno(), stop.set)
    servers = [await loop.create_server(lambda: Connection(web), sock=bound) for bound in sockets]
    ready()
    beating = asyncio.create_task(web.beat())
    await stop.wait()
    beating.cancel()
    for server in servers:
        server.close()


def _write(web: Web, log: Path | None) -> None:
    if log:
        partial = log.with_name(log.name + ".partial")
        partial.write_text(web.log_text(), encoding="utf-8")
        partial.replace(log)
