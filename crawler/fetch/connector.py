"""Connections: where the address guard, the proxies and the time limits of their making sit.

Every socket is made by `_socket`, whatever name, literal, redirect or proxy led to its address. A
target behind a proxy is resolved and judged here before the proxy hears of it; SOCKS proxies are
given the judged address, not the name.
"""

import asyncio
import errno
import logging
import resource
import socket
import ssl
from functools import partial
from typing import Any

import aiohappyeyeballs
import aiohttp
from aiohappyeyeballs import AddrInfoType
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ConnectionKey
from python_socks import ProxyType
from python_socks.async_.asyncio import Proxy as SocksProxy

from crawler.config import Config
from crawler.fetch.addresses import allowed
from crawler.fetch.connection import Watched
from crawler.fetch.failures import (
    ExhaustedError,
    RefusedAddressError,
    TimedOutError,
    TlsError,
)
from crawler.fetch.hosts import Hosts, Proxy
from crawler.fetch.names import ResolutionError
from crawler.fetch.resolver import Resolver

log = logging.getLogger(__name__)

# Seconds for which an unused connection is kept: longer than the usual delays, shorter than
# servers' patience.
KEEP_ALIVE = 30.0

# Unused connections kept for each host of a lease: those of the lease, and those of the one before.
KEPT = 2

# What there is no more of on this machine when no socket can be had: files, memory.
_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})

# Seconds between two warnings about that.
_WARNED = 60.0


class Connector(aiohttp.TCPConnector):
    """aiohttp's connector, guarded, and with a limit of its own for each step of a connection.

    Of unused connections it keeps a bounded number, at most half of the files that may be open: the
    oldest are closed first.
    """

    def __init__(self, config: Config, hosts: Hosts, resolver: Resolver) -> None:
        fetch = config.fetch
        super().__init__(
            limit=0,
            use_dns_cache=False,
            resolver=resolver,
            ssl=_verifying(),
            keepalive_timeout=KEEP_ALIVE,
            socket_factory=self._socket,
        )
        self._fetch = fetch
        self._hosts = hosts
        self._names = resolver
        factory: Any = partial(Watched, loop=self._loop, fetch=fetch)
        self._factory = factory
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._kept = min(KEPT * config.runtime.lease_hosts, files // 2)
        self._warned_at = -_WARNED

    async def judge(self, hostname: str) -> None:
        """Raises `OSError` if a target may not be reached, by whatever proxy."""
        for ip in await self._names.find(hostname):
            self._allow(ip)

    def _socket(self, address: AddrInfoType) -> socket.socket:
        family, type_, proto, _, sockaddr = address
        self._allow(str(sockaddr[0]))
        return socket.socket(family=family, type=type_, proto=proto)

    def _allow(self, ip: str) -> None:
        if not allowed(ip, self._fetch):
            # The same words for every address: only then does one error stand for all of a name's.
            raise RefusedAddressError("not a public address")

    def _release(
        self, key: ConnectionKey, protocol: ResponseHandler, *, should_close: bool = False
    ) -> None:
        super()._release(key, protocol, should_close=should_close)
        # In the order in which they came; a host has one, as it is asked one thing at a time.
        while len(self._conns) > self._kept:
            for oldest, _ in self._conns.pop(next(iter(self._conns))):
                oldest.close()

    async def _wrap_create_connection(
        self,
        *args: Any,
        addr_infos: list[AddrInfoType],
        req: aiohttp.ClientRequest,
        client_error: type[Exception] = aiohttp.ClientConnectorError,
        **kwargs: Any,
    ) -> tuple[asyncio.Transport, ResponseHandler]:
        del kwargs["timeout"]  # aiohttp's, of all steps together
        to_proxy = client_error is aiohttp.ClientProxyConnectionError
        proxy = None if to_proxy else self._hosts.of(req.url.raw_host or "").proxy
        try:
            async with asyncio.timeout(self._fetch.connect_timeout):
                if proxy is not None and proxy.socks:
                    sock = await self._through(proxy, addr_infos)
                else:
                    sock = await self._dial(addr_infos)
        except TimeoutError:
            raise TimedOutError("connect", self._fetch.connect_timeout) from None
        except OSError as error:
            addr_infos.clear()  # all have been tried; aiohttp would try those behind the first anew
            raise client_error(req.connection_key, error) from error
        try:
            return await self._handshake(*args, sock=sock, **kwargs)
        except OSError as error:  # TLS errors are
            if kwargs.get("ssl") is None:
                raise client_error(req.connection_key, error) from error
            raise TlsError(error) from error

    async def _handshake(
        self, *args: Any, **kwargs: Any
    ) -> tuple[asyncio.Transport, ResponseHandler]:
        limit = self._fetch.tls_timeout
        if kwargs.get("ssl") is not None:
            kwargs["ssl_handshake_timeout"] = limit + 1.0  # asyncio's own is not ours to wait for
        try:
            async with asyncio.timeout(limit):
                return await self._loop.create_connection(*args, **kwargs)
        except TimeoutError:
            raise TimedOutError("TLS handshake", limit) from None

    async def _start_tls_connection(
        self,
        *args: Any,
        **kwargs: Any,
    ) -> tuple[asyncio.BaseTransport, ResponseHandler]:
        """The handshake inside an HTTP proxy's tunnel."""
        limit = self._fetch.tls_timeout
        try:
            async with asyncio.timeout(limit):
                return await super()._start_tls_connection(*args, **kwargs)
        except TimeoutError:
            raise TimedOutError("TLS handshake", limit) from None
        except aiohttp.ClientConnectorError as error:
            raise TlsError(error.__cause__ or error) from error

    async def _dial(self, addr_infos: list[AddrInfoType]) -> socket.socket:
        lack: list[int] = []

        def make(address: AddrInfoType) -> socket.socket:
            try:
                return self._socket(address)
            except OSError as error:
                lack.extend(_lack(error, [address]))
                raise

        try:
            return await aiohappyeyeballs.start_connection(
                addr_infos=addr_infos,
                happy_eyeballs_delay=self._happy_eyeballs_delay,
                interleave=self._interleave,
                loop=self._loop,
                socket_factory=make,
            )
        except OSError as error:
            lack.extend(_lack(error, addr_infos))
            if not lack:
                raise
            raise self._exhausted(lack[0]) from error

    def _exhausted(self, number: int) -> ExhaustedError:
        error, now = ExhaustedError(number), self._loop.time()
        if now - self._warned_at >= _WARNED:
            self._warned_at = now
            log.warning("%s; hosts have to wait", error)
        return error

    async def _through(self, proxy: Proxy, addr_infos: list[AddrInfoType]) -> socket.socket:
        """By SOCKS to the first address that may be connected to: the proxy must find nothing itself."""
        ips = [str(info[4][0]) for info in addr_infos]
        ip = next((ip for ip in ips if allowed(ip, self._fetch)), ips[0])
        self._allow(ip)
        socks = SocksProxy(
            ProxyType.SOCKS5,
            proxy.host,
            proxy.port,
            username=proxy.user,
            password=proxy.password,
            forward=_Dialler(self, proxy),
        )
        port = int(addr_infos[0][4][1])
        return await socks.connect(ip, port, timeout=self._fetch.connect_timeout)

    async def dial_proxy(self, proxy: Proxy) -> socket.socket:
        """A guarded connection to a SOCKS proxy."""
        try:
            found = await self._resolve_host(proxy.host, proxy.port)
        except ResolutionError as error:
            raise _no_proxy(error) from error
        return await self._dial(self._convert_hosts_to_addr_infos(found))

    async def _create_proxy_connection(
        self, req: aiohttp.ClientRequest, *args: Any, **kwargs: Any
    ) -> tuple[asyncio.BaseTransport, ResponseHandler]:
        """A guarded connection to an HTTP proxy, and perhaps a tunnel through it."""
        try:
            return await super()._create_proxy_connection(req, *args, **kwargs)
        except aiohttp.ClientConnectorDNSError as error:
            reason = _no_proxy(error.os_error)
            raise aiohttp.ClientProxyConnectionError(req.connection_key, reason) from error


def _verifying() -> ssl.SSLContext:
    """Certificates are checked as browsers do it, and alike with every Python."""
    context = ssl.create_default_context()
    # Python 3.13 and later insist on extensions that browsers do without (RFC 5280 §4.2).
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.set_alpn_protocols(("http/1.1",))
    return context


def _lack(error: OSError, addr_infos: list[AddrInfoType]) -> list[int]:
    """The error's number, if it tells that we have run out of something."""
    number = error.errno
    # No port is left to connect from; by IPv6 it may also be that this machine has none.
    portless = number == errno.EADDRNOTAVAIL and socket.AF_INET in {info[0] for info in addr_infos}
    return [number] if number is not None and (portless or number in _EXHAUSTED) else []


def _no_proxy(error: OSError) -> OSError:
    """The proxy's name is none: that is no failure of the target's name."""
    return OSError(f"the proxy: {error}")


class _Dialler(SocksProxy):
    """The first hop of a chain, to python-socks: how it gets its connection to the proxy from us."""

    def __init__(self, connector: Connector, proxy: Proxy) -> None:
        super().__init__(ProxyType.SOCKS5, proxy.host, proxy.port)
        self._connector = connector
        self._proxy = proxy

    async def connect(self, *args: Any, **kwargs: Any) -> socket.socket:  # noqa: ARG002
        """Connect to the proxy, and to nothing else."""
        return await self._connector.dial_proxy(self._proxy)
