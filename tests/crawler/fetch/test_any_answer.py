"""Whatever octets an answer is made of, there is an outcome, and a row of it: from the socket to the dataset."""

import asyncio
import gzip
import time
import zlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.config import Config, Fetch
from crawler.fetch import columns, exchange
from crawler.fetch.client import Client
from crawler.fetch.hearing import hear
from crawler.fetch.visit import Final
from crawler.frontier.lease import Heard, HostLease, LeasedUrl
from crawler.outcomes import Kind
from tests.crawler.dataset.samples import builder
from tests.crawler.fetch.raw_server import serving

CONFIG = Config(fetch=Fetch(allow_private=True, first_byte_timeout=5, total_timeout=5))
ROWS = builder(CONFIG)

STARTS = [
    *(b"HTTP/1.1 %d x" % status for status in (200, 200, 200, 206, 301, 308, 304, 404, 429, 503)),
    b"HTTP/1.0 200", b"HTTP/1.1 100 x\r\n\r\nHTTP/1.1 200 x", b"HTTP/1.1 999", b"HTTP/1.1 000 x", b"HTTP/2 200 x",
]  # fmt: skip
NAMES = [b"Retry-After", b"Location", b"Content-Type", b"Content-Encoding", b"Link", b"X-Robots-Tag", b"Set-Cookie",
         b"Content-Length", b"Transfer-Encoding", b"ETag", b"Last-Modified", b"Connection", b"Content-Location",
         b"Refresh", b"Date", b"Trailer", b"Upgrade"]  # fmt: skip
VALUES = [b"", b"120", b"-1", b"1e9", b"9" * 30, b"Fri, 31 Dec 9999 23:59:59 GMT", b"Thu, 01 Jan 1970 00:00:00 -9999",
          b"//", b"http://[", b"/\xff\xe9?\xff", b"text/html; charset=\xff", b"text/html;charset=utf-16", b"text/xml",
          b"text/plain", b"gzip", b"gzip, deflate", b"br", b"zstd", b"chunked", b"gzip, chunked", b"close", b"h2c",
          b"<a>; rel=next", b"<a\xff", b'<a>; title*=UTF-8\'\'%ff; rel="', b"noindex, unavailable_after: 0",
          b"raycrawl: none", b"a=b; Expires=\xff", b"a=\"b;c\0"]  # fmt: skip
octets = st.binary(max_size=40)
# What a field value may hold (RFC 9110 §5.5): nothing else keeps the parser from looking at it.
fields = st.lists(st.sampled_from([9, *range(0x20, 0x7F), *range(0x80, 0x100)]), max_size=30).map(
    bytes
)
lines = st.builds(
    b"%b: %b".__mod__, st.tuples(st.sampled_from(NAMES), st.sampled_from(VALUES) | fields)
)
bodies = st.one_of(
    st.binary(max_size=200),
    st.binary(max_size=200).map(gzip.compress),
    st.binary(max_size=200).map(zlib.compress),
    st.just(
        b"<meta charset=\xff><meta name=robots content='unavailable_after:\xff'><a href='//[\xff'>x</a>"
    ),
    st.just(b"3\r\nabc\r\n0\r\n\r\n"),
)


@st.composite
def wires(draw):
    """The octets of one answer, one in four of them spoilt: anything in place of anything."""
    head = [draw(st.sampled_from(STARTS)), *draw(st.lists(lines, max_size=5))]
    whole = b"\r\n".join([*head, b"", draw(bodies)])
    if draw(st.integers(0, 3)):
        return whole
    at, until = draw(st.integers(0, len(whole))), draw(st.integers(0, len(whole)))
    return whole[:at] + draw(octets) + whole[until:]


async def ask(wire):
    async with serving(lambda _: wire, keep=False) as server, Client(CONFIG, time.time) as client:
        return await client.get(server.url("/"), exchange.page_limits(CONFIG))


@pytest.mark.slow
@given(wires())
@example(
    b"HTTP/1.1 200 x\r\nContent-Type: text/html\r\nX-Robots-Tag: \xff\r\nLink: <\xff>\r\n\r\n\xff"
)
@example(b"HTTP/1.1 301 x\r\nLocation: \xff\r\nRetry-After: \xff\r\n\r\n")
def test_any_octets_have_an_outcome_and_a_row(wire):
    answer = asyncio.run(ask(wire))
    assert answer.status is not None or answer.error
    assert answer.retry_after is None or answer.retry_after >= 0
    leased = LeasedUrl(1, "http://127.0.0.1/", 1, 0, 1, 0, 5, None, "link")
    host = HostLease("127.0.0.1", "127.0.0.1", 7, 0.0, 1.0, (), ())
    parsed = ROWS.build(columns.batch([columns.row(host, Final(leased, answer))]))
    parsed.rows.validate(full=True)
    (row,) = parsed.rows.to_pylist()
    assert row["kind"] == answer.kind
    assert row["kind"] != Kind.PARSE_FAILED
    assert isinstance(hear("http://127.0.0.1/robots.txt", answer, "raycrawl", CONFIG), Heard)
