"""A name server on loopback, over UDP and TCP, that answers what it is told and writes down what it is asked.

It behaves as a recursive server does: aliases are followed, and an answer that is not there comes with an SOA.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset


@dataclass(frozen=True)
class Reply:
    """What is said about one name.

    `rcode`: "NOERROR", "NXDOMAIN", "SERVFAIL", "REFUSED" … `soa`: the minimum of the SOA in negative answers; `None`:
    no SOA. `cname`: the name stands for another one, whose records follow. `truncated`: over UDP only the TC bit is
    sent.
    """

    a: Sequence[str] = ()
    aaaa: Sequence[str] = ()
    cname: str | None = None
    ttl: int = 300
    rcode: str = "NOERROR"
    soa: int | None = 60
    delay: float = 0.0
    silent: bool = False
    truncated: bool = False


GONE = Reply(rcode="NXDOMAIN")
SILENCE = Reply(silent=True)


class Question(NamedTuple):
    """One question as it came: the name in lower case and without the last dot."""

    name: str
    kind: str
    transport: str


class NameServer:
    """`async with NameServer() as server`: then `server.say(…)` at any time.

    `asked`: all questions in their order. `mute`: while it is true nothing is answered at all. `in_flight`, `most`: the
    questions under way, now and at most. `otherwise`: the reply for names that nothing was said about.
    """

    def __init__(self, ip: str = "127.0.0.1", otherwise: Reply = GONE) -> None:
        self.ip = ip
        self.port = 0
        self.otherwise = otherwise
        self.mute = False
        self.asked: list[Question] = []
        self.in_flight = self.most = 0
        self._replies: dict[tuple[str, str], tuple[Reply, ...]] = {}
        self._turns: Counter[tuple[str, str]] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def address(self) -> str:
        """As `dns.nameservers` wants it."""
        return f"[{self.ip}]:{self.port}" if ":" in self.ip else f"{self.ip}:{self.port}"

    def say(self, name: str, *replies: Reply, kinds: Sequence[str] = ("A", "AAAA")) -> None:
        """The replies to the first, second … question of each type for `name`; the last one holds from then on."""
        for kind in kinds:
            self._replies[name, kind] = replies
            self._turns[name, kind] = 0

    def names(self, kind: str = "A") -> list[str]:
        """The names asked for by questions of one type."""
        return [question.name for question in self.asked if question.kind == kind]

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        while True:  # the port has to be free for both transports
            self._tcp = await asyncio.start_server(self._converse, self.ip, 0)
            self.port = self._tcp.sockets[0].getsockname()[1]
            try:
                self._udp, _ = await loop.create_datagram_endpoint(
                    lambda: _Datagrams(self._take), local_addr=(self.ip, self.port)
                )
            except OSError:
                self._tcp.close()
            else:
                return self

    async def __aexit__(self, *_: object) -> None:
        self._udp.close()
        self._tcp.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _take(self, query: bytes, send: Callable[[bytes], None]) -> None:
        task = asyncio.ensure_future(self._answer(query, "udp", send))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tasks.add(task := asyncio.current_task())
        task.add_done_callback(self._tasks.discard)

        def send(message: bytes) -> None:
            writer.write(len(message).to_bytes(2, "big") + message)

        try:
            while size := await reader.readexactly(2):
                query = await reader.readexactly(int.from_bytes(size, "big"))
                await self._answer(query, "tcp", send)
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            writer.close()

    async def _answer(self, query: bytes, transport: str, send: Callable[[bytes], None]) -> None:
        message = dns.message.from_wire(query)
        (question,) = message.question
        name = question.name.to_text(omit_final_dot=True).lower()
        kind = dns.rdatatype.to_text(question.rdtype)
        self.asked.append(Question(name, kind, transport))
        if self.mute:
            return
        reply = self._next(name, kind)
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        try:
            await asyncio.sleep(reply.delay)
        finally:
            self.in_flight -= 1
        if not reply.silent:
            send(self._compose(message, name, kind, reply, transport).to_wire())

    def _next(self, name: str, kind: str) -> Reply:
        replies = self._replies.get((name, kind), (self.otherwise,))
        turn = self._turns[name, kind]
        self._turns[name, kind] += 1
        return replies[min(turn, len(replies) - 1)]

    def _compose(
        self, query: dns.message.Message, name: str, kind: str, reply: Reply, transport: str
    ) -> dns.message.Message:
        response = dns.message.make_response(query, recursion_available=True)
        if reply.truncated and transport == "udp":
            response.flags |= dns.flags.TC
            return response
        while reply.cname is not None:
            response.answer.append(_records(name, reply.ttl, "CNAME", [f"{reply.cname}."]))
            name = reply.cname
            reply = self._next(name, kind)
        response.set_rcode(dns.rcode.from_text(reply.rcode))
        ips = {"A": reply.a, "AAAA": reply.aaaa}.get(kind, ())
        if ips:
            response.answer.append(_records(name, reply.ttl, kind, ips))
        elif reply.rcode in ("NOERROR", "NXDOMAIN") and reply.soa is not None:
            soa = f"ns.test. root.test. 1 3600 600 86400 {reply.soa}"
            response.authority.append(_records("test", reply.soa, "SOA", [soa]))
        return response


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, take: Callable[[bytes, Callable[[bytes], None]], None]) -> None:
        self._take = take

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self._take(data, lambda message: self._transport.sendto(message, addr))


def _records(name: str, ttl: int, kind: str, values: Sequence[str]) -> dns.rrset.RRset:
    return dns.rrset.from_text(f"{name}.", ttl, "IN", kind, *values)
