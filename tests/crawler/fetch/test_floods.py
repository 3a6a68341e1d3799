"""Bombs and floods: a server that sends without an end costs a bounded time and memory; the figures."""

import asyncio
import time
import tracemalloc
import zlib

import brotli
import pytest
from backports import zstd

from crawler.outcomes import Kind
from tests.crawler.fetch.asking import ask, configured
from tests.crawler.fetch.raw_server import speaking
from tests.shared import figure

pytestmark = pytest.mark.slow

MB = 1024 * 1024
HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
TEN_GIB = 640  # blocks of 16 MiB
ZEROS = bytes(16 * MB)


def blocks(packer, flush):
    """A stream of zeros: its beginning, and a block of 16 MiB that may be repeated for ever."""
    first = packer.compress(ZEROS) + flush()
    second = packer.compress(ZEROS) + flush()
    assert second == packer.compress(ZEROS) + flush()
    return first, second


def deflated(wbits):
    packer = zlib.compressobj(9, wbits=wbits)
    return blocks(packer, lambda: packer.flush(zlib.Z_FULL_FLUSH))


def zstded():
    frame = zstd.compress(ZEROS)
    return frame, frame


def bombs():
    gzip_first, gzip_block = deflated(31)
    inner = zlib.compress(gzip_first + gzip_block * TEN_GIB, 9)
    return {
        "gzip": ("gzip", gzip_first, gzip_block),
        "deflate": ("deflate", *deflated(15)),
        "deflate, raw": ("deflate", *deflated(-15)),
        "zstd": ("zstd", *zstded()),
        "gzip in deflate": ("gzip, deflate", inner, b""),
    }


async def measured(name, speak, **fetch):
    """The answer to a server that sends what `speak` yields; seconds and memory are bounded and told."""
    tracemalloc.start()
    began = time.monotonic()
    try:
        async with speaking(speak) as port:
            answer = await ask(f"http://127.0.0.1:{port}/", configured(**fetch))
        seconds = time.monotonic() - began
        peak = tracemalloc.get_traced_memory()[1] / MB
    finally:
        tracemalloc.stop()
    kept = len(answer.body or b"") / MB
    wire = answer.wire_bytes / MB
    figure("fetch: bombs and floods", name, outcome=answer.kind.value, seconds=seconds,
           peak_MB=peak, wire_MB=wire, kept_MB=kept)  # fmt: skip
    # The body in pieces, the body in one, and some buffers; the server's blocks are in it too.
    assert peak < 2 * kept + 8
    assert seconds < 20
    return answer


@pytest.mark.parametrize("name", ["gzip", "deflate", "deflate, raw", "zstd", "gzip in deflate"])
async def test_ten_gibibytes_in_some_megabytes(name):
    coding, first, block = bombs()[name]

    async def speak(_):
        yield HTML + b"Content-Encoding: " + coding.encode() + b"\r\n\r\n" + first
        for _ in range(TEN_GIB):
            yield block

    answer = await measured(f"10 GiB, {name}", speak)
    assert (answer.kind, answer.truncated, len(answer.body)) == (Kind.FETCHED, True, 10 * MB)
    assert not any(answer.body)


async def test_ten_gibibytes_in_brotli():
    packer = brotli.Compressor(quality=1)
    first = packer.process(ZEROS) + packer.flush()

    async def speak(_):
        yield HTML + b"Content-Encoding: br\r\n\r\n" + first
        for _ in range(TEN_GIB):
            yield packer.process(ZEROS) + packer.flush()

    answer = await measured("10 GiB, br", speak)
    assert (answer.kind, answer.truncated, len(answer.body)) == (Kind.FETCHED, True, 10 * MB)


async def endless(beginning, piece, pause=0.0):
    yield beginning
    while True:
        yield piece
        if pause:
            await asyncio.sleep(pause)


@pytest.mark.parametrize(
    ("name", "head", "piece"),
    [
        ("endless body", b"\r\n", bytes(65536)),
        (
            "endless chunks",
            b"Transfer-Encoding: chunked\r\n\r\n",
            b"10000\r\n" + bytes(65536) + b"\r\n",
        ),
        ("100 MB without a length", b"\r\n", bytes(10**6)),
    ],
)
async def test_a_body_without_an_end(name, head, piece):
    async def speak(_):
        if "100 MB" not in name:
            async for said in endless(HTML + head, piece):
                yield said
        yield HTML + head
        for _ in range(100):
            yield piece
        raise ConnectionError

    answer = await measured(name, speak)
    assert (answer.kind, answer.truncated, len(answer.body)) == (Kind.FETCHED, True, 10 * MB)


@pytest.mark.parametrize(
    ("name", "piece"),
    [
        ("endless one-byte chunks", b"1\r\nx\r\n" * 10_000),
        ("endless chunk extensions", b"1;" + b"y" * 10_000 + b"\r\nx\r\n"),
        ("an endless chunk extension", b"1;" + b"y" * 10_000),
        ("endless trailers", b"0\r\n" + b"X: y\r\n" * 10_000),
    ],
)
async def test_framing_without_an_end(name, piece):
    head = HTML + b"Transfer-Encoding: chunked\r\n\r\n"
    answer = await measured(name, lambda _: endless(head, piece))
    assert answer.kind is Kind.PROTOCOL_ERROR
    assert answer.status == 200


@pytest.mark.parametrize(
    ("name", "piece"),
    [
        ("endless head", b"X-Header: some value of it\r\n" * 100),
        ("endless line", b"x" * 4000),
        ("endless interim answers", b"X: y\r\n\r\nHTTP/1.1 103 Early Hints\r\n" * 50),
    ],
)
async def test_a_head_without_an_end(name, piece):
    answer = await measured(name, lambda _: endless(b"HTTP/1.1 103 Early Hints\r\n", piece))
    assert answer.kind is Kind.PROTOCOL_ERROR
    assert answer.error


async def test_empty_streams_without_an_end():
    """Nothing is ever decoded of them."""
    head = HTML + b"Content-Encoding: gzip\r\n\r\n"
    empty = zlib.compressobj(wbits=31).flush() * 1000
    answer = await measured("endless empty gzip streams", lambda _: endless(head, empty))
    assert (answer.kind, answer.body) == (Kind.PROTOCOL_ERROR, None)


@pytest.mark.parametrize("where", ["head", "body", "chunk size"])
async def test_one_byte_a_second(where):
    beginning = {
        "head": HTML + b"X: ",
        "body": HTML + b"\r\n",
        "chunk size": HTML + b"Transfer-Encoding: chunked\r\n\r\n",
    }[where]
    answer = await measured(f"1 byte a second, {where}", lambda _: endless(beginning, b"0", 1.0))
    assert answer.kind is Kind.TOO_SLOW
    assert answer.elapsed < 20, "it was let go on to the end of the whole exchange's time, a minute"
