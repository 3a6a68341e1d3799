"""Names to addresses: overrides, a cache that keeps to the servers' TTLs, then DNS.

It must not judge addresses: whatever it answers, the guard stands at the socket.
"""

import asyncio
import socket
from collections.abc import Callable
from typing import NamedTuple

import aiodns
from aiohttp.abc import AbstractResolver, ResolveResult

from crawler.config import Dns

# Names remembered by one process. Leases touch some hundreds of hosts at a time; a forgotten name
# costs one query.
CACHED_NAMES = 50_000


class Addresses(NamedTuple):
    """The addresses of a name until `expires_at`; none and a reason if it has none."""

    ips: tuple[str, ...]
    error: str
    expires_at: float


class AddressCache:
    """Past answers, the bad ones too (RFC 2308). At most `size` names: the oldest go first."""

    def __init__(self, dns: Dns, size: int = CACHED_NAMES) -> None:
        self._dns = dns
        self._size = size
        self._names: dict[str, Addresses] = {}

    def get(self, name: str, now: float) -> Addresses | None:
        """What is known of `name` and still holds at `now`."""
        known = self._names.get(name)
        return known if known is not None and now < known.expires_at else None

    def found(self, name: str, ips: tuple[str, ...], ttl: float, now: float) -> Addresses:
        """Remember addresses for `ttl` seconds, within the configured bounds."""
        seconds = min(max(ttl, self._dns.min_ttl), self._dns.max_ttl)
        return self._keep(name, Addresses(ips, "", now + seconds))

    def failed(self, name: str, error: str, now: float) -> Addresses:
        """Remember that `name` could not be resolved."""
        return self._keep(name, Addresses((), error, now + self._dns.negative_ttl))

    def _keep(self, name: str, addresses: Addresses) -> Addresses:
        self._names.pop(name, None)
        if len(self._names) >= self._size:
            del self._names[next(iter(self._names))]
        self._names[name] = addresses
        return addresses


class Resolver(AbstractResolver):
    """Asks c-ares. Every failure is an `OSError` whose text is the reason, as aiohttp expects."""

    def __init__(self, dns: Dns, clock: Callable[[], float]) -> None:
        self._dns = dns
        self._clock = clock
        self._cache = AddressCache(dns)
        # A crawler's names are complete: with one dot they are asked as they are before any search
        # domain is tried.
        self._ares = aiodns.DNSResolver(
            nameservers=list(dns.nameservers) or None, timeout=dns.timeout / 2, tries=2, ndots=1
        )

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The addresses of `host`; raises `OSError` if there are none."""
        override = self._dns.overrides.get(host)
        if override is not None:
            return [_result(host, override, port)]
        addresses = self._cache.get(host, self._clock())
        if addresses is None:
            addresses = await self._ask(host, family)
        if not addresses.ips:
            raise OSError(addresses.error)
        return [_result(host, ip, port) for ip in addresses.ips]

    async def _ask(self, host: str, family: socket.AddressFamily) -> Addresses:
        try:
            async with asyncio.timeout(self._dns.timeout):
                answer = await self._ares.getaddrinfo(
                    host, family=family, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG
                )
        except aiodns.error.DNSError as error:
            return self._cache.failed(host, str(error.args[-1]), self._clock())
        except TimeoutError:
            return self._cache.failed(host, "no answer from the name servers", self._clock())
        ips = tuple(node.addr[0].decode("ascii") for node in answer.nodes)
        ttls = [node.ttl for node in answer.nodes] + [alias.ttl for alias in answer.cnames]
        return self._cache.found(host, ips, min(ttls), self._clock())

    async def close(self) -> None:
        """End the resolver's own thread and sockets."""
        await self._ares.close()


def _result(host: str, ip: str, port: int) -> ResolveResult:
    family = socket.AF_INET6 if ":" in ip else socket.AF_INET
    flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    return ResolveResult(hostname=host, host=ip, port=port, family=family, proto=0, flags=flags)
