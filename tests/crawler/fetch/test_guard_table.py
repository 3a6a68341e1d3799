"""The address guard against everything that could lead past it: a table of tries, and what was connected to.

One loopback network plays the public internet. Listeners on the other loopback addresses must never hear of a try, and
every `connect` that this process makes is written down, so that addresses nobody here listens on count as well.
"""

import asyncio
import sys
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from ipaddress import ip_address, ip_network
from typing import NamedTuple

import pytest

from crawler.config import Config, Dns, Fetch, Runtime
from crawler.fetch.client import Client
from crawler.fetch.serve import serve
from crawler.frontier.lease import HostLease, Lease, LeasedUrl
from crawler.url.keys import host_of
from crawler.url.wire import resolve
from tests.crawler.fetch.raw_server import reply
from tests.dns_server import NameServer, Reply
from tests.shared import figure

INTERNET = ip_network("127.77.0.0/16")
PUBLIC, CLOSED = "127.77.0.1", "127.77.0.9"
CANARIES = ("127.0.0.1", "127.0.0.2", "::1")

BLOCKED, NO_URL, FETCHED = "blocked_address", "no URL", "fetched"
THEN_BLOCKED = f"redirect, {BLOCKED}"
NO_ROBOTS = "robots.txt unreachable"


class Try(NamedTuple):
    """What is asked (`P`: the port of all servers), what DNS says, where the public server redirects; how it ends."""

    url: str
    ends: str = BLOCKED
    names: Mapping[str, tuple[Reply, ...]] = {}
    redirects: Mapping[str, str] = {}


def a(*ips, **more):
    return (Reply(a=ips, **more),)


def aaaa(*ips):
    return (Reply(aaaa=ips),)


def redirecting(target, **names):
    return Try("http://public.test:P/go", THEN_BLOCKED, names, {"/go": target})


def robots_to(target, **names):
    return Try("http://public.test:P/", NO_ROBOTS, names, {"/robots.txt": target})


REBINDING = (Reply(a=[PUBLIC], ttl=0), Reply(a=["127.0.0.1"], ttl=0))

TRIES = [
    # The way it should be.
    Try("http://public.test:P/", FETCHED),
    Try(f"http://{PUBLIC}:P/", FETCHED),
    Try("http://2135752705:P/", FETCHED),
    Try(f"http://[::ffff:{PUBLIC}]:P/", FETCHED),
    # One address in all spellings.
    Try("http://127.0.0.1:P/"),
    Try("http://127.0.0.1.:P/"),
    Try("http://2130706433:P/"),
    Try("http://0x7f000001:P/"),
    Try("http://0X7F.0x0.0x0.0x1:P/"),
    Try("http://017700000001:P/"),
    Try("http://0177.0.0.01:P/"),
    Try("http://127.1:P/"),
    Try("http://127.0.1:P/"),
    Try("http://0x7f.1:P/"),
    Try("http://0177.0x1:P/"),
    Try("http://127.0x000000000001:P/"),
    Try("http://%31%32%37.0.0.1:P/"),
    Try("http://127%2E0%2e0%2E1:P/"),
    Try("http://１２７.０.０.１:P/"),  # noqa: RUF001
    Try("http://127。0。0。1:P/"),
    Try("http://①②⑦.⓪.⓪.①:P/"),
    Try("http://127.0.0.1\t:P/"),
    Try("http:\\\\127.0.0.1:P\\"),
    Try("http:127.0.0.1:P/"),
    Try("http://public.test:P@127.0.0.1:P/"),
    Try("http://127.0.0.1:P\\@public.test/"),
    Try("http://127.0.0.1:P#@public.test/"),
    Try("http://127.0.0.1.1:P/", NO_URL),
    Try("http://4294967296:P/", NO_URL),
    Try("http://127.0.0.0x100:P/", NO_URL),
    # Other addresses that are not public.
    Try("http://127.0.0.2:P/"),
    Try("http://127.255.255.254:P/"),
    Try("http://0:P/"),
    Try("http://0.0.0.0:P/"),
    Try("http://10.0.0.1/"),
    Try("http://172.16.0.1:8080/"),
    Try("http://192.168.1.1/"),
    Try("http://100.64.0.1/"),
    Try("http://169.254.169.254/latest/meta-data/"),
    Try("http://0xA9FEA9FE/latest/meta-data/"),
    Try("http://2852039166:80/latest/meta-data/"),
    Try("http://192.0.0.192/"),
    Try("http://198.18.0.1/"),
    Try("http://224.0.0.1/"),
    Try("http://255.255.255.255/"),
    Try("https://127.0.0.1:P/"),
    Try("http://127.0.0.1:22/"),
    Try("http://127.0.0.1:6379/"),
    # IPv6.
    Try("http://[::1]:P/"),
    Try("http://[0:0:0:0:0:0:0:1]:P/"),
    Try("http://[::]:P/"),
    Try("http://[::ffff:127.0.0.1]:P/"),
    Try("http://[::ffff:7f00:1]:P/"),
    Try("http://[::127.0.0.1]:P/"),
    Try("http://[::ffff:0:127.0.0.1]:P/"),
    Try("http://[64:ff9b::127.0.0.1]:P/"),
    Try("http://[64:ff9b:1::7f00:1]:P/"),
    Try("http://[2002:7f00:1::1]:P/"),
    Try("http://[2001:0:7f00:1:0:0:80ff:fffe]:P/"),
    Try("http://[2606:4700::5efe:127.0.0.1]:P/"),
    Try("http://[fe80::1]:P/"),
    Try("http://[fe80::1%25lo]:P/", NO_URL),
    Try("http://[fc00::1]:P/"),
    Try("http://[fd00:ec2::254]/latest/meta-data/"),
    Try("http://[fec0::1]:P/"),
    Try("http://[ff02::1]:P/"),
    # Names.
    Try("http://localhost:P/"),
    Try("http://LOCALHOST.:P/", BLOCKED, {"localhost": a("127.0.0.1")}),
    Try("http://a.localhost:P/"),
    Try("http://private.test:P/", BLOCKED, {"private.test": a("127.0.0.1")}),
    Try("http://private.test.:P/", BLOCKED, {"private.test": a("127.0.0.1")}),
    Try("http://metadata.test/", BLOCKED, {"metadata.test": a("169.254.169.254")}),
    Try("http://zero.test:P/", BLOCKED, {"zero.test": a("0.0.0.0")}),
    Try("http://six.test:P/", BLOCKED, {"six.test": aaaa("::1")}),
    Try("http://mapped.test:P/", BLOCKED, {"mapped.test": aaaa("::ffff:127.0.0.1")}),
    Try("http://nat64.test:P/", BLOCKED, {"nat64.test": aaaa("64:ff9b::7f00:1")}),
    Try("http://alias.test:P/", BLOCKED, {"alias.test": (Reply(cname="deep.test"),),
                                          "deep.test": (Reply(cname="private.test"),),
                                          "private.test": a("127.0.0.1")}),
    Try("http://inward.test:P/", "dns_error", {"inward.test": (Reply(cname="localhost"),)}),
    Try("http://many.test:P/", BLOCKED, {"many.test": a("127.0.0.1", "10.0.0.1", "127.0.0.2")}),
    Try("http://mixed.test:P/", FETCHED, {"mixed.test": a("127.0.0.1", PUBLIC, "127.0.0.2")}),
    Try("http://both.test:P/", FETCHED, {"both.test": (Reply(a=[PUBLIC], aaaa=["::1"]),)}),
    Try("http://half.test:P/", NO_ROBOTS, {"half.test": a("127.0.0.1", CLOSED)}),
    Try("http://other.test:P/", NO_ROBOTS, {"other.test": a(CLOSED, "127.0.0.1")}),
    # Redirects of pages.
    redirecting("http://127.0.0.1:P/"),
    redirecting("//0x7f.1:P/"),
    redirecting("http://[::1]:P/"),
    redirecting("http://169.254.169.254/latest/meta-data/"),
    redirecting("http://private.test:P/", **{"private.test": a("127.0.0.1")}),
    redirecting("http://localhost:P/"),
    Try("http://public.test:P/go", f"redirect, {THEN_BLOCKED}", {},
        {"/go": "http://public.test:P/on", "/on": "http://127.1:P/"}),
    Try("http://public.test:P/go", "http_error", {}, {"/go": "file:///etc/passwd"}),
    Try("http://public.test:P/go", "http_error", {}, {"/go": "gopher://127.0.0.1:P/"}),
    # Redirects of robots.txt.
    robots_to("http://127.0.0.1:P/robots.txt"),
    robots_to("http://2130706433:P/robots.txt"),
    robots_to("http://[::ffff:7f00:1]:P/robots.txt"),
    robots_to("http://private.test:P/robots.txt", **{"private.test": a("127.0.0.1")}),
    robots_to("http://169.254.169.254/robots.txt"),
    # A name that is public when it is looked up and private when it is connected to; then after the robots.txt;
    # then behind an alias.
    Try("http://rebind.test:P/", BLOCKED, {"rebind.test": REBINDING}),
    Try("http://later.test:P/", BLOCKED, {"later.test": (REBINDING[0],) * 2 + REBINDING[1:]}),
    Try("http://behind.test:P/", BLOCKED, {"behind.test": (Reply(cname="rebind.test", ttl=0),),
                                           "rebind.test": REBINDING}),
]  # fmt: skip


class _Ear:
    connects: list[str] | None = None

    @classmethod
    def hears(cls, event, arguments):
        if event == "socket.connect" and cls.connects is not None:
            cls.connects.append(arguments[1][0])


@pytest.fixture(scope="module", autouse=True)
def _hooked():
    sys.addaudithook(_Ear.hears)  # for good, as all such hooks


@pytest.fixture
def connects():
    """The addresses that this process connects to."""
    _Ear.connects = []
    yield _Ear.connects
    _Ear.connects = None


@asynccontextmanager
async def web(redirects):
    """The public server, and the canaries on the same port of other addresses; yields the port and who was heard."""
    heard = []

    async def answer(reader, writer):
        heard.append(writer.get_extra_info("sockname")[0])
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            target = head.split(b" ")[1].decode()
            to = redirects.get(target, "").replace("P", str(port))
            status = "302 Found" if to else "404 No" if target == "/robots.txt" else "200 OK"
            writer.write(
                reply(b"<p>", status, ("Connection: close", *[f"Location: {to}"] * bool(to)))
            )
            await writer.drain()
        writer.close()

    while True:
        async with AsyncExitStack() as stack:
            server = await stack.enter_async_context(await asyncio.start_server(answer, PUBLIC, 0))
            port = server.sockets[0].getsockname()[1]
            try:
                for ip in CANARIES:
                    await stack.enter_async_context(await asyncio.start_server(answer, ip, port))
            except OSError:
                continue  # the port is taken on one of them
            yield port, heard
            return


async def lend(url, urls, errands, client, config):
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


async def crawl(url, client, config):
    """How a URL ends, and what it redirects to, as a crawl would take it: each hop with its host's robots.txt first.

    A robots.txt that has moved to another host is asked for there.
    """
    ends = []
    while url is not None:
        wire = resolve(url, "https://public.test/")
        if wire is None:
            ends.append(NO_URL)
            break
        leased = LeasedUrl(1, wire, 1, 0, 0, 0, 0, None, "seed")
        rows, report = await lend(wire, (leased,), (), client, config)
        failed = report.robots_failure is not None
        if report.errand is not None:
            moved = report.errand.url
            _, elsewhere = await lend(moved, (), (moved,), client, config)
            failed = elsewhere.heard[0].failure is not None
        ends.append(rows[0]["kind"] if rows else NO_ROBOTS if failed else "?")
        url = rows[0]["redirect_to"] if rows else None
    return ", ".join(ends)


@pytest.mark.slow
@pytest.mark.parametrize("tried", TRIES, ids=lambda tried: tried.url)
async def test_nothing_but_the_public_internet_is_connected_to(tried, connects):
    async with NameServer() as names, web(tried.redirects) as (port, heard):
        names.say("public.test", *a(PUBLIC))
        for name, replies in tried.names.items():
            names.say(name, *replies)
        config = Config(
            fetch=Fetch(allow_networks=(str(INTERNET),), connect_timeout=2.0),
            dns=Dns(nameservers=(names.address,), min_ttl=0.0),
            runtime=Runtime(batch_seconds=0.01),
        )
        async with Client(config, time.time) as client:
            ends = await crawl(tried.url.replace("P", str(port)), client, config)
    says = "; ".join(
        f"{name} → {' then '.join(reply.cname or ' '.join((*reply.a, *reply.aaaa)) for reply in replies)}"
        for name, replies in tried.names.items()
    )
    figure(
        "address guard",
        tried.url + "".join(f"  {path} → {to}" for path, to in tried.redirects.items()),
        dns=says,
        reached=" ".join(dict.fromkeys(connects)) or "nothing",
        outcome=ends,
    )
    assert all(_public(ip) for ip in connects), connects
    assert all(_public(ip) for ip in heard), heard
    assert ends == tried.ends


def _public(ip):
    address = ip_address(ip)
    return (getattr(address, "ipv4_mapped", None) or address) in INTERNET


def test_there_are_enough_tries():
    assert len(TRIES) >= 40
