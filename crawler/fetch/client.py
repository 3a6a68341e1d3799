"""HTTP over aiohttp: one request in, one `Answer` out, whatever happens on the wire.

It must not know politeness, robots or leases: it sends what it is given when it is given it,
exactly once, and follows nothing. What becomes of the reply is `Incoming`'s business.
"""

import asyncio
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Self, cast

import aiohttp
from yarl import URL

from crawler.config import Config
from crawler.fetch.connector import Connector
from crawler.fetch.exchange import Answer, Limits
from crawler.fetch.failures import FAILURES, TimedOutError, failure
from crawler.fetch.hosts import Hosts, Settings, authorized
from crawler.fetch.incoming import Incoming, Reply
from crawler.fetch.inflight import Inflight
from crawler.fetch.names import ResolutionError
from crawler.fetch.resolver import Resolver
from crawler.outcomes import Kind
from crawler.url.keys import host_of

ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

# All that we decode: aiohttp, which decodes nothing here, would name what it knows.
ACCEPT_ENCODING = "gzip, deflate, br, zstd"

# Bytes that aiohttp may hold of a connection that nobody reads (it stops at twice as many).
READ_BUFFER = 64 * 1024

# Lines of a head. Their bytes are bounded too; this bounds the objects made of them.
MAX_HEADERS = 1000


class NoCookies(aiohttp.DummyCookieJar):
    """Keeps no cookies and does not parse them either."""

    def update_cookies_from_headers(self, headers: Iterable[str], response_url: URL) -> None:
        """Drop them."""


class Client:
    """Sends requests. Many run side by side; that no host sees two at once is the caller's promise.

    Holds no more than the limit of decoded bytes of an answer (and one buffer), however well it is
    compressed, and of all large bodies together no more than the budget, until their answers are
    gone.
    """

    def __init__(self, config: Config, clock: Callable[[], float]) -> None:
        self.inflight = Inflight(config.fetch.max_bytes_in_flight)
        self._config = config
        self._fetch = config.fetch
        self._clock = clock
        self._hosts = Hosts(config.fetch)
        self._resolver: Resolver
        self._connector: Connector
        self._session: aiohttp.ClientSession

    async def __aenter__(self) -> Self:
        self._resolver = Resolver(self._config.dns, self._clock)
        self._connector = Connector(self._config, self._hosts, self._resolver)
        self._session = aiohttp.ClientSession(
            connector=self._connector,
            headers={
                "User-Agent": self._config.user_agent,
                "Accept": ACCEPT,
                "Accept-Language": self._fetch.accept_language,
                "Accept-Encoding": ACCEPT_ENCODING,
            },
            cookie_jar=NoCookies(),
            response_class=Reply,
            auto_decompress=False,
            read_bufsize=READ_BUFFER,
            max_line_size=self._fetch.max_header,
            max_field_size=self._fetch.max_header,
            max_headers=MAX_HEADERS,
            timeout=aiohttp.ClientTimeout(total=None, sock_read=self._fetch.first_byte_timeout),
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
            return Answer(fetched_at=started, ended_at=self._clock(), **failure(error)._asdict())
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
        settings = self._hosts.of(host_of(url))
        conditions = _conditions(etag, last_modified)
        deadline = asyncio.timeout(limits.total)
        incoming = Incoming(limits, self.inflight, deadline)
        failed = None
        try:
            # The name first: waiting for a turn to ask for it is no slowness of the host's.
            target = _exact(url)
            await self._resolver.find(target.raw_host or "")
            started, begun = self._clock(), loop.time()
            async with deadline:
                reply = await self._request(target, settings, dict(conditions))
                await incoming.take(url, reply, conditional=bool(conditions))
        except FAILURES as error:
            # Never kept: it leads to the frames, and they to the body, until the collector comes by.
            failed = failure(
                TimedOutError("exchange", limits.total) if deadline.expired() else error
            )
        except asyncio.CancelledError:
            incoming.drop()
            raise
        ended = self._clock()
        return incoming.answer(failed, verify=settings.verify, now=ended)._replace(
            fetched_at=started, ended_at=ended, elapsed=loop.time() - begun - incoming.waited
        )

    async def _request(self, target: URL, settings: Settings, headers: dict[str, str]) -> Reply:
        """Send it; its head is read, its body not. `headers`: those of this request alone."""
        headers.update(settings.headers)
        user, password = target.raw_user or "", target.raw_password or ""
        if user or password:
            # aiohttp would refuse them beside a header, and names with a colon or letters that are not Latin-1 always.
            headers, target = authorized(headers, user, password), target.with_user(None)
        way = await self._way(target, settings, headers)
        reply = await self._session.get(
            target, headers=headers or None, allow_redirects=False, **way
        )
        if reply.status == 407 and "proxy" in way and target.scheme == "http":
            # The proxy's own answer, as for a tunnel, where aiohttp raises this.
            reply.close()
            raise aiohttp.ClientHttpProxyError(
                reply.request_info, (), status=reply.status, message=reply.reason or ""
            )
        return cast("Reply", reply)

    async def _way(self, url: URL, settings: Settings, headers: dict[str, str]) -> dict[str, Any]:
        """How the request goes there, for aiohttp: certificates and an HTTP proxy."""
        way: dict[str, Any] = {}
        if not settings.verify:
            way["ssl"] = False
        proxy = settings.proxy
        if proxy is not None and not proxy.socks:
            await self._connector.judge(url.raw_host or "")
            way["proxy"] = proxy.url
            if url.scheme == "https":
                way["proxy_headers"] = dict(proxy.headers)  # for the tunnel, not through it
            else:
                headers.update(proxy.headers)
        return way


def _conditions(etag: str | None, last_modified: str | None) -> dict[str, str]:
    headers = {}
    if etag is not None:
        headers["If-None-Match"] = etag
    if last_modified is not None:
        headers["If-Modified-Since"] = last_modified
    return headers


def _exact(url: str) -> URL:
    """A URL object that keeps every byte: yarl would drop the "?" of an empty query."""
    if url.endswith("?") and url.count("?") == 1:
        scheme, _, rest = url.partition("://")
        authority, _, path = rest.partition("/")
        return URL.build(scheme=scheme, authority=authority, path=f"/{path}", encoded=True)
    return URL(url, encoded=True)
