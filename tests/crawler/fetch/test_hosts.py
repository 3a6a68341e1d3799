"""What is sent to one host and by which way: settings, and real proxies on loopback."""

import asyncio
import socket
from base64 import b64encode

import pytest

from crawler.config import Config, Dns, Fetch, HostFetch
from crawler.fetch.hosts import Hosts
from crawler.outcomes import Kind
from tests.crawler.fetch.asking import ask
from tests.crawler.fetch.certificates import Authority
from tests.crawler.fetch.proxies import proxying
from tests.crawler.fetch.raw_server import listening, reply, serving, speaking

SECRET = HostFetch(
    headers={"X-Key": "letmein", "Accept": "text/plain"},
    cookies={"session": "abc", "lang": "en"},
    auth="user:pass:word",
)


def basic(text):
    return f"Basic {b64encode(text.encode()).decode()}"


def test_the_longest_name_that_fits_applies():
    hosts = Hosts(
        Fetch(
            proxy="http://all:1",
            hosts={
                "a.example": HostFetch(headers={"X": "exact"}),
                ".a.example": HostFetch(headers={"X": "below"}),
                ".example": HostFetch(headers={"X": "far below"}, proxy="socks5://one:2"),
            },
        )
    )
    found = {
        name: hosts.of(name).headers.get("X")
        for name in ("a.example", "b.a.example", "c.b.a.example", "b.example", "example",
                     "aa.example", "example.com", "xexample")
    }  # fmt: skip
    assert found == {
        "a.example": "exact", "b.a.example": "below", "c.b.a.example": "below",
        "b.example": "far below", "example": "far below", "aa.example": "far below",
        "example.com": None, "xexample": None,
    }  # fmt: skip
    assert [hosts.of(name).proxy.url for name in ("b.example", "a.example", "z.test")] == [
        "socks5://one:2", "http://all:1", "http://all:1",
    ]  # fmt: skip


async def test_what_is_meant_for_one_host_is_sent_to_that_host_only():
    config = Config(
        dns=Dns(overrides={"a.example": "127.0.0.1", "b.example": "127.0.0.1"}),
        fetch=Fetch(allow_private=True, hosts={"a.example": SECRET}),
    )

    def answer(_):
        return reply(b"", "302 Found", (f"Location: http://b.example:{server.port}/",))

    async with serving(answer) as server:
        moved = await ask(server.url("/", "a.example"), config)
        await ask(moved.redirect_to, config)
    first, second = (asked.head.decode() for asked in server.asked)
    assert "X-Key: letmein\r\n" in first
    assert "Accept: text/plain\r\n" in first
    assert first.count("Accept:") == 1
    assert f"Authorization: {basic('user:pass:word')}\r\n" in first
    assert "Cookie: session=abc; lang=en\r\n" in first
    for secret in ("X-Key", "Authorization", "Cookie", "text/plain\r\n"):
        assert secret not in second


def by(url, names=None, **fetch):
    overrides = {"far.example": "93.184.215.14", "near.example": "127.0.0.9", **(names or {})}
    fetch = {"allow_networks": ("127.0.0.1/32",), **fetch}
    return Config(dns=Dns(overrides=overrides), fetch=Fetch(proxy=url, **fetch))


@pytest.mark.parametrize(
    ("credentials", "sent"),
    [("me:mine", "me:mine"), ("me", "me:"), ("a%3Ab:c", "a:b:c"), ("%E4%BD%A0:%C3%A9", "你:é")],
)
@pytest.mark.parametrize("settings", [{}, {"127.0.0.1": SECRET},
                                      {"127.0.0.1": HostFetch(headers={"authorization": "Bearer x"})}])  # fmt: skip
async def test_credentials_of_the_url_itself_are_what_is_sent(settings, credentials, sent):
    config = Config(fetch=Fetch(allow_private=True, hosts=settings))
    async with serving(lambda _: reply(b"")) as server:
        answer = await ask(server.url("/x?", f"{credentials}@127.0.0.1"), config)
    assert (answer.kind, answer.error) == (Kind.FETCHED, None)
    lines = server.asked[0].head.decode().split("\r\n")
    assert lines[0] == "GET /x? HTTP/1.1"
    said = [line for line in lines if line.lower().startswith("authorization:")]
    assert said == [f"Authorization: {basic(sent)}"]


async def test_an_http_proxy_is_asked_for_the_whole_url():
    async with proxying() as proxy, serving(lambda _: reply(b"by proxy"), keep=False) as server:
        url = server.url("/a?b", "far.example")
        answer = await ask(url, by(f"http://me:pass%40word@127.0.0.1:{proxy.port}"))
    assert (answer.kind, answer.body, answer.ip) == (Kind.FETCHED, b"by proxy", "127.0.0.1")
    assert (proxy.asked, server.targets) == ([f"GET {url}"], ["/a?b"])
    assert proxy.credentials == [f"Proxy-Authorization: {basic('me:pass@word')}"]


@pytest.mark.parametrize("scheme", ["http", "socks5", "socks5h"])
async def test_tls_goes_through_a_proxy_to_the_end(scheme, tmp_path, monkeypatch):
    authority = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))

    async def page(_):
        yield reply(b"secret")

    async with proxying() as proxy, speaking(page, ssl=authority.server("far.example")) as port:
        url = f"{scheme}://me:word@127.0.0.1:{proxy.port}"
        answer = await ask(f"https://far.example:{port}/", by(url))
        wrong = await ask(f"https://near.example:{port}/", by(url, {"near.example": "1.2.3.4"}))
    assert (answer.kind, answer.body, answer.tls_verified) == (Kind.FETCHED, b"secret", True)
    assert wrong.kind is Kind.TLS_ERROR
    assert wrong.error.startswith("certificate: Hostname mismatch")
    if scheme == "http":
        assert proxy.asked[0] == f"CONNECT far.example:{port}"
        assert proxy.credentials[0] == f"Proxy-Authorization: {basic('me:word')}"
    else:
        assert proxy.asked == [f"93.184.215.14:{port}", f"1.2.3.4:{port}"], "never the name"
        assert proxy.credentials[0] == (b"me", b"word")


async def test_a_socks_proxy_without_credentials():
    async with proxying() as proxy, serving(lambda _: reply(b"there")) as server:
        url = server.url("/", "far.example")
        answer = await ask(url, by(f"socks5://127.0.0.1:{proxy.port}"))
    assert (answer.kind, answer.body, answer.ip) == (Kind.FETCHED, b"there", "127.0.0.1")
    assert proxy.asked == [f"93.184.215.14:{server.port}"]
    assert proxy.credentials == []


@pytest.mark.parametrize("scheme", ["http", "socks5"])
@pytest.mark.parametrize(
    "target",
    ["http://near.example/", "https://near.example/", "http://10.0.0.1/", "http://[::1]/",
     "http://169.254.169.254/latest/", "https://[::ffff:192.168.0.1]/"],
)  # fmt: skip
async def test_a_proxy_does_not_hear_of_a_refused_target(scheme, target):
    async with proxying() as proxy:
        answer = await ask(target, by(f"{scheme}://127.0.0.1:{proxy.port}"))
    assert (answer.kind, answer.error) == (Kind.BLOCKED_ADDRESS, "not a public address")
    assert proxy.asked == []


@pytest.mark.parametrize("scheme", ["http", "socks5"])
@pytest.mark.parametrize("target", ["http://far.example/", "https://far.example/"])
async def test_a_proxy_has_to_pass_the_guard_too(scheme, target):
    async with proxying() as proxy:
        url = f"{scheme}://127.0.0.1:{proxy.port}"
        answer = await ask(target, by(url, allow_networks=()))
    assert answer.kind is Kind.BLOCKED_ADDRESS
    assert proxy.asked == []


@pytest.mark.parametrize("scheme", ["http", "socks5"])
async def test_a_target_without_an_address(scheme):
    config = by(f"{scheme}://127.0.0.1:9", allow_networks=("127.0.0.0/8",))
    dns = Dns(nameservers=("127.0.0.1:1",), timeout=0.2)
    answer = await ask("http://nowhere.invalid/", Config(dns=dns, fetch=config.fetch))
    assert answer.kind is Kind.DNS_ERROR


@pytest.mark.parametrize("scheme", ["http", "socks5"])
async def test_a_proxy_without_an_address_is_no_fault_of_the_targets_name(scheme):
    config = by(f"{scheme}://nowhere.invalid")
    dns = Dns(nameservers=("127.0.0.1:1",), timeout=0.2, overrides=config.dns.overrides)
    answer = await ask("http://far.example/", Config(dns=dns, fetch=config.fetch))
    assert (answer.kind, answer.nameless, answer.ours) == (Kind.CONNECT_ERROR, False, False)
    assert answer.error.startswith("the proxy: ")


@pytest.mark.parametrize(
    ("scheme", "target", "error"),
    [
        ("http", "http://far.example/", "the proxy answers 407 Who are you"),
        ("http", "https://far.example/", "the proxy answers 407 Who are you"),
        ("socks5", "http://far.example/", "the proxy says: Connection not allowed by ruleset"),
    ],
)
async def test_a_proxy_that_refuses(scheme, target, error):
    async with proxying() as proxy:
        proxy.refuses = True
        answer = await ask(target, by(f"{scheme}://me:secretword@127.0.0.1:{proxy.port}"))
    assert answer.kind is Kind.CONNECT_ERROR
    assert answer.error.startswith(error)
    assert "secretword" not in answer.error


@pytest.mark.parametrize("scheme", ["http", "https", "socks5"])
async def test_a_proxy_that_is_not_there(scheme):
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        answer = await ask(
            "http://far.example/", by(f"{scheme}://u:secretword@127.0.0.1:{held.getsockname()[1]}")
        )
    assert answer.kind is Kind.CONNECT_ERROR
    assert "refused" in answer.error.lower()
    assert "secretword" not in answer.error


async def test_a_socks_proxy_that_stalls_is_a_connect_that_times_out():
    async def silent(_, writer):
        await asyncio.Event().wait()

    async with listening(silent) as port:
        url = f"socks5://127.0.0.1:{port}"
        answer = await ask("http://far.example/", by(url, connect_timeout=0.1))
    assert (answer.kind, answer.error) == (Kind.TIMEOUT, "connect timed out after 0.1 s")
