"""Certificates and handshakes of every kind, over real connections: the outcome of each."""

import socket
import ssl
import warnings
from contextlib import contextmanager, suppress
from threading import Thread

import pytest

from crawler.config import Config, Dns, Fetch, HostFetch
from crawler.outcomes import Kind
from tests.crawler.fetch import asking
from tests.crawler.fetch.certificates import Authority
from tests.crawler.fetch.raw_server import listening, reply, speaking
from tests.shared import figure

ask = asking.ask
NAMED = {"right.example": "127.0.0.1", "other.example": "127.0.0.1"}


@pytest.fixture
def authority(tmp_path, monkeypatch):
    """An authority that this machine trusts."""
    authority = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    return authority


@pytest.fixture(autouse=True)
def _table(request, monkeypatch):
    """The last answer of each test is a line of a table."""

    async def told(*arguments):
        answer = await asking.ask(*arguments)
        figure(
            "TLS", request.node.name.removeprefix("test_").replace("_", " "),
            outcome=answer.kind.value, verified=str(answer.tls_verified), error=answer.error or "",
        )  # fmt: skip
        return answer

    monkeypatch.setitem(globals(), "ask", told)


async def page(_):
    yield reply(b"secret page")


async def asked(context, host="right.example", **fetch):
    config = Config(dns=Dns(overrides=NAMED), fetch=Fetch(allow_private=True, **fetch))
    async with speaking(page, ssl=context) as port:
        return await ask(f"https://{host}:{port}/", config)


@pytest.mark.parametrize("host", ["right.example", "127.0.0.1"])
async def test_a_good_certificate(authority, host):
    answer = await asked(authority.server("right.example", "127.0.0.1"), host)
    assert (answer.kind, answer.body, answer.tls_verified) == (Kind.FETCHED, b"secret page", True)


async def test_without_tls_nothing_is_verified():
    async with speaking(page) as port:
        answer = await ask(f"http://127.0.0.1:{port}/")
    assert (answer.kind, answer.tls_verified) == (Kind.FETCHED, None)


def bad(authority, tmp_path):
    stranger = Authority(tmp_path)
    return {
        "expired": authority.server("right.example", expired=True),
        "wrong name": authority.server("wrong.example"),
        "self-signed": authority.server("right.example", self_signed=True),
        "unknown authority": stranger.server("right.example"),
    }


REASONS = {
    "expired": "certificate: certificate has expired",
    "wrong name": "certificate: Hostname mismatch, certificate is not valid for 'right.example'.",
    "self-signed": "certificate: self-signed certificate",
    "unknown authority": "certificate: unable to get local issuer certificate",
}


@pytest.mark.parametrize("trouble", REASONS)
async def test_a_bad_certificate(authority, tmp_path, trouble):
    (tmp_path / "stranger").mkdir()
    context = bad(authority, tmp_path / "stranger")[trouble]
    answer = await asked(context)
    assert (answer.kind, answer.error) == (Kind.TLS_ERROR, REASONS[trouble])
    assert (answer.status, answer.body, answer.tls_verified) == (None, None, None)


@pytest.mark.parametrize("trouble", REASONS)
async def test_a_host_may_be_taken_without_and_its_rows_say_so(authority, tmp_path, trouble):
    (tmp_path / "stranger").mkdir()
    context = bad(authority, tmp_path / "stranger")[trouble]
    hosts = {"right.example": HostFetch(verify_tls=False)}
    answer = await asked(context, hosts=hosts)
    assert (answer.kind, answer.body, answer.tls_verified) == (Kind.FETCHED, b"secret page", False)
    answer = await asked(authority.server("wrong.example"), "other.example", hosts=hosts)
    assert answer.kind is Kind.TLS_ERROR, "the others are verified still"


@contextmanager
def refusing(context):
    """The port of a server that says why it refuses a handshake; asyncio's own hangs up first."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                context.wrap_socket(connection, server_side=True)

        thread = Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


async def refused(context):
    config = Config(dns=Dns(overrides=NAMED), fetch=Fetch(allow_private=True))
    with refusing(context) as port:
        return await ask(f"https://right.example:{port}/", config)


async def test_an_old_protocol(authority):
    context = authority.server("right.example")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    answer = await refused(context)
    assert answer.kind is Kind.TLS_ERROR
    assert answer.error == "TLS: tlsv1 alert protocol version"


async def test_a_server_that_tells_its_sites_apart_by_name(authority):
    front, named = authority.server("front.example"), authority.server("right.example")
    seen = []

    def choose(connection, name, _):
        seen.append(name)
        if name == "right.example":
            connection.context = named

    front.sni_callback = choose
    assert (await asked(front)).kind is Kind.FETCHED
    by_address = await asked(front, "127.0.0.1")
    assert by_address.kind is Kind.TLS_ERROR
    assert "IP address mismatch" in by_address.error
    assert seen == ["right.example", None]


async def test_a_server_that_refuses_a_name(authority):
    context = authority.server("right.example")
    context.sni_callback = lambda *_: ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
    answer = await refused(context)
    assert (answer.kind, answer.error) == (Kind.TLS_ERROR, "TLS: tlsv1 unrecognized name")


async def asked_of(talk):
    """The answer over https to a server that does `talk(reader, writer)` instead of a handshake."""
    config = Config(fetch=Fetch(allow_private=True, tls_timeout=0.1))
    async with listening(talk) as port:
        return await ask(f"https://127.0.0.1:{port}/", config)


async def test_a_handshake_that_stalls():
    async def stall(reader, _):
        while await reader.read(1000):
            pass

    answer = await asked_of(stall)
    assert (answer.kind, answer.error) == (Kind.TIMEOUT, "TLS handshake timed out after 0.1 s")


async def test_a_handshake_that_is_hung_up():
    async def hang_up(reader, _):
        await reader.read(10)

    answer = await asked_of(hang_up)
    assert (answer.kind, answer.error) == (
        Kind.TLS_ERROR,
        "the server hung up in the TLS handshake",
    )


async def test_plain_http_where_tls_is_expected():
    async def speak_http(reader, writer):
        await reader.read(10)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()

    answer = await asked_of(speak_http)
    assert (answer.kind, answer.error) == (Kind.TLS_ERROR, "TLS: wrong version number")
