"""The table of robots.txt (design §6) against raw servers, judged by what is asked afterwards."""

import asyncio
import gzip
import random
import socket
import struct
import time
from contextlib import asynccontextmanager

import pytest

from crawler.fetch.client import Client
from crawler.fetch.serve import serve
from crawler.frontier.lease import Errand, HostLease, Lease, LeasedUrl
from crawler.outcomes import Kind
from tests.crawler.fetch.raw_server import reply, serving
from tests.crawler.fetch.visiting import ALLOWED, DENIED, LIMIT, RULES, configured, site, visit

HOST = "127.0.0.1"


async def visited(origin, config=None, times=1):
    """The reports of so many visits, one after the other, and all rows by path."""
    config = config or configured()
    reports, rows = [], {}
    async with Client(config, time.time) as client:
        for _ in range(times):
            records = reports[-1].robots if reports else ()
            report, found = await visit(origin, client, config, records)
            reports.append(report)
            rows.update(found)
    return reports, rows


async def judge(*robots, times=1, patience=20.0):
    """What was asked after robots.txt, and the last report."""
    async with serving(site(*robots)) as server:
        config = configured(**{"robots.timeout": patience})
        reports, rows = await visited(server.url("").rstrip("/"), config, times=times)
    asked = [target for target in server.targets if target != "/robots.txt"]
    assert {path for path, kind in rows.items() if kind == "fetched"} == set(asked)
    denied = {path for path, kind in rows.items() if kind == "robots_denied"}
    assert not denied & set(asked)
    return asked, reports[-1]


def padded(size):
    """Comments of so many bytes, in lines."""
    return ((b"#" * 99 + b"\n") * (size // 100 + 1))[-size:]


HTML = b"<!doctype html><title>Not found</title>\n<p>User-agent: nobody</p>\nDisallow everything!"
BINARY = bytes(range(256)) * 40
CRLF, CR = RULES.replace(b"\n", b"\r\n"), RULES.replace(b"\n", b"\r")
GZIP = ("Content-Encoding: gzip",)
FOUND = {
    "rules": (RULES, DENIED),
    "empty": (b"", ALLOWED),
    "html": (HTML, ALLOWED),
    "binary": (BINARY, ALLOWED),
    "binary before rules": (BINARY + b"\n" + RULES, DENIED),
    "a mark": (b"\xef\xbb\xbf" + RULES, DENIED),
    "utf-16": (("\ufeff" + RULES.decode()).encode("utf-16-le"), DENIED),
    "utf-16, big end first": (("\ufeff" + RULES.decode()).encode("utf-16-be"), DENIED),
    "crlf": (CRLF, DENIED),
    "cr": (CR, DENIED),
    "nul lines": (b"\0\0\n" + RULES + b"\0", DENIED),
    "nul in a rule": (b"User-agent: *\nDisallow: /sec\0ret\n", ALLOWED),
    "no last line end": (RULES.rstrip(), DENIED),
    "many groups": (b"".join(b"User-agent: %d\nDisallow: /\n" % n for n in range(17_000)) + RULES, DENIED),
    "rules at the limit": (padded(LIMIT - len(RULES) - 1) + RULES, DENIED),
    "rules past the limit": (padded(LIMIT) + RULES, ALLOWED),
    "600 KiB, rules first": (RULES + padded(100 * 1024) * 6, DENIED),
    # Cut behind "/s": that would forbid nothing here, but half a path is another path.
    "a rule cut at the limit": (padded(LIMIT - 25) + b"User-agent: *\nDisallow: /open", ALLOWED),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", FOUND)
async def test_found(name):
    body, expected = FOUND[name]
    asked, report = await judge(reply(body))
    assert asked == expected
    assert (report.robots_failure, len(report.robots)) == (None, 1)


@pytest.mark.parametrize(
    "coding", [gzip.compress(RULES), gzip.compress(padded(40 << 20), 1)], ids=["short", "bomb"]
)
async def test_gzip(coding):
    asked, report = await judge(reply(coding, headers=GZIP))
    assert asked == (DENIED if len(coding) < 1000 else ALLOWED)
    assert report.robots_failure is None


@pytest.mark.parametrize("status", ["400 x", "401 x", "403 x", "404 x", "410 x", "451 x", "499 x"])
async def test_unavailable_allows_all(status):
    asked, report = await judge(reply(RULES, status))
    assert (asked, report.robots_failure) == (ALLOWED, None)


def coded(body):
    return reply(body, headers=GZIP), (Kind.PROTOCOL_ERROR, None, None)


# Allowed on its own; cut there, the rules would stop short of the one that forbids.
LONG = (
    b"User-agent: *\nAllow: /open\n"
    + random.Random(0).randbytes(9_000).hex().encode()
    + b"\n"
    + RULES
)
ZIPPED = gzip.compress(LONG)

FAILING = {
    "429": (reply(b"", "429 x", ("Retry-After: 7",)), (Kind.HTTP_ERROR, 429, 7.0)),
    "500": (reply(b"", "500 x"), (Kind.HTTP_ERROR, 500, None)),
    "503": (reply(b"", "503 x"), (Kind.HTTP_ERROR, 503, None)),
    "599": (reply(b"", "599 x"), (Kind.HTTP_ERROR, 599, None)),
    "accepted and never answered": (b"", (Kind.TIMEOUT, None, None)),
    "half a head": (b"HTTP/1.1 200 OK\r\nContent-", (Kind.TIMEOUT, None, None)),
    "hung up": (None, (Kind.PROTOCOL_ERROR, None, None)),
    "no HTTP": (b"hello\r\n\r\n", (Kind.PROTOCOL_ERROR, None, None)),
    "stopped in the body": (reply(RULES)[:-5], (Kind.TIMEOUT, None, None)),
    "gzip cut": coded(ZIPPED[:-2000]),
    "gzip cut in the first block": coded(ZIPPED[:200]),
    "gzip cut in its head": coded(ZIPPED[:5]),
    "gzip without its check": coded(ZIPPED[:-8]),
    "gzip cut in its check": coded(ZIPPED[:-1]),
    "gzip damaged": coded(ZIPPED[:5000] + bytes(50) + ZIPPED[5050:]),
    "gzip damaged at the start": coded(ZIPPED[:11] + b"\xff" * 9 + ZIPPED[20:]),
    "gzip with another check": coded(ZIPPED[:-8] + bytes(4) + ZIPPED[-4:]),
    "gzip with another length": coded(ZIPPED[:-4] + bytes(4)),
    "second gzip member cut": coded(gzip.compress(b"User-agent: *\n") + gzip.compress(RULES)[:-9]),
    "no gzip": coded(RULES),
    "gzip stopped on the way": (reply(ZIPPED, headers=GZIP)[:-2000], (Kind.TIMEOUT, None, None)),
    "broken chunks": (b"HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", (Kind.PROTOCOL_ERROR, None, None)),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", FAILING)
async def test_unreachable_forbids_all_until_it_recovers(name):
    answer, incident = FAILING[name]
    asked, report = await judge(answer, patience=0.4 if incident[0] is Kind.TIMEOUT else 20.0)
    assert (asked, report.unused, report.robots) == ([], (0, 1), ())
    assert report.robots_failure.startswith("http://")
    assert (report.incident.kind, report.incident.retry_after) == (incident[0], incident[2])
    assert report.incident.status in (incident[1], 200)
    asked, report = await judge(answer, reply(RULES), times=2, patience=2.0)
    assert (asked, report.robots_failure) == (DENIED, None)


@asynccontextmanager
async def deaf():
    """A port whose connections are never accepted: its queue is full."""
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        listener.listen(0)
        fillers = [socket.socket() for _ in range(3)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]
        for filler in fillers:
            filler.close()


@asynccontextmanager
async def resetting():
    """A port that resets every connection once it was asked."""

    async def handle(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()

    server = await asyncio.start_server(handle, HOST, 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@asynccontextmanager
async def closed():
    """A port at which nobody listens."""
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        yield taken.getsockname()[1]


@asynccontextmanager
async def plain():
    """A port that speaks HTTP where TLS is expected."""

    async def handle(reader, writer):
        writer.write(reply(b"", "400 Bad Request"))
        await writer.drain()
        writer.transport.abort()

    server = await asyncio.start_server(handle, HOST, 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("port", "scheme", "kinds"),
    [
        (closed, "http", {Kind.CONNECT_ERROR}),
        (deaf, "http", {Kind.TIMEOUT}),
        (resetting, "http", {Kind.PROTOCOL_ERROR, Kind.CONNECT_ERROR}),
        (plain, "https", {Kind.TLS_ERROR, Kind.PROTOCOL_ERROR}),
    ],
)
async def test_no_connection_forbids_all(port, scheme, kinds):
    async with port() as number:
        began = time.monotonic()
        config = configured(**{"robots.timeout": 2.0})
        (report,), rows = await visited(f"{scheme}://{HOST}:{number}", config)
        assert time.monotonic() - began < 10.0
    assert (rows, report.unused) == ({}, (0, 1))
    assert report.robots_failure == f"{scheme}://{HOST}:{number}"
    assert report.incident.kind in kinds


def moving(hops, end, location="/r{}"):
    """A site with so many redirects before the answer `end`."""

    def answer(target):
        if not target.startswith("/r"):
            return reply(target.encode())
        hop = 0 if target == "/robots.txt" else int(target[2:])
        return (
            end
            if hop == hops
            else reply(status="302 x", headers=("Location: " + location.format(hop + 1),))
        )

    return answer


@pytest.mark.parametrize(
    ("hops", "expected"), [(1, DENIED), (5, DENIED), (6, ALLOWED), (10**9, ALLOWED)]
)
async def test_redirects_on_the_host(hops, expected):
    async with serving(moving(hops, reply(RULES))) as server:
        (report,), _ = await visited(server.url("").rstrip("/"))
    asked = [target for target in server.targets if not target.startswith("/r")]
    assert asked == expected
    assert len(server.targets) - len(asked) == min(hops, 5) + 1
    assert report.errand is None


@pytest.mark.parametrize(
    "location", ["ftp://a.example/robots.txt", "data:text/plain,x", "javascript:x", "", "http://", "http://[::1"]
)  # fmt: skip
async def test_a_redirect_to_nowhere_allows_all(location):
    headers = (f"Location: {location}",) if location else ()
    asked, report = await judge(reply(b"", "301 x", headers))
    assert (asked, report.robots_failure) == (ALLOWED, None)


@pytest.mark.parametrize("before", [1, 3, 5])
async def test_another_host_is_not_asked(before):
    async with serving(moving(before - 1, b"")) as server, serving(site(reply(RULES))) as other:
        elsewhere = f"http://127.0.0.2:{other.port}/robots.txt"
        server.answer = moving(
            before - 1, reply(status="301 x", headers=(f"Location: {elsewhere}",))
        )
        (report,), rows = await visited(server.url("").rstrip("/"))
    assert (other.asked, rows, report.unused) == ([], {}, (0, 1))
    assert report.errand == Errand(server.url("").rstrip("/"), elsewhere, before)


@pytest.mark.slow
async def test_rules_end_in_the_middle_of_a_lease():
    """No URL starts under rules older than their time, whatever the lease; new rules hold for what is left."""
    config = configured(**{"robots.ttl": 0.2, "politeness.delay": 0.0})
    old, new = reply(b""), reply(b"User-agent: *\nDisallow: /\nAllow: /9")
    robots, asked = [old, new], []

    def answer(target):
        asked.append(target)
        if target == "/robots.txt":
            return robots.pop(0) if len(robots) > 1 else new
        time.sleep(0.05)  # the time that a page takes
        return reply(target.encode())

    urls = tuple(LeasedUrl(n, "", 0, 0, 0, 0, 0, None, "seed") for n in range(10))
    rows = []

    async def emit(batch, delivery):
        rows.extend(batch.to_pylist() if batch is not None else [])

    async with serving(answer) as server, Client(config, time.time) as client:
        urls = tuple(url._replace(url=server.url(f"/{url.key}")) for url in urls)
        host = HostLease(HOST, HOST, 1, 0.0, 0.0, (), urls)
        await serve(
            Lease(1, 0, 1, time.time() + 20, (host,)), client, config, clock=time.time, emit=emit
        )
    under_new = asked[asked.index("/robots.txt", 1) :]
    assert set(under_new) == {"/robots.txt", "/9"}
    kinds = {row["key"]: row["kind"] for row in rows}
    assert kinds[9] == "fetched"
    assert "robots_denied" in kinds.values()
    assert [kinds[n] for n in range(10)] == [*sorted(kinds[n] for n in range(9)), "fetched"]
