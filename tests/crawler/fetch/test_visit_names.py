"""A host whose name cannot be had: for good, or through no fault of its own."""

import pytest

from crawler.config import Config, Dns
from crawler.fetch.exchange import Answer
from crawler.fetch.visit import Done, Get, HostVisit, Robots, Run
from crawler.frontier.lease import HostLease, LeasedUrl, RobotsRecord
from crawler.outcomes import Kind
from crawler.robots.rules import ALLOW_ALL

ORIGIN = "http://a.example"
NAMELESS = Answer(Kind.DNS_ERROR, 0.0, 5.0, 5.0, error="no such name", nameless=True)
OURS = Answer(Kind.DNS_ERROR, 0.0, 5.0, 5.0, error="no name server answers", ours=True)


def leased(key):
    return LeasedUrl(key, f"{ORIGIN}/{key}", 1, 0, 2, 0, 5, None, "link")


def visiting(*, ruled, errands=()):
    robots = (RobotsRecord(ORIGIN, ALLOW_ALL.pack(), 1e12),) if ruled else ()
    lease = HostLease("a.example", "example", 7, 0.0, 1.0, robots, (leased(1), leased(2)), errands)
    return HostVisit(lease, 1000.0, Config(dns=Dns(retry_wait=30)), "testbot", lambda _: None)


def tell(visit, answer):
    """Answers what the visit asks for first: a page or its robots.txt."""
    action = visit.next(0.0)
    if isinstance(action, Robots):
        visit.robots_answer(action.origin, answer)
    else:
        assert action == Get(leased(1))
        visit.answered(action.leased, answer)


@pytest.mark.parametrize("ruled", [True, False])
def test_all_urls_of_a_host_without_a_name_end_at_the_first_attempt_and_at_once(ruled):
    visit = visiting(ruled=ruled)
    tell(visit, NAMELESS)
    assert visit.next(5.0) == Done()
    finals = visit.take()
    assert [(final.leased.key, final.answer) for final in finals] == [(1, NAMELESS), (2, NAMELESS)]
    report = visit.report()
    assert (report.incident, report.robots_failure, report.retries) == (None, None, ())
    assert (report.unused, report.ended_at, report.not_before) == ((), None, None)


@pytest.mark.parametrize("ruled", [True, False])
def test_when_nobody_can_be_asked_the_host_is_left_as_it_was_and_asked_later(ruled):
    visit = visiting(ruled=ruled)
    tell(visit, OURS)
    assert visit.next(5.0) == Done()
    assert visit.take() == []
    report = visit.report()
    assert (report.incident, report.robots_failure, report.retries) == (None, None, ())
    assert (report.unused, report.ended_at, report.not_before) == ((1, 2), None, 35.0)


def test_errands_to_a_name_that_does_not_exist_have_failed():
    visit = visiting(ruled=True, errands=("http://a.example/1.txt", "http://a.example/2.txt"))
    assert visit.next(0.0) == Run("http://a.example/1.txt")
    visit.run_answer(NAMELESS)
    assert visit.next(5.0) == Done()
    heard = visit.report().heard
    assert [(told.url[-5:], told.failure.kind) for told in heard] == [
        ("1.txt", Kind.DNS_ERROR),
        ("2.txt", Kind.DNS_ERROR),
    ]


def test_errands_to_a_name_that_nobody_can_be_asked_for_are_not_run():
    visit = visiting(ruled=True, errands=("http://a.example/1.txt",))
    visit.next(0.0)
    visit.run_answer(OURS)
    assert visit.next(5.0) == Done()
    report = visit.report()
    assert (report.heard, report.unused, report.not_before) == ((), (1, 2), 35.0)
