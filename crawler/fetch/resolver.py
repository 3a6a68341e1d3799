"""Names to addresses: overrides, then what is remembered, then the name servers.

It must not judge addresses: whatever it answers, the guard stands at the socket.
"""

import asyncio
import socket
from collections.abc import Callable

from aiohttp.abc import AbstractResolver, ResolveResult

from crawler.config import Dns
from crawler.fetch.names import (
    AddressCache,
    Addresses,
    ResolutionError,
    ResolverBusyError,
    literal,
    plain,
)
from crawler.fetch.nameservers import NameServers

_NUMERIC = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV


class Resolver(AbstractResolver):
    """At most `dns.concurrency` names are asked for at a time, each once however many wait for it."""

    def __init__(self, dns: Dns, clock: Callable[[], float]) -> None:
        self._dns = dns
        self._clock = clock
        self._cache = AddressCache(dns)
        self._servers = NameServers(dns, clock)
        self._turns = asyncio.Semaphore(dns.concurrency)
        self._asking: dict[str, asyncio.Task[Addresses]] = {}

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_UNSPEC,  # noqa: ARG002  both are remembered
    ) -> list[ResolveResult]:
        """The addresses of `host` as aiohttp wants them; raises `ResolutionError`, an `OSError`."""
        return [_result(host, ip, port) for ip in await self.find(host)]

    async def find(self, host: str) -> tuple[str, ...]:
        """The addresses of `host` in the order to try them; raises `ResolutionError`.

        Takes no longer than twice `dns.timeout` for a turn and the question, and once more to tell
        whose fault it is that there is no answer.
        """
        name = plain(host)
        given = self._dns.overrides.get(name)
        if given is not None:
            return given
        known = self._cache.get(name, self._clock())
        if known is None:
            if literal(name):
                return (name,)
            known = await self._shared(name)
        return known.told()

    async def close(self) -> None:
        """End what is under way."""
        for task in self._asking.values():
            task.cancel()
        await self._servers.close()

    async def _shared(self, name: str) -> Addresses:
        task = self._asking.get(name)
        if task is None:
            task = self._asking[name] = asyncio.create_task(self._ask(name))
            task.add_done_callback(lambda _: self._asking.pop(name, None))
        return await asyncio.shield(task)  # who gives up waiting does not end it for the others

    async def _ask(self, name: str) -> Addresses:
        try:
            async with asyncio.timeout(self._dns.timeout):
                await self._turns.acquire()
        except TimeoutError:
            error = ResolverBusyError("too many names are asked for at once")
            return self._cache.failed(name, error, self._clock())
        try:
            found = await self._servers.ask(name)
        except ResolutionError as reason:
            return self._cache.failed(name, reason, self._clock())
        finally:
            self._turns.release()
        return self._cache.found(name, found.ips, found.ttl, self._clock())


def _result(host: str, ip: str, port: int) -> ResolveResult:
    family = socket.AF_INET6 if ":" in ip else socket.AF_INET
    return ResolveResult(hostname=host, host=ip, port=port, family=family, proto=0, flags=_NUMERIC)
