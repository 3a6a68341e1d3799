"""Names to addresses, against real name servers on loopback."""

import asyncio
import socket
import time
from contextlib import asynccontextmanager

import pytest

from crawler.config import Dns
from crawler.fetch.names import (
    VERDICT_TTL,
    NoAddressError,
    NoSuchNameError,
    ResolutionError,
    ResolverBusyError,
    ResolverDownError,
    ServerFailedError,
)
from crawler.fetch.resolver import Resolver
from tests.dns_server import GONE, SILENCE, NameServer, Reply

FOUND = Reply(a=["192.0.2.1"])


class Clock:
    """Stands still until it is told to go on."""

    now = 1000.0

    def __call__(self):
        return self.now


@asynccontextmanager
async def resolving(*servers, clock=time.time, **options):
    """A resolver that asks `servers`, given as `NameServer` or as text."""
    addresses = tuple(getattr(server, "address", server) for server in servers)
    resolver = Resolver(Dns(nameservers=addresses, **options), clock)
    try:
        yield resolver
    finally:
        await resolver.close()


def closed_port():
    """The address of a port on which nobody listens."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{taken.getsockname()[1]}"


async def test_a_name_is_asked_once_and_remembered_with_all_its_addresses():
    async with NameServer() as server, resolving(server) as resolver:
        server.say("a.example", Reply(a=["192.0.2.1", "192.0.2.2"], aaaa=["2001:db8::1"]))
        for _ in range(2):
            found = await resolver.resolve("a.example", 80)
            assert {(one["host"], one["family"]) for one in found} == {
                ("192.0.2.1", socket.AF_INET), ("192.0.2.2", socket.AF_INET),
                ("2001:db8::1", socket.AF_INET6),
            }  # fmt: skip
            assert {one["port"] for one in found} == {80}
        assert server.names("A") == server.names("AAAA") == ["a.example"]


async def test_case_and_a_last_dot_make_no_other_name():
    async with NameServer() as server, resolving(server) as resolver:
        server.say("a.example", FOUND)
        for host in ("a.example", "A.Example", "a.example."):
            assert await resolver.find(host) == ("192.0.2.1",)
        assert server.names() == ["a.example"]


@pytest.mark.parametrize(
    ("ttl", "min_ttl", "max_ttl", "kept"), [(0, 20, 100, 20), (50, 20, 100, 50), (900, 20, 100, 100)]
)  # fmt: skip
async def test_an_answer_is_used_for_its_ttl_within_the_bounds(ttl, min_ttl, max_ttl, kept):
    clock = Clock()
    async with (
        NameServer() as server,
        resolving(server, clock=clock, min_ttl=min_ttl, max_ttl=max_ttl) as resolver,
    ):
        server.say("a.example", Reply(a=["192.0.2.1"], ttl=ttl))
        await resolver.find("a.example")
        clock.now += kept - 1
        await resolver.find("a.example")
        assert len(server.names()) == 1
        if ttl in (0, 900):  # what c-ares keeps goes by the time of day
            clock.now += 2
            await resolver.find("a.example")
            assert len(server.names()) == 2


@pytest.mark.parametrize("says", [Reply(soa=0), Reply(soa=None), Reply(rcode="NXDOMAIN", soa=0)])
async def test_a_name_without_an_address_is_asked_for_again_in_time(says):
    clock = Clock()
    async with NameServer() as server, resolving(server, clock=clock, negative_ttl=30) as resolver:
        server.say("a.example", says)
        for seconds, asked in ((0, 1), (29, 1), (1, 2)):
            clock.now += seconds
            with pytest.raises(ResolutionError):
                await resolver.find("a.example")
            assert len(server.names()) == asked
        server.say("a.example", FOUND)
        clock.now += 30
        assert await resolver.find("a.example") == ("192.0.2.1",)


async def test_an_alias_may_hold_for_a_shorter_time_than_its_addresses():
    clock = Clock()
    async with NameServer() as server, resolving(server, clock=clock, min_ttl=0) as resolver:
        server.say("a.example", Reply(cname="b.example", ttl=0))
        server.say("b.example", FOUND)
        assert await resolver.find("a.example") == ("192.0.2.1",)
        server.say("b.example", Reply(a=["192.0.2.2"]))
        assert await resolver.find("a.example") == ("192.0.2.2",)


@pytest.mark.parametrize(
    ("host", "error", "text"),
    [
        ("gone.example", NoSuchNameError, "no such name"),
        ("empty.example", NoAddressError, "the name has no address"),
        ("failed.example", ServerFailedError, "the name servers could not say: .*general failure"),
        ("refused.example", ServerFailedError, "the name servers could not say: .*refused"),
        (f"{'a' * 64}.example", NoSuchNameError, "not a name that DNS can have"),
        ("a..example", NoSuchNameError, "not a name that DNS can have"),
        # As a.example it would be a second host with the same server.
        ("a.example..", NoSuchNameError, "not a name that DNS can have"),
    ],
)
async def test_why_there_is_no_address_is_told_and_remembered(host, error, text):
    async with NameServer() as server, resolving(server) as resolver:
        server.say("empty.example", Reply())
        server.say("failed.example", Reply(rcode="SERVFAIL"))
        server.say("refused.example", Reply(rcode="REFUSED"))
        server.say("a.example", FOUND)
        with pytest.raises(error, match=text):
            await resolver.find(host)
        asked = len(server.asked)
        with pytest.raises(error, match=text):
            await resolver.resolve(host, 80)
        assert len(server.asked) == asked


async def test_one_missing_family_does_not_hide_that_the_other_failed():
    async with NameServer() as server, resolving(server) as resolver:
        server.say("a.example", Reply(rcode="SERVFAIL"), kinds=["A"])
        server.say("a.example", Reply(), kinds=["AAAA"])
        with pytest.raises(ServerFailedError):
            await resolver.find("a.example")


async def test_an_answer_too_long_for_a_datagram_is_asked_for_over_tcp():
    async with NameServer() as server, resolving(server) as resolver:
        server.say("a.example", Reply(a=["192.0.2.1"], truncated=True))
        assert await resolver.find("a.example") == ("192.0.2.1",)
        assert {question.transport for question in server.asked} == {"udp", "tcp"}


@pytest.mark.parametrize("rcode", ["SERVFAIL", "REFUSED"])
async def test_the_next_server_is_asked_when_one_fails(rcode):
    async with NameServer(otherwise=Reply(rcode=rcode)) as bad, NameServer() as good:
        good.say("a.example", FOUND)
        async with resolving(bad, good) as resolver:
            assert await resolver.find("a.example") == ("192.0.2.1",)
        assert bad.asked


async def test_the_next_server_is_asked_when_nobody_listens():
    async with NameServer() as good, resolving(closed_port(), good) as resolver:
        good.say("a.example", FOUND)
        assert await resolver.find("a.example") == ("192.0.2.1",)


@pytest.mark.slow
async def test_the_next_server_is_asked_when_one_is_silent_and_then_first():
    async with NameServer() as dumb, NameServer(otherwise=FOUND) as good:
        dumb.mute = True
        async with resolving(dumb, good) as resolver:
            assert await resolver.find("a.example") == ("192.0.2.1",)
            asked = len(dumb.asked)
            assert await resolver.find("b.example") == ("192.0.2.1",)
            assert len(dumb.asked) == asked


@pytest.mark.slow
async def test_a_slow_name_has_its_time_although_the_server_is_usually_fast():
    async with NameServer(otherwise=FOUND) as server, resolving(server, timeout=5) as resolver:
        for number in range(10):
            await resolver.find(f"{number}.example")
        server.say("slow.example", Reply(a=["192.0.2.9"], delay=1.2))
        assert await resolver.find("slow.example") == ("192.0.2.9",)


async def test_many_who_want_one_name_ask_once_and_one_who_gives_up_ends_it_for_nobody():
    async with NameServer() as server, resolving(server) as resolver:
        server.say("a.example", Reply(a=["192.0.2.1"], delay=0.02))
        waiting = [asyncio.create_task(resolver.find("a.example")) for _ in range(20)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        found = await asyncio.gather(*waiting, return_exceptions=True)
        assert isinstance(found[0], asyncio.CancelledError)
        assert set(found[1:]) == {("192.0.2.1",)}
        assert server.names() == ["a.example"]


async def test_so_many_names_are_asked_for_at_a_time_and_no_more():
    reply = Reply(a=["192.0.2.1"], delay=0.01)
    async with (
        NameServer(otherwise=reply) as server,
        resolving(server, concurrency=3) as resolver,
    ):
        await asyncio.gather(*(resolver.find(f"{number}.example") for number in range(15)))
        assert len(server.names()) == 15
        assert 3 <= server.most <= 6  # each is two questions


@pytest.mark.slow
async def test_who_gets_no_turn_in_time_is_told_that_it_is_our_trouble():
    async with NameServer() as server:
        server.mute = True
        async with resolving(server, concurrency=1, timeout=0.3) as resolver:
            first = asyncio.create_task(resolver.find("a.example"))
            await asyncio.sleep(0)
            with pytest.raises(ResolverBusyError):
                await resolver.find("b.example")
            with pytest.raises(ResolverDownError):
                await first


@pytest.mark.slow
async def test_a_name_whose_own_servers_are_silent_is_told_from_servers_that_are_dead():
    async with NameServer() as server, resolving(server, timeout=0.3) as resolver:
        server.say("dumb.example", SILENCE)
        with pytest.raises(ServerFailedError, match=r"no answer within 0\.3 s, though"):
            await resolver.find("dumb.example")
        probes = [name for name in server.names() if name.endswith(".invalid")]
        assert len(probes) == 1


@pytest.mark.slow
async def test_any_answer_shows_that_the_servers_live():
    refusing = Reply(rcode="REFUSED")
    async with (
        NameServer(otherwise=refusing) as server,
        resolving(server, timeout=0.3) as resolver,
    ):
        server.say("dumb.example", SILENCE)
        with pytest.raises(ServerFailedError):
            await resolver.find("dumb.example")


@pytest.mark.slow
async def test_dead_servers_are_noticed_once_believed_for_a_while_and_found_alive_again(caplog):
    clock = Clock()
    async with (
        NameServer(otherwise=FOUND) as server,
        resolving(server, clock=clock, timeout=0.3) as resolver,
    ):
        assert await resolver.find("known.example") == ("192.0.2.1",)
        server.mute = True
        with pytest.raises(ResolverDownError, match="no name server answers"):
            await resolver.find("a.example")
        asked = len(server.asked)
        with pytest.raises(ResolverDownError):
            await resolver.find("b.example")
        assert len(server.asked) == asked  # nobody waits for what is known to be in vain
        assert await resolver.find("known.example") == ("192.0.2.1",)
        clock.now += VERDICT_TTL
        with pytest.raises(ResolverDownError):
            await resolver.find("a.example")
        server.mute = False
        clock.now += VERDICT_TTL
        assert await resolver.find("a.example") == ("192.0.2.1",)
    assert [record.message for record in caplog.records] == [
        "no name server answers; hosts whose names are not known have to wait",
        "the name servers answer again",
    ]


async def test_servers_that_nobody_listens_on_are_dead_and_patience_has_an_end():
    clock = Clock()
    async with resolving(closed_port(), closed_port(), clock=clock, patience=900) as resolver:
        with pytest.raises(ResolverDownError):
            await resolver.find("a.example")
        clock.now += 900
        with pytest.raises(ResolverDownError):
            await resolver.find("a.example")
        clock.now += VERDICT_TTL
        with pytest.raises(ServerFailedError, match="no name server has answered anything for 905"):
            await resolver.find("a.example")


async def test_an_override_asks_nobody_and_may_have_several_addresses():
    given = {"A.Example.": ["192.0.2.1", "::1"], "b.example": "192.0.2.3"}
    async with NameServer() as server, resolving(server, overrides=given) as resolver:
        found = await resolver.resolve("a.example", 443)
        assert [(one["host"], one["port"]) for one in found] == [("192.0.2.1", 443), ("::1", 443)]
        assert await resolver.find("B.example.") == ("192.0.2.3",)
        assert server.asked == []
        with pytest.raises(NoSuchNameError):  # a name is that name alone
            await resolver.find("www.a.example")


async def test_addresses_and_the_names_of_this_machine_ask_nobody():
    async with NameServer(otherwise=GONE) as server, resolving(server) as resolver:
        assert await resolver.find("192.0.2.7") == ("192.0.2.7",)
        assert await resolver.find("2001:db8::7") == ("2001:db8::7",)
        assert "127.0.0.1" in await resolver.find("localhost")
        assert server.asked == []
