"""Hosts of one address take turns; judged from what each was asked, and when."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.frontier.frontier import Frontier
from crawler.frontier.host import Host
from crawler.frontier.politeness import Clock
from crawler.frontier.records import HostRecord
from crawler.frontier.shared import Shared
from tests.crawler.frontier.builders import config, link, links, report

NOW = 1_000_000.0
ADDRESS_DELAY = 3.0
CONFIG = config(politeness={"delay": 1.0, "address_delay": ADDRESS_DELAY})
HOSTS = ("a.example", "b.example", "c.example", "d.example")


class Server:
    """Answers whatever is leased at once, and checks that an address is asked once at a time, and not too soon."""

    def __init__(self, folder, addresses):
        self.folder, self.addresses = folder, addresses
        self.now = NOW
        self.last = {}
        self.asked = []
        self.lookups = 0
        self.lent = []
        self.open()

    def open(self):
        self.frontier = Frontier(self.folder, CONFIG, rng=random.Random(1), now=self.now)

    def lease(self):
        lease = self.frontier.lease(self.now, deadline=self.now, max_hosts=9, max_urls=9)
        for host in lease.hosts if lease else ():
            assert host.delay == ADDRESS_DELAY
            at = self.addresses[host.host]
            others = {self.addresses[other.host] for other in self.lent if other.address}
            assert not host.address or at not in others, "two hosts of an address at once"
            self.lent.append(host)

    def answer(self):
        """The lent host that waits longest comes back."""
        host = self.lent.pop(0)
        at, keys = self.addresses[host.host], tuple(url.key for url in host.urls)
        if not host.address:
            self.lookups += 1
            back = report(host.host, self.now, ended_at=None, successes=0, unused=keys, address=at)
        else:
            assert self.now >= self.last.get(at, 0.0) + ADDRESS_DELAY
            self.last[at] = self.now
            self.asked.append(host.host)
            back = report(host.host, self.now + ADDRESS_DELAY, ended_at=self.now)
        self.frontier.report([back], self.now)

    def run(self):
        while True:
            self.lease()
            if self.lent:
                self.answer()
                continue
            ready = self.frontier.next_ready(self.now)
            if ready is None:
                return
            assert ready > self.now
            self.now = ready


def test_a_host_that_has_moved_does_not_shorten_the_delay_of_where_it_is_now():
    shared = Shared(ADDRESS_DELAY)
    here, moved = (
        Host(7, f"{at}.example", HostRecord("example", 0, 0, Clock(), None, at)) for at in "xy"
    )
    for host in (here, moved):
        shared.lend(host)
    shared.end_loan(here, NOW + 10, None, NOW)
    shared.end_loan(moved, NOW + 9, "x", NOW)
    assert moved.address == "x"
    assert shared.moment(moved) == NOW + 10 + ADDRESS_DELAY


def test_only_addresses_whose_delay_is_over_are_forgotten(monkeypatch):
    monkeypatch.setattr("crawler.frontier.shared._KEPT", 2)
    shared = Shared(ADDRESS_DELAY)
    for at in range(4):
        host = Host(7, f"{at}.example", HostRecord("example", 0, 0, Clock(), None, f"{at}"))
        shared.lend(host)
        shared.end_loan(host, NOW + at, None, NOW + at)
    assert sorted(shared._free_at) == ["1", "2", "3"]
    assert shared.moment(host) == NOW + 3 + ADDRESS_DELAY


@pytest.fixture
def served(tmp_path):
    servers = []

    def serve(addresses, urls=2):
        servers.append(Server(tmp_path, addresses))
        names = [(name, number) for name in addresses for number in range(urls)]
        rows = [link(name, key=key) for key, (name, _) in enumerate(names)]
        servers[0].frontier.discover(links(*rows), NOW)
        return servers[0]

    yield serve
    servers[0].frontier.check()
    servers[0].frontier.close()


def test_hosts_of_an_address_take_turns_and_others_do_not_wait(served):
    server = served({"a.example": "1", "b.example": "1", "c.example": "1", "d.example": "2"})
    server.run()
    assert server.lookups == 4
    turns = [name for name in server.asked if name != "d.example"]
    assert sorted(turns[:3]) == ["a.example", "b.example", "c.example"]
    assert turns[3:] == turns[:3]
    assert server.now == NOW + 5 * ADDRESS_DELAY
    assert server.asked.index("d.example") < 4


def test_the_address_and_its_delay_survive_a_restart(served):
    server = served({"a.example": "1", "b.example": "1"}, urls=3)
    for _ in range(3):
        server.lease()
        server.answer()
    assert len(server.asked) == 1
    server.frontier.close()
    server.lent.clear()
    server.open()
    assert server.frontier.next_ready(server.now) == server.now + ADDRESS_DELAY
    server.run()
    assert server.lookups == 2


def test_a_host_that_moved_belongs_to_its_new_address_from_then_on(served):
    server = served({"a.example": "1", "b.example": "2"}, urls=1)
    for _ in HOSTS[:2]:
        server.lease()
        server.answer()
    server.frontier.discover(links(link("a.example", 10), link("b.example", 11)), server.now)
    server.lease()
    first = server.lent.pop(0)
    # b, say, answers from the address of a
    other = ({"a.example", "b.example"} - {first.host}).pop()
    there = server.addresses[other]
    moved = report(first.host, server.now + 3, ended_at=server.now, address=there)
    server.frontier.release([other], server.now)
    server.frontier.report([moved], server.now)
    server.addresses[first.host] = there
    server.lent.clear()
    server.now += 2.9
    server.lease()
    assert server.lent == []


def test_a_lost_lease_may_have_asked_until_now(served):
    server = served({"a.example": "1", "b.example": "1"}, urls=1)
    for _ in range(2):
        server.lease()
        server.answer()
    server.lease()
    [host] = server.lent
    server.frontier.abandon([url.key for url in host.urls])
    server.frontier.release([host.host], server.now + 5.0)
    assert server.frontier.next_ready(server.now) == server.now + 5.0 + ADDRESS_DELAY
    server.lent.clear()


@settings(max_examples=40)
@given(
    addresses=st.lists(st.sampled_from("12"), min_size=4, max_size=4),
    steps=st.lists(st.sampled_from(["lease", "answer", "wait", "crash"]), max_size=30),
)
def test_an_address_is_one_host_whatever_happens(tmp_path_factory, addresses, steps):
    server = Server(tmp_path_factory.mktemp("shared"), dict(zip(HOSTS, addresses, strict=True)))
    rows = [link(name, 10 * n + m) for n, name in enumerate(HOSTS) for m in range(3)]
    server.frontier.discover(links(*rows), NOW)
    for step in steps:
        if step == "lease":
            server.lease()
        elif step == "answer" and server.lent:
            server.answer()
        elif step == "wait":
            server.now += 1.0
        elif step == "crash":
            for host in server.lent:
                server.last[server.addresses[host.host]] = server.now
            server.lent.clear()
            server.frontier.close()
            server.open()
        server.frontier.check()
    server.frontier.close()


def test_hosts_that_are_gone_leave_nothing_behind(served):
    server = served({"a.example": "1"}, urls=1)
    server.run()
    shared = server.frontier._places._shared
    assert (shared._members, shared._lent) == ({}, {})


def test_a_lease_in_which_only_the_address_is_found_has_one_url(tmp_path):
    frontier = Frontier(tmp_path, CONFIG, rng=random.Random(1), now=NOW)
    frontier.discover(links(*(link(key=key) for key in range(5))), NOW)
    terms = {"deadline": NOW + 60, "max_hosts": 9, "max_urls": 9}
    (host,) = frontier.lease(NOW, **terms).hosts
    keys = tuple(url.key for url in host.urls)
    assert (host.address, len(keys)) == ("", 1)
    back = report(host.host, NOW, ended_at=None, successes=0, unused=keys, address="192.0.2.1")
    frontier.report([back], NOW)
    (host,) = frontier.lease(NOW, **terms).hosts
    assert (host.address, len(host.urls)) == ("192.0.2.1", 5)
    frontier.close()
