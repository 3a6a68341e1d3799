"""What a server may take: time in every phase, a head, a body; and what is kept where it breaks off."""

import asyncio
import gzip
import socket
import time
import zlib
from contextlib import ExitStack, asynccontextmanager
from random import Random

import brotli
import pytest
from backports import zstd

from crawler.config import Config, Dns
from crawler.fetch import exchange
from crawler.fetch.client import Client
from crawler.outcomes import Kind
from tests.crawler.fetch.asking import ask, configured
from tests.crawler.fetch.raw_server import reply, serving, speaking

HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
PAGE = b" ".join(b"%d" % (n * n) for n in range(20_000))


async def said(*pieces, pause=0.0, **fetch):
    """The answer to a server that says `pieces`, a pause before each but the first, and then nothing."""

    async def speak(_):
        for number, piece in enumerate(pieces):
            if number:
                await asyncio.sleep(pause)
            yield piece
        await asyncio.Event().wait()

    async with speaking(speak) as port:
        return await ask(f"http://127.0.0.1:{port}/", configured(**fetch))


@asynccontextmanager
async def full_backlog():
    """The port of a listener that answers no SYN: its queue is full."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


async def test_a_name_server_that_does_not_answer():
    with socket.socket(type=socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        server = f"127.0.0.1:{silent.getsockname()[1]}"
        config = Config(fetch=configured().fetch, dns=Dns(nameservers=(server,), timeout=0.1))
        answer = await ask("http://name.example/", config)
    assert answer.kind is Kind.DNS_ERROR
    assert answer.error


async def test_a_connect_that_nobody_answers():
    async with full_backlog() as port:
        answer = await ask(f"http://127.0.0.1:{port}/", configured(connect_timeout=0.1))
    assert (answer.kind, answer.error) == (Kind.TIMEOUT, "connect timed out after 0.1 s")
    assert 0.1 <= answer.elapsed < 5


async def test_a_first_byte_that_does_not_come():
    answer = await said(first_byte_timeout=0.05)
    assert (answer.kind, answer.error) == (Kind.TIMEOUT, "first byte timed out after 0.05 s")
    assert answer.status is None


@pytest.mark.slow
async def test_a_body_that_stops():
    answer = await said(HTML + b"Content-Length: 100\r\n\r\nsome", first_byte_timeout=0.5)
    assert (answer.kind, answer.error) == (Kind.TIMEOUT, "next byte timed out after 0.5 s")
    assert (answer.status, answer.body, answer.truncated) == (200, b"some", True)
    assert (answer.ip, answer.content_type) == ("127.0.0.1", "text/html")


@pytest.mark.slow
async def test_an_exchange_that_takes_too_long_in_all():
    answer = await said(HTML + b"Content-Length: 100\r\n\r\nsome", total_timeout=0.5)
    assert (answer.kind, answer.error) == (Kind.TIMEOUT, "exchange timed out after 0.5 s")
    assert (answer.status, answer.body, answer.truncated) == (200, b"some", True)


@pytest.mark.slow
async def test_the_silence_is_measured_from_the_last_byte():
    pieces = [HTML, b"Content-Length: 3\r\n\r\n", b"a", b"b", b"c"]
    answer = await said(*pieces, pause=0.5, first_byte_timeout=1.5)
    assert (answer.kind, answer.body) == (Kind.FETCHED, b"abc")
    assert answer.elapsed > 1.5


TRICKLES = {
    "head": [HTML, *[b"X: y\r\n"] * 50],
    "head without an end of line": [b"HTTP/1.1 200 OK\r\nX: ", *[b"y"] * 50],
    "interim answers": [b"HTTP/1.1 100 Continue\r\n\r\n"] * 50,
    "body": [HTML + b"Content-Length: 100\r\n\r\n", *[b"y"] * 50],
    "chunk extension": [HTML + b"Transfer-Encoding: chunked\r\n\r\n5;", *[b"y"] * 50],
    "coding without output": [
        HTML + b"Content-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x08\0\0\0\0\0\0", *[b"y"] * 50
    ],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("pieces", TRICKLES.values(), ids=TRICKLES)
async def test_a_trickle_is_given_up_wherever_it_trickles(pieces, monkeypatch):
    monkeypatch.setattr(exchange, "SPEED_GRACE", 0.2)
    answer = await said(*pieces, pause=0.02, min_bytes_per_second=2000)
    assert (answer.kind, answer.error) == (Kind.TOO_SLOW, "slower than 2000 bytes a second")
    assert answer.elapsed < 10


async def test_a_server_that_thinks_before_a_fast_body_is_not_slow(monkeypatch):
    monkeypatch.setattr(exchange, "SPEED_GRACE", 0.01)
    head = HTML + b"Content-Length: 50000\r\n\r\n"
    answer = await said(head, b"y" * 50_000, pause=0.05, min_bytes_per_second=10_000)
    assert (answer.kind, len(answer.body)) == (Kind.FETCHED, 50_000)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"X-%d: y\r\n", "lines|headers"),
        (b"X: " + b"y" * 900 + b"%d\r\n", "longer than 50000"),
        (b"X%d" + b"y" * 900, "(?i)longer|line|big"),
    ],
    ids=["lines", "bytes", "one line"],
)
async def test_a_head_without_an_end(line, reason):
    sent = 0

    async def speak(_):
        nonlocal sent
        yield HTML
        while True:
            piece = b"".join(line.replace(b"%d", b"%d" % n) for n in range(10))
            sent += len(piece)
            yield piece

    async with speaking(speak) as port:
        answer = await ask(
            f"http://127.0.0.1:{port}/", configured(max_head=50_000, max_header=20_000)
        )
    assert answer.kind is Kind.PROTOCOL_ERROR
    assert answer.error
    assert answer.elapsed < 20


async def test_interim_answers_without_an_end():
    async def speak(_):
        while True:
            yield b"HTTP/1.1 100 Continue\r\n\r\n" * 100

    async with speaking(speak) as port:
        answer = await ask(f"http://127.0.0.1:{port}/")
    assert answer.kind is Kind.PROTOCOL_ERROR
    assert answer.error == "the head is longer than 262144 bytes"


async def test_a_head_of_many_lines_and_interim_answers_is_read():
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
    lines = b"".join(b"X-%d: y\r\n" % n for n in range(900))
    async with serving(lambda _: early + HTML + lines + b"Content-Length: 2\r\n\r\nok") as server:
        answer = await ask(server.url())
    assert (answer.kind, answer.body, len(answer.headers)) == (Kind.FETCHED, b"ok", 902)


BROKEN = {
    "short": (b"Content-Length: 100\r\n\r\nsome", b"some"),
    "chunk size": (b"Transfer-Encoding: chunked\r\n\r\n4\r\nsome\r\nzz\r\n", b"some"),
    "chunk end": (b"Transfer-Encoding: chunked\r\n\r\n4\r\nsomeXX", b"some"),
    "in a chunk": (b"Transfer-Encoding: chunked\r\n\r\n9\r\nsome", b"some"),
    "no last chunk": (b"Transfer-Encoding: chunked\r\n\r\n4\r\nsome\r\n", b"some"),
    "nothing of it": (b"Content-Length: 100\r\n\r\n", None),
    "coded": (
        b"Content-Encoding: zstd\r\nContent-Length: 99999\r\n\r\n" + zstd.compress(b"some"),
        b"some",
    ),
}


@pytest.mark.parametrize(("rest", "body"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("apart", [True, False], ids=["in pieces", "at once"])
async def test_what_came_before_the_transport_broke_is_kept(rest, body, apart):
    lines, _, beginning = rest.partition(b"\r\n\r\n")
    pieces = [HTML + lines + b"\r\n\r\n", beginning] if apart else [HTML + rest]

    async def speak(_):
        for piece in pieces:
            yield piece
            await asyncio.sleep(0.01 if apart else 0)
        raise ConnectionError

    async with speaking(speak) as port:
        answer = await ask(f"http://127.0.0.1:{port}/")
    assert answer.kind is Kind.PROTOCOL_ERROR
    assert answer.error
    assert (answer.status, answer.ip) == (200, "127.0.0.1")
    assert (answer.body, answer.truncated) == (body, True)
    assert ("Content-Type", "text/html") in answer.headers


@pytest.mark.parametrize(
    ("coding", "pack"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("br", brotli.compress),
     ("zstd", zstd.compress)],
)  # fmt: skip
async def test_a_page_whose_coding_was_cut_off_is_a_page(coding, pack):
    packed = pack(PAGE)[:-20]
    headers = ("Content-Type: text/html", f"Content-Encoding: {coding}")
    async with serving(lambda _: reply(packed, headers=headers)) as server:
        answer = await ask(server.url())
    assert (answer.kind, answer.truncated) == (Kind.FETCHED, True)
    assert answer.error == f"{coding} ends too early"
    assert PAGE.startswith(answer.body)
    assert len(answer.body) > len(PAGE) // 3
    assert answer.wire_bytes == len(packed)


async def test_a_page_whose_coding_is_damaged_is_a_page_as_far_as_it_goes():
    packed = gzip.compress(PAGE)
    packed = packed[: len(packed) // 2] + Random(3).randbytes(5000)
    headers = ("Content-Type: text/html", "Content-Encoding: gzip")
    async with serving(lambda _: reply(packed, headers=headers)) as server:
        answer = await ask(server.url())
    assert (answer.kind, answer.truncated) == (Kind.FETCHED, True)
    assert answer.error.startswith("not gzip: ")
    assert len(answer.body) > len(PAGE) // 3


async def test_a_body_of_which_nothing_can_be_decoded_is_none():
    headers = ("Content-Type: text/html", "Content-Encoding: gzip")
    async with serving(lambda _: reply(b"<p>plain", headers=headers)) as server:
        answer = await ask(server.url())
    assert (answer.kind, answer.status, answer.body) == (Kind.PROTOCOL_ERROR, 200, None)
    assert answer.error.startswith("not gzip: ")


@pytest.mark.slow
async def test_an_unwanted_body_that_breaks_off_does_not_matter():
    wire = b"HTTP/1.1 404 No\r\nContent-Length: 100\r\n\r\ngone"
    async with serving(lambda _: wire, keep=False) as server:
        answer = await ask(server.url())
    assert (answer.kind, answer.error, answer.truncated) == (Kind.HTTP_ERROR, None, False)
    answer = await said(wire, total_timeout=0.5)
    assert (answer.kind, answer.status, answer.error) == (Kind.HTTP_ERROR, 404, None)


@pytest.mark.slow
async def test_the_end_of_one_exchange_does_not_reach_into_the_next(monkeypatch):
    monkeypatch.setattr(exchange, "SPEED_GRACE", 0.1)
    config = configured(first_byte_timeout=0.5, min_bytes_per_second=1000)
    async with serving(lambda _: reply(b"ok")) as server, Client(config, time.time) as client:
        for _ in range(3):
            answer = await client.get(server.url(), exchange.page_limits(config))
            assert answer.kind is Kind.FETCHED
            await asyncio.sleep(0.3)
        assert server.connections == 1
