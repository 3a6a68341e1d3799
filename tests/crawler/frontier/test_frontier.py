import random
import shutil

import pytest

from crawler.errors import FencedError, StateError
from crawler.frontier.frontier import Frontier
from crawler.frontier.lease import Errand, Incident, LeasedUrl, RetryLater, RobotsRecord
from crawler.frontier.records import Done, unpack_url
from crawler.frontier.store import Family, host_prefix, pack_key, read_due
from crawler.outcomes import Kind
from crawler.robots.rules import parse
from tests.crawler.frontier.builders import (
    config,
    fates,
    link,
    links,
    report,
    row,
    rows_of,
    settled,
)

NOW = 1_000_000.0
NONE = settled()
REFUSED = Incident(Kind.CONNECT_ERROR, None, None)


@pytest.fixture
def opened(tmp_path):
    """Opens the frontier of this test, or opens it again; whatever is open is checked and closed at the end."""
    last = []

    def open_frontier(now=NOW, **branches):
        if last:
            last.pop().close()
        last.append(Frontier(tmp_path / "state", config(**branches), rng=random.Random(1), now=now))
        return last[0]

    yield open_frontier
    for frontier in last:
        frontier.check()
        frontier.close()


def lease(frontier, now=NOW, *, seconds=20.0, hosts=100, urls=1000):
    terms = {"deadline": now + seconds, "max_hosts": hosts, "max_urls": urls}
    return frontier.lease(now, **terms) or frontier.lease(now, apart=True, **terms)


def keys_of(lease):
    return [url.key for host in lease.hosts for url in host.urls]


def test_an_empty_frontier_is_fresh_and_idle(opened):
    frontier = opened()
    assert frontier.fresh
    assert frontier.idle
    assert lease(frontier) is None
    assert frontier.next_ready(NOW) is None
    assert frontier.hopeless(9) == []
    assert repr(frontier) == "<Frontier 0 queued, 0 due, 0 leased | <Schedule 0 ready, 0 waiting>>"
    assert not frontier.discover(links(), NOW)["new"]


def test_a_link_becomes_a_lease_with_all_that_was_known_of_it(opened):
    frontier = opened(politeness={"delay": 2.0})
    frontier.shard = 4
    frontier.set_epoch(9)
    counts = frontier.discover(
        links(
            link("a.example", -5, site="example", depth=3, hops=1, priority=77),
            link("b.example", 6, found_on=None),
        ),
        NOW,
    )
    assert counts == fates(new=2)
    given = lease(frontier)
    assert (given.number, given.shard, given.epoch, given.deadline) == (1, 4, 9, NOW + 20)
    hosts = {host.host: host for host in given.hosts}
    a = hosts["a.example"]
    assert (a.site, a.slot, a.delay, a.robots, a.address) == ("example", 7, 2.0, (), None)
    assert a.urls == (
        LeasedUrl(
            key=-5, url="https://a.example/-5", visit=0, attempt=0, depth=3, hops=1, priority=77, found_on="http://f/",
            found_via="link",
        ),
    )  # fmt: skip
    assert hosts["b.example"].urls[0].found_on is None
    assert lease(frontier) is None
    frontier.discover(links(link("c.example", 8)), NOW)
    assert lease(frontier).number == 2


def test_duplicates_in_a_batch_are_known_and_the_best_of_them_counts(opened):
    frontier = opened()
    counts = frontier.discover(links(link(depth=5), link(depth=2), link(depth=3)), NOW)
    assert (counts["new"], counts["known"]) == (1, 2)
    assert lease(frontier).hosts[0].urls[0].depth == 2


def test_a_queued_url_moves_up_when_it_is_found_nearer_or_more_urgent(opened):
    frontier = opened()
    frontier.discover(links(*(link(key=key, depth=4, priority=100) for key in (1, 2, 3, 4))), NOW)
    frontier.discover(
        links(
            link(key=3, depth=4, priority=50), link(key=4, depth=2, priority=120, found_on="near")
        ),
        NOW,
    )
    frontier.discover(links(link(key=2, depth=9, priority=200)), NOW)
    frontier.check()
    urls = {url.key: url for url in lease(frontier).hosts[0].urls}
    assert list(urls) == [3, 1, 2, 4]
    assert [(urls[key].depth, urls[key].priority) for key in (2, 3, 4)] == [
        (4, 100),
        (4, 50),
        (2, 100),
    ]
    assert urls[4].found_on == "near"
    assert urls[3].found_on == "http://f/"
    counts = frontier.discover(links(link(key=1, depth=0, priority=0)), NOW)
    assert counts["known"] == 1
    frontier.abandon([1])
    assert lease(frontier) is None, "the host is still lent"


def test_a_queued_url_that_is_found_more_urgent_but_farther_keeps_its_depth(opened):
    frontier = opened()
    frontier.discover(links(link(key=1, depth=4, priority=100, found_on="near")), NOW)
    frontier.discover(links(link(key=1, depth=6, priority=10, found_on="far")), NOW)
    (url,) = lease(frontier).hosts[0].urls
    assert (url.depth, url.priority, url.found_on) == (4, 10, "near")


def test_a_leased_url_that_is_found_nearer_stays_where_it_is(opened):
    frontier = opened()
    frontier.discover(links(link(key=1, depth=4, priority=100)), NOW)
    lent = lease(frontier)
    assert frontier.discover(links(link(key=1, depth=0, priority=0)), NOW)["known"] == 1
    frontier.check()
    frontier.settle(rows_of(lent), NOW, counters={}, mark=1)
    frontier.check()
    assert (frontier.queued, frontier.leased) == (0, 0)


def test_an_urgent_link_is_leased_before_what_was_queued_earlier(opened):
    frontier = opened()
    frontier.discover(links(*(link(key=key, priority=60) for key in range(5))), NOW)
    first = lease(frontier, urls=2)
    frontier.report([report("a.example", NOW)], NOW)
    frontier.discover(links(link(key=9, priority=1)), NOW)
    assert keys_of(first) == [0, 1]
    assert keys_of(lease(frontier, NOW + 1, urls=2)) == [9, 2]


def test_hosts_with_urgent_links_are_mostly_leased_before_others(opened):
    frontier = opened()
    late = [link(f"late{n}.example", n, priority=255) for n in range(20)]
    urgent = [link(f"urgent{n}.example", 20 + n, priority=0) for n in range(20)]
    frontier.discover(links(*late, *urgent), NOW)
    first = lease(frontier, hosts=20)
    assert sum(host.host.startswith("urgent") for host in first.hosts) >= 18


def test_a_lease_holds_what_the_delays_allow_and_no_more(opened):
    frontier = opened(
        politeness={"delay": 5.0, "hosts": {"fast.example": {"delay": 0}}}, runtime={"urls_per_host": 7}
    )  # fmt: skip
    for host, first in (("slow.example", 0), ("fast.example", 100)):
        frontier.discover(links(*(link(host, first + key) for key in range(30))), NOW)
    sizes = {host.host: len(host.urls) for host in lease(frontier, seconds=21.0).hosts}
    assert sizes == {"slow.example": 5, "fast.example": 7}


def test_a_lease_holds_no_more_hosts_and_urls_than_asked_for(opened):
    frontier = opened(politeness={"delay": 0})
    for host in range(5):
        frontier.discover(links(*(link(f"h{host}", 100 * host + key) for key in range(10))), NOW)
    assert lease(frontier, hosts=0) is None
    assert lease(frontier, urls=0) is None
    assert len(lease(frontier, hosts=2).hosts) == 2
    given = lease(frontier, urls=12)
    assert [len(host.urls) for host in given.hosts] == [10, 2]


def test_a_host_is_free_again_when_its_delay_has_passed(opened):
    frontier = opened(politeness={"delay": 3.0})
    frontier.discover(links(link(key=1), link(key=2)), NOW)
    first = lease(frontier, seconds=0.0)
    assert keys_of(first) == [1]
    assert frontier.next_ready(NOW) is None
    frontier.report([report("a.example", NOW + 3.5)], NOW + 0.5)
    assert lease(frontier, NOW + 3.4) is None
    assert frontier.next_ready(NOW) == NOW + 3.5
    second = lease(frontier, NOW + 3.6)
    assert second.hosts[0].not_before == NOW + 3.5
    frontier.report([report("a.example", NOW + 9)], NOW + 6)
    frontier.report([report("a.example", NOW + 99), report("never.example", NOW)], NOW + 6)
    frontier.settle(rows_of(first), NOW + 7, counters={}, mark=1)
    frontier.settle(rows_of(second), NOW + 7, counters={}, mark=2)
    assert frontier.idle
    assert frontier._hosts.known == {}
    frontier.discover(links(link(key=3)), NOW + 8)
    assert frontier.next_ready(NOW + 8) == NOW + 9, "the clock was kept in the record"


def test_unused_urls_and_retries_come_back(opened):
    frontier = opened(politeness={"retry_wait_factor": 2.0})
    frontier.discover(links(*(link(key=key) for key in (1, 2, 3))), NOW)
    lease(frontier)
    retries = RetryLater(1, Kind.TIMEOUT, None, 30.0), RetryLater(77, Kind.TIMEOUT, None, 30.0)
    frontier.report([report("a.example", NOW + 1, unused=(3, 88), retries=retries)], NOW)
    assert (frontier.queued, frontier.due, frontier.leased) == (1, 1, 1)
    assert keys_of(lease(frontier, NOW + 59)) == [3]
    frontier.report([report("a.example", NOW + 59)], NOW + 59)
    assert frontier.next_ready(NOW + 59) == NOW + 60
    again = lease(frontier, NOW + 60).hosts[0].urls[0]
    assert (again.key, again.attempt) == (1, 1)
    frontier.check()
    frontier.report([report("a.example", NOW + 61, unused=(1,))], NOW + 61)
    assert frontier.due == 1
    again = lease(frontier, NOW + 61).hosts[0].urls[0]
    assert (again.key, again.attempt) == (1, 1)
    frontier.report([report("a.example", NOW + 62, retries=retries)], NOW + 62)
    frontier = opened(NOW + 300)
    assert (frontier.queued, frontier.due) == (2, 1)
    found = {url.key: url.attempt for url in lease(frontier, NOW + 400).hosts[0].urls}
    assert found == {1: 2, 2: 0, 3: 0}


def test_retries_that_are_due_do_not_pass_the_leases_limit(opened):
    frontier = opened(politeness={"delay": 0})
    frontier.discover(links(*(link(key=key) for key in range(4))), NOW)
    lease(frontier)
    retries = tuple(RetryLater(key, Kind.TIMEOUT, None, 1.0 + key) for key in range(4))
    frontier.report([report("a.example", NOW, retries=retries)], NOW)
    assert frontier.next_ready(NOW) == NOW + 1
    assert keys_of(lease(frontier, NOW + 3, urls=2)) == [0, 1]
    frontier.report([report("a.example", NOW + 3)], NOW + 3)
    assert keys_of(lease(frontier, NOW + 3)) == [2]
    frontier.check()


def test_a_waiting_url_found_nearer_is_improved_where_it_is(opened):
    frontier = opened()
    frontier.discover(links(link(depth=5)), NOW)
    lease(frontier)
    frontier.report(
        [report("a.example", NOW, retries=(RetryLater(1, Kind.TIMEOUT, None, 9.0),))], NOW
    )
    frontier.discover(links(link(depth=1, priority=3)), NOW)
    frontier.check()
    url = lease(frontier, NOW + 9).hosts[0].urls[0]
    assert (url.depth, url.priority, url.attempt) == (1, 3, 1)


def test_a_lost_lease_gives_everything_back_and_the_host_waits(opened):
    frontier = opened(politeness={"delay": 4.0})
    frontier.discover(links(*(link(key=key) for key in (1, 2))), NOW)
    given = lease(frontier)
    frontier.abandon([*keys_of(given), 99])
    frontier.release(["a.example", "b.example"], NOW + 10)
    frontier.release(["a.example"], NOW + 20)
    assert frontier.next_ready(NOW) == NOW + 14
    assert keys_of(lease(frontier, NOW + 14)) == [1, 2]


def test_the_host_that_fetch_tasks_die_of_is_found_and_given_up_and_the_others_are_served(opened):
    """Every lease with it is lost, and nothing says why."""
    frontier = opened(
        politeness={"delay": 0.0, "incidents_before_parking": 2, "parks_before_giving_up": 0},
        runtime={"lease_hosts": 8},
    )
    names = [f"{letter}.example" for letter in "abcdefgh"]
    frontier.discover(links(*(link(name, key) for key, name in enumerate(names))), NOW)
    now, sizes, served = NOW, [], set()
    while served != set(names[1:]) or not (hopeless := frontier.hopeless(9)):
        now = max(now, frontier.next_ready(now))
        given = lease(frontier, now, hosts=8)
        hosts = [host.host for host in given.hosts]
        if names[0] in hosts:
            sizes.append(len(hosts))
            frontier.abandon(keys_of(given))
            frontier.release(hosts, now)
        else:
            served.update(hosts)
            frontier.settle(
                settled(*(row(host, host.urls[0]) for host in given.hosts)),
                now,
                counters={},
                mark=0,
            )
            frontier.report([report(name, now) for name in hosts], now)
        frontier.check()
        assert len(sizes) < 9
    assert sizes[0] == 8
    assert sizes[-2:] == [1, 1], sizes
    assert all(size <= most for size, most in zip(sizes, (8, 4, 2, 1, 1, 1), strict=False)), sizes
    [(host, kind, why)] = hopeless
    assert (host.host, kind) == (names[0], Kind.GAVE_UP)
    assert "the fetch task died that asked it" in why


def test_a_host_that_is_heard_of_again_is_no_suspect(opened):
    frontier = opened(politeness={"delay": 1.0})
    frontier.discover(links(link(key=1), link(key=2)), NOW)
    given = lease(frontier, urls=1)
    frontier.abandon(keys_of(given))
    frontier.release(["a.example"], NOW)
    ready = [frontier.ready(NOW + 1, apart=apart) for apart in (False, True)]
    assert ready == [0, 1]
    given = lease(frontier, NOW + 1, urls=1)
    frontier.report([report("a.example", NOW + 1, unused=keys_of(given))], NOW + 1)
    ready = [frontier.ready(NOW + 9, apart=apart) for apart in (False, True)]
    assert ready == [1, 0]


def test_an_incident_holds_the_host_back_and_the_last_one_gives_it_up(opened):
    frontier = opened(
        politeness={
            "incidents_before_parking": 2,
            "parks_before_giving_up": 0,
            "backoff_base": 100.0,
        }
    )
    frontier.discover(links(link(key=1), link(key=2)), NOW)
    now = NOW
    for number in range(2):
        given = lease(frontier, now, urls=1)
        retry = RetryLater(given.hosts[0].urls[0].key, Kind.CONNECT_ERROR, None, 1.0)
        incident = Incident(Kind.CONNECT_ERROR, None, None)
        frontier.report(
            [report("a.example", now, successes=0, incident=incident, retries=(retry,))], now
        )
        frontier.check()
        if number == 0:
            assert now + 75 <= frontier.next_ready(now) <= now + 100
            now += 100
    assert lease(frontier, now + 9999) is None
    assert frontier.next_ready(now) == now
    assert frontier.stats(now).hosts_given_up == 1
    assert frontier.hopeless(0) == []
    [(host, kind, reason)] = frontier.hopeless(1)
    assert (host.host, kind, len(host.urls)) == ("a.example", Kind.GAVE_UP, 1)
    assert reason == "given up: 2 incidents within 100 s, the last: connect_error"
    frontier = opened(now)
    [(host, _, _)] = frontier.hopeless(9)
    assert {url.key for url in host.urls} == {1, 2}
    assert frontier.hopeless(9) == []
    frontier.settle(
        settled(*(row(host, url, "gave_up", status=None) for url in host.urls)),
        now,
        counters={},
        mark=1,
    )
    assert frontier.idle
    frontier.discover(links(link(key=3)), now)
    [(host, kind, _)] = frontier.hopeless(9)
    assert [url.key for url in host.urls] == [3]
    assert frontier.counters == {"hosts_given_up": 1}


def test_a_robots_txt_that_cannot_be_had_gives_the_host_up_in_its_own_way(opened):
    frontier = opened(politeness={"incidents_before_parking": 1, "parks_before_giving_up": 0})
    frontier.discover(links(link(key=1)), NOW)
    lease(frontier)
    origin = "https://a.example"
    frontier.report(
        [report("a.example", NOW, successes=0, robots_failure=origin, unused=(1,))], NOW
    )
    [(_, kind, reason)] = frontier.hopeless(5)
    assert kind is Kind.ROBOTS_UNREACHABLE
    assert reason.startswith("given up: 1 failures of robots.txt within 0 s")


def test_a_url_with_credentials_has_the_robots_record_of_its_origin(opened):
    frontier = opened(politeness={"delay": 0})
    frontier.discover(links({**link(), "url": "https://user:secret@a.example/1"}), NOW)
    lease(frontier)
    record = RobotsRecord("https://a.example", parse(b"", "raycrawl").pack(), NOW + 60)
    frontier.report([report("a.example", NOW, robots=(record,), unused=(1,))], NOW)
    assert lease(frontier).hosts[0].robots == (record,)


def test_robots_records_are_leased_until_they_expire_and_their_delay_counts(opened):
    frontier = opened(politeness={"delay": 1.0})
    frontier.discover(links(*(link(key=key) for key in range(40))), NOW)
    lease(frontier, urls=1)
    record = RobotsRecord(
        "https://a.example", parse(b"User-agent: *\nCrawl-delay: 10", "raycrawl").pack(), NOW + 70
    )
    frontier.report([report("a.example", NOW, robots=(record,))], NOW)
    [host] = lease(frontier, NOW + 10, seconds=35.0).hosts
    assert host.robots == (record,)
    assert (host.delay, len(host.urls)) == (1.0, 4)
    frontier.release(["a.example"], NOW + 50)
    assert frontier.next_ready(NOW + 50) == NOW + 60
    [host] = lease(frontier, NOW + 70).hosts
    assert host.robots == ()
    frontier = opened(NOW + 71, politeness={"delay": 1.0})
    assert frontier.next_ready(NOW + 71) == NOW + 81, "the crawl-delay was kept"


def test_settling_writes_the_record_counters_and_mark_in_one_go(opened):
    frontier = opened()
    frontier.discover(links(link(key=1)), NOW)
    [host] = lease(frontier).hosts
    done = row(
        host, host.urls[0], fetched_at=NOW + 1, content_digest=b"digest", etag='"e"', last_modified="Mon", wire_bytes=5
    )  # fmt: skip
    for _ in range(2):
        frontier.settle(settled(done), NOW + 2, counters={"pages": 1}, mark=7)
    frontier.settle(settled(done | {"visit": -1}), NOW + 2, counters={}, mark=3)
    frontier.report([report("a.example", NOW)], NOW)
    stats = frontier.stats(NOW)
    assert (stats.counters, stats.urls_known, frontier.mark) == ({"pages": 2}, 1, 7)
    frontier = opened()
    assert (frontier.counters, frontier.mark, frontier.fresh, frontier.idle) == (
        {"pages": 2},
        7,
        False,
        True,
    )
    value = frontier._store.urls.get(host_prefix(7, "a.example") + pack_key(1))
    assert unpack_url(value) == Done(0, NOW + 1, 200, b"digest", b'"e"', b"Mon")
    assert frontier.discover(links(link(key=1, depth=0)), NOW)["known"] == 1


def test_a_row_of_an_earlier_visit_does_not_end_a_later_one(opened):
    frontier = opened()
    frontier.discover(links(link(key=1)), NOW)
    [host] = lease(frontier).hosts
    early = settled(row(host, host.urls[0]) | {"visit": -1})
    frontier.settle(early, NOW, counters={}, mark=1)
    assert frontier.leased == 1
    frontier.abandon([1])
    frontier.settle(early, NOW, counters={}, mark=1)
    assert frontier.queued == 1
    frontier.settle(settled(row(host, host.urls[0])), NOW, counters={}, mark=1)
    assert frontier.idle


def test_the_last_visit_in_a_batch_is_kept(opened):
    frontier = opened()
    rows = [link(key=1)]
    frontier.discover(links(*rows), NOW)
    [host] = lease(frontier).hosts
    first = row(host, host.urls[0], fetched_at=1.0)
    frontier.restore(
        settled(first, first | {"visit": 2, "fetched_at": 2.0}, first), NOW, counters={}, mark=1
    )
    urls, key = frontier._store.urls, host_prefix(7, "a.example") + pack_key(1)
    assert (unpack_url(urls.get(key)).visit, unpack_url(urls.get(key)).fetched_at) == (2, 2.0)
    frontier.restore(settled(first | {"visit": 3, "fetched_at": 3.0}), NOW, counters={}, mark=1)
    assert (unpack_url(urls.get(key)).visit, unpack_url(urls.get(key)).fetched_at) == (3, 3.0)


def test_the_journal_restores_an_empty_frontier(opened, tmp_path):
    frontier = opened(politeness={"delay": 5.0})
    frontier.discover(links(link(key=1), link(key=2), link("b.example", 3)), NOW)
    rows = rows_of(lease(frontier))
    frontier = Frontier(
        tmp_path / "other", config(politeness={"delay": 5.0}), rng=random.Random(1), now=NOW
    )
    assert frontier.fresh
    frontier.discover(links(link("c.example", 4)), NOW)
    for _ in range(2):
        frontier.restore(rows, NOW + 100, counters={}, mark=4)
        frontier.check()
        assert frontier.stats(NOW).urls_known == 4
    counts = frontier.discover(links(link(key=2), link("b.example", 3), link("b.example", 5)), NOW)
    assert (counts["known"], counts["new"]) == (2, 1)
    assert lease(frontier, NOW + 104) is None, "any host may have been asked just before"
    assert sorted(keys_of(lease(frontier, NOW + 105))) == [4, 5]
    frontier.close()


def test_rows_of_queued_and_waiting_urls_take_them_out(opened):
    frontier = opened()
    frontier.discover(links(*(link(key=key) for key in (1, 2, 3))), NOW)
    given = lease(frontier)
    frontier.report(
        [
            report(
                "a.example", NOW, unused=(2, 3), retries=(RetryLater(1, Kind.TIMEOUT, None, 9.0),)
            )
        ],
        NOW,
    )
    frontier.restore(rows_of(given), NOW, counters={}, mark=1)
    assert frontier.idle
    assert frontier.next_ready(NOW) is None


def test_no_host_is_asked_just_after_a_restart(opened):
    frontier = opened(politeness={"delay": 5.0, "hosts": {"b.example": {"delay": 1.0}}})
    frontier.discover(links(link(key=1), link("b.example", 2)), NOW)
    frontier.set_epoch(2)
    lease(frontier)
    frontier = opened(NOW + 1, politeness={"delay": 5.0, "hosts": {"b.example": {"delay": 1.0}}})
    assert (frontier.queued, frontier.leased, frontier.epoch) == (2, 0, 2)
    with pytest.raises(FencedError):
        frontier.set_epoch(1)
    assert lease(frontier, NOW + 1.9) is None
    assert [(host.host, host.site) for host in lease(frontier, NOW + 2).hosts] == [
        ("b.example", "b.example")
    ]
    assert [host.host for host in lease(frontier, NOW + 6).hosts] == ["a.example"]


def test_nor_one_that_was_asked_on_an_errand_before_any_url_was_known(opened):
    frontier = opened(politeness={"delay": 5.0})
    frontier.set_epoch(1)
    frontier.relay.post([Errand("http://b.example", "http://a.example/r", 1)], NOW)
    assert [host.errands for host in lease(frontier).hosts] == [("http://a.example/r",)]
    frontier = opened(NOW + 1, politeness={"delay": 5.0})
    assert frontier.fresh
    frontier.discover(links(link(key=1)), NOW + 1)
    assert lease(frontier, NOW + 5.9) is None
    assert keys_of(lease(frontier, NOW + 6)) == [1]


def test_budgets_refuse_links_and_give_back_what_was_no_page(opened):
    budget = {"pages_per_host": 2, "pages_per_site": 3}
    frontier = opened(budget=budget)
    found = [link("a.x", 1, site="x"), link("a.x", 2, site="x"), link("a.x", 3, site="x"), link("b.x", 4, site="x"),
             link("b.x", 5, site="x"), link("c.x", 6, site="x"), link("a.y", 7, site="y")]  # fmt: skip
    assert frontier.discover(links(*found), NOW) == fates(new=4, budget_host=1, budget_site=2)
    assert frontier.discover(links(found[5]), NOW) == fates(budget_site=1)
    frontier.check()
    given = lease(frontier)
    hosts = {host.host: host for host in given.hosts}
    frontier.settle(rows_of(given), NOW, counters={}, mark=0)
    frontier = opened(budget=budget)
    assert frontier.discover(links(found[2], found[4]), NOW)["new"] == 0
    other = row(hosts["a.x"], hosts["a.x"].urls[0], "redirect") | {"key": 50}
    frontier.restore(settled(other), NOW, counters={}, mark=1)
    assert frontier.discover(links(found[4]), NOW)["budget_site"] == 1


def test_a_page_that_is_visited_again_counts_once(opened):
    frontier = opened(budget={"pages_per_host": 2})
    frontier.discover(links(link(key=1)), NOW)
    [host] = lease(frontier).hosts
    page = row(host, host.urls[0])
    frontier.settle(settled(page), NOW, counters={}, mark=1)
    frontier.restore(settled(page | {"visit": 1}), NOW, counters={}, mark=2)
    assert frontier.discover(links(link(key=2), link(key=3)), NOW) == fates(new=1, budget_host=1)


def test_rows_of_given_up_hosts_come_so_many_at_a_time(opened):
    frontier = opened(politeness={"incidents_before_parking": 1, "parks_before_giving_up": 0})
    names = ("a.example", "b.example")
    frontier.discover(links(*(link(names[key % 2], key) for key in range(4))), NOW)
    lent = lease(frontier)
    for host in lent.hosts:
        keys = tuple(url.key for url in host.urls)
        frontier.report([failed(host.host, NOW, 0)._replace(unused=keys)], NOW)
    taken = [
        [url.key for host, _, _ in frontier.hopeless(3) for url in host.urls] for _ in range(3)
    ]
    assert [len(keys) for keys in taken] == [3, 1, 0]
    assert sorted(taken[0] + taken[1]) == [0, 1, 2, 3]


def test_a_redirect_frees_its_place_in_the_budget(opened):
    frontier = opened(budget={"pages_per_host": 1, "pages_per_site": 1})
    frontier.discover(links(link(key=1)), NOW)
    frontier.settle(rows_of(lease(frontier), "redirect"), NOW, counters={}, mark=0)
    assert frontier.discover(links(link(key=2), link(key=3)), NOW)["new"] == 1


def test_a_bloom_hit_alone_never_drops_a_link(opened):
    frontier = opened(frontier={"bloom_capacity": 50, "bloom_false_positive_rate": 0.9})
    keys = [random.Random(key).getrandbits(62) for key in range(2000)]
    total = sum(
        frontier.discover(links(*(link(key=key) for key in keys[start : start + 100])), NOW)["new"]
        for start in range(0, 2000, 100)
    )
    assert total == 2000
    stats = frontier.stats(NOW)
    assert 0.3 < stats.bloom_measured_fp_rate < 0.9
    assert stats.queued == stats.urls_known == 2000
    assert (stats.hosts_ready, stats.hosts_waiting, stats.hosts_leased) == (1, 0, 0)
    assert 0 < stats.bloom_fill <= 1


def test_the_first_url_with_some_content_is_told(opened):
    frontier = opened()
    assert frontier.first_with([b"d" * 16, b"d" * 16], [1, 2], ["u1", "u2"]) == [None, "u1"]


@pytest.mark.slow
@pytest.mark.parametrize("family", ["urls", "queue"])
def test_damaged_state_is_found_at_the_start_and_can_be_replaced_at_once(tmp_path, family):
    path = tmp_path / "state"
    frontier = Frontier(path, config(), rng=random.Random(1), now=NOW)
    frontier.discover(links(*(link(key=key) for key in range(20_000))), NOW)
    getattr(frontier._store, family)._table.flush(True)
    frontier.close()
    table = max(path.glob("*.sst"), key=lambda file: file.stat().st_size)
    octets = bytearray(table.read_bytes())
    octets[len(octets) // 2 : len(octets) // 2 + 64] = b"\xaa" * 64
    table.write_bytes(octets)
    try:
        Frontier(path, config(), rng=random.Random(1), now=NOW)
    except StateError:  # and while its traceback lives, which must not hold the database's lock
        shutil.rmtree(path)
        Frontier(path, config(), rng=random.Random(1), now=NOW).close()
    else:
        pytest.fail("the damage was not noticed")


def test_a_retry_that_was_settled_meanwhile_makes_nobody_ready(opened):
    frontier = opened()
    frontier.discover(links(link(key=1), link(key=2)), NOW)
    given = lease(frontier)
    [host] = given.hosts
    retries = RetryLater(1, Kind.TIMEOUT, None, 5.0), RetryLater(2, Kind.TIMEOUT, None, 50.0)
    frontier.report([report("a.example", NOW, retries=retries)], NOW)
    frontier.settle(settled(row(host, host.urls[0])), NOW, counters={}, mark=1)
    assert repr(frontier._hosts.known["a.example"]) == "<Host a.example 0 queued, 1 due, 0 leased>"
    assert frontier.next_ready(NOW) == NOW + 5
    assert lease(frontier, NOW + 5) is None
    assert frontier.next_ready(NOW + 5) == NOW + 50
    assert keys_of(lease(frontier, NOW + 50)) == [2]


def test_a_host_has_so_many_sitemaps_and_no_more_also_after_a_rebuild(opened):
    def found(*keys, via="index"):
        return links(*({**link(key=key), "found_via": via} for key in keys))

    frontier = opened(sitemaps={"max_files": 3})
    counts = frontier.discover(found(1, 2), NOW)
    assert (counts["new"], counts["sitemap_limit"]) == (2, 0)
    # The count is kept, and the URLs of others are none of it.
    frontier = opened(sitemaps={"max_files": 3})
    assert frontier.discover(found(3, 4, 5), NOW)["sitemap_limit"] == 2
    assert frontier.discover(found(6, 7, via="sitemap"), NOW)["new"] == 2
    rows = rows_of(lease(frontier, NOW + 5, seconds=99), "sitemap")
    frontier.settle(rows, NOW, counters={}, mark=1)
    assert frontier.discover(found(8), NOW)["sitemap_limit"] == 1


def test_rows_of_sitemaps_count_where_their_links_are_forgotten(opened):
    frontier = opened(sitemaps={"max_files": 2})
    rows = [{**settled_row, "kind": "sitemap"} for settled_row in (done(1), done(2))]
    frontier.restore(settled(*rows), NOW, counters={}, mark=1)
    refused = links({**link(key=3), "found_via": "index"})
    assert frontier.discover(refused, NOW)["sitemap_limit"] == 1


def done(key):
    return {"slot": 7, "host": "a.example", "site": "a.example", "key": key, "kind": "fetched",
            "http_status": 200, "visit": 0, "fetched_at": NOW}  # fmt: skip


def failed(host, now, key, incident=REFUSED):
    """The report of a host whose first URL met an incident, and is not its fault."""
    return report(host, now + 1, ended_at=now, successes=0, incident=incident, unused=(key,))


def test_a_parked_host_is_left_alone_tried_again_and_given_up_across_restarts(opened):
    rules = {"incidents_before_parking": 1, "park_seconds": 1000.0, "parks_before_giving_up": 2}
    frontier, now = opened(politeness=rules), NOW
    frontier.discover(links(link(key=1)), now)
    for parks in (1, 2):
        [url] = lease(frontier, now).hosts[0].urls
        frontier.report([failed("a.example", now, url.key)], now)
        assert frontier.stats(now).hosts_parked == 1
        assert frontier.stalled(NOW)
        frontier = opened(now, politeness=rules)
        assert frontier.stats(now).hosts_parked == 1, parks
        before, now = now, frontier.next_ready(now)
        assert 750 <= now - before <= 1000
        assert frontier.hopeless(9) == []
    frontier.report([failed("a.example", now, *keys_of(lease(frontier, now)))], now)
    assert frontier.stats(now).hosts_parked == 0
    [(_, kind, reason)] = frontier.hopeless(9)
    assert kind is Kind.GAVE_UP
    assert reason == f"given up: 3 incidents within {now + 1 - NOW:.0f} s, the last: connect_error"


def test_a_success_unparks_and_forgives(opened):
    frontier = opened(politeness={"incidents_before_parking": 1, "park_seconds": 100.0})
    frontier.discover(links(link(key=1), link(key=2)), NOW)
    frontier.report([failed("a.example", NOW, *keys_of(lease(frontier, urls=1)))], NOW)
    given = lease(frontier, NOW + 100, urls=1)
    frontier.report([report("a.example", NOW + 101)], NOW + 101)
    assert (frontier.stats(NOW + 101).hosts_parked, frontier.ready(NOW + 101, apart=False)) == (
        0,
        1,
    )
    frontier.settle(rows_of(given), NOW + 101, counters={}, mark=1)
    assert not frontier.stalled(NOW)


def test_hosts_that_are_slow_or_failing_are_never_leased_with_others(opened):
    frontier = opened()
    frontier.discover(links(*(link(f"{name}.example", ord(name)) for name in "abc")), NOW)
    frontier.discover(links(*(link(f"{name}.example", 10 + ord(name)) for name in "abc")), NOW)
    keys = {host.host: [url.key for url in host.urls] for host in lease(frontier).hosts}
    back = {name: {"unused": tuple(unused)} for name, unused in keys.items()}
    back["a.example"] |= {"successes": 0, "incident": REFUSED, "ended_at": NOW}
    back["b.example"] |= {"response_seconds": 30.0}
    back["c.example"] |= {"response_seconds": 3.0}
    frontier.report([report(name, NOW + 1, **fields) for name, fields in back.items()], NOW)
    then, terms = NOW + 20, {"deadline": NOW + 30, "max_hosts": 9, "max_urls": 9}
    assert (frontier.ready(then, apart=False), frontier.ready(then, apart=True)) == (1, 2)
    assert [host.host for host in frontier.lease(then, **terms).hosts] == ["c.example"]
    assert frontier.lease(then, **terms) is None
    assert frontier.next_ready(then, common=True, apart=False) is None
    assert frontier.next_ready(then) == then
    apart = frontier.lease(then, apart=True, **terms)
    assert {host.host for host in apart.hosts} == {"a.example", "b.example"}


def test_at_the_last_call_a_host_is_tried_again_until_it_is_over_but_never_asked_early(opened):
    frontier = opened()
    frontier.discover(links(link(key=1), link(key=2)), NOW)
    told = Incident(Kind.HTTP_ERROR, 429, 50.0)
    frontier.report([failed("a.example", NOW, *keys_of(lease(frontier, urls=1)), told)], NOW)
    assert frontier.stalled(NOW)
    frontier.last_call(NOW + 60, NOW)
    frontier.last_call(NOW + 60, NOW)
    assert frontier.stalled(NOW)
    assert frontier.next_ready(NOW) == NOW + 50
    keys = keys_of(lease(frontier, NOW + 50, urls=1))
    frontier.report([failed("a.example", NOW + 50, *keys, told)], NOW + 50)
    assert frontier.hopeless(9) == []
    frontier.last_call(0.0, NOW + 61)
    frontier.last_call(0.0, NOW + 61)
    assert frontier.stats(NOW).hosts_given_up == 1
    [(host, kind, reason)] = frontier.hopeless(9)
    assert (len(host.urls), kind) == (2, Kind.GAVE_UP)
    assert reason.startswith("the crawl ended before the host could be asked again")
    assert reason.endswith("http_error 429, to be asked after 50 s")


def test_a_host_that_is_being_asked_is_not_given_up_for_the_end_before_it_has_answered(opened):
    frontier = opened()
    frontier.discover(links(link(key=1), link(key=2)), NOW)
    lease(frontier, urls=1)
    frontier.report([failed("a.example", NOW, 1)], NOW)
    later = NOW + 60
    [lent] = lease(frontier, later, urls=1).hosts
    frontier.last_call(0.0, later)
    keys = tuple(url.key for url in lent.urls)
    frontier.report([report("a.example", later + 1, unused=keys)], later + 1)
    assert frontier.hopeless(9) == []
    assert sorted(keys_of(lease(frontier, later + 9))) == [1, 2]


@pytest.mark.parametrize("closed", [0, 1, 2])
@pytest.mark.parametrize("restarted", [False, True])
def test_a_crawl_that_goes_on_after_all_gives_up_nobody_for_its_end(opened, closed, restarted):
    frontier = opened()
    frontier.discover(links(link(key=1), link(key=2)), NOW)
    frontier.report([failed("a.example", NOW, *keys_of(lease(frontier, urls=1)))], NOW)
    frontier.last_call(0.0, NOW)
    given = frontier.hopeless(closed)
    rows = [row(host, url, kind) for host, kind, _ in given for url in host.urls]
    frontier.settle(settled(*rows), NOW, counters={}, mark=1)
    if restarted:
        frontier = opened(NOW)
    frontier.last_call(None, NOW)
    frontier.discover(links(link(key=3)), NOW)
    assert frontier.hopeless(9) == []
    assert len(keys_of(lease(frontier, NOW + 20, urls=9))) == 3 - closed
    assert frontier.stats(NOW).hosts_given_up == (closed == 2 or restarted)


def test_a_site_that_goes_down_after_the_last_call_has_its_time_too(opened):
    frontier = opened(politeness={"outage_wait": 500.0})
    frontier.discover(links(link(key=1)), NOW)
    lease(frontier)
    retry = RetryLater(1, Kind.HTTP_ERROR, 502, 30.0)
    frontier.report([report("a.example", NOW + 1, served=True, retries=(retry,))], NOW)
    assert frontier.stalled(NOW)
    frontier.last_call(NOW + 60, NOW)
    keys = keys_of(lease(frontier, NOW + 30))
    down = Incident(Kind.HTTP_ERROR, 503, 120.0)
    frontier.report([failed("a.example", NOW + 30, *keys, down)], NOW + 30)
    frontier.last_call(0.0, NOW + 61)
    assert not frontier.stalled(NOW + 61)
    assert frontier.next_ready(NOW + 61) == NOW + 150
    keys = keys_of(lease(frontier, NOW + 150))
    down = down._replace(retry_after=400.0)
    frontier.report([failed("a.example", NOW + 150, *keys, down)], NOW + 150)
    assert len(frontier.hopeless(9)) == 1


def test_leases_say_that_the_crawl_is_cut_off(opened):
    frontier = opened()
    frontier.discover(links(link(key=1), link("b.example", key=2), link("c.example", key=3)), NOW)
    assert not lease(frontier, hosts=1).excused
    frontier.outage.tell(NOW)
    assert lease(frontier, hosts=1).excused
    frontier = opened()
    assert lease(frontier, NOW + 1, hosts=1).excused
    frontier.outage.tell(0.0)
    assert not lease(frontier, NOW + 1, hosts=1).excused


def test_at_the_last_call_retries_are_due_by_then_until_it_is_called_off(opened):
    frontier = opened()
    frontier.discover(links(link(key=1)), NOW)
    lease(frontier)
    retry = RetryLater(1, Kind.HTTP_ERROR, 502, 30.0)
    frontier.report([report("a.example", NOW + 1, retries=(retry,))], NOW)
    assert frontier.stalled(NOW)
    frontier.last_call(NOW + 10, NOW)
    assert frontier.next_ready(NOW) == NOW + 10
    frontier.last_call(None, NOW)
    assert frontier.next_ready(NOW) == NOW + 30
    frontier.last_call(NOW + 10, NOW)
    assert lease(frontier, NOW + 9) is None
    [url] = lease(frontier, NOW + 10).hosts[0].urls
    assert url.attempt == 1
    assert not frontier.stalled(NOW)


def test_a_frontier_with_work_or_with_none_is_not_stalled(opened):
    frontier = opened()
    assert not frontier.stalled(NOW)
    frontier.discover(links(link(key=1), link("b.example", 2)), NOW)
    assert not frontier.stalled(NOW)
    given = lease(frontier)
    frontier.report([report("a.example", NOW + 1)], NOW)
    frontier.report([failed("b.example", NOW, 2)], NOW)
    assert not frontier.stalled(NOW), "a URL is leased still"
    [host] = [host for host in given.hosts if host.host == "a.example"]
    frontier.settle(settled(row(host, host.urls[0])), NOW, counters={}, mark=1)
    assert frontier.stalled(NOW)


def test_the_end_waits_longer_for_a_host_that_has_served_pages(opened):
    rules = {"outage_wait": 500.0}
    frontier = opened(politeness=rules)
    frontier.discover(links(link(key=1), link(key=2), link("b.example", 3)), NOW)
    [a] = [host for host in lease(frontier).hosts if host.host == "a.example"]
    frontier.settle(settled(row(a, a.urls[0])), NOW, counters={}, mark=1)
    well = report("a.example", NOW + 1, served=True, unused=(a.urls[1].key,))
    frontier.report([well, failed("b.example", NOW, 3)], NOW)
    assert not frontier.stalled(NOW + 9999)
    frontier.report([failed("a.example", NOW + 5, *keys_of(lease(frontier, NOW + 5)))], NOW + 5)
    for _ in range(2):
        assert not frontier.stalled(NOW + 504)
        assert frontier.stalled(NOW + 505)
        frontier = opened(NOW + 5, politeness=rules)


def test_retries_are_sought_behind_those_that_are_done(opened, monkeypatch):
    """Before them lie the tombstones of the host's: a scan from their first took 50 ms after 30,000."""
    frontier = opened(politeness={"delay": 0.0})
    frontier.discover(links(link(key=1), link(key=2)), NOW)
    waits = dict(zip(keys_of(lease(frontier)), (10.0, 20.0), strict=True))
    retries = [RetryLater(key, Kind.HTTP_ERROR, 502, wait) for key, wait in waits.items()]
    frontier.report([report("a.example", NOW, retries=tuple(retries))], NOW)
    given = lease(frontier, NOW + 10)
    frontier.report([report("a.example", NOW + 10)], NOW + 10)
    frontier.settle(rows_of(given), NOW + 10, counters={}, mark=1)
    starts, scan = [], Family.scan

    def spy(family, prefix, start=None):
        if family is frontier._store.due:
            starts.append(start)
        return scan(family, prefix, start)

    monkeypatch.setattr(Family, "scan", spy)
    assert keys_of(lease(frontier, NOW + 20)) == [key for key, wait in waits.items() if wait > 10]
    [start] = starts
    assert read_due(start) == pytest.approx((NOW + 20.0) * 1e6, abs=2)


def test_once_an_origin_failed_those_that_never_answered_are_named(opened):
    frontier = opened()
    frontier.discover(links(link(key=1), link(key=2)), NOW)
    [first] = lease(frontier, urls=1).hosts
    rules = RobotsRecord("http://a.example", parse(b"", "raycrawl").pack(), NOW + 100)
    frontier.report([report("a.example", NOW, robots=(rules,), unused=(1,))], NOW)
    [second] = lease(frontier, NOW + 5, urls=1).hosts
    assert first.strangers == second.strangers == ()
    ended = failed("a.example", NOW + 5, second.urls[0].key)
    frontier.report([ended._replace(robots_failure="https://a.example")], NOW + 5)
    for now in (NOW + 50, NOW + 500):  # what the other one said may be too old by now
        [third] = lease(frontier, now, urls=1).hosts
        assert third.strangers == ("https://a.example",)
        frontier.report([report("a.example", now, unused=(third.urls[0].key,))], now)


def test_where_no_origin_ever_answered_none_is_a_stranger(opened):
    frontier = opened()
    frontier.discover(links(link(key=1)), NOW)
    lease(frontier)
    ended = failed("a.example", NOW, 1)
    frontier.report([ended._replace(robots_failure="https://a.example")], NOW)
    [host] = lease(frontier, NOW + 50).hosts
    assert host.strangers == ()
