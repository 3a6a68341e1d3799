"""A loopback server whose every byte is the test's, and which writes down what it was asked."""

import asyncio
from collections.abc import Callable
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple


class Asked(NamedTuple):
    """One request as the server saw it: the address it came to, its target, its whole head."""

    host: str
    target: str
    head: bytes
    began: float
    ended: float


class RawServer:
    """Answers each request with the bytes that `answer(target)` gives; `None`: hang up.

    Bytes without `keep` are followed by the end of the connection.
    """

    def __init__(self, answer: Callable[[str], bytes | None], *, keep: bool = True) -> None:
        self.answer = answer
        self.keep = keep
        self.asked: list[Asked] = []
        self.connections = 0
        self.in_flight: dict[str, int] = {}
        self.most_in_flight = 0
        self.port = 0
        self.was_asked = asyncio.Event()

    def url(self, target: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{target}"

    @property
    def targets(self) -> list[str]:
        return [asked.target for asked in self.asked]

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        host = writer.get_extra_info("sockname")[0]
        await self._converse(host, reader, writer)
        writer.close()
        await writer.wait_closed()

    async def _converse(self, host, reader, writer) -> None:
        loop = asyncio.get_running_loop()
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            began = loop.time()
            self.in_flight[host] = self.in_flight.get(host, 0) + 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight[host])
            target = head.split(b"\r\n", 1)[0].split(b" ", 1)[1].rpartition(b" ")[0].decode()
            answer = self.answer(target)
            # Written down before the answer leaves: the client may be quicker than this task.
            self.in_flight[host] -= 1
            self.asked.append(Asked(host, target, head, began, loop.time()))
            self.was_asked.set()
            if answer is None:
                return
            writer.write(answer)
            await writer.drain()
            if not self.keep:
                return


@asynccontextmanager
async def listening(handle, *, host: str = "127.0.0.1", ssl=None):
    """The port of a server that does `handle(reader, writer)` for each connection; all end with it."""
    tasks: set[asyncio.Task] = set()

    async def handle_one(reader, writer) -> None:
        tasks.add(asyncio.current_task())
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await handle(reader, writer)
        finally:
            writer.transport.abort()

    listener = await asyncio.start_server(handle_one, host, 0, limit=1 << 20, ssl=ssl)
    try:
        yield listener.sockets[0].getsockname()[1]
    finally:
        listener.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # transports close in the next turn of the loop


@asynccontextmanager
async def serving(answer, *, keep: bool = True):
    """A running `RawServer` on every loopback address."""
    server = RawServer(answer, keep=keep)
    async with listening(server.handle, host="0.0.0.0") as server.port:
        yield server


@asynccontextmanager
async def speaking(speak, *, host: str = "127.0.0.1", ssl=None):
    """The port of a server that answers each request with what `speak(target)` yields, as it comes."""

    async def handle(reader, writer) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            async for piece in speak(head.split(b" ", 2)[1].decode()):
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0)  # draining need not let anybody else run

    async with listening(handle, host=host, ssl=ssl) as port:
        yield port


def reply(
    body: bytes = b"",
    status: str = "200 OK",
    headers: tuple[str, ...] = ("Content-Type: text/html",),
) -> bytes:
    """The bytes of a well-formed answer."""
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode("latin-1") + body
