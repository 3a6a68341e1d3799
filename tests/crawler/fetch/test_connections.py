"""Connections as something that may run out: no host pays for it, and none is kept longer than it is of use."""

import asyncio
import errno
import logging
import os
import time
from pathlib import Path

import pytest

from crawler.config import Config, Dns, Runtime
from crawler.fetch import exchange
from crawler.fetch.client import Client
from crawler.fetch.connector import KEPT, Connector
from crawler.outcomes import Kind
from tests.crawler.fetch.asking import ask, configured
from tests.crawler.fetch.certificates import Authority
from tests.crawler.fetch.raw_server import listening, reply, serving
from tests.crawler.fetch.visiting import configured as visiting
from tests.crawler.fetch.visiting import visit

PAGE = reply(b"page")


def open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture
def lacking(monkeypatch):
    """Afterwards opening a socket fails so, for an address that begins so."""

    def lack(number, ip=""):
        make = Connector._socket

        def fail(self, address):
            if address[4][0].startswith(ip):
                raise OSError(number, os.strerror(number))
            return make(self, address)

        monkeypatch.setattr(Connector, "_socket", fail)

    return lack


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM])
async def test_what_we_have_run_out_of_is_no_fault_of_the_host(lacking, caplog, number):
    lacking(number)
    async with serving(lambda _: PAGE) as server:
        answer = await ask(server.url())
    assert (answer.kind, answer.ours) == (Kind.CONNECT_ERROR, True)
    assert answer.error == f"no connection can be opened from here: {os.strerror(number)}"
    assert caplog.record_tuples == [
        ("crawler.fetch.connector", logging.WARNING, f"{answer.error}; hosts have to wait")
    ]


async def test_nor_if_another_of_its_addresses_refuses(lacking):
    lacking(errno.EMFILE, ip="127.0.0.2")
    dns = Dns(overrides={"name.example": ("127.0.0.2", "127.0.0.1")})
    answer = await ask("http://name.example:1/", Config(fetch=configured().fetch, dns=dns))
    assert answer.ours


@pytest.mark.parametrize(("host", "ours"), [("127.0.0.1", True), ("[::1]", False)])
async def test_a_port_to_connect_from(monkeypatch, host, ours):
    async def connect(*_):
        raise OSError(errno.EADDRNOTAVAIL, "Connect call failed")

    monkeypatch.setattr(asyncio.get_running_loop(), "sock_connect", connect)
    answer = await ask(f"http://{host}:1/")
    assert (answer.kind, answer.ours) == (Kind.CONNECT_ERROR, ours)


async def test_a_host_that_could_not_be_asked_goes_back_untouched(lacking):
    lacking(errno.EMFILE)
    config = visiting()
    async with Client(config, time.time) as client:
        report, rows = await visit("http://127.0.0.1:1", client, config)
    assert (rows, report.incident, report.retries, report.robots_failure) == ({}, None, (), None)
    assert report.unused == (0, 1)
    assert report.not_before == pytest.approx(time.time() + config.dns.retry_wait, abs=5)


async def test_of_unused_connections_the_oldest_are_closed():
    config = Config(fetch=configured().fetch, runtime=Runtime(lease_hosts=2))
    hosts = [f"127.0.0.{n}" for n in range(1, 9)]
    async with serving(lambda _: PAGE) as server, Client(config, time.time) as client:
        limits = exchange.page_limits(config)
        for host in hosts:
            await client.get(server.url(host=host), limits)
        for host in reversed(hosts):
            await client.get(server.url(host=host), limits)
        assert server.connections == 2 * len(hosts) - 2 * KEPT


async def test_a_tls_server_that_does_not_say_goodbye_is_not_waited_for(tmp_path, monkeypatch):
    authority, opened = Authority(tmp_path), []
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))

    async def handle(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.transport.pause_reading()
        opened.append(open_files())
        writer.write(reply(b"page", headers=("Connection: close",)))
        await asyncio.Event().wait()

    config = configured()
    async with (
        listening(handle, ssl=authority.server("127.0.0.1")) as port,
        Client(config, time.time) as client,
    ):
        answer = await client.get(f"https://127.0.0.1:{port}/", exchange.page_limits(config))
        await asyncio.sleep(0.05)
        assert answer.kind is Kind.FETCHED
        assert open_files() < opened[0]


async def test_every_address_is_tried_once(monkeypatch):
    tried = []
    monkeypatch.setattr(Connector, "_allow", lambda _, ip: tried.append(ip))
    ips = tuple(f"127.0.0.{n}" for n in range(1, 6))
    dns = Dns(overrides={"name.example": ips})
    answer = await ask("http://name.example:1/", Config(fetch=configured().fetch, dns=dns))
    assert answer.kind is Kind.CONNECT_ERROR
    assert tried == list(ips)


@pytest.mark.parametrize("order", [1, -1])
async def test_a_host_of_which_one_address_is_refused_and_one_is_dead_is_not_blocked(order):
    fetch = configured(allow_private=False, allow_networks=("127.0.0.1",)).fetch
    dns = Dns(overrides={"name.example": ("127.0.0.1", "127.0.0.2")[::order]})
    answer = await ask("http://name.example:1/", Config(fetch=fetch, dns=dns))
    assert answer.kind is Kind.CONNECT_ERROR
    assert "not a public address" in answer.error


@pytest.mark.parametrize(
    "late", [reply(b"another page"), reply(status="408 Request Timeout"), b"\r\n"]
)
async def test_what_comes_unasked_is_not_the_answer_to_the_next_request(late):
    said = asyncio.Event()

    async def handle(reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        writer.write(reply(head.split()[1]))
        if head.startswith(b"GET /first"):
            await asyncio.sleep(0.02)
            writer.write(late)
            said.set()
        await reader.read()

    config = configured()
    limits = exchange.page_limits(config)
    async with listening(handle) as port, Client(config, time.time) as client:
        first = await client.get(f"http://127.0.0.1:{port}/first", limits)
        await said.wait()
        await asyncio.sleep(0.02)
        second = await client.get(f"http://127.0.0.1:{port}/second", limits)
    assert (first.body, second.body) == (b"/first", b"/second")
