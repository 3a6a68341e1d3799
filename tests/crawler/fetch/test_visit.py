"""One host's visit in virtual time: what is asked, when, and what becomes of every URL."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.config import Config, Politeness, Robots, Scope, Sitemaps
from crawler.fetch.exchange import Answer
from crawler.fetch.visit import Done, Get, HostVisit, Locate, Run, Wait
from crawler.fetch.visit import Robots as AskRobots
from crawler.frontier.lease import Errand, Heard, HostLease, LeasedUrl, RobotsRecord
from crawler.outcomes import Kind, retry
from crawler.robots.rules import ALLOW_ALL, parse

ORIGIN = "http://a.example"
ALLOWED = RobotsRecord(ORIGIN, ALLOW_ALL.pack(), 1e12)


def leased(key, url=None, attempt=0, hops=0):
    url = url or f"{ORIGIN}/{key}"
    return LeasedUrl(key, url, 1, attempt, 2, hops, 5, None, "link")


def host(*urls, robots=(ALLOWED,), delay=1.0, not_before=0.0, errands=()):
    return HostLease("a.example", "example", 7, not_before, delay, tuple(robots), urls, errands)


def visiting(lease, deadline=1000.0, config=None, rekey=lambda _: None, **more):
    return HostVisit(lease, deadline, config or Config(), "testbot", rekey, **more)


def answer(kind=Kind.FETCHED, at=0.0, took=0.5, status=200, **more):
    return Answer(kind, at, at + took, took, status, **more)


def failure(kind, at=0.0, took=0.5, **more):
    return answer(kind, at, took, None, **more)


def outcomes(visit):
    return [(final.leased.key, final.answer.kind) for final in visit.take()]


def test_urls_are_asked_in_order_with_the_delay_after_each_end():
    visit = visiting(host(leased(1), leased(2), delay=2.0, not_before=10.0))
    assert visit.next(9.0) == Wait(10.0)
    assert visit.next(10.0) == Get(leased(1))
    visit.answered(leased(1), answer(at=10.0, took=0.5))
    assert visit.next(10.5) == Wait(12.5)
    assert visit.next(12.5) == Get(leased(2))
    visit.answered(leased(2), answer(at=12.5))
    assert visit.next(13.0) == Done()
    assert outcomes(visit) == [(1, Kind.FETCHED), (2, Kind.FETCHED)]
    report = visit.report()
    assert (report.host, report.free_at, report.ended_at) == ("a.example", 15.0, 13.0)
    assert (report.successes, report.served, report.response_seconds) == (2, True, 0.5)
    assert (report.unused, report.retries, report.incident) == ((), (), None)
    assert visit.take() == []


def test_no_request_starts_after_the_deadline():
    visit = visiting(host(leased(1), leased(2)), deadline=1.0)
    assert visit.next(1.0) == Get(leased(1))
    visit.answered(leased(1), answer(at=1.0))
    assert visit.next(1.5) == Done()
    report = visit.report()
    assert (report.unused, report.free_at) == ((2,), 2.5)


@pytest.mark.parametrize("kind", [Kind.DNS_ERROR, Kind.CONNECT_ERROR, Kind.TIMEOUT])
@pytest.mark.parametrize("robots", [(), (ALLOWED,)])
def test_an_excused_host_that_cannot_be_reached_was_not_asked_but_left_alone(kind, robots):
    last = leased(1, attempt=9)
    visit = visiting(host(last, leased(2), robots=robots, delay=70.0), excused=True)
    if robots:
        visit.answered(last, failure(kind, at=10.0))
    else:
        visit.robots_answer(ORIGIN, failure(kind, at=10.0))
    assert visit.next(10.5) == Done()
    assert outcomes(visit) == []
    report = visit.report()
    assert (report.unused, report.retries) == ((1, 2), ())
    assert (report.incident, report.robots_failure, report.successes) == (None, None, 0)
    assert (report.not_before, report.free_at) == (40.5, 80.5)


def test_an_excused_host_that_answers_is_judged_by_that():
    last = leased(1, attempt=9)
    for came in (
        answer(Kind.HTTP_ERROR, status=503),
        answer(Kind.TIMEOUT),
        failure(Kind.TLS_ERROR),
    ):
        visit = visiting(host(last), excused=True)
        visit.answered(last, came)
        assert visit.report().incident is not None
        assert outcomes(visit) == [(1, came.kind)]


def test_when_a_host_last_answered():
    visit = visiting(host(leased(1), leased(2), leased(3), robots=(), delay=1.0))
    visit.robots_answer(ORIGIN, answer(at=1.0, status=404, kind=Kind.HTTP_ERROR))
    assert visit.report().answered_at == 1.5
    visit.answered(leased(1), answer(at=3.0))
    visit.answered(leased(2), failure(Kind.TIMEOUT, at=5.0))
    assert (visit.report().answered_at, visit.report().ended_at) == (3.5, 5.5)


def test_a_wait_beyond_the_deadline_is_not_begun():
    visit = visiting(host(leased(1), not_before=50.0), deadline=49.0)
    assert visit.next(0.0) == Done()
    report = visit.report()
    assert (report.unused, report.ended_at, report.free_at) == ((1,), None, 50.0)


def test_robots_come_first_and_count_as_a_request():
    visit = visiting(host(leased(1), robots=()))
    ask = visit.next(0.0)
    assert ask == AskRobots(ORIGIN, f"{ORIGIN}/robots.txt")
    visit.robots_answer(ORIGIN, answer(took=1.0, body=b"User-agent: *\nDisallow: /no"))
    assert visit.next(1.0) == Wait(2.0)
    assert visit.next(2.0) == Get(leased(1))
    (record,) = visit.report().robots
    assert (record.origin, record.expires_at) == (ORIGIN, 1.0 + 86400.0)
    assert record.rules == parse(b"User-agent: *\nDisallow: /no", "testbot").pack()


def test_a_denied_url_is_final_without_a_request():
    rules = parse(b"User-agent: testbot\nDisallow: /2\nDisallow: /3", "testbot").pack()
    lease = host(leased(1), leased(2), leased(3), robots=(RobotsRecord(ORIGIN, rules, 1e12),))
    visit = visiting(lease)
    visit.answered(visit.next(0.0).leased, answer())
    assert visit.next(0.5) == Done()
    assert outcomes(visit) == [
        (1, Kind.FETCHED), (2, Kind.ROBOTS_DENIED), (3, Kind.ROBOTS_DENIED),
    ]  # fmt: skip
    assert visit.report().ended_at == 0.5


def test_robots_are_asked_again_when_their_time_is_over():
    stale = RobotsRecord(ORIGIN, ALLOW_ALL.pack(), 5.0)
    visit = visiting(host(leased(1), leased(2), robots=(stale,), delay=0.0))
    assert visit.next(4.9) == Get(leased(1))
    visit.answered(leased(1), answer(at=4.9, took=0.1))
    assert isinstance(visit.next(5.0), AskRobots)


@pytest.mark.parametrize(
    "got", [failure(Kind.TIMEOUT, 5.0), answer(Kind.HTTP_ERROR, 5.0, status=503)]
)
def test_rules_that_cannot_be_had_anew_are_not_used_longer(got):
    stale = RobotsRecord(ORIGIN, ALLOW_ALL.pack(), 5.0)
    visit = visiting(host(leased(1), leased(2), robots=(stale,), delay=0.0))
    visit.answered(visit.next(4.9).leased, answer(at=4.9, took=0.1))
    visit.next(5.0)
    visit.robots_answer(ORIGIN, got)
    assert visit.next(6.0) == Done()
    report = visit.report()
    assert (report.unused, report.robots_failure) == ((2,), ORIGIN)


def test_each_origin_has_its_own_robots():
    secure = leased(2, "https://a.example/2")
    visit = visiting(host(leased(1), secure, delay=0.0))
    visit.answered(visit.next(0.0).leased, answer())
    assert visit.next(1.0) == AskRobots("https://a.example", "https://a.example/robots.txt")
    visit.robots_answer("https://a.example", answer(Kind.HTTP_ERROR, 1.0, status=404))
    assert visit.next(2.0) == Get(secure)


def test_robots_may_be_disregarded():
    visit = visiting(host(leased(1), robots=()), config=Config(robots=Robots(obey=False)))
    assert visit.next(0.0) == Get(leased(1))


@pytest.mark.parametrize(
    ("rules", "factor", "gap"),
    [
        (b"", 0.0, 1.0),
        (b"Crawl-delay: 7", 0.0, 7.0),
        (b"Crawl-delay: 0.1", 0.0, 1.0),
        (b"Crawl-delay: 900", 0.0, 60.0),
        (b"Crawl-delay: 7", 20.0, 10.0),
    ],
)
def test_the_gap_is_the_greatest_of_delay_crawl_delay_and_slowness(rules, factor, gap):
    config = Config(politeness=Politeness(response_time_factor=factor))
    visit = visiting(host(leased(1), robots=()), config=config)
    visit.next(0.0)
    visit.robots_answer(ORIGIN, answer(took=0.5, body=b"User-agent: *\n" + rules))
    assert visit.next(0.5) == Wait(0.5 + gap)
    assert visit.report().free_at == 0.5 + gap


def test_a_robots_txt_that_can_be_had_is_an_answer_of_a_host_that_is_well():
    visit = visiting(host(leased(1), robots=()), deadline=0.0)
    assert visit.next(0.0) == AskRobots(ORIGIN, f"{ORIGIN}/robots.txt")
    visit.robots_answer(ORIGIN, answer(body=b""))
    assert visit.next(1.5) == Done()
    report = visit.report()
    assert (report.successes, report.served, report.unused) == (1, False, (1,))


@pytest.mark.parametrize("slow", [0, 1])
def test_the_crawl_delay_of_any_of_its_origins_slows_the_whole_host(slow):
    origins = [ORIGIN, "https://a.example"]
    records = [
        RobotsRecord(
            at, parse(b"User-agent: *\nCrawl-delay: %d\n" % (2 + 5 * (n == slow)), "x").pack(), 1e12
        )
        for n, at in enumerate(origins)
    ]
    visit = visiting(host(leased(1), leased(2, "https://a.example/2"), robots=records))
    visit.answered(leased(1), answer(at=0.0, took=0.5))
    assert visit.next(0.5) == Wait(7.5)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 499])
def test_unavailable_robots_allow_all(status):
    visit = visiting(host(leased(1), robots=(), delay=0.0))
    visit.next(0.0)
    visit.robots_answer(ORIGIN, answer(Kind.HTTP_ERROR, status=status))
    assert visit.next(0.5) == Get(leased(1))


@pytest.mark.parametrize(
    "got",
    [
        answer(Kind.HTTP_ERROR, status=429),
        answer(Kind.HTTP_ERROR, status=503),
        answer(Kind.HTTP_ERROR, status=500),
        answer(Kind.TOO_SLOW, status=200),
        failure(Kind.TIMEOUT),
        failure(Kind.DNS_ERROR),
        failure(Kind.TLS_ERROR),
        failure(Kind.CONNECT_ERROR),
        failure(Kind.PROTOCOL_ERROR),
    ],
)
def test_unreachable_robots_end_the_visit(got):
    visit = visiting(host(leased(1), leased(2), robots=()))
    visit.next(0.0)
    visit.robots_answer(ORIGIN, got)
    assert visit.next(100.0) == Done()
    report = visit.report()
    assert report.robots_failure == ORIGIN
    assert (report.unused, report.robots, report.successes) == ((1, 2), (), 0)
    assert (report.incident.kind, report.incident.status) == (got.kind, got.status)


def moved(target, at=0.0):
    return answer(Kind.REDIRECT, at, status=301, redirect_to=target)


def test_robots_redirects_keep_the_gap_on_the_host_and_are_bounded():
    visit = visiting(host(leased(1), robots=()))
    now = 0.0
    for hop in range(6):
        ask = visit.next(now)
        assert ask.origin == ORIGIN
        assert ask.url == (f"{ORIGIN}/r{hop}" if hop else f"{ORIGIN}/robots.txt")
        visit.robots_answer(ORIGIN, moved(f"{ORIGIN}/r{hop + 1}", now))
        assert visit.next(now + 0.5) == Wait(now + 1.5)
        now += 1.5
    assert visit.next(now) == Get(leased(1))
    assert visit.report().robots[0].rules == ALLOW_ALL.pack()


ELSEWHERE = "http://b.example/robots.txt"


def test_robots_on_another_host_end_the_visit_with_an_errand():
    visit = visiting(host(leased(1), leased(2), robots=()))
    visit.next(0.0)
    visit.robots_answer(ORIGIN, moved(ELSEWHERE))
    assert visit.next(100.0) == Done()
    report = visit.report()
    assert report.errand == Errand(ORIGIN, ELSEWHERE, 1)
    assert (report.unused, report.robots, report.incident, report.free_at) == (
        (1, 2),
        (),
        None,
        1.5,
    )
    assert (report.robots_failure, report.successes) == (None, 0)


def test_an_errand_counts_the_redirects_before_it():
    visit = visiting(host(leased(1), robots=(), delay=0.0))
    for hop, target in enumerate([f"{ORIGIN}/r", "https://a.example/r", ELSEWHERE]):
        visit.next(10.0 * hop)
        visit.robots_answer(ORIGIN, moved(target, 10.0 * hop))
    assert visit.report().errand == Errand(ORIGIN, ELSEWHERE, 3)


def test_a_redirect_after_the_last_that_is_followed_is_no_errand():
    config = Config(robots=Robots(max_redirects=1))
    visit = visiting(host(leased(1), robots=(), delay=0.0), config=config)
    for at, target in enumerate([f"{ORIGIN}/r", ELSEWHERE]):
        visit.next(10.0 * at)
        visit.robots_answer(ORIGIN, moved(target, 10.0 * at))
    assert visit.next(20.0) == Get(leased(1))
    assert visit.report().errand is None


RUN = ("http://b.example/r", "http://a.example/robots.txt")


def test_errands_come_first_with_the_hosts_delay_and_without_its_robots():
    visit = visiting(host(leased(1), robots=(), delay=2.0, errands=RUN))
    assert visit.next(0.0) == Run(RUN[0])
    visit.run_answer(answer(body=b"User-agent: *\nDisallow: /x"))
    assert visit.next(0.5) == Wait(2.5)
    assert visit.next(2.5) == Run(RUN[1])
    visit.run_answer(moved(ELSEWHERE, 2.5))
    assert visit.next(5.0) == AskRobots(ORIGIN, f"{ORIGIN}/robots.txt")
    report = visit.report()
    rules = parse(b"User-agent: *\nDisallow: /x", "testbot").pack()
    assert report.heard == (Heard(RUN[0], 0.5, rules), Heard(RUN[1], 3.0, moved_to=ELSEWHERE))
    assert (report.successes, report.errand, report.robots) == (2, None, ())
    assert report.unused == (1,)


@pytest.mark.parametrize(
    ("got", "stops"),
    [
        (answer(Kind.HTTP_ERROR, status=503, retry_after=1e9), True),
        (failure(Kind.TIMEOUT), True),
        (answer(Kind.HTTP_ERROR, status=500), False),
        (failure(Kind.BLOCKED_ADDRESS), False),
    ],
)
def test_a_failing_errand_is_told_and_counts_against_a_host_that_fails(got, stops):
    visit = visiting(host(leased(1), delay=0.0, errands=RUN))
    visit.next(0.0)
    visit.run_answer(got)
    assert isinstance(visit.next(1.0), Done if stops else Run)
    report = visit.report()
    (heard,) = report.heard
    assert heard.failure == (got.kind, got.status, got.retry_after and 3600.0)
    assert report.incident == (heard.failure if stops else None)
    assert (report.robots_failure, report.successes) == (None, 0)


def test_errands_to_a_name_that_is_none_fail_at_once_and_one_that_nobody_can_be_asked_for_stays():
    visit = visiting(host(leased(1), robots=(), errands=RUN))
    visit.next(0.0)
    visit.run_answer(failure(Kind.DNS_ERROR, nameless=True))
    assert visit.next(0.0) == Done()
    assert outcomes(visit) == [(1, Kind.DNS_ERROR)]
    report = visit.report()
    assert [heard.url for heard in report.heard] == list(RUN)
    assert {heard.failure.kind for heard in report.heard} == {Kind.DNS_ERROR}
    assert (report.incident, report.ended_at, report.successes) == (None, None, 0)
    visit = visiting(host(leased(1), robots=(), errands=RUN))
    visit.next(0.0)
    visit.run_answer(failure(Kind.DNS_ERROR, ours=True))
    assert visit.next(100.0) == Done()
    report = visit.report()
    assert (report.heard, report.incident, report.not_before) == ((), None, 30.5)
    assert report.unused == (1,)


def test_errands_end_with_the_deadline_and_over_a_dead_connection_they_are_run_again():
    visit = visiting(host(errands=RUN), deadline=2.0)
    assert visit.next(0.0) == Run(RUN[0])
    visit.run_answer(failure(Kind.PROTOCOL_ERROR, stale=True))
    assert visit.next(1.5) == Run(RUN[0])
    visit.run_answer(answer(Kind.HTTP_ERROR, 1.5, status=404))
    assert visit.next(2.0) == Done()
    assert [heard.url for heard in visit.report().heard] == [RUN[0]]


def test_a_robots_redirect_to_nowhere_allows_all():
    visit = visiting(host(leased(1), robots=(), delay=0.0))
    visit.next(0.0)
    visit.robots_answer(ORIGIN, answer(Kind.HTTP_ERROR, status=301))
    assert visit.next(0.5) == Get(leased(1))


def test_a_refused_address_is_the_outcome_of_all_its_urls():
    other = leased(3, "https://a.example/3")
    visit = visiting(host(leased(1), leased(2), other, robots=()))
    visit.next(0.0)
    visit.robots_answer(ORIGIN, failure(Kind.BLOCKED_ADDRESS))
    assert outcomes(visit) == [(1, Kind.BLOCKED_ADDRESS), (2, Kind.BLOCKED_ADDRESS)]
    assert isinstance(visit.next(9.0), AskRobots)
    assert visit.report().unused == (3,)


def test_robots_redirected_to_a_refused_address_are_unreachable():
    visit = visiting(host(leased(1), robots=()))
    visit.next(0.0)
    visit.robots_answer(ORIGIN, moved("http://a.example:81/robots.txt"))
    visit.robots_answer(ORIGIN, failure(Kind.BLOCKED_ADDRESS))
    assert visit.report().robots_failure == ORIGIN


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (Kind.HTTP_ERROR, 429), (Kind.HTTP_ERROR, 503), (Kind.TIMEOUT, None),
        (Kind.CONNECT_ERROR, None), (Kind.DNS_ERROR, None), (Kind.TLS_ERROR, None),
    ],
)  # fmt: skip
def test_a_failing_host_is_left_at_once(kind, status):
    visit = visiting(host(leased(1), leased(2)))
    visit.next(0.0)
    visit.answered(leased(1), answer(kind, status=status, retry_after=99.0))
    assert visit.next(50.0) == Done()
    report = visit.report()
    assert report.incident == (kind, status, 99.0)
    assert report.retries == ((1, kind, status, retry(kind, status).wait),)
    assert (report.unused, report.successes) == ((2,), 0)
    assert outcomes(visit) == []


def test_what_a_server_asks_to_wait_is_capped():
    visit = visiting(host(leased(1)))
    visit.next(0.0)
    visit.answered(leased(1), answer(Kind.HTTP_ERROR, status=429, retry_after=1e9))
    assert visit.report().incident.retry_after == 3600.0


def test_the_last_attempt_is_final_and_still_against_the_host():
    last = leased(1, attempt=4)
    visit = visiting(host(last, leased(2)))
    visit.next(0.0)
    visit.answered(last, answer(Kind.HTTP_ERROR, status=503))
    assert outcomes(visit) == [(1, Kind.HTTP_ERROR)]
    report = visit.report()
    assert (report.retries, report.unused) == ((), (2,))
    assert report.incident.status == 503


def test_a_url_at_fault_is_tried_later_and_the_visit_goes_on():
    visit = visiting(host(leased(1), leased(2)))
    visit.next(0.0)
    visit.answered(leased(1), answer(Kind.HTTP_ERROR, status=500))
    assert visit.next(1.5) == Get(leased(2))
    assert visit.report().retries == ((1, Kind.HTTP_ERROR, 500, 30.0),)


def test_a_dead_connection_is_no_answer_and_keeps_the_gap():
    visit = visiting(host(leased(1), robots=()))
    visit.next(0.0)
    visit.robots_answer(ORIGIN, failure(Kind.PROTOCOL_ERROR, stale=True))
    assert visit.next(0.5) == Wait(1.5)
    assert isinstance(visit.next(1.5), AskRobots)
    visit.robots_answer(ORIGIN, answer(Kind.HTTP_ERROR, 1.5, status=404))
    visit.answered(leased(1), failure(Kind.PROTOCOL_ERROR, 3.0, stale=True))
    assert visit.next(3.5) == Wait(4.5)
    assert visit.next(4.5) == Get(leased(1))
    assert (visit.report().retries, outcomes(visit)) == ((), [])


def test_a_redirect_to_the_same_key_is_followed_here():
    slash = f"{ORIGIN}/1/"
    visit = visiting(host(leased(1), leased(2)), rekey={slash: 1}.get)
    visit.next(0.0)
    visit.answered(leased(1), moved(slash))
    assert outcomes(visit) == []
    assert visit.report().unused == (1, 2)
    again = visit.next(1.5)
    assert again == Get(leased(1, slash, hops=1))
    visit.answered(again.leased, answer(at=1.5))
    (final,) = visit.take()
    assert (final.leased.url, final.answer.kind) == (slash, Kind.FETCHED)


def test_a_redirect_to_another_key_is_an_outcome():
    visit = visiting(host(leased(1)), rekey=lambda _: 2)
    visit.next(0.0)
    visit.answered(leased(1), moved(f"{ORIGIN}/2"))
    assert outcomes(visit) == [(1, Kind.REDIRECT)]


def test_a_redirect_loop_comes_to_an_end():
    config = Config(scope=Scope(max_redirects=2))
    visit = visiting(host(leased(1), delay=0.0), config=config, rekey=lambda _: 1)
    now = 0.0
    for spelling in range(3):
        visit.answered(visit.next(now).leased, moved(f"{ORIGIN}/1?utm_id={spelling}", now))
        now += 1.0
    assert visit.next(now) == Done()
    (final,) = visit.take()
    assert (final.answer.kind, final.answer.error) == (Kind.REDIRECT, "redirect loop")


def test_a_redirect_to_itself_is_not_followed():
    visit = visiting(host(leased(1), delay=0.0), rekey=lambda _: 1)
    visit.answered(leased(1), moved(f"{ORIGIN}/1", 0.0))
    assert visit.next(1.0) == Done()
    (final,) = visit.take()
    assert (final.answer.kind, final.answer.error) == (Kind.REDIRECT, "redirect loop")


ANSWERS = st.one_of(
    st.builds(
        answer,
        st.just(Kind.FETCHED),
        took=st.floats(0.3, 3),
        body=st.sampled_from([b"", b"User-agent: *\nDisallow: /3\nCrawl-delay: 2", b"\xff"]),
    ),
    st.builds(
        answer,
        st.just(Kind.HTTP_ERROR),
        took=st.floats(0.3, 3),
        status=st.sampled_from([404, 429, 500, 503]),
        retry_after=st.sampled_from([None, 7.0]),
    ),
    st.builds(
        answer,
        st.just(Kind.REDIRECT),
        took=st.floats(0.3, 3),
        status=st.just(301),
        redirect_to=st.sampled_from([f"{ORIGIN}/same", f"{ORIGIN}/x", "http://b.example/r"]),
    ),
    st.builds(failure, st.sampled_from([Kind.TIMEOUT, Kind.PROTOCOL_ERROR, Kind.TOO_SLOW]),
              took=st.floats(0.3, 3), stale=st.booleans()),
)  # fmt: skip


@given(
    answers=st.lists(ANSWERS, min_size=1),
    count=st.integers(0, 6),
    attempts=st.integers(0, 4),
    known=st.booleans(),
    delay=st.floats(0, 4),
    not_before=st.floats(0, 20),
    deadline=st.floats(0, 40),
    late=st.lists(st.floats(0, 2), min_size=1),
    ttl=st.sampled_from([1.5, 86400.0]),
    errands=st.sampled_from([(), RUN]),
)
def test_every_visit_is_polite_and_accounts_for_every_url(
    answers, count, attempts, known, delay, not_before, deadline, late, ttl, errands
):
    urls = [leased(key, attempt=attempts) for key in range(count)]
    rules, expires_at = (ALLOWED,) if known else (), ALLOWED.expires_at if known else 0.0
    config = Config(robots=Robots(ttl=ttl))
    lease = host(*urls, robots=rules, delay=delay, not_before=not_before, errands=errands)
    visit = visiting(lease, deadline, config, lambda url: 0 if url.endswith("same") else None)
    now, free = 0.0, not_before
    for step in range(200):
        action = visit.next(now)
        if isinstance(action, Done):
            break
        if isinstance(action, Wait):
            assert now < action.until <= deadline
            now = action.until + late[step % len(late)]
            continue
        assert free <= now <= deadline
        assert not isinstance(action, AskRobots) or action.url.startswith(ORIGIN)
        got = answers[step % len(answers)]
        got = got._replace(fetched_at=now, ended_at=now + got.elapsed)
        now = got.ended_at
        free = max(not_before, now + delay)
        if isinstance(action, Run):
            assert action.url == errands[len(visit.report().heard)]
            visit.run_answer(got)
        elif isinstance(action, AskRobots):
            visit.robots_answer(action.origin, got)
            expires_at = max([expires_at, *(record.expires_at for record in visit.report().robots)])
        else:
            assert got.fetched_at < expires_at
            visit.answered(action.leased, got)
    else:
        pytest.fail("the visit did not end")
    report = visit.report()
    final = [final.leased.key for final in visit.take()]
    ended = final + list(report.unused) + [retried.key for retried in report.retries]
    assert sorted(ended) == list(range(count))
    assert report.free_at >= free
    assert len(report.robots) <= 1 or ttl < 2
    assert (report.robots_failure is None) or report.incident


RULES = RobotsRecord(
    ORIGIN, parse(b"Sitemap: /a.xml\nUser-agent: *\nDisallow: /sitemap.xml", "testbot").pack(), 1e12
)


def test_where_a_sitemap_is_looked_for_the_row_says_which_robots_txt_names():
    probe = leased(1, f"{ORIGIN}/sitemap.xml")
    for rules, named in ((RULES, ("/a.xml",)), (ALLOWED, ())):
        visit = visiting(host(probe, leased(2), robots=(rules,)))
        while isinstance(action := visit.next(1.0), Get):
            visit.answered(action.leased, answer(Kind.HTTP_ERROR, status=404))
        first, *others = visit.take()
        assert first.sitemaps == named
        assert [final.sitemaps for final in others] == [None] * len(others)


def test_where_none_is_looked_for_no_row_says():
    quiet = Config(sitemaps=Sitemaps(discover=False))
    visit = visiting(host(leased(1, f"{ORIGIN}/sitemap.xml"), robots=(RULES,)), config=quiet)
    assert visit.next(1.0) == Done()
    assert [final.sitemaps for final in visit.take()] == [None]


@pytest.mark.parametrize(
    ("target", "asked", "gap"),
    [
        (f"{ORIGIN}/new", 7.0, 7.0),
        (f"{ORIGIN}/new", 0.5, 1.0),
        (f"{ORIGIN}/new", 900.0, 60.0),
        ("http://b.example/new", 7.0, 1.0),
    ],
)
def test_a_redirects_retry_after_is_a_delay_where_its_target_is(target, asked, gap):
    visit = visiting(host(leased(1), leased(2), leased(3)))
    visit.next(0.0)
    moved = answer(Kind.REDIRECT, status=302, redirect_to=target, retry_after=asked)
    visit.answered(leased(1), moved)
    assert visit.next(0.5) == Wait(0.5 + gap)
    assert visit.report().incident is None
    visit.answered(leased(2), answer(at=100.0))
    assert visit.next(100.5) == Wait(101.5)


def test_a_retry_after_of_an_answer_that_is_well_is_not_heeded():
    visit = visiting(host(leased(1), leased(2)))
    visit.next(0.0)
    visit.answered(leased(1), answer(retry_after=50.0))
    assert visit.next(0.5) == Wait(1.5)


def test_how_slow_the_host_was_in_the_lease_before_counts_until_it_answers():
    config = Config(politeness=Politeness(response_time_factor=2.0))
    lease = replace(host(leased(1), leased(2), leased(3)), response_seconds=5.0)
    visit = visiting(lease, config=config)
    visit.next(0.0)
    visit.answered(leased(1), failure(Kind.PROTOCOL_ERROR))
    assert visit.next(0.5) == Wait(10.5)
    visit.answered(leased(2), answer(at=10.5, took=1.0))
    assert visit.next(11.5) == Wait(13.5)


def test_a_host_of_unknown_address_is_located_and_asked_nothing():
    visit = visiting(replace(host(leased(1)), address=""))
    assert visit.next(0.0) == Locate("a.example")
    visit.located(Answer(Kind.FETCHED, 0.0, 0.1, ip="192.0.2.1"))
    assert visit.next(0.1) == Done()
    report = visit.report()
    assert (report.address, report.unused, report.ended_at) == ("192.0.2.1", (1,), None)


@pytest.mark.parametrize(("found", "told"), [("192.0.2.1", None), ("192.0.2.7", "192.0.2.7")])
def test_a_located_host_is_asked_and_a_new_address_is_told(found, told):
    visit = visiting(replace(host(leased(1)), address="192.0.2.1"))
    visit.next(0.0)
    visit.located(Answer(Kind.FETCHED, 0.0, 0.1, ip=found))
    assert visit.next(0.1) == Get(leased(1))
    assert visit.report().address == told


def test_a_name_without_an_address_is_an_incident():
    visit = visiting(replace(host(leased(1)), address=""))
    visit.next(0.0)
    visit.located(Answer(Kind.DNS_ERROR, 0.0, 0.1, error="no such name"))
    assert visit.next(0.1) == Done()
    report = visit.report()
    assert (report.address, report.unused) == (None, (1,))
    assert report.incident.kind is Kind.DNS_ERROR


DEAD = "https://a.example"


@pytest.mark.parametrize(
    ("failed", "alone"),
    [
        (failure(Kind.CONNECT_ERROR, error="refused"), True),
        (failure(Kind.TLS_ERROR, error="no TLS"), True),
        (answer(Kind.HTTP_ERROR, status=500), True),
        (answer(Kind.HTTP_ERROR, status=503), False),
    ],
)
def test_an_origin_that_never_answered_does_not_stop_the_host(failed, alone):
    dead = leased(1, f"{DEAD}/1"), leased(2, f"{DEAD}/2", attempt=3)
    lease = replace(host(*dead, leased(3)), strangers=(DEAD,))
    visit = visiting(lease)
    assert visit.next(0.0) == AskRobots(DEAD, f"{DEAD}/robots.txt")
    visit.robots_answer(DEAD, failed)
    if not alone:
        assert visit.next(10.0) == Done()
        report = visit.report()
        assert (report.robots_failure, report.unused) == (DEAD, (1, 2, 3))
        return
    assert visit.next(0.5) == Wait(1.5), "it was a request like others"
    assert visit.next(1.5) == Get(leased(3))
    visit.answered(leased(3), answer(at=1.5))
    (ended, fetched) = visit.take()
    assert (ended.leased.key, ended.answer.kind) == (2, Kind.ROBOTS_UNREACHABLE)
    assert (ended.answer.error, ended.answer.status) == (failed.error or "http_error", None)
    assert fetched.leased.key == 3
    report = visit.report()
    assert (report.robots_failure, report.incident, report.unused) == (None, None, ())
    assert [(later.key, later.wait) for later in report.retries] == [(1, 300.0)]


def test_an_origin_is_the_host_s_where_no_other_has_answered():
    visit = visiting(host(leased(1), leased(2), robots=()))
    visit.next(0.0)
    visit.robots_answer(ORIGIN, failure(Kind.CONNECT_ERROR))
    assert visit.next(10.0) == Done()
    assert visit.report().robots_failure == ORIGIN
