"""Errands through frontiers: who rests, who is asked, what the answer does, and that nobody waits for ever."""

import random

import pytest

from crawler.frontier.errands import MAX_URLS, Told, patience
from crawler.frontier.frontier import Frontier
from crawler.frontier.lease import Errand, Heard, Incident, RetryLater, RobotsRecord
from crawler.outcomes import Kind
from crawler.robots.rules import ALLOW_ALL, parse
from tests.crawler.frontier.builders import config, link, links, report, rows_of

NOW = 1_000.0
A, B = "https://a.example", "https://b.example"
AT_B = f"{B}/robots.txt"
ERRAND = Errand(A, AT_B, 1)
RULES = parse(b"User-agent: *\nDisallow: /x\nCrawl-delay: 9\n", "testbot").pack()
CONFIG = config(
    politeness={
        "delay": 2.0,
        "incidents_before_parking": 2,
        "parks_before_giving_up": 0,
        "backoff_base": 4.0,
    }
)
PATIENCE = patience(CONFIG)
FAILED = Incident(Kind.HTTP_ERROR, 503, None)


@pytest.fixture
def frontier(tmp_path):
    frontier = Frontier(tmp_path, CONFIG, rng=random.Random(1), now=NOW)
    yield frontier
    frontier.check()
    frontier.close()


def lease(frontier, now, *, urls=100, hosts=100, seconds=20.0):
    """What is ready, also of the hosts that are leased apart."""
    terms = {"deadline": now + seconds, "max_hosts": hosts, "max_urls": urls}
    lent = frontier.lease(now, **terms) or frontier.lease(now, apart=True, **terms)
    frontier.check()
    return lent


def sends(frontier, errand=ERRAND, now=NOW, host="a.example"):
    """A host with two URLs is leased, and comes back with an errand; what was leased of it."""
    first = ord(host[0]) * 10
    frontier.discover(links(link(host, first), link(host, first + 1)), now)
    (lent,) = lease(frontier, now).hosts
    unused = tuple(url.key for url in lent.urls)
    frontier.report([report(host, now + 2.0, unused=unused, errand=errand, successes=0)], now)
    frontier.check()
    assert frontier.relay.errands.outgoing() == [errand]
    return lent


def test_a_host_rests_until_it_is_told_its_rules(frontier):
    sends(frontier)
    assert lease(frontier, NOW + PATIENCE - 1) is None
    assert frontier.next_ready(NOW) == NOW + PATIENCE
    assert not frontier.idle
    told = Told(ERRAND, Heard(AT_B, NOW + 7, RULES))
    for _ in range(2):
        frontier.relay.post([told], NOW + 8)
    assert frontier.next_ready(NOW + 8) == NOW + 8
    (lent,) = lease(frontier, NOW + 8).hosts
    assert lent.robots == (RobotsRecord(A, RULES, NOW + 7 + 86400),)
    assert len(lent.urls) == 2
    assert frontier._hosts.known["a.example"].clock.crawl_delay == 9.0


def test_a_failure_is_one_of_the_waiting_hosts_robots(frontier):
    sends(frontier)
    frontier.relay.post([Told(ERRAND, Heard(AT_B, NOW + 7, failure=FAILED))], NOW + 8)
    clock = frontier._hosts.known["a.example"].clock
    assert (clock.robots_failures, clock.incidents) == (1, 0)
    assert NOW + 10 <= clock.blocked_until <= NOW + 11
    assert lease(frontier, NOW + 9) is None
    (lent,) = lease(frontier, NOW + 11).hosts
    frontier.report([report("a.example", NOW + 13, errand=ERRAND, successes=0,
                            unused=tuple(url.key for url in lent.urls))], NOW + 11)  # fmt: skip
    frontier.relay.post([Told(ERRAND, Heard(AT_B, NOW + 12, failure=FAILED))], NOW + 12)
    frontier.check()
    ((ended, kind, _),) = frontier.hopeless(9)
    assert (kind, len(ended.urls)) == (Kind.ROBOTS_UNREACHABLE, 2)
    assert frontier.stats(NOW).hosts_given_up == 1


def test_who_is_never_told_has_failed(frontier):
    sends(frontier)
    assert lease(frontier, NOW + PATIENCE) is None
    clock = frontier._hosts.known["a.example"].clock
    assert clock.robots_failures == 1
    frontier.relay.post([Told(ERRAND, Heard(AT_B, NOW, RULES))], NOW + PATIENCE + 1)  # too late
    (lent,) = lease(frontier, NOW + PATIENCE + 10).hosts
    assert lent.robots == ()


def test_the_errands_of_a_failing_host_do_not_hold_up_others(frontier):
    frontier.discover(links(link("b.example", 1)), NOW)
    lease(frontier, NOW)
    failed = report("b.example", NOW + 2, successes=0, incident=FAILED, unused=(1,))
    frontier.report([failed], NOW + 2)
    frontier.relay.post([ERRAND], NOW + 2)
    terms = {"deadline": NOW + 29, "max_hosts": 9, "max_urls": 9}
    assert frontier.lease(NOW + 9, **terms) is None
    (lent,) = frontier.lease(NOW + 9, apart=True, **terms).hosts
    assert (lent.errands, len(lent.urls)) == ((AT_B,), 1)


def test_the_end_is_not_near_while_a_host_with_nothing_but_retries_has_an_errand(frontier):
    frontier.discover(links(link("b.example", 1)), NOW)
    lease(frontier, NOW)
    later = RetryLater(1, Kind.PROTOCOL_ERROR, None, 30.0)
    frontier.report([report("b.example", NOW + 2, retries=(later,))], NOW)
    assert frontier.stalled(NOW)
    frontier.relay.post([ERRAND], NOW)
    assert not frontier.stalled(NOW)


def test_who_waits_for_a_host_that_is_given_up_for_the_end_is_told_so_at_once(frontier):
    frontier.discover(links(link("b.example", 1)), NOW)
    lease(frontier, NOW)
    failed = report("b.example", NOW + 2, successes=0, incident=FAILED, unused=(1,))
    frontier.report([failed], NOW + 2)
    frontier.relay.post([ERRAND], NOW + 2)
    assert frontier.relay.errands.outgoing() == []
    frontier.last_call(0.0, NOW + 3)
    (told,) = frontier.relay.errands.outgoing()
    assert (told.errand, told.heard.failure.kind) == (ERRAND, Kind.ROBOTS_UNREACHABLE)


def test_an_errand_makes_an_unknown_host_ready_even_without_room_for_urls(frontier):
    frontier.relay.post([ERRAND, ERRAND], NOW)
    frontier.check()
    assert (frontier.errands, frontier.idle) == (1, False)
    assert frontier.next_ready(NOW) == NOW
    (lent,) = lease(frontier, NOW, urls=0).hosts
    assert (lent.host, lent.urls, lent.errands, lent.delay) == ("b.example", (), (AT_B,), 2.0)
    assert lease(frontier, NOW) is None
    heard = Heard(AT_B, NOW + 1, RULES)
    frontier.report([report("b.example", NOW + 3, heard=(heard,))], NOW + 1)
    assert frontier.relay.errands.outgoing() == [Told(ERRAND, heard)]
    assert frontier.idle
    assert "b.example" not in frontier._hosts.known
    # Its delay is kept, also for those who come later.
    frontier.relay.post([ERRAND], NOW + 1)
    assert (lease(frontier, NOW + 2.9), frontier.next_ready(NOW)) == (None, NOW + 3)


def test_errands_come_before_urls_and_with_all_of_the_hosts_delay(frontier):
    frontier.discover(links(link("b.example", 1)), NOW)
    (lent,) = lease(frontier, NOW).hosts
    rules = RobotsRecord(B, RULES, NOW + 100)
    frontier.report([report("b.example", NOW + 9, robots=(rules,), unused=(1,))], NOW)
    frontier.relay.post([ERRAND], NOW)
    (lent,) = lease(frontier, NOW + 9).hosts
    assert (lent.errands, len(lent.urls), lent.delay, lent.not_before) == ((AT_B,), 1, 9.0, NOW + 9)


def test_what_was_not_run_or_was_lost_is_run_again(frontier):
    frontier.relay.post([ERRAND], NOW)
    lease(frontier, NOW)
    frontier.release(["b.example"], NOW)
    assert lease(frontier, NOW + 1.9) is None
    assert lease(frontier, NOW + 2).hosts[0].errands == (AT_B,)
    frontier.report([report("b.example", NOW + 2, ended_at=None, successes=0)], NOW + 2)
    assert lease(frontier, NOW + 2).hosts[0].errands == (AT_B,)
    frontier.release(["b.example"], NOW + 2)


def test_a_host_that_is_given_up_or_must_be_left_alone_is_not_asked(frontier):
    frontier.relay.post([ERRAND], NOW)
    lease(frontier, NOW)
    long = Incident(Kind.HTTP_ERROR, 429, PATIENCE + 9.0)
    frontier.report([report("b.example", NOW, incident=long, successes=0)], NOW)
    (told,) = frontier.relay.errands.outgoing()
    assert told.heard.failure.kind is Kind.ROBOTS_UNREACHABLE
    assert frontier.idle
    frontier.relay.post([ERRAND], NOW)
    assert [one.errand for one in frontier.relay.errands.outgoing()] == [ERRAND]
    later = NOW + PATIENCE + 9
    frontier.relay.post([ERRAND], later)
    assert lease(frontier, later).hosts[0].host == "b.example"
    frontier.report([report("b.example", later, incident=FAILED, successes=0)], later)
    assert len(frontier.relay.errands.outgoing()) == 1
    for moment in (later + 500, later + 5000):  # in its park, and when that is over
        frontier.relay.post([ERRAND], moment)
        assert (len(frontier.relay.errands.outgoing()), frontier.idle) == (1, True)


def test_a_short_wait_is_waited_for(frontier):
    frontier.relay.post([ERRAND], NOW)
    lease(frontier, NOW)
    soon = Incident(Kind.HTTP_ERROR, 429, 30.0)
    frontier.report([report("b.example", NOW, incident=soon, successes=0)], NOW)
    assert frontier.next_ready(NOW) == NOW + 30
    assert lease(frontier, NOW + 30).hosts[0].errands == (AT_B,)
    frontier.release(["b.example"], NOW)


def test_one_that_redirects_to_itself_by_way_of_another(frontier):
    """A rests, and is asked all the same: for what it waits for itself."""
    sends(frontier)
    back = f"{A}/r"
    frontier.relay.post([Told(ERRAND, Heard(AT_B, NOW + 3, moved_to=back))], NOW + 3)
    (again,) = frontier.relay.errands.outgoing()
    assert again == Errand(A, back, 2)
    frontier.relay.post([again], NOW + 3)
    (lent,) = lease(frontier, NOW + 3).hosts
    assert (lent.host, lent.errands, lent.urls) == ("a.example", (back,), ())
    heard = Heard(back, NOW + 4, RULES)
    frontier.report([report("a.example", NOW + 6, heard=(heard,))], NOW + 4)
    assert lease(frontier, NOW + 6) is None
    frontier.relay.post(frontier.relay.errands.outgoing(), NOW + 6)
    assert len(lease(frontier, NOW + 6).hosts[0].urls) == 2
    frontier.release(["a.example"], NOW + 6)


def test_two_that_redirect_to_each_other_come_to_an_end(tmp_path, frontier):
    """Both rest, both are asked for the other, and after five redirects both are free."""
    sends(frontier)
    sends(frontier, Errand(B, f"{A}/robots.txt", 1), NOW, "b.example")
    mail = [ERRAND, Errand(B, f"{A}/robots.txt", 1)]
    asked, now = 0, NOW
    while mail:
        frontier.relay.post(mail, now)
        now += 2
        while (lent := lease(frontier, now, urls=0)) is not None:
            for host in lent.hosts:
                asked += len(host.errands)
                other = f"{A if host.host == 'b.example' else B}/robots.txt"
                heard = tuple(Heard(url, now, moved_to=other) for url in host.errands)
                frontier.report([report(host.host, now + 2, heard=heard)], now)
        mail = frontier.relay.errands.outgoing()
    assert asked == 10
    both = lease(frontier, now + 2).hosts
    assert sorted(host.host for host in both) == ["a.example", "b.example"]
    assert [host.robots[0].rules for host in both] == [ALLOW_ALL.pack()] * 2
    assert [len(host.urls) for host in both] == [2, 2]
    frontier.settle(rows_of(type("", (), {"hosts": both})), now, counters={}, mark=1)
    frontier.report([report(host.host, now + 2) for host in both], now)
    assert frontier.idle


def test_who_was_settled_meanwhile_is_told_nothing(frontier):
    lent = sends(frontier)
    frontier.settle(rows_of(type("", (), {"hosts": [lent]})), NOW, counters={}, mark=1)
    assert frontier.idle
    frontier.relay.post([Told(ERRAND, Heard(AT_B, NOW, RULES))], NOW)
    assert frontier.idle
    assert lease(frontier, NOW + 2 * PATIENCE) is None


def test_too_many_errands_are_told_so_at_once(frontier):
    errands = [Errand(A, f"{B}/{n}", 1) for n in range(MAX_URLS + 1)]
    frontier.relay.post(errands, NOW)
    assert [told.errand for told in frontier.relay.errands.outgoing()] == errands[MAX_URLS:]
    assert len(lease(frontier, NOW, seconds=20).hosts[0].errands) == 11
    frontier.release(["b.example"], NOW)


@pytest.mark.parametrize("failure", [FAILED, None])
def test_what_is_told_while_the_host_runs_an_errand_counts_for_the_end_at_once(frontier, failure):
    sends(frontier)
    other = Errand(B, f"{A}/robots.txt", 1)
    frontier.relay.post([other], NOW)
    assert lease(frontier, NOW + 2.0).hosts[0].errands == (other.url,)
    told = Told(ERRAND, Heard(AT_B, NOW + 50.0, rules=None if failure else RULES, failure=failure))
    frontier.relay.post([told], NOW + 50.0)
    frontier.check()
    assert frontier.stalled(NOW + 50.0) == (failure is not None)
