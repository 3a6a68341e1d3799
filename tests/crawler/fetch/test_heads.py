"""Heads that aiohttp's parser refuses and browsers read."""

import asyncio
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.fetch import exchange
from crawler.fetch.client import Client
from crawler.fetch.heads import mended
from crawler.outcomes import Kind
from tests.crawler.fetch.asking import ask, configured
from tests.crawler.fetch.raw_server import serving, speaking

CHUNKS = b"5\r\nhello\r\n0\r\n\r\n"
LENGTH = b"Content-Length: 5"


def answer(*lines, body=b"hello"):
    return b"\r\n".join([b"HTTP/1.1 200 OK", *lines, b"", body])


BROKEN = {
    "chunks and a length": answer(b"Transfer-Encoding: chunked", b"Content-Length: 3", body=CHUNKS),
    "a length twice": answer(LENGTH, b"content-length:5"),
    "a list of lengths": answer(b"Content-Length: 5, 5"),
    "identity and a length": answer(b"Transfer-Encoding: identity", LENGTH),
    "no colon": answer(b"Warning from line 3", LENGTH),
    "a quoted line": answer(b'"X-XSS-Protection: 0"', LENGTH),
    "a space before the colon": answer(b"Content-Length : 5"),
    "no name": answer(b": x", LENGTH),
    "a name that is not ASCII": answer(b"X-\xe9: x", LENGTH),
    "a folded line of no field": answer(b"no field", b" folded", LENGTH),
    "a bare CR": answer(b"X: a\rb", LENGTH),
    "a NUL": answer(b"X: a\0b", LENGTH),
    "after a hint": b"HTTP/1.1 103 Early Hints\r\nbroken\r\n\r\n" + answer(b"broken too", LENGTH),
}


@pytest.mark.parametrize("piecewise", [False, True])
@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
async def test_what_is_wrong_in_a_line_does_not_cost_the_page(broken, piecewise):
    async def speak(_):
        for start in range(0, len(broken), 7 if piecewise else len(broken)):
            yield broken[start : start + 7] if piecewise else broken
            await asyncio.sleep(0.001)

    async with speaking(speak) as port:
        got = await ask(f"http://127.0.0.1:{port}/", configured(first_byte_timeout=5.0))
    assert (got.kind, got.status, got.body) == (Kind.FETCHED, 200, b"hello")


@pytest.mark.parametrize("nothing", [b"SSH-2.0-x\r\n", b"<html>", b"\x16\x03\x01\x00\x02"])
async def test_what_is_no_head_is_not_waited_for(nothing):
    async with serving(lambda _: nothing) as server:
        began = time.monotonic()
        got = await ask(server.url(), configured(first_byte_timeout=20.0))
    assert got.kind is Kind.PROTOCOL_ERROR
    assert time.monotonic() - began < 5


async def test_nothing_more_is_asked_on_such_a_connection():
    config = configured()
    async with serving(lambda _: BROKEN["chunks and a length"]) as server:
        async with Client(config, time.time) as client:
            for _ in range(2):
                got = await client.get(server.url(), exchange.page_limits(config))
                assert (got.kind, got.stale) == (Kind.FETCHED, False)
        assert server.connections == 2


def test_lengths_that_differ_stay():
    head = answer(LENGTH, b"Content-Length: 6", body=b"")
    assert mended(head).count(b"Content-Length") == 2


@given(
    st.lists(
        st.binary(max_size=12) | st.sampled_from([LENGTH, b" x", b"\tx", b"A : b", b"A:b"]),
        max_size=9,
    )
)
@example([b" " * 3000] * 300 + [b"\0"])
def test_any_head_is_mended_once_and_for_all(lines):
    head = answer(*lines, body=b"")
    once = mended(head)
    assert once.startswith(b"HTTP/1.1 200 OK\r\n")
    assert once.endswith(b"\r\n\r\n")
    assert mended(once) == once
