"""The name servers, asked through c-ares; and whether they are there at all.

Thin: what follows from an answer is decided in `names.py`. c-ares does the transport: retries with growing time-outs,
the next server when one is silent or fails, TCP after a truncated answer, /etc/hosts, and the order of addresses
(RFC 6724), where those that cannot be reached from here come last.
"""

import asyncio
import logging
import math
import secrets
import socket
from collections.abc import Callable
from typing import NamedTuple
from weakref import WeakSet

import aiodns
import pycares
from aiodns import error as ares

from crawler.config import Dns
from crawler.fetch.names import (
    CACHED_NAMES,
    VERDICT_TTL,
    NoAddressError,
    NoSuchNameError,
    Outage,
    ResolutionError,
    ResolverDownError,
    ServerFailedError,
)

log = logging.getLogger(__name__)

# c-ares's shortest time-out, in seconds: what it comes to for servers that usually answer fast. Each
# trip through the servers doubles it (less up to half), so this many trips fill the time allowed.
SHORTEST_TRY = 0.25

# Questions are complete names: a search domain with a wildcard would make every name exist.
FLAGS = pycares.ARES_FLAG_NOSEARCH | pycares.ARES_FLAG_EDNS

_SILENCE = frozenset({ares.ARES_ETIMEOUT, ares.ARES_ECONNREFUSED})
_ANSWERS = frozenset({
    ares.ARES_ENODATA, ares.ARES_EFORMERR, ares.ARES_ESERVFAIL, ares.ARES_ENOTFOUND, ares.ARES_ENOTIMP,
    ares.ARES_EREFUSED, ares.ARES_EBADRESP,
})  # fmt: skip
_NO_NAME = frozenset({ares.ARES_ENOTFOUND, ares.ARES_ENONAME})
_NOT_ASKED = frozenset({ares.ARES_EBADNAME, ares.ARES_EBADQUERY})


class Found(NamedTuple):
    """The addresses of a name in the order to try them, and for how many seconds they may be used."""

    ips: tuple[str, ...]
    ttl: float


class NameServers:
    """Asks the configured name servers, or the system's.

    c-ares keeps answers too, up to an hour and without a bound on their number. Its channel is
    therefore renewed in time: nothing is answered from there that is older than `max_ttl`, nor that a
    name has no address for longer than `negative_ttl` (c-ares takes an SOA's word only for NXDOMAIN).
    """

    def __init__(self, dns: Dns, clock: Callable[[], float]) -> None:
        self._dns = dns
        self._clock = clock
        self._outage = Outage()
        self._channels: WeakSet[aiodns.DNSResolver] = WeakSet()
        self._probe: asyncio.Task[bool] | None = None
        self._probed_at = 0.0
        self._keeps_nodata = False
        self._renew(clock())

    async def ask(self, name: str) -> Found:
        """The addresses of a name in its plain form; raises the `ResolutionError` that fits."""
        now = self._clock()
        if self._outage.holds(now):
            raise self._down(now)
        lifetime = self._dns.negative_ttl if self._keeps_nodata else self._dns.max_ttl
        if now - self._opened_at >= lifetime or self._asked >= CACHED_NAMES:
            self._renew(now)
        self._asked += 1
        answers = self._outage.answers
        try:
            async with asyncio.timeout(self._dns.timeout):
                answer = await self._ares.getaddrinfo(name, type=socket.SOCK_STREAM)
        except aiodns.error.DNSError as error:
            code, text = error.args
        except TimeoutError:
            code, text = ares.ARES_ETIMEOUT, ""
        else:
            found = _found(answer)
            if found.ttl:  # else it may come from /etc/hosts
                self._answered()
            return found
        if code == ares.ARES_ENODATA:
            self._keeps_nodata = True
        if code in _SILENCE:
            raise await self._unanswered(answers)
        if code in _ANSWERS:
            self._answered()
        raise _error(code, text)

    async def close(self) -> None:
        """End what is under way, the threads and the sockets."""
        if self._probe is not None:
            self._probe.cancel()
        for channel in tuple(self._channels):
            await channel.close()

    def _renew(self, now: float) -> None:
        """Open a channel; questions under way keep the old one alive."""
        servers = self._dns.nameservers
        ratio = self._dns.timeout / (SHORTEST_TRY * 0.75 * max(1, len(servers)))
        tries = max(2, math.ceil(math.log2(ratio + 1)))
        self._ares = aiodns.DNSResolver(
            nameservers=servers or None, timeout=SHORTEST_TRY, tries=tries, flags=FLAGS
        )
        self._channels.add(self._ares)
        self._opened_at = now
        self._asked = 0
        self._keeps_nodata = False

    async def _unanswered(self, answers: int) -> ResolutionError:
        """The error for a question that nobody answered, by whose trouble it is."""
        alive = self._outage.answers > answers or await self._lives()
        now = self._clock()
        if alive:
            return ServerFailedError(
                f"no answer within {self._dns.timeout:g} s, though the name servers answer others"
            )
        if self._outage.silent(now):
            log.warning("no name server answers; hosts whose names are not known have to wait")
            self._renew(now)  # what it has kept must not pass for an answer
        return self._down(now)

    def _down(self, now: float) -> ResolutionError:
        lasted = self._outage.seconds(now)
        if lasted > self._dns.patience:
            return ServerFailedError(f"no name server has answered anything for {lasted:.0f} s")
        return ResolverDownError("no name server answers")

    def _answered(self) -> None:
        if self._outage.answered():
            log.warning("the name servers answer again")

    async def _lives(self) -> bool:
        """Whether any name server answers anything; asked once for all who wonder at a time."""
        now = self._clock()
        stale = now - self._probed_at > VERDICT_TTL
        if self._probe is None or (self._probe.done() and stale):
            self._probe = asyncio.create_task(self._knock())
        return await asyncio.shield(self._probe)

    async def _knock(self) -> bool:
        # A name that no server can have kept, of a domain that every server answers for itself
        # (RFC 6761 §6.4). What it says does not matter.
        name = f"{secrets.token_hex(8)}.invalid"
        try:
            async with asyncio.timeout(self._dns.timeout):
                await self._ares.query_dns(name, "A")
        except TimeoutError:
            alive = False
        except aiodns.error.DNSError as error:
            alive = error.args[0] in _ANSWERS
        else:
            alive = True
        self._probed_at = self._clock()
        if alive:
            self._answered()
        return alive


def _found(answer: pycares.AddrInfoResult) -> Found:
    ips = tuple(node.addr[0].decode("ascii") for node in answer.nodes)
    ttls = [node.ttl for node in answer.nodes] + [alias.ttl for alias in answer.cnames]
    return Found(ips, min(ttls))


def _error(code: int, text: str) -> ResolutionError:
    if code in _NO_NAME:
        return NoSuchNameError("no such name")
    if code in _NOT_ASKED:
        return NoSuchNameError("not a name that DNS can have")
    if code == ares.ARES_ENODATA:
        return NoAddressError("the name has no address")
    return ServerFailedError(f"the name servers could not say: {text}")
