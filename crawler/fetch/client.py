"""HTTP over aiohttp: one request in, one `Answer` out, whatever happens on the wire.

The only place that knows aiohttp (with the resolver). It must not know politeness, robots or
leases: it sends what it is given when it is given it, exactly once, and follows nothing.
"""

import asyncio
import os
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Any, ClassVar, Self, cast
from weakref import WeakSet

import aiohttp
from aiohappyeyeballs import AddrInfoType
from aiohttp.connector import Connection
from yarl import URL

from crawler.config import Config
from crawler.fetch import coding, exchange
from crawler.fetch.addresses import allowed
from crawler.fetch.exchange import Answer, Limits
from crawler.fetch.names import LASTING, OurTroubleError, ResolutionError
from crawler.fetch.resolver import Resolver
from crawler.outcomes import Kind

ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

# Seconds for which an unused connection is kept: longer than the usual delays, shorter than
# servers' patience.
KEEP_ALIVE = 30.0

# All that aiohttp raises on what hosts send and networks do: some of its parser's errors are not
# its own `ClientError`.
FAILURES = (
    aiohttp.ClientError,
    aiohttp.http_exceptions.HttpProcessingError,
    OSError,
    ValueError,
    RuntimeError,
    AssertionError,
)


class RefusedAddressError(OSError):
    """The guard refused the address; nothing was sent to it."""


class NoAnswerError(aiohttp.ClientError):
    """The connection ended before a head came.

    Not one of the errors after which aiohttp sends the request a second time at once: that would be
    a request that the host's delay did not allow. `stale`: the connection had served an earlier
    exchange.
    """

    def __init__(self, reason: str, *, stale: bool) -> None:
        super().__init__(reason)
        self.stale = stale


class Reply(aiohttp.ClientResponse):
    """aiohttp's response, and whom it came from: a short answer frees its connection at once."""

    ip: str | None = None
    _served: ClassVar[WeakSet[Any]] = WeakSet()

    async def start(self, connection: Connection) -> "Reply":
        """Read the head."""
        protocol = connection.protocol
        stale = protocol in self._served
        self._served.add(protocol)
        peer = connection.transport and connection.transport.get_extra_info("peername")
        self.ip = peer[0] if peer else None
        try:
            await super().start(connection)
        except aiohttp.ClientOSError as error:
            raise NoAnswerError(_reason(error), stale=stale) from error
        except aiohttp.ServerDisconnectedError as error:
            raise NoAnswerError("the server hung up before it answered", stale=stale) from error
        return self


class NoCookies(aiohttp.DummyCookieJar):
    """Keeps no cookies and does not parse them either."""

    def update_cookies_from_headers(self, headers: Iterable[str], response_url: URL) -> None:
        """Drop them."""


class Client:
    """Sends requests. Many run side by side; that no host sees two at once is the caller's promise.

    Holds no more than the limit of decoded bytes of an answer (and one buffer), however well it is
    compressed.
    """

    def __init__(self, config: Config, clock: Callable[[], float]) -> None:
        self._config = config
        self._fetch = config.fetch
        self._clock = clock
        self._timeouts: dict[float, aiohttp.ClientTimeout] = {}
        self._resolver: Resolver
        self._session: aiohttp.ClientSession

    async def __aenter__(self) -> Self:
        self._resolver = Resolver(self._config.dns, self._clock)
        connector = aiohttp.TCPConnector(
            limit=0,
            use_dns_cache=False,
            resolver=self._resolver,
            keepalive_timeout=KEEP_ALIVE,
            socket_factory=self._socket,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            headers={
                "User-Agent": self._config.user_agent,
                "Accept": ACCEPT,
                "Accept-Language": self._fetch.accept_language,
            },
            cookie_jar=NoCookies(),
            response_class=Reply,
            max_line_size=self._fetch.max_header,
            max_field_size=self._fetch.max_header,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._session.close()
        await self._resolver.close()

    async def locate(self, name: str) -> Answer:
        """The smallest of a name's addresses, as an answer's `ip`; or why it has none. Sends nothing."""
        started = self._clock()
        try:
            found = await self._resolver.find(name.strip("[]"))
        except ResolutionError as error:
            return _failure(error)._replace(fetched_at=started, ended_at=self._clock())
        return Answer(Kind.FETCHED, started, self._clock(), ip=min(found))

    async def get(
        self,
        url: str,
        limits: Limits,
        *,
        etag: str | None = None,
        last_modified: str | None = None,
    ) -> Answer:
        """One GET of a wire URL, sent byte for byte as it is; redirects are answers like others.

        `etag` and `last_modified` make it conditional (RFC 9110 §13). Never raises but for
        cancellation.
        """
        started = self._clock()
        loop = asyncio.get_running_loop()
        begun = loop.time()
        headers = {}
        if etag is not None:
            headers["If-None-Match"] = etag
        if last_modified is not None:
            headers["If-Modified-Since"] = last_modified
        try:
            target = _exact(url)
            # The name first: waiting for a turn to ask for it is no slowness of the host's.
            await self._resolver.find(target.raw_host or "")
            started, begun = self._clock(), loop.time()
            reply = await self._session.get(
                target,
                headers=headers or None,
                allow_redirects=False,
                timeout=self._timeout(limits.total),
            )
            try:
                answer = await self._answer(url, cast("Reply", reply), limits)
            finally:
                reply.close()
        except FAILURES as error:
            answer = _failure(error)
            if answer.kind is Kind.BLOCKED_ADDRESS and await self._may_be_had(url):
                reason = "none of its public addresses can be connected to"
                answer = answer._replace(kind=Kind.CONNECT_ERROR, error=reason)
        return answer._replace(
            fetched_at=started, ended_at=self._clock(), elapsed=loop.time() - begun
        )

    async def _may_be_had(self, url: str) -> bool:
        """Whether the guard refused only some of a host's addresses: aiohttp tells of one of them."""
        try:
            ips = await self._resolver.find(_exact(url).raw_host or "")
        except ResolutionError:
            return False
        return any(allowed(ip, self._fetch) for ip in ips)

    async def _answer(self, url: str, reply: Reply, limits: Limits) -> Answer:
        headers, content = reply.headers, reply.content
        head = exchange.head_verdict(url, reply.status, headers, limits)
        body, truncated, slow = None, False, False
        if head.read:
            body, truncated, slow = await self._read(reply, limits.max_body)
            if codings := coding.left_over(headers.get("Content-Encoding")):
                body, cut = coding.decode(body, codings, limits.max_body)
                truncated = truncated or cut
        elif exchange.drains(head.kind, headers.get("Content-Length")):
            await _drain(reply)
        return Answer(
            kind=Kind.TOO_SLOW if slow else head.kind,
            fetched_at=0.0,
            ended_at=0.0,
            status=reply.status,
            redirect_to=head.redirect_to,
            ip=reply.ip,
            content_type=headers.get("Content-Type"),
            etag=headers.get("ETag"),
            last_modified=headers.get("Last-Modified"),
            wire_bytes=content.total_raw_bytes if content.total_bytes else 0,
            truncated=truncated,
            headers=list(headers.items()),
            body=None if slow else body,
            error=head.error,
            retry_after=exchange.retry_after(headers.get("Retry-After"), self._clock()),
        )

    async def _read(self, reply: Reply, max_body: int) -> tuple[bytes, bool, bool]:
        """The body up to the limit; whether it was cut there; whether it came too slowly."""
        content, pieces, size = reply.content, [], 0
        loop = asyncio.get_running_loop()
        begun = loop.time()
        while piece := await content.readany():
            pieces.append(piece)
            size += len(piece)
            if size > max_body:
                return b"".join(pieces)[:max_body], True, False
            if exchange.too_slow(size, loop.time() - begun, self._fetch.min_bytes_per_second):
                return b"", False, True
        return pieces[0] if len(pieces) == 1 else b"".join(pieces), False, False

    def _timeout(self, total: float) -> aiohttp.ClientTimeout:
        timeout = self._timeouts.get(total)
        if timeout is None:
            timeout = self._timeouts[total] = aiohttp.ClientTimeout(
                total=total,
                sock_connect=self._fetch.connect_timeout,
                sock_read=self._fetch.first_byte_timeout,
            )
        return timeout

    def _socket(self, address: AddrInfoType) -> socket.socket:
        """Every connect gets its socket here, whatever name, literal or redirect led to it."""
        family, type_, proto, _, sockaddr = address
        if not allowed(str(sockaddr[0]), self._fetch):
            # The same words for every address: only then does one error stand for all of a name's.
            raise RefusedAddressError("not a public address")
        return socket.socket(family=family, type=type_, proto=proto)


async def _drain(reply: Reply) -> None:
    size = 0
    with suppress(*FAILURES):  # the verdict stands, whatever becomes of a body that nobody wants
        while size <= exchange.DRAIN and (piece := await reply.content.readany()):
            size += len(piece)


def _exact(url: str) -> URL:
    """A URL object that keeps every byte: yarl would drop the "?" of an empty query."""
    if url.endswith("?") and url.count("?") == 1:
        scheme, _, rest = url.partition("://")
        authority, _, path = rest.partition("/")
        return URL.build(scheme=scheme, authority=authority, path=f"/{path}", encoded=True)
    return URL(url, encoded=True)


def _failure(error: BaseException) -> Answer:
    kind = _kind_of(error)
    stale = isinstance(error, NoAnswerError) and error.stale
    return Answer(
        kind=kind,
        fetched_at=0.0,
        ended_at=0.0,
        error=" ".join(_reason(error).split())[:500],
        stale=stale,
        nameless=isinstance(_cause(error), LASTING),
        ours=isinstance(_cause(error), OurTroubleError),
    )


def _cause(error: BaseException) -> BaseException:
    """The error without aiohttp's wrapping, which hides the reason."""
    return error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error


def _reason(error: BaseException) -> str:
    error = _cause(error)
    if isinstance(error, OSError) and error.errno and error.strerror:
        return (
            f"{os.strerror(error.errno)}: {error.strerror}" if error.errno > 0 else error.strerror
        )
    return str(error) or type(error).__name__


def _kind_of(error: BaseException) -> Kind:
    if isinstance(_cause(error), ResolutionError):
        return Kind.DNS_ERROR
    if isinstance(error, aiohttp.ClientConnectorError):
        if isinstance(error.os_error, RefusedAddressError):
            return Kind.BLOCKED_ADDRESS
        return Kind.TLS_ERROR if isinstance(error, aiohttp.ClientSSLError) else Kind.CONNECT_ERROR
    if isinstance(error, TimeoutError):
        return Kind.TIMEOUT
    return Kind.PROTOCOL_ERROR
