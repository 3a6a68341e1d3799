"""What a restore asks of a frontier: whether it is whole, and which rows it has not settled yet."""

import random

import pytest

from crawler.frontier.frontier import Frontier
from tests.crawler.frontier.builders import config, link, links, report, rows_of, settled

NOW = 1_000_000.0


@pytest.fixture
def opened(tmp_path):
    """Opens the same state again and again; what was open is closed before."""
    frontiers = []

    def again():
        for frontier in frontiers:
            frontier.close()
        frontiers[:] = [Frontier(tmp_path, config(), rng=random.Random(0), now=NOW)]
        return frontiers[0]

    yield again
    for frontier in frontiers:
        frontier.check()
        frontier.close()


def lease_of(frontier, urls=10):
    return frontier.lease(NOW, deadline=NOW + 100, max_hosts=10, max_urls=urls)


def done(key, visit=0, host="a.example"):
    """The SETTLED row of a fetched URL."""
    return {
        "slot": 7, "host": host, "site": host, "key": key, "kind": "fetched", "http_status": 200,
        "visit": visit, "fetched_at": NOW, "wire_bytes": 1,
    }  # fmt: skip


def test_whole_once_said_and_for_good(opened):
    assert not opened().whole
    frontier = opened()
    assert not frontier.whole
    frontier.set_whole()
    assert frontier.whole
    assert opened().whole


def test_links_do_not_make_it_whole(opened):
    frontier = opened()
    assert frontier.fresh
    frontier.discover(links(link()), NOW)
    frontier = opened()
    assert not frontier.fresh
    assert not frontier.whole


def test_pending_is_all_that_is_not_done(opened):
    frontier = opened()
    frontier.discover(links(link(key=1), link(key=2), link(key=3)), NOW)
    lease = lease_of(frontier, urls=2)
    leased = [url.key for url in lease.hosts[0].urls]
    (queued,) = {1, 2, 3} - set(leased)
    rows = settled(*(done(key) for key in (*leased, queued, 4)))
    assert frontier.pending(rows) == [True] * 4
    assert frontier.pending(settled()) == []


def test_what_is_settled_is_not_pending_until_its_next_visit(opened):
    frontier = opened()
    frontier.discover(links(link(key=1), link(key=2)), NOW)
    lease = lease_of(frontier)
    frontier.report([report("a.example", NOW)], NOW)
    frontier.settle(rows_of(lease), NOW, counters={}, mark=1)
    rows = settled(done(1), done(3), done(2), done(2, visit=1))
    wanted = [False, True, False, True]
    assert frontier.pending(rows) == wanted
    assert opened().pending(rows) == wanted


def test_after_a_restore_nothing_of_it_is_pending(opened):
    frontier = opened()
    frontier.discover(links(link(key=1)), NOW)
    rows = settled(done(1), done(2), done(3, host="b.example"))
    frontier.restore(rows, NOW, counters={"rows.fetched": 3}, mark=2)
    assert frontier.pending(rows) == [False] * 3
    assert (frontier.queued, frontier.mark, frontier.counters) == (0, 2, {"rows.fetched": 3})
    frontier.discover(links(link(key=1), link("b.example", key=3)), NOW)
    assert frontier.idle
