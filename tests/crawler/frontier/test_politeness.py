import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.config import HostPoliteness, Politeness
from crawler.frontier.lease import Incident, RobotsRecord
from crawler.frontier.politeness import (
    Clock,
    after,
    allowance,
    backoff,
    configured_delay,
    delay,
    reason,
    verdict,
)
from crawler.outcomes import Kind
from tests.crawler.frontier.builders import report

RULES = Politeness(
    backoff_base=10, backoff_cap=100, retry_after_cap=500, incidents_before_giving_up=3
)
ORIGIN = "https://a.example"
INCIDENT = Incident(Kind.HTTP_ERROR, 503, None)


def step(clock, rules=RULES, crawl_delay=None, **fields):
    fields = {"free_at": 101.0, "ended_at": 100.0} | fields
    return after(clock, report("a.example", **fields), crawl_delay, rules, random.Random(1))


@pytest.mark.parametrize(
    ("clock", "rules", "expected"),
    [
        (Clock(), Politeness(delay=1), 1),
        (Clock(crawl_delay=5), Politeness(delay=1), 5),
        (Clock(crawl_delay=5), Politeness(delay=7), 7),
        (Clock(crawl_delay=500), Politeness(delay=1, crawl_delay_cap=60), 60),
        (Clock(response_seconds=2), Politeness(delay=1, response_time_factor=3), 6),
        (Clock(response_seconds=2), Politeness(delay=1), 1),
        (Clock(), Politeness(delay=1, hosts={"a.example": HostPoliteness(delay=0.25)}), 0.25),
        (Clock(), Politeness(delay=1, hosts={"b.example": HostPoliteness(delay=0.25)}), 1),
        (Clock(), Politeness(delay=1, hosts={"a.example": HostPoliteness(max_pages=3)}), 1),
    ],
)
def test_delay_is_the_longest_that_anyone_asks_for(clock, rules, expected):
    assert delay("a.example", clock, rules) == expected


def test_a_configured_delay_of_nothing_is_a_choice_not_an_absence():
    assert (
        configured_delay(
            "a.example", Politeness(delay=3, hosts={"a.example": HostPoliteness(delay=0)})
        )
        == 0
    )


@pytest.mark.parametrize(
    ("seconds", "gap", "expected"),
    [(20, 0, 100), (20, 1, 21), (20, 0.1, 100), (20, 30, 1), (0, 1, 1), (-5, 1, 1)],
)
def test_allowance(seconds, gap, expected):
    assert allowance(seconds, gap, 100) == expected


@given(st.integers(1, 2000), st.integers(0, 9))
def test_backoff_doubles_up_to_the_cap_and_never_passes_it(number, seed):
    full = min(100, 10 * 2 ** (number - 1))
    assert 0.75 * full <= backoff(number, RULES, random.Random(seed)) <= full


def test_an_undisturbed_report_moves_only_the_delays_clock():
    assert step(Clock(), response_seconds=0.5) == Clock(free_at=101, response_seconds=0.5)


def test_the_delays_clock_never_goes_back():
    assert step(Clock(free_at=200)).free_at == 200


def test_an_incident_moves_only_the_backoffs_clock_one_step():
    clock = step(Clock(), successes=0, incident=INCIDENT)
    assert (clock.free_at, clock.incidents, clock.robots_failures) == (101, 1, 0)
    assert 107.5 <= clock.blocked_until <= 110
    assert clock.moment == clock.blocked_until


def test_incidents_add_up_and_success_forgives_one():
    clock = step(step(Clock(), successes=0, incident=INCIDENT), successes=0, incident=INCIDENT)
    assert clock.incidents == 2
    assert 115 <= clock.blocked_until <= 120
    assert step(clock, successes=5).incidents == 1
    assert step(clock, successes=5, incident=INCIDENT).incidents == 2
    assert step(Clock(), successes=5).incidents == 0


@pytest.mark.parametrize(
    ("asked", "expected"), [(3.0, 103), (400.0, 500), (9999.0, 600), (-5.0, 100), (0.0, 100)]
)
def test_retry_after_wins_over_the_exponential_up_to_its_cap(asked, expected):
    clock = step(Clock(), successes=0, incident=Incident(Kind.HTTP_ERROR, 429, asked))
    assert clock.blocked_until == expected


def test_a_short_retry_after_does_not_cut_a_running_backoff():
    clock = step(
        Clock(blocked_until=300), successes=0, incident=Incident(Kind.HTTP_ERROR, 429, 1.0)
    )
    assert clock.blocked_until == 300


def test_robots_failures_have_steps_of_their_own():
    clock = step(Clock(incidents=1), successes=0, robots_failure=ORIGIN, incident=INCIDENT)
    assert (clock.incidents, clock.robots_failures) == (1, 1)
    assert 107.5 <= clock.blocked_until <= 110


def test_only_a_robots_txt_that_can_be_had_makes_up_for_one_that_cannot():
    record = (RobotsRecord(ORIGIN, b"", 0.0),)
    assert step(Clock(robots_failures=2), successes=9).robots_failures == 2
    assert step(Clock(robots_failures=2), robots=record).robots_failures == 0
    assert step(Clock(robots_failures=2), robots=record, robots_failure=ORIGIN).robots_failures == 3


def test_what_is_no_fault_of_the_hosts_holds_it_back_without_a_step():
    clock = step(Clock(incidents=2, robots_failures=1), ended_at=None, successes=0, not_before=130)
    assert clock.moment == 130
    assert (clock.incidents, clock.robots_failures) == (2, 1)
    assert step(Clock(blocked_until=300), successes=0, not_before=130).blocked_until == 300


def test_a_host_that_was_not_contacted_is_blocked_from_when_it_is_free():
    clock = step(Clock(), ended_at=None, successes=0, incident=Incident(Kind.DNS_ERROR, None, 10.0))
    assert clock.blocked_until == 111


def test_crawl_delay_is_kept_until_robots_txt_says_otherwise():
    assert step(Clock(crawl_delay=4)).crawl_delay == 4
    assert step(Clock(crawl_delay=4), crawl_delay=0.0).crawl_delay == 0


@pytest.mark.parametrize(
    ("clock", "expected"),
    [
        (Clock(incidents=2, robots_failures=2), None),
        (Clock(incidents=3), Kind.GAVE_UP),
        (Clock(robots_failures=3), Kind.ROBOTS_UNREACHABLE),
        (Clock(incidents=3, robots_failures=3), Kind.ROBOTS_UNREACHABLE),
    ],
)
def test_verdict(clock, expected):
    assert verdict(clock, RULES) is expected


def test_reasons_are_sentences_with_the_number():
    assert reason(Kind.GAVE_UP, Clock(incidents=5)) == "the host was given up after 5 incidents"
    assert (
        reason(Kind.ROBOTS_UNREACHABLE, Clock(robots_failures=5))
        == "robots.txt could not be had in 5 attempts"
    )
