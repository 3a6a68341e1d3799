"""What the tables of the address guard share: a small web with a public and a private part, and one try against it.

One loopback network plays the public internet. Listeners on the other loopback addresses must never hear of a try, and
every `connect` of the crawler's is written down, so that addresses nobody here listens on count as well.
"""

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from ipaddress import ip_address, ip_network
from typing import NamedTuple

from crawler.config import Config, Dns, Fetch, Runtime
from crawler.fetch.client import Client
from crawler.fetch.resolver import Resolver
from crawler.fetch.serve import serve
from crawler.frontier.lease import HostLease, Lease, LeasedUrl
from crawler.url.keys import host_of
from crawler.url.wire import resolve
from tests.crawler.fetch.proxies import ProxyServer, proxying
from tests.crawler.fetch.raw_server import reply
from tests.dns_server import NameServer, Reply
from tests.shared import figure

INTERNET = ip_network("127.77.0.0/16")
PUBLIC, CLOSED, PROXY = "127.77.0.1", "127.77.0.9", "127.77.0.5"
CANARIES = ("127.0.0.1", "127.0.0.2", "::1")
SECRET = "secretword"

BLOCKED, NO_URL, FETCHED = "blocked_address", "no URL", "fetched"
THEN_BLOCKED = f"redirect, {BLOCKED}"
NO_ROBOTS = f"robots.txt: {BLOCKED}"
ERRAND = "errand"

_connects: ContextVar[list[str] | None] = ContextVar("connects", default=None)


class Try(NamedTuple):
    """What is asked, what DNS says, where the public server redirects; how it ends.

    `P` stands for the port of all web servers, `Q` for the proxy's. `found_via`: how the URL was found; `ERRAND`: it is
    a robots.txt that is asked for on behalf of other hosts. `proxy`: the one that all goes through; `asks`: how often
    it hears of the try.
    """

    url: str
    ends: str = BLOCKED
    names: Mapping[str, tuple[Reply, ...]] = {}
    redirects: Mapping[str, str] = {}
    found_via: str = "seed"
    proxy: str | None = None
    asks: int = 0

    @property
    def title(self) -> str:
        """All of it, as a line of the table begins."""
        words = [self.url, *(f"{path} → {to}" for path, to in self.redirects.items())]
        words += [f"({self.found_via})"] if self.found_via != "seed" else []
        words += [f"by {self.proxy.replace(f'me:{SECRET}@', '')}"] if self.proxy else []
        return "  ".join(words)


class Seen(NamedTuple):
    """What came of a try: its end, whom the crawler connected to, and the heads that servers were sent, by address."""

    ends: str
    connects: list[str]
    heard: list[tuple[str, bytes]]
    proxy: ProxyServer


def a(*ips, **more):
    return (Reply(a=ips, **more),)


def aaaa(*ips):
    return (Reply(aaaa=ips),)


def rebinding(times):
    """A name that is public so many times, then private for good."""
    return (Reply(a=[PUBLIC], ttl=0),) * times + (Reply(a=["127.0.0.1"], ttl=0),)


def redirecting(target, **names):
    return Try("http://public.test:P/go", THEN_BLOCKED, names, {"/go": target})


def robots_to(target, **names):
    return Try("http://public.test:P/", NO_ROBOTS, names, {"/robots.txt": target})


def public(ip):
    address = ip_address(ip)
    return (getattr(address, "ipv4_mapped", None) or address) in INTERNET


async def attempt(tried, tls=None):
    """Make one try, with TLS servers if `tls` (an `ssl.SSLContext`) is given; it becomes a line of the table."""
    async with (
        NameServer() as names,
        web(tried.redirects, tls) as (port, heard),
        proxying(_finder(names), PROXY) as proxy,
    ):
        names.say("public.test", *a(PUBLIC))
        for name, replies in tried.names.items():
            names.say(name, *replies)
        way = tried.proxy and tried.proxy.replace("P", str(port)).replace("Q", str(proxy.port))
        config = configured(names, proxy=way)
        with _written_down() as connects:
            async with Client(config, time.time) as client:
                url = tried.url.replace("P", str(port))
                ends = await _crawl(url, tried.found_via, client, config)
    figure(
        "address guard",
        tried.title,
        dns="; ".join(f"{name} → {_says(replies)}" for name, replies in tried.names.items()),
        reached=" ".join(dict.fromkeys(connects)) or "nothing",
        by_proxy=" ".join(dict.fromkeys(proxy.reached)),
        outcome=ends,
    )
    return Seen(ends, connects, heard, proxy)


def _says(replies):
    said = [reply.cname or " ".join((*reply.a, *reply.aaaa)) for reply in replies]
    times = Counter(said)
    return " then ".join(f"{what} ({n} times)" if n > 1 else what for what, n in times.items())


def configured(names, **fetch):
    return Config(
        fetch=Fetch(**{"allow_networks": (str(INTERNET),), "connect_timeout": 2.0, **fetch}),
        dns=Dns(nameservers=(names.address,), min_ttl=0.0),
        runtime=Runtime(batch_seconds=0.01),
    )


def _finder(names):
    """How a proxy finds its way: it asks the same name server itself, and judges nothing."""

    async def find(host):
        resolver = Resolver(Dns(nameservers=(names.address,), min_ttl=0.0), time.time)
        try:
            return (await resolver.find(host))[0]
        finally:
            await resolver.close()

    return find


@contextmanager
def _written_down():
    """The addresses that this task, and those it starts, connect to: not servers that run already, as the proxy."""
    _hook()
    connects = []
    token = _connects.set(connects)
    yield connects
    _connects.reset(token)


@cache
def _hook():
    def hears(event, arguments):
        if event == "socket.connect" and (connects := _connects.get()) is not None:
            connects.append(arguments[1][0])

    sys.addaudithook(hears)  # for good, as all such hooks


@asynccontextmanager
async def web(redirects, tls=None):
    """The public server, and the canaries on the same port of other addresses; yields the port and who was heard."""
    heard = []

    async def answer(reader, writer):
        ip = writer.get_extra_info("sockname")[0]
        head = b""
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            target = head.split(b" ")[1].decode()
            to = redirects.get(target, "").replace("P", str(port))
            status = "302 Found" if to else "404 No" if target == "/robots.txt" else "200 OK"
            writer.write(
                reply(b"<p>", status, ("Connection: close", *[f"Location: {to}"] * bool(to)))
            )
            await writer.drain()
        heard.append((ip, head))
        writer.close()

    while True:
        async with AsyncExitStack() as stack:
            listener = await asyncio.start_server(answer, PUBLIC, 0, ssl=tls)
            server = await stack.enter_async_context(listener)
            port = server.sockets[0].getsockname()[1]
            try:
                for ip in CANARIES:
                    listener = await asyncio.start_server(answer, ip, port, ssl=tls)
                    await stack.enter_async_context(listener)
            except OSError:
                continue  # the port is taken on one of them
            yield port, heard
            return


async def _lend(url, urls, errands, client, config):
    """The rows and the one report of a lease of a URL's host."""
    host = host_of(url)
    lent = HostLease(host, host, 1, 0, 0, (), urls, errands)
    rows, reports = [], []

    async def emit(batch, delivery):
        rows.extend(batch.to_pylist() if batch is not None else [])
        reports.extend(delivery.reports)

    lease = Lease(1, 0, 1, time.time() + 20, (lent,))
    await serve(lease, client, config, clock=time.time, emit=emit)
    (report,) = reports
    return rows, report


async def _run(url, client, config):
    """How an errand ends."""
    _, report = await _lend(url, (), (url,), client, config)
    failure = report.heard[0].failure
    return f"robots.txt: {failure.kind if failure else 'heard'}"


async def _crawl(url, found_via, client, config):
    """How a URL ends, and what it redirects to, as a crawl would take it: each hop with its host's robots.txt first.

    A robots.txt that has moved to another host is asked for there.
    """
    if found_via == ERRAND:
        return await _run(url, client, config)
    ends = []
    while url is not None:
        wire = resolve(url, "https://public.test/")
        if wire is None:
            ends.append(NO_URL)
            break
        leased = LeasedUrl(1, wire, 1, 0, 0, 0, 0, None, found_via)
        rows, report = await _lend(wire, (leased,), (), client, config)
        url = None
        if rows:
            ends.append(rows[0]["kind"])
            url = rows[0]["redirect_to"]
        elif report.errand is not None:
            ends.append(await _run(report.errand.url, client, config))
        else:
            ends.append(f"robots.txt: {report.incident.kind}")
    return ", ".join(ends)
