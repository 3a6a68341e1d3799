"""A proxy that speaks HTTP and SOCKS5 on one port, connects onward for real and writes down what it did."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from tests.crawler.fetch.raw_server import listening

# RFC 1928 §4, §5: the address types, and the bytes of those that have a fixed size.
IPV4, NAME, IPV6 = 1, 3, 4
SIZES = {IPV4: 4, IPV6: 16}


async def to_loopback(_: str) -> str:
    return "127.0.0.1"


class ProxyServer:
    """It tells the protocols apart by the first byte. `find`: where it connects to for the host it is asked for.

    `asked`: "GET <url>", "CONNECT <host>:<port>" or, by SOCKS, "<host>:<port>". `reached`: the addresses connected to.
    As RFC 9110 §11.7.2 allows, it keeps the credentials that are meant for it to itself. `refuses`: it lets nobody
    through.
    """

    def __init__(self, find: Callable[[str], Awaitable[str]]) -> None:
        self.asked: list[str] = []
        self.reached: list[str] = []
        self.credentials: list[object] = []
        self.port = 0
        self.refuses = False
        self._find = find

    async def handle(self, reader, writer) -> None:
        first = await reader.readexactly(1)
        talk = self._socks if first == b"\x05" else self._http
        await talk(first, reader, writer)

    async def _http(self, first, reader, writer) -> None:
        head = (first + await reader.readuntil(b"\r\n\r\n")).decode()
        request, *lines = head.removesuffix("\r\n\r\n").split("\r\n")
        method, target, _ = request.split(" ")
        self.asked.append(f"{method} {target}")
        mine = [line for line in lines if line.lower().startswith("proxy-authorization:")]
        self.credentials += mine
        tunnel = method == "CONNECT"
        authority, _, path = target.partition("://")[2].partition("/")
        host, _, port = (target if tunnel else authority).rpartition(":")
        if self.refuses:
            writer.write(b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
        elif tunnel:
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            await self._join(host, int(port), reader, writer)
        else:
            onward = [f"{method} /{path} HTTP/1.1", *(line for line in lines if line not in mine)]
            opening = "\r\n".join([*onward, "", ""]).encode()
            await self._join(host, int(port), reader, writer, opening)

    async def _socks(self, _, reader, writer) -> None:
        methods = await reader.readexactly((await reader.readexactly(1))[0])
        if 2 in methods:
            writer.write(b"\x05\x02")
            await reader.readexactly(1)
            self.credentials.append((await _field(reader), await _field(reader)))
            writer.write(b"\x01\x00")
        else:
            writer.write(b"\x05\x00")
        kind = (await reader.readexactly(4))[3]
        raw = await (_field(reader) if kind == NAME else reader.readexactly(SIZES[kind]))
        family = socket.AF_INET if kind == IPV4 else socket.AF_INET6
        host = raw.decode() if kind == NAME else socket.inet_ntop(family, raw)
        port = int.from_bytes(await reader.readexactly(2), "big")
        self.asked.append(f"{host}:{port}")
        if self.refuses:
            writer.write(b"\x05\x02\x00\x01" + bytes(6))
            await writer.drain()
        else:
            writer.write(b"\x05\x00\x00\x01" + bytes(6))
            await self._join(host, port, reader, writer)

    async def _join(self, host, port, reader, writer, opening=b"") -> None:
        ip = await self._find(host.strip("[]"))
        self.reached.append(ip)
        there, to_there = await asyncio.open_connection(ip, port)
        to_there.write(opening)

        async def pump(source, sink):
            with suppress(ConnectionError):
                while data := await source.read(65536):
                    sink.write(data)
            sink.close()

        try:
            await asyncio.gather(pump(reader, to_there), pump(there, writer))
        finally:
            to_there.transport.abort()


async def _field(reader) -> bytes:
    return await reader.readexactly((await reader.readexactly(1))[0])


@asynccontextmanager
async def proxying(find=to_loopback, host="127.0.0.1"):
    """A running `ProxyServer`."""
    proxy = ProxyServer(find)
    async with listening(proxy.handle, host=host) as proxy.port:
        yield proxy
