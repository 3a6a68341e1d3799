"""robots.txt where the way there is in trouble: the host's name, or a proxy."""

import time

import pytest

from crawler.fetch.client import Client
from crawler.fetch.names import FAILURE_TTL, VERDICT_TTL
from crawler.outcomes import Kind
from tests.crawler.fetch.proxies import proxying
from tests.crawler.fetch.raw_server import reply, serving
from tests.crawler.fetch.visiting import DENIED, RULES, configured, site, visit
from tests.dns_server import SILENCE, NameServer, Reply

UNUSED = (0, 1)


class Visits:
    """Visits of one named host by a client that stays, with a clock that can be put forward."""

    def __init__(self, names, server, **options):
        self.ahead = 0.0
        self._origin = f"http://site.test:{server.port}"
        self._config = configured(
            **{"dns.nameservers": [names.address], "dns.timeout": 0.3}, **options
        )
        self.client = Client(self._config, self.now)

    def now(self):
        return time.time() + self.ahead

    async def __call__(self):
        return await visit(self._origin, self.client, self._config, clock=self.now)


@pytest.fixture
async def names():
    async with NameServer() as server:
        server.say("live.test", Reply(a=["127.0.0.1"]))
        yield server


@pytest.fixture
async def server():
    async with serving(site(reply(RULES)), keep=False) as server:
        yield server


def recovered(report, rows, server):
    """Whether the rules were fetched, once, and obeyed."""
    assert (report.robots_failure, report.incident, report.unused) == (None, None, ())
    assert rows == {"/open": Kind.FETCHED, "/secret": Kind.ROBOTS_DENIED}
    return server.targets == ["/robots.txt", *DENIED]


@pytest.mark.slow
@pytest.mark.parametrize("says", [Reply(rcode="SERVFAIL"), Reply(rcode="REFUSED"), SILENCE])
async def test_a_name_that_cannot_be_told_forbids_all_until_it_recovers(names, server, says):
    names.say("site.test", says)
    visits = Visits(names, server)
    async with visits.client:
        report, rows = await visits()
        assert (rows, report.unused, report.robots) == ({}, UNUSED, ())
        assert report.robots_failure.startswith("http://site.test")
        assert report.incident.kind is Kind.DNS_ERROR
        assert server.targets == []
        names.say("site.test", Reply(a=["127.0.0.1"]))
        visits.ahead += FAILURE_TTL
        assert recovered(*await visits(), server)


@pytest.mark.slow
async def test_silence_of_all_name_servers_is_no_word_on_anybodys_rules(names, server):
    names.say("site.test", Reply(a=["127.0.0.1"]))
    names.mute = True
    visits = Visits(names, server)
    async with visits.client:
        report, rows = await visits()
        assert (rows, report.unused, report.robots) == ({}, UNUSED, ())
        assert (report.robots_failure, report.incident) == (None, None)
        assert report.not_before > visits.now()
        assert server.targets == []
        names.mute = False
        visits.ahead += VERDICT_TTL
        assert recovered(*await visits(), server)


@pytest.mark.parametrize("says", [Reply(rcode="NXDOMAIN", soa=0), Reply(soa=0)])
async def test_a_host_without_a_name_has_no_rules_and_no_pages_until_it_recovers(
    names, server, says
):
    names.say("site.test", says)
    visits = Visits(names, server)
    async with visits.client:
        report, rows = await visits()
        assert rows == dict.fromkeys(["/open", "/secret"], Kind.DNS_ERROR)
        assert (report.robots_failure, report.robots, report.unused) == (None, (), ())
        assert server.targets == []
        names.say("site.test", Reply(a=["127.0.0.1"]))
        visits.ahead += 60.0  # `dns.negative_ttl`
        assert recovered(*await visits(), server)


@pytest.mark.parametrize("scheme", ["http", "socks5"])
async def test_rules_come_through_a_proxy(names, server, scheme):
    names.say("site.test", Reply(a=["127.0.0.1"]))
    async with proxying() as proxy:
        visits = Visits(names, server, **{"fetch.proxy": f"{scheme}://127.0.0.1:{proxy.port}"})
        async with visits.client:
            assert recovered(*await visits(), server)
    assert len(proxy.asked) == 2


@pytest.mark.parametrize("scheme", ["http", "socks5"])
async def test_a_proxy_that_lets_nobody_through_forbids_all_until_it_recovers(
    names, server, scheme
):
    """Its 407 is not the site's: as an answer for a robots.txt it would allow all."""
    names.say("site.test", Reply(a=["127.0.0.1"]))
    async with proxying() as proxy:
        proxy.refuses = True
        visits = Visits(names, server, **{"fetch.proxy": f"{scheme}://127.0.0.1:{proxy.port}"})
        async with visits.client:
            report, rows = await visits()
            assert (rows, report.unused, report.robots) == ({}, UNUSED, ())
            assert report.incident.kind is Kind.CONNECT_ERROR
            assert len(proxy.asked) == 1
            proxy.refuses = False
            assert recovered(*await visits(), server)


@pytest.mark.parametrize("scheme", ["http", "socks5"])
async def test_a_proxy_that_is_gone_forbids_all(names, server, scheme):
    names.say("site.test", Reply(a=["127.0.0.1"]))
    async with proxying() as proxy:
        pass
    visits = Visits(names, server, **{"fetch.proxy": f"{scheme}://127.0.0.1:{proxy.port}"})
    async with visits.client:
        report, rows = await visits()
    assert (rows, report.unused) == ({}, UNUSED)
    assert report.robots_failure.startswith("http://site.test")
    assert report.incident.kind is Kind.CONNECT_ERROR
