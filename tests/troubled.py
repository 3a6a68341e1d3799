"""Hosts that are each in their own kind of trouble, on loopback, and the log of what they were asked.

All names of a `Web` lead to one port, or to ports where nothing answers; the log is the server's own.
"""

import asyncio
import json
import socket
from collections.abc import Callable
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

from benchmarks.simweb.log import Request
from tests.clock import now

# What a host makes of its number-th request (robots.txt is not counted): seconds to think, and the answer's octets;
# `None`: hang up.
Manner = Callable[[int, str], tuple[float, bytes | None]]


class Host(NamedTuple):
    """A host of a troubled web.

    `port`: where its URLs lead, if it is not the web's own. `named`: whether its name has an address. `seeds`: so many
    of its pages are seeds besides the first.
    """

    manner: Manner | None = None
    robots: Manner | None = None
    scheme: str = "http"
    port: int | None = None
    named: bool = True
    seeds: int = 0


def reply(status: str, body: str = "", *headers: str) -> bytes:
    head = [f"HTTP/1.1 {status}", "Content-Type: text/html", f"Content-Length: {len(body)}"]
    return "\r\n".join([*head, *headers, "", body]).encode()


def pages(count: int, seconds: float = 0.0) -> Manner:
    """A healthy host: a home page that links to `count` others, each after `seconds` of thought."""
    links = "".join(f'<a href="/{n}">page {n}</a>' for n in range(1, count + 1))

    def answer(number, target):
        return seconds, reply("200 OK", links if target == "/" else f"page {target}")

    return answer


def bursts(count: int, good: int, bad: int, retry_after: int) -> Manner:
    """`good` answers, then `bad` times 429 with Retry-After, and so on."""
    well = pages(count)

    def answer(number, target):
        if number % (good + bad) < good:
            return well(number, target)
        return 0.0, reply("429 Too Many Requests", "", f"Retry-After: {retry_after}")

    return answer


def always(answer: bytes | None, seconds: float = 0.0) -> Manner:
    return lambda number, target: (seconds, answer)


SILENCE = always(None, 3600.0)


def dead(hole: int, refused: int, seeds: int) -> dict[str, Host]:
    """Ten hosts that will never give a page; `hole`, `refused`: ports of a black hole and of nobody."""
    busy = reply("503 Service Unavailable")
    later = reply("429 Too Many Requests", "", "Retry-After: 600")
    hosts = {
        "refused.test": Host(port=refused),
        "hole.test": Host(port=hole),
        "unknown.test": Host(named=False),
        "stalled-tls.test": Host(scheme="https"),
        "busy.test": Host(always(busy)),
        "busy-robots.test": Host(robots=always(busy)),
        "silent.test": Host(robots=SILENCE),
        "hangs-up.test": Host(robots=always(None)),
        "garbage.test": Host(robots=always(b"SSH-2.0- 1 \r\n\r\n")),
        "later.test": Host(always(later)),
    }
    return {name: host._replace(seeds=seeds) for name, host in hosts.items()}


class Web:
    """A running web."""

    def __init__(self, hosts: dict[str, Host], port: int, dns: int) -> None:
        self.hosts, self.port, self.dns = hosts, port, dns
        self.log: list[Request] = []
        self._asked = dict.fromkeys(hosts, 0)
        self._talks: dict[asyncio.Task, asyncio.StreamWriter] = {}

    @property
    def seeds(self) -> list[str]:
        """What a crawl of the web begins with."""
        return [
            f"{host.scheme}://{name}:{host.port or self.port}/{page or ''}"
            for name, host in self.hosts.items()
            for page in range(1 + host.seeds)
        ]

    def requests(self, name: str) -> list[Request]:
        return sorted(request for request in self.log if request.host == name)

    def config(self, **branches: dict) -> str:
        """The configuration of a crawl of this web, as TOML."""
        names = {
            name: f"127.0.{1 + number}.1" for number, name in enumerate(self.hosts) if self.hosts[name].named
        }  # fmt: skip
        tables = {
            "scope": {"mode": "host", "follow_duplicates": True},
            "fetch": {"allow_private": True, "connect_timeout": 2.0, "first_byte_timeout": 2.0},
            "robots": {"timeout": 2.0},
            "sitemaps": {"discover": False},
            "dns": {"nameservers": [f"127.0.0.1:{self.dns}"]},
            "dns.overrides": names,
        }
        for name, more in branches.items():
            tables.setdefault(name, {}).update(more)
        return "".join(
            f"[{name}]\n" + "".join(f"{json.dumps(key)} = {json.dumps(value)}\n" for key, value in table.items())
            for name, table in tables.items()
        )  # fmt: skip

    async def open(self) -> None:
        """Serves; after `close` on the same port again."""
        self._listener = await asyncio.start_server(self.converse, "0.0.0.0", self.port)
        self.port = self._listener.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Nobody answers any more, and whoever was talking is cut off."""
        self._listener.close()
        for writer in self._talks.values():
            writer.transport.abort()
        await asyncio.gather(*self._talks)

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talk = asyncio.current_task()
        self._talks[talk] = writer
        try:
            await self._talk(reader, writer)
        finally:
            del self._talks[talk]
            writer.transport.abort()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            while await self._exchange(reader, writer):
                pass

    async def _exchange(self, reader, writer) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        start, target = now(), head.split(" ", 2)[1]
        name = head.lower().partition("\r\nhost: ")[2].partition("\r\n")[0].partition(":")[0]
        host = self.hosts[name]
        if target == "/robots.txt":
            seconds, answer = (host.robots or always(reply("404 Not Found")))(0, target)
        else:
            seconds, answer = host.manner(self._asked[name], target)
            self._asked[name] += 1
        # A client that gives up is heard of at once.
        gone = seconds and await hung_up(reader, seconds)
        status = 0 if answer is None or gone else int(answer.split(b" ")[1])
        self.log.append(Request(start, now(), status, name, target, ""))
        if not status:
            return False
        writer.write(answer)
        await writer.drain()
        return True


async def hung_up(reader: asyncio.StreamReader, seconds: float) -> bool:
    """Whether the other side closes within so many seconds; returns when it does, or when they are over."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            return not await reader.read(1)
    return False


class _NoSuchName(asyncio.DatagramProtocol):
    """A name server that knows no name at all: NXDOMAIN for every question."""

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, address):
        # The question comes back, without what follows it (EDNS).
        end = data.index(b"\0", 12) + 5
        head = data[:2] + b"\x81\x83" + data[4:6] + b"\0" * 6
        self.transport.sendto(head + data[12:end], address)


def black_hole() -> list[socket.socket]:
    """A port that takes no connection and refuses none: its queue is full. The first socket is the listener."""
    listener = socket.create_server(("0.0.0.0", 0), backlog=0)
    port = listener.getsockname()[1]
    sockets = [listener]
    for _ in range(3):
        filler = socket.socket()
        filler.setblocking(False)
        with suppress(BlockingIOError):
            filler.connect(("127.0.0.1", port))
        sockets.append(filler)
    return sockets


@asynccontextmanager
async def serving(hosts: dict[str, Host]):
    """A running web of these hosts, on this loop."""
    loop = asyncio.get_running_loop()
    dns, _ = await loop.create_datagram_endpoint(_NoSuchName, local_addr=("127.0.0.1", 0))
    web = Web(hosts, 0, dns.get_extra_info("sockname")[1])
    await web.open()
    try:
        yield web
    finally:
        dns.close()
        await web.close()
