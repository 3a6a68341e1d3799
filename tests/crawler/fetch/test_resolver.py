"""Names to addresses: the cache, the overrides, a real name server on loopback."""

import asyncio
import struct
import time
from contextlib import asynccontextmanager

import pytest

from crawler.config import Dns
from crawler.fetch.resolver import AddressCache, Resolver


def test_an_answer_is_kept_for_its_ttl_within_the_bounds():
    cache = AddressCache(Dns(min_ttl=10, max_ttl=100))
    for name, ttl, kept in (("short", 1, 10), ("fair", 50, 50), ("long", 9999, 100)):
        cache.found(name, ("192.0.2.1",), ttl, 1000.0)
        assert cache.get(name, 1000.0 + kept - 0.1).ips == ("192.0.2.1",)
        assert cache.get(name, 1000.0 + kept) is None


def test_a_failure_is_kept_for_a_while():
    cache = AddressCache(Dns(negative_ttl=5))
    cache.failed("none", "no such name", 0.0)
    assert cache.get("none", 4.9).error == "no such name"
    assert cache.get("none", 5.0) is None


def test_the_oldest_names_are_forgotten():
    cache = AddressCache(Dns(), size=2)
    for name in ("a", "b", "a", "c"):
        cache.found(name, (name,), 60, 0.0)
    assert [cache.get(name, 1.0) is not None for name in "abc"] == [True, False, True]


class _NameServer(asyncio.DatagramProtocol):
    """Knows a few names; `asked` lists the questions for IPv4."""

    def __init__(self, known):
        self.known = known
        self.asked = []

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, query, peer):
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1 : at + 1 + query[at]].decode())
            at += query[at] + 1
        question = query[12 : at + 5]
        name, (kind,) = ".".join(labels), struct.unpack(">H", query[at + 1 : at + 3])
        if kind == 1:
            self.asked.append(name)
        ips = self.known.get(name)
        if ips is Ellipsis:
            return
        answers = b"".join(
            b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 90, 4) + bytes(map(int, ip.split(".")))
            for ip in (ips or ()) if kind == 1
        )  # fmt: skip
        flags = 0x8180 if ips is not None else 0x8183
        count = len(ips or ()) if kind == 1 else 0
        head = query[:2] + struct.pack(">HHHHH", flags, 1, count, 0, 0)
        self.transport.sendto(head + question + answers, peer)


@asynccontextmanager
async def name_server(known, **options):
    loop = asyncio.get_running_loop()
    transport, server = await loop.create_datagram_endpoint(
        lambda: _NameServer(known), local_addr=("127.0.0.1", 0)
    )
    port = transport.get_extra_info("sockname")[1]
    resolver = Resolver(Dns(nameservers=(f"127.0.0.1:{port}",), **options), time.time)
    try:
        yield server, resolver
    finally:
        await resolver.close()
        transport.close()


async def test_a_name_is_asked_once_and_remembered():
    async with name_server({"a.example": ["192.0.2.1", "192.0.2.2"]}) as (server, resolver):
        for _ in range(2):
            found = await resolver.resolve("a.example", 80)
            assert {result["host"] for result in found} == {"192.0.2.1", "192.0.2.2"}
            assert {result["port"] for result in found} == {80}
        assert server.asked == ["a.example"]


@pytest.mark.parametrize("name", ["gone.example", "empty.example"])
async def test_a_name_without_addresses_is_an_error_with_a_reason_and_remembered(name):
    async with name_server({"empty.example": []}) as (server, resolver):
        for _ in range(2):
            with pytest.raises(OSError, match=r"\w") as caught:
                await resolver.resolve(name, 80)
            assert caught.value.errno is None
        assert server.asked.count(name) == 1


async def test_servers_that_do_not_answer_are_waited_for_so_long_and_no_longer():
    async with name_server({"dumb.example": ...}, timeout=0.1) as (_, resolver):
        with pytest.raises(OSError, match=r"(?i)time|answer"):
            await resolver.resolve("dumb.example", 80)


async def test_an_override_asks_nobody():
    async with name_server({}, overrides={"a.example": "::1"}) as (server, resolver):
        (found,) = await resolver.resolve("a.example", 443)
        assert (found["host"], found["port"]) == ("::1", 443)
        assert server.asked == []
