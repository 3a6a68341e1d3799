import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.simweb.log import (
    Request,
    counts,
    load,
    parse,
    refetched,
    render,
    smallest_gap,
    violations,
)


def asked(host, start, end, status=200, target="/"):
    return Request(start, end, status, host, target, "raycrawl/0.1")


def test_a_log_survives_writing_and_reading(tmp_path):
    log = [
        asked("a", 2.0, 2.5),
        asked("b", 1.0, 1.25, 404, "/x y"),
        Request(3.0, 3.0, 200, "a", "/\x85", ""),
    ]
    path = tmp_path / "log.tsv"
    path.write_text(render(log), encoding="utf-8")
    assert load(path) == sorted(log)


def test_a_damaged_line_is_an_error():
    with pytest.raises(ValueError, match="unpack"):
        parse("1.0\t2.0\t200\n")


def test_requests_that_keep_the_delay_are_no_violation():
    log = [asked("a", 0.0, 1.0), asked("a", 2.0, 3.0), asked("b", 0.5, 9.0), asked("a", 4.0, 4.1)]
    assert violations(log, delay=1.0) == []


def test_two_in_flight_are_a_violation_even_without_a_delay():
    first, second = asked("a", 0.0, 1.0), asked("a", 0.9, 1.1)
    (found,) = violations([second, first])
    assert (found.host, found.before, found.after) == ("a", first, second)
    assert found.gap == pytest.approx(-0.1)


def test_the_gap_counts_from_the_end_of_the_answer_that_ended_last():
    long, inner, late = asked("a", 0.0, 10.0), asked("a", 1.0, 2.0), asked("a", 9.0, 9.5)
    assert [found.before for found in violations([late, long, inner], delay=1.0)] == [long, long]


def test_a_gap_below_the_delay_is_a_violation_but_for_the_tolerance():
    log = [asked("a", 0.0, 1.0), asked("a", 1.95, 2.0)]
    assert len(violations(log, delay=1.0)) == 1
    assert violations(log, delay=1.0, tolerance=0.06) == []
    assert smallest_gap(log) == pytest.approx(0.95)
    assert smallest_gap(log[:1]) == math.inf


def test_two_names_are_two_hosts():
    assert violations([asked("a", 0.0, 1.0), asked("b", 0.5, 1.0)], delay=5.0) == []


def test_counts_and_refetches():
    log = [
        asked("a", 0, 1), asked("a", 2, 3), asked("a", 4, 5, 503, "/x"), asked("a", 6, 7, 200, "/x"),
        asked("a", 8, 9, 200, "/robots.txt"), asked("a", 9, 9, 200, "/robots.txt"),
    ]  # fmt: skip
    assert counts(log) == {("a", 200): 5, ("a", 503): 1}
    assert refetched(log) == {("a", "/"): 2}


def test_a_delay_may_depend_on_what_the_answer_was():
    log = [
        asked("a", 0.0, 1.0, 503),
        asked("a", 2.0, 3.0),
        asked("a", 3.5, 4.0),
        asked("a", 5.0, 5.5),
    ]
    (found,) = violations(log, lambda before: 2.0 if before.status == 503 else 0.5)
    assert (found.before.status, found.gap) == (503, 1.0)


@given(st.lists(st.floats(0.01, 5.0), max_size=20), st.floats(0.0, 3.0))
def test_exactly_the_gaps_below_the_delay_are_found(gaps, delay):
    log, now = [asked("a", 0.0, 0.0)], 0.0
    for gap in gaps:
        now += gap
        log.append(asked("a", now, now))
    found = violations(log, delay, tolerance=1e-9)
    assert len(found) == sum(
        after.start - before.end < delay - 1e-9 for before, after in itertools.pairwise(log)
    )
