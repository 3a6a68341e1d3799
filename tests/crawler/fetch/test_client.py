"""HTTP against real sockets: what is sent, what is understood, what is refused."""

import asyncio
import gzip
import socket
import ssl
import time
import zlib
from datetime import UTC, datetime, timedelta

import brotli
import pytest
from backports import zstd
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from crawler.config import Config, Dns, Fetch, Robots
from crawler.fetch import exchange
from crawler.fetch.client import Client
from crawler.fetch.names import NoSuchNameError
from crawler.outcomes import Kind
from tests.crawler.fetch.asking import ask, configured
from tests.crawler.fetch.raw_server import reply, serving, speaking

OPEN = configured()


async def test_a_page_comes_back_with_all_that_was_said_about_it():
    headers = ("Content-Type: text/html; charset=utf-8", 'ETag: "v1"', "X-Twice: a", "x-twice: b",
               "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After: 7")  # fmt: skip
    before = time.time()
    async with serving(lambda _: reply(b"<p>hello", headers=headers)) as server:
        answer = await ask(server.url("/page"))
    assert answer.kind is Kind.FETCHED
    assert (answer.status, answer.body, answer.truncated) == (200, b"<p>hello", False)
    assert answer.content_type == "text/html; charset=utf-8"
    assert (answer.etag, answer.last_modified) == ('"v1"', "Sun, 06 Nov 1994 08:49:37 GMT")
    assert answer.ip == "127.0.0.1"
    assert answer.wire_bytes == 8
    assert [pair for pair in answer.headers if pair[0].lower() == "x-twice"] == [
        ("X-Twice", "a"),
        ("x-twice", "b"),
    ]
    assert answer.retry_after == 7
    assert before <= answer.fetched_at <= answer.ended_at <= time.time()
    assert 0 < answer.elapsed < 5
    assert (answer.error, answer.stale) == (None, False)


@pytest.mark.parametrize(
    "target",
    ["/", "/?", "/a?", "/a?b?", "/%7Efoo/%2f%2F?x=%20+y&a=[1]|'", "//x//y?", "/a/../b/./c", "/%zz%",
     "/;p=1?=&&=", "/a'()*!$,:@", "/%C3%A9?q=%E9"],
)  # fmt: skip
async def test_the_target_is_sent_as_it_is_written(target):
    async with serving(lambda _: reply()) as server:
        await ask(server.url(target))
    assert server.targets == [target]


async def test_the_request_says_who_asks_and_nothing_more():
    async with serving(lambda _: reply()) as server:
        await ask(server.url("/"), etag='"v1"', last_modified="yesterday")
        port = server.port
    first, *lines = server.asked[0].head.decode().strip().split("\r\n")
    sent = dict(line.split(": ", 1) for line in lines)
    assert first == "GET / HTTP/1.1"
    assert sent.pop("Accept").startswith("text/html")
    assert sent == {
        "Host": f"127.0.0.1:{port}",
        "User-Agent": "testbot/1.0",
        "Accept-Language": "en,*;q=0.5",
        "Accept-Encoding": "gzip, deflate, br, zstd",
        "If-None-Match": '"v1"',
        "If-Modified-Since": "yesterday",
    }


async def test_cookies_are_not_kept():
    headers = ("Content-Type: text/html", "Set-Cookie: a=b; Path=/")
    async with (
        serving(lambda _: reply(headers=headers)) as server,
        Client(OPEN, time.time) as client,
    ):
        for _ in range(2):
            answer = await client.get(server.url("/"), exchange.page_limits(OPEN))
    assert ("Set-Cookie", "a=b; Path=/") in answer.headers
    assert not any(b"cookie" in asked.head.lower() for asked in server.asked)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("body", [b"", b"moved", b"m" * 200_000], ids=["empty", "short", "long"])
async def test_a_redirect_is_an_answer_and_is_not_followed(status, body):
    def answer(_):
        return reply(body, f"{status} Moved", ("Location: /b?#c", "Content-Type: text/html"))

    async with serving(answer) as server:
        got = await ask(server.url("/a"))
        assert (got.kind, got.redirect_to) == (Kind.REDIRECT, server.url("/b?"))
    assert server.targets == ["/a"]
    assert (got.status, got.body, got.truncated) == (status, None, False)


@pytest.mark.parametrize("location", [b"//127.0.0.1/caf\xe9", b"//127.0.0.1/caf%E9#x"])
async def test_the_octets_of_a_location_survive_the_wire(location):
    wire = b"HTTP/1.1 302 Found\r\nLocation: " + location + b"\r\nContent-Length: 0\r\n\r\n"
    async with serving(lambda _: wire) as server:
        assert (await ask(server.url())).redirect_to == "http://127.0.0.1/caf%E9"


def has_ipv6():
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no ::1")
async def test_ipv6():
    async def speak(_):
        yield reply(b"six")

    async with speaking(speak, host="::1") as port:
        answer = await ask(f"http://[::1]:{port}/")
        named = Config(dns=Dns(overrides={"six.example": "::1"}), fetch=OPEN.fetch)
        by_name = await ask(f"http://six.example:{port}/", named)
        guarded = await ask(f"http://[::1]:{port}/", Config())
    assert (answer.kind, answer.body, answer.ip) == (Kind.FETCHED, b"six", "::1")
    assert (by_name.kind, by_name.ip) == (Kind.FETCHED, "::1")
    assert guarded.kind is Kind.BLOCKED_ADDRESS


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("404 Not Found", Kind.HTTP_ERROR),
        ("503 Later", Kind.HTTP_ERROR),
        ("304 Not Modified", Kind.NOT_MODIFIED),
    ],
)
async def test_an_unwanted_short_body_leaves_the_connection_usable(status, kind):
    body = b"" if kind is Kind.NOT_MODIFIED else b"gone"
    async with (
        serving(lambda _: reply(body, status)) as server,
        Client(OPEN, time.time) as client,
    ):
        for _ in range(2):
            answer = await client.get(server.url("/"), exchange.page_limits(OPEN), etag='"had"')
            assert (answer.kind, answer.body) == (kind, None)
        assert server.connections == 1


async def test_an_excluded_type_is_not_read():
    head = b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: 9999999\r\n\r\nxxx"
    async with serving(lambda _: head) as server:
        answer = await ask(server.url("/film"))
    assert (answer.kind, answer.status, answer.body) == (Kind.EXCLUDED_TYPE, 200, None)
    assert answer.content_type == "video/mp4"


PAGE = b"<p>" + bytes(range(256)) * 64
RAW_DEFLATE = zlib.compressobj(wbits=-15)
ENCODED = {
    "gzip": gzip.compress(PAGE),
    "x-gzip": None,
    "deflate": zlib.compress(PAGE),
    "raw": RAW_DEFLATE.compress(PAGE) + RAW_DEFLATE.flush(),
    "br": brotli.compress(PAGE),
    "zstd": zstd.compress(PAGE),
}


@pytest.mark.parametrize("coding", ["gzip", "deflate", "raw", "br", "zstd"])
async def test_bodies_are_decoded(coding):
    name = "deflate" if coding == "raw" else coding
    headers = ("Content-Type: text/html", f"Content-Encoding: {name}")
    async with serving(lambda _: reply(ENCODED[coding], headers=headers)) as server:
        answer = await ask(server.url("/"))
    assert answer.body == PAGE
    assert answer.wire_bytes == len(ENCODED[coding])
    assert not answer.truncated


@pytest.mark.parametrize("coding", [None, "gzip"])
async def test_a_long_body_is_cut_at_the_limit(coding):
    page = PAGE * 200
    headers = ("Content-Type: text/html",)
    if coding:
        page, headers = gzip.compress(page), (*headers, "Content-Encoding: gzip")
    async with serving(lambda _: reply(page, headers=headers)) as server:
        answer = await ask(server.url("/"), configured(max_body=100_000))
    assert answer.kind is Kind.FETCHED
    assert answer.body == (PAGE * 200)[:100_000]
    assert answer.truncated


async def test_a_body_of_just_the_limit_is_not_cut():
    async with serving(lambda _: reply(b"x" * 2048)) as server:
        answer = await ask(server.url("/"), configured(max_body=2048))
    assert (len(answer.body), answer.truncated) == (2048, False)


async def test_chunks_and_bodies_that_end_with_the_connection():
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
    answers = {
        "/chunked": head + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n",
        "/to-the-end": head + b"\r\nabcdef",
    }
    async with serving(lambda target: answers[target], keep=False) as server:
        for target in answers:
            answer = await ask(server.url(target))
            assert (answer.kind, answer.body) == (Kind.FETCHED, b"abcdef")


HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


@pytest.mark.parametrize(
    "wire",
    [
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        HTML + b"Content-Length: 100\r\n\r\nshort",
        HTML + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n",
        HTML + b"Transfer-Encoding: chunked\r\n\r\n5\r\nab",
        HTML + b"Content-Length: 5\r\nContent-Encoding: gzip\r\n\r\nabcde",
        HTML + b"Content-Length: 5\r\nContent-Encoding: zstd\r\n\r\nabcde",
        HTML + b"X: " + b"y" * 100_000 + b"\r\n\r\n",
        HTML + b"X: y\r\n" * 10_000 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nContent-",
        None,
    ],
)
async def test_what_is_not_http_is_a_protocol_error_with_a_reason(wire):
    async with serving(lambda _: wire, keep=False) as server:
        answer = await ask(server.url("/"))
    assert answer.kind is Kind.PROTOCOL_ERROR
    assert answer.error
    assert len(server.asked) == 1
    assert not answer.stale


async def test_the_deadness_of_a_kept_connection_is_told_apart():
    answers = iter([reply(b"first"), None, reply(b"second")])
    async with serving(lambda _: next(answers)) as server, Client(OPEN, time.time) as client:
        limits = exchange.page_limits(OPEN)
        got = [await client.get(server.url(f"/{n}"), limits) for n in range(3)]
    assert [answer.stale for answer in got] == [False, True, False]
    assert got[2].body == b"second"
    assert server.targets == ["/0", "/1", "/2"]


async def test_nobody_listens():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        answer = await ask(f"http://127.0.0.1:{held.getsockname()[1]}/")
    assert answer.kind is Kind.CONNECT_ERROR
    assert "refused" in answer.error.lower()
    assert answer.status is None


async def test_a_name_without_an_address():
    config = Config(dns=Dns(nameservers=("127.0.0.1:1",), timeout=0.2), fetch=OPEN.fetch)
    answer = await ask("http://nowhere.invalid/", config)
    assert answer.kind is Kind.DNS_ERROR
    assert answer.error


async def test_plain_text_where_tls_is_expected():
    async def speak_first(_, writer):
        writer.write(b"220 this is not TLS\r\n")
        writer.close()

    listener = await asyncio.start_server(speak_first, "127.0.0.1", 0)
    async with listener:
        answer = await ask(f"https://127.0.0.1:{listener.sockets[0].getsockname()[1]}/")
    assert answer.kind is Kind.TLS_ERROR
    assert answer.error


async def test_a_certificate_that_nobody_vouches_for(tmp_path):
    context = _self_signed(tmp_path)

    async def hang_up(_, writer):
        writer.close()

    listener = await asyncio.start_server(hang_up, "127.0.0.1", 0, ssl=context)
    async with listener:
        port = listener.sockets[0].getsockname()[1]
        answer = await ask(f"https://127.0.0.1:{port}/")
    assert answer.kind is Kind.TLS_ERROR
    assert "certificate" in answer.error


def _self_signed(tmp_path):
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + timedelta(days=1))
    certificate = builder.sign(key, hashes.SHA256())
    pem = tmp_path / "both.pem"
    pem.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pem)
    return context


async def test_a_robots_txt_has_limits_of_its_own():
    config = Config(fetch=Fetch(allow_private=True), robots=Robots(timeout=0.05))
    async with serving(lambda _: b"") as server:
        answer = await ask(server.url("/robots.txt"), config, exchange.robots_limits(config))
    assert answer.kind is Kind.TIMEOUT


async def test_a_refused_address_sees_no_connection():
    named = Config(dns=Dns(overrides={"inner.example": "127.0.0.1", "six.example": "::1"}))
    async with serving(lambda _: reply()) as server:
        for host in ("127.0.0.1", "127.1.2.3", "inner.example", "six.example", "0.0.0.0",
                     "[::ffff:127.0.0.1]", "[::1]", "localhost"):  # fmt: skip
            answer = await ask(server.url("/", host), named)
            assert answer.kind is Kind.BLOCKED_ADDRESS, (host, answer)
            assert "not a public address" in answer.error
        assert server.connections == 0


async def test_an_opened_network_is_reached():
    config = Config(fetch=Fetch(allow_networks=("127.0.0.2/32",)))
    async with serving(lambda _: reply()) as server:
        assert (await ask(server.url("/", "127.0.0.2"), config)).ip == "127.0.0.2"
        assert (await ask(server.url("/"), config)).kind is Kind.BLOCKED_ADDRESS
    assert server.connections == 1


async def test_an_override_names_the_address_and_the_host_header_stays():
    config = Config(dns=Dns(overrides={"site.example": "127.0.0.3"}), fetch=OPEN.fetch)
    async with serving(lambda _: reply()) as server:
        answer = await ask(server.url("/", "site.example"), config)
        assert answer.ip == "127.0.0.3"
        assert f"Host: site.example:{server.port}".encode() in server.asked[0].head


async def test_a_url_that_cannot_be_asked_is_an_outcome_too():
    answer = await ask("http://127.0.0.1:99999/")
    assert answer.kind is Kind.PROTOCOL_ERROR
    assert answer.error


async def test_cancelling_a_request_cancels_it():
    async with serving(lambda _: b"") as server, Client(OPEN, time.time) as client:
        task = asyncio.create_task(client.get(server.url("/"), exchange.page_limits(OPEN)))
        await server.was_asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_the_smallest_address_of_a_name_is_found_without_asking_anybody():
    config = Config(dns=Dns(overrides={"a.example": ("192.0.2.9", "192.0.2.10")}))
    async with Client(config, lambda: 7.0) as client:
        found = await client.locate("a.example")
    assert (found.ip, found.fetched_at) == ("192.0.2.10", 7.0)


async def test_a_literal_is_its_own_address():
    async with Client(Config(), lambda: 7.0) as client:
        assert (await client.locate("[2001:db8::1]")).ip == "2001:db8::1"


async def test_a_name_that_has_no_address_is_told_with_its_reason(monkeypatch):
    async def find(*_):
        message = "no such name"
        raise NoSuchNameError(message)

    monkeypatch.setattr("crawler.fetch.resolver.Resolver.find", find)
    async with Client(Config(), lambda: 7.0) as client:
        found = await client.locate("a.example")
    assert (found.kind, found.ip, found.error) == (Kind.DNS_ERROR, None, "no such name")
    assert found.nameless
    assert found.ended_at == 7.0
