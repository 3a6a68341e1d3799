"""A lease over hosts whose names are known, do not exist, or cannot be asked for at the moment."""

import time

import pytest

from crawler.config import Config, Dns, Fetch, Runtime
from crawler.fetch.client import Client
from crawler.fetch.names import VERDICT_TTL
from crawler.fetch.serve import serve
from crawler.frontier.lease import HostLease, Lease, LeasedUrl
from crawler.outcomes import Kind
from tests.crawler.fetch.raw_server import reply, serving
from tests.dns_server import SILENCE, NameServer, Reply


class Crawl:
    """A client that stays, and a clock that can be put forward."""

    def __init__(self, names, port, **dns):
        self.ahead = 0.0
        self.port = port
        self.config = Config(
            fetch=Fetch(allow_private=True),
            dns=Dns(nameservers=(names.address,), **dns),
            runtime=Runtime(batch_seconds=0.01),
        )
        self.client = Client(self.config, self.now)

    def now(self):
        return time.time() + self.ahead

    async def serve(self, *hosts):
        """Three URLs of each host, a minute between them if they are asked for; the rows and the reports by host."""
        leases = tuple(
            HostLease(name, name, 1, 0.0, 60.0 if name == "gone.test" else 0.0, (), self.urls(name))
            for name in hosts
        )
        rows, reports = {name: [] for name in hosts}, {}

        async def emit(batch, delivery):
            for row in batch.to_pylist() if batch is not None else ():
                rows[row["host"]].append(row)
            reports.update((report.host, report) for report in delivery.reports)

        lease = Lease(1, 0, 1, self.now() + 20, leases)
        await serve(lease, self.client, self.config, clock=self.now, emit=emit)
        return rows, reports

    def urls(self, name):
        return tuple(
            LeasedUrl(number, f"http://{name}:{self.port}/{number}", 1, 0, 0, 0, 0, None, "link")
            for number in range(3)
        )


@pytest.fixture
async def names():
    async with NameServer(otherwise=Reply(a=["127.0.0.1"])) as server:
        yield server


@pytest.fixture
async def web():
    async with serving(lambda _: reply(b"<p>")) as server:
        yield server


@pytest.mark.parametrize(
    ("says", "error"),
    [(Reply(rcode="NXDOMAIN"), "no such name"), (Reply(), "the name has no address")],
)
async def test_all_urls_of_a_host_without_a_name_end_at_once(names, web, says, error):
    names.say("gone.test", says)
    crawl = Crawl(names, web.port)
    async with crawl.client:
        began = time.monotonic()
        rows, reports = await crawl.serve("gone.test")
    assert time.monotonic() - began < 5, "it waited for the host's delay"
    assert [(row["kind"], row["error"]) for row in rows["gone.test"]] == [
        (Kind.DNS_ERROR, error)
    ] * 3
    assert reports["gone.test"].incident is None
    assert names.names() == ["gone.test"]


async def test_a_name_whose_servers_fail_is_an_incident_of_its_host(names, web):
    names.say("bad.test", Reply(rcode="SERVFAIL"))
    crawl = Crawl(names, web.port)
    async with crawl.client:
        rows, reports = await crawl.serve("bad.test")
    assert rows["bad.test"] == []
    assert reports["bad.test"].incident.kind is Kind.DNS_ERROR
    assert reports["bad.test"].not_before is None


@pytest.mark.slow
async def test_a_dead_resolver_stops_nobody_whose_name_is_known_and_is_held_against_nobody(
    names, web
):
    crawl = Crawl(names, web.port, timeout=0.3, retry_wait=30)
    async with crawl.client:
        rows, _ = await crawl.serve("known.test")
        assert len(rows["known.test"]) == 3

        names.mute = True
        rows, reports = await crawl.serve("known.test", "new.test", "other.test")
        assert [row["kind"] for row in rows["known.test"]] == [Kind.FETCHED] * 3
        for name in ("new.test", "other.test"):
            report = reports[name]
            assert rows[name] == []
            assert (report.incident, report.robots_failure, report.retries) == (None, None, ())
            assert (report.unused, report.ended_at) == ((0, 1, 2), None)
            assert 10 < report.not_before - crawl.now() <= 30

        names.mute = False
        crawl.ahead += VERDICT_TTL
        rows, _ = await crawl.serve("new.test", "other.test")
        assert [len(rows[name]) for name in ("new.test", "other.test")] == [3, 3]


@pytest.mark.slow
async def test_a_silent_name_beside_servers_that_live_is_an_incident_of_its_host(names, web):
    names.say("dumb.test", SILENCE)
    crawl = Crawl(names, web.port, timeout=0.3)
    async with crawl.client:
        rows, reports = await crawl.serve("dumb.test", "well.test")
    assert len(rows["well.test"]) == 3
    assert reports["dumb.test"].incident.kind is Kind.DNS_ERROR
    assert reports["dumb.test"].not_before is None


@pytest.mark.slow
async def test_when_patience_is_over_a_dead_resolver_counts_as_any_failure(names, web):
    names.mute = True
    crawl = Crawl(names, web.port, timeout=0.3, patience=100)
    async with crawl.client:
        _, reports = await crawl.serve("a.test")
        assert reports["a.test"].incident is None
        crawl.ahead += 101
        _, reports = await crawl.serve("a.test")
        assert reports["a.test"].incident.kind is Kind.DNS_ERROR
