import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.config import HostPoliteness, Politeness
from crawler.frontier.lease import Incident, RobotsRecord
from crawler.frontier.politeness import (
    Clock,
    after,
    after_loss,
    allowance,
    backoff,
    configured_delay,
    delay,
    patience,
    reason,
    verdict,
)
from crawler.outcomes import Kind
from tests.crawler.frontier.builders import report

RULES = Politeness(
    backoff_base=10, backoff_cap=100, retry_after_cap=500, incidents_before_parking=3, park_seconds=1000,
    parks_before_giving_up=1,
)  # fmt: skip
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
        (Clock(), Politeness(delay=1, address_delay=2), 2),
        (Clock(), Politeness(delay=3, address_delay=2), 3),
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


def test_hosts_that_failed_together_are_not_asked_together_ever_after():
    rng = random.Random(1)
    assert len({backoff(1, RULES, rng) for _ in range(5)}) == 5


def test_a_lost_task_does_not_cut_a_running_backoff():
    clock = Clock(blocked_until=300, incidents=1, since=50)
    lost = after_loss(clock, 100.0, RULES, random.Random(1))
    assert (lost.blocked_until, lost.incidents, lost.since) == (300, 2, 50)


@pytest.mark.parametrize(
    ("clock", "until"),
    [
        (Clock(since=100, blocked_until=9, served=True), 700),
        (Clock(since=100, blocked_until=9), 0),
        (Clock(since=100, blocked_until=9, free_at=10, served=True), 0),
    ],
)
def test_the_end_waits_for_an_outage_of_a_site_that_has_served(clock, until):
    assert patience(clock, Politeness(outage_wait=600)) == until


def test_an_undisturbed_report_moves_only_the_delays_clock():
    assert step(Clock(), response_seconds=0.5) == Clock(free_at=101, response_seconds=0.5)


def test_the_delays_clock_never_goes_back():
    assert step(Clock(free_at=200)).free_at == 200


def test_an_incident_moves_only_the_backoffs_clock_one_step():
    clock = step(Clock(), successes=0, incident=INCIDENT)
    assert (clock.free_at, clock.incidents, clock.robots_failures) == (101, 1, 0)
    assert (clock.since, clock.trouble) == (100, "http_error 503")
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


def test_a_retry_after_that_was_obeyed_in_vain_is_trusted_less():
    """A host that says "in a second" for ever is asked ever more rarely all the same."""
    clock, waits = Clock(), []
    for _ in range(2):
        clock = step(clock, successes=0, incident=Incident(Kind.HTTP_ERROR, 503, 1.0))
        waits.append(clock.blocked_until - 100)
    assert waits[0] == 1
    assert 7.5 <= waits[1] <= 10


def test_a_retry_after_shorter_than_the_delay_does_not_shorten_it():
    clock = step(Clock(), free_at=160, incident=Incident(Kind.HTTP_ERROR, 429, 1.0))
    assert clock.moment == 160


@pytest.mark.parametrize(
    "trouble", [{"incident": INCIDENT}, {"incident": INCIDENT, "robots_failure": ORIGIN}]
)
def test_incidents_in_a_row_park_the_host_and_parks_in_a_row_give_it_up(trouble):
    clock, parks = Clock(), []
    for _ in range(4):
        assert verdict(clock, RULES) is None
        clock = step(clock, successes=0, **trouble)
        parks.append(clock.parks)
        if clock.parks:
            assert 850 <= clock.blocked_until <= 1100
    assert parks == [0, 0, 1, 2]
    kind = Kind.ROBOTS_UNREACHABLE if "robots_failure" in trouble else Kind.GAVE_UP
    assert verdict(clock, RULES) is kind


def test_a_longer_retry_after_holds_longer_than_a_park():
    parked = Clock(incidents=2)
    rules = RULES.model_copy(update={"park_seconds": 50.0})
    asked = Incident(Kind.HTTP_ERROR, 503, 400.0)
    assert step(parked, rules, successes=0, incident=asked).blocked_until == 500


def test_a_success_forgives_a_parked_host_everything():
    parked = Clock(incidents=4, parks=1, since=50.0)
    well = step(parked)
    assert (well.incidents, well.parks, well.since) == (0, 0, 0.0)
    again = step(parked, incident=INCIDENT)
    assert (again.incidents, again.parks) == (1, 0)


def test_pages_do_not_unpark_a_host_whose_robots_txt_cannot_be_had():
    clock = step(Clock(robots_failures=4, parks=1), robots_failure=ORIGIN, incident=INCIDENT)
    assert (clock.robots_failures, clock.parks) == (5, 2)


@given(st.lists(st.sampled_from(["well", "incident", "both"]), max_size=30))
def test_whoever_answers_now_and_then_is_never_given_up(answers):
    """A flapping host makes progress, however slowly."""
    clock, rules = Clock(), RULES.model_copy(update={"incidents_before_parking": 2})
    for answer in answers:
        trouble = INCIDENT if answer in {"incident", "both"} else None
        clock = step(clock, rules, successes=int(answer != "incident"), incident=trouble)
        if answer != "incident":
            assert clock.parks == 0
        assert (clock.since > 0) == (clock.incidents > 0)


@pytest.mark.parametrize(
    ("clock", "over", "expected"),
    [
        (Clock(incidents=9, parks=1), False, None),
        (Clock(incidents=9, parks=2), False, Kind.GAVE_UP),
        (Clock(robots_failures=9, parks=2), False, Kind.ROBOTS_UNREACHABLE),
        (Clock(incidents=1, blocked_until=100), False, None),
        (Clock(incidents=1, blocked_until=100), True, Kind.GAVE_UP),
        (Clock(robots_failures=1, blocked_until=100), True, Kind.ROBOTS_UNREACHABLE),
        (Clock(free_at=200), True, None),
        (Clock(free_at=200, incidents=1, blocked_until=150), True, None),
        (Clock(since=100, incidents=1, blocked_until=700, served=True), True, None),
        (Clock(since=100, incidents=1, blocked_until=701, served=True), True, Kind.GAVE_UP),
    ],
)
def test_verdict(clock, over, expected):
    assert verdict(clock, RULES, over=over) is expected


def test_reasons_say_how_many_how_long_and_what_the_last_one_was():
    tired = Clock(free_at=1300, since=100, incidents=7, parks=2, trouble="timeout")
    assert reason(tired, RULES) == "given up: 7 incidents within 1200 s, the last: timeout"
    assert reason(tired._replace(robots_failures=4, incidents=0), RULES) == (
        "given up: 4 failures of robots.txt within 1200 s, the last: timeout"
    )
    asked = step(Clock(), successes=0, incident=Incident(Kind.HTTP_ERROR, 429, 400.0))
    assert reason(asked, RULES) == (
        "the crawl ended before the host could be asked again: 1 incidents within 1 s, "
        "the last: http_error 429, to be asked after 400 s"
    )


@pytest.mark.parametrize(
    ("clock", "apart"),
    [
        (Clock(), False), (Clock(response_seconds=5), False), (Clock(response_seconds=5.1), True),
        (Clock(incidents=1), True), (Clock(robots_failures=1), True),
    ],
)  # fmt: skip
def test_slow_hosts_and_failing_ones_are_kept_apart(clock, apart):
    assert clock.apart is apart
