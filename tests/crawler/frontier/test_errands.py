"""Errands as they are remembered: who is asked once for all, who is told, and where it ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.config import Config, Robots
from crawler.frontier import errands as module
from crawler.frontier.errands import Errands, Told, destination, onward, patience, slot_for
from crawler.frontier.lease import Errand, Heard, Incident, RobotsRecord
from crawler.outcomes import Kind
from crawler.robots.answer import MAX_TARGET
from crawler.robots.rules import ALLOW_ALL, parse
from crawler.url.keys import slot_of

A, C, URL = "http://a.example", "https://c.example:8443", "https://www.b.test.com/robots.txt"
CONFIG = Config()
PATIENCE = patience(CONFIG)
ERRAND = Errand(A, URL, 1)
RULES = parse(b"User-agent: *\nDisallow: /x\n", "testbot").pack()
FAILURE = Incident(Kind.HTTP_ERROR, 503, 7.0)


def test_mail_goes_to_the_shard_of_the_host_that_is_asked_and_back_to_the_one_that_waits():
    told = Told(Errand(C, URL, 2), Heard(URL, 1.0, RULES))
    assert (destination(ERRAND), slot_for(ERRAND)) == ("www.b.test.com", slot_of("test.com"))
    assert (destination(told), slot_for(told)) == ("c.example", slot_of("c.example"))


@pytest.mark.parametrize(
    ("hops", "heard", "came"),
    [
        (0, Heard(URL, 5.0, RULES), RobotsRecord(A, RULES, 15.0)),
        (5, Heard(URL, 5.0, RULES), RobotsRecord(A, RULES, 15.0)),
        (0, Heard(URL, 5.0, failure=FAILURE), FAILURE),
        (0, Heard(A, 5.0, moved_to=URL), Errand(A, URL, 1)),
        (4, Heard(A, 5.0, moved_to=URL), Errand(A, URL, 5)),
        (5, Heard(A, 5.0, moved_to=URL), RobotsRecord(A, ALLOW_ALL.pack(), 15.0)),
        (0, Heard(A, 5.0, moved_to="x" * (MAX_TARGET + 1)), RobotsRecord(A, ALLOW_ALL.pack(), 15.0)),
    ],
)  # fmt: skip
def test_onward(hops, heard, came):
    assert onward(A, hops, heard, Robots(ttl=10.0)) == came


def test_who_waits_for_the_same_url_is_told_of_one_answer():
    errands, other = Errands(CONFIG), Errand(C, URL, 3)
    for errand in (ERRAND, other, ERRAND):
        assert errands.accept(errand, 0.0)
    assert (errands.of("www.b.test.com", 9), errands.pending) == ((URL,), 2)
    heard = Heard(URL, 4.0, RULES)
    errands.heard("www.b.test.com", [heard, heard, Heard("http://other/", 4.0, RULES)])
    assert errands.outgoing() == [Told(ERRAND, heard), Told(other, heard)]
    assert (errands.hosts, errands.pending, errands.outgoing()) == ([], 0, [])


def test_a_host_is_told_what_it_waits_for_once():
    errands = Errands(CONFIG)
    assert errands.send("a.example", ERRAND, 100.0) == 100.0 + PATIENCE
    assert errands.outgoing() == [ERRAND]
    told = Told(ERRAND, Heard(URL, 4.0, RULES))
    assert not errands.awaited(Told(ERRAND._replace(hops=2), told.heard))
    assert not errands.awaited(Told(ERRAND._replace(origin=C), told.heard))
    assert errands.awaited(told)
    assert not errands.awaited(told)


def test_who_waits_too_long_has_failed_those_who_wait_longest_first():
    errands = Errands(CONFIG)
    other = Errand(C, URL, 1)
    errands.send("a.example", ERRAND, 0.0)
    errands.send("c.example", other, 1.0)
    errands.send("a.example", ERRAND, 2.0)  # it had given up, and asks anew
    assert errands.overdue(PATIENCE + 0.9) == []
    (late,) = errands.overdue(PATIENCE + 1.0)
    assert late == Told(
        other, Heard(URL, PATIENCE + 1.0, failure=Incident(Kind.TIMEOUT, None, None))
    )
    assert errands.awaited(late)
    assert [told.errand for told in errands.overdue(PATIENCE + 2.0)] == [ERRAND]


def test_more_than_is_bearable_is_refused(monkeypatch):
    monkeypatch.setattr(module, "MAX_URLS", 2)
    monkeypatch.setattr(module, "MAX_ASKERS", 4)
    errands = Errands(CONFIG)
    urls = [f"http://b.example/{n}" for n in range(3)]
    assert [errands.accept(Errand(A, url, 1), 0.0) for url in urls] == [True, True, False]
    assert errands.accept(Errand(C, urls[0], 1), 0.0)
    assert errands.accept(Errand(C, "http://d.example/", 1), 0.0)
    assert not errands.accept(Errand("http://e.example", "http://d.example/", 1), 0.0)
    refused = [told.errand for told in errands.outgoing()]
    assert refused == [Errand(A, urls[2], 1), Errand("http://e.example", "http://d.example/", 1)]
    assert errands.hosts == ["b.example", "d.example"]


@pytest.mark.parametrize(
    ("moment", "now", "left"),
    [
        (10.0 + PATIENCE, 0.0, [C]),  # C asks later, and can wait
        (10.1 + PATIENCE, 0.0, []),
        (0.0, PATIENCE + 1.0, [C]),  # A has stopped waiting
        (PATIENCE, 0.0, [A, C]),
        (float("inf"), 0.0, []),
    ],
)
def test_who_cannot_wait_for_the_host_is_refused(moment, now, left):
    errands = Errands(CONFIG)
    errands.accept(ERRAND, 0.0)
    errands.accept(Errand(C, URL, 1), 10.0)
    errands.refuse("www.b.test.com", moment, now)
    refused = errands.outgoing()
    assert [told.errand.origin for told in refused] == [
        origin for origin in (A, C) if origin not in left
    ]
    assert all(told.heard.failure.kind is Kind.ROBOTS_UNREACHABLE for told in refused)
    assert errands.pending == len(left)
    assert errands.has("www.b.test.com") == bool(left)
    errands.refuse("unknown.example", float("inf"), now)


@given(
    st.lists(st.sampled_from([A, "http://b.example", "http://d.example"]), min_size=1, max_size=12)
)
def test_every_chain_of_redirects_ends(places):
    """Whoever redirects to whom, itself included: after five errands the origin has rules."""
    hops, step = 0, 0
    while True:
        moved = Heard("", float(step), moved_to=places[step % len(places)] + "/robots.txt")
        came = onward(A, hops, moved, CONFIG.robots)
        if isinstance(came, RobotsRecord):
            break
        hops, step = came.hops, step + 1
    assert (step, came.rules) == (5, ALLOW_ALL.pack())
