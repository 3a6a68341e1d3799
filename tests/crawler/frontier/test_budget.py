import random

import pytest

from crawler.frontier.budget import Ledger, host_limit
from crawler.frontier.frontier import Frontier
from crawler.frontier.host import Host
from crawler.frontier.lease import RetryLater
from crawler.frontier.politeness import Clock
from crawler.frontier.records import HostRecord
from crawler.frontier.store import Store, site_hosts_key, site_key
from crawler.outcomes import Kind
from tests.crawler.frontier.builders import config, fates, link, links, report, rows_of


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path, block_cache=1 << 20, write_buffer=1 << 20)
    yield store
    store.close()


def host(name="a.example", site="example"):
    return Host(7, name, HostRecord(site, 0, 0, Clock(), None))


def save(ledger, store):
    batch = store.batch()
    ledger.save(batch)
    store.write(batch)


def test_a_hosts_own_limit_wins_over_the_general_one():
    rules = config(
        budget={"pages_per_host": 5},
        politeness={"hosts": {"a.example": {"max_pages": 9}, "b.example": {"delay": 3}}},
    )
    assert [host_limit(rules, name) for name in ("a.example", "b.example", "c.example")] == [
        9,
        5,
        5,
    ]
    assert host_limit(config(), "a.example") is None


def test_a_host_is_let_in_up_to_its_limit(store):
    ledger = Ledger(config(budget={"pages_per_host": 2}), store)
    one, other = host("a.example"), host("b.example")
    assert [(ledger.refusal(one), ledger.change(one, 1)) for _ in range(2)] == [(None, True)] * 2
    assert ledger.refusal(one) == "budget_host"
    assert ledger.refusal(other) is None
    ledger.change(one, -1)
    assert ledger.refusal(one) is None
    assert ledger.counts == {}


def test_a_site_is_counted_over_its_hosts_and_over_batches(store):
    rules = config(budget={"pages_per_site": 3})
    ledger = Ledger(rules, store)
    assert not ledger.change(host("a.example"), 1)
    assert not ledger.change(host("b.example"), 1)
    save(ledger, store)
    ledger = Ledger(rules, store)
    assert ledger.refusal(host("c.example")) is None
    ledger.change(host("c.example"), 1)
    assert ledger.refusal(host("a.example")) == "budget_site"
    assert ledger.refusal(host("a.other", "other")) is None
    ledger.change(host("a.example"), -2)
    save(ledger, store)
    assert store.sites.get(site_key(7, "example")) == (1).to_bytes(8, "big")


def test_a_site_has_so_many_hosts_and_those_that_seeds_name(store):
    rules = config(budget={"hosts_per_site": 2})
    ledger = Ledger(rules, store)
    hosts = [host(f"{name}.example") for name in "abcd"]
    for new in hosts[:2]:
        assert ledger.refusal(new) is None
        ledger.enter(new)
        ledger.enter(new)
        assert ledger.refusal(new) is None
    assert ledger.refusal(hosts[2]) == "hosts_per_site"
    assert ledger.refusal(hosts[2], seed=True) is None
    assert ledger.refusal(host("a.other", "other")) is None
    save(ledger, store)
    ledger = Ledger(rules, store)
    hosts[0].stored = True
    assert ledger.refusal(hosts[0]) is None
    assert ledger.refusal(hosts[3]) == "hosts_per_site"
    assert store.sites.get(site_hosts_key(7, "example")) == (2).to_bytes(8, "big")


def test_without_limits_nothing_is_counted(store):
    ledger = Ledger(config(), store)
    one = host()
    assert not ledger.change(one, 1)
    assert ledger.refusal(one) is None
    assert one.admitted == 0
    save(ledger, store)
    assert store.sites.empty


def test_sitemaps_have_a_limit_of_their_own(store):
    ledger = Ledger(config(sitemaps={"max_files": 2}), store)
    one = host("a.example")
    one.sitemaps = 1
    assert ledger.refusal(one, sitemap=True) is None
    one.sitemaps = 2
    assert ledger.refusal(one, sitemap=True) == "sitemap_limit"
    assert ledger.refusal(one) is None


@pytest.mark.parametrize(
    ("limit", "reason"), [("pages_per_host", "budget_host"), ("pages_per_site", "budget_site")]
)
def test_what_was_queued_before_there_was_a_limit_counts_for_it(tmp_path, limit, reason):
    def opened(**budget):
        rules = config(budget=budget, politeness={"delay": 0.0})
        return Frontier(tmp_path, rules, rng=random.Random(1), now=0.0)

    frontier = opened()
    frontier.discover(links(*(link(key=key) for key in range(5))), 0.0)
    [lent] = frontier.lease(0.0, deadline=9.0, max_hosts=1, max_urls=2).hosts
    later = tuple(RetryLater(url.key, Kind.TIMEOUT, None, 0.0) for url in lent.urls)
    frontier.report([report(lent.host, 0.0, retries=later)], 0.0)
    frontier.close()
    frontier = opened(**{limit: 2})
    lent = frontier.lease(1.0, deadline=9.0, max_hosts=1, max_urls=4)
    frontier.settle(rows_of(lent, "http_error"), 1.0, counters={}, mark=1)
    later = links(*(link(key=key) for key in range(10, 13)))
    assert frontier.discover(later, 1.0) == fates(new=1, **{reason: 2})
    frontier.check()
    frontier.close()


@pytest.mark.parametrize(
    ("limit", "reason"), [("pages_per_host", "budget_host"), ("pages_per_site", "budget_site")]
)
def test_pages_that_are_done_go_on_counting_after_a_restart(tmp_path, limit, reason):
    def opened():
        rules = config(budget={limit: 4}, politeness={"delay": 0.0})
        return Frontier(tmp_path, rules, rng=random.Random(1), now=0.0)

    frontier = opened()
    frontier.discover(links(*(link(key=key) for key in range(4))), 0.0)
    lent = frontier.lease(1.0, deadline=9.0, max_hosts=1, max_urls=3)
    frontier.settle(rows_of(lent), 1.0, counters={}, mark=1)
    frontier.close()
    frontier = opened()
    assert frontier.discover(links(link(key=9)), 1.0) == fates(**{reason: 1})
    frontier.check()
    frontier.close()
