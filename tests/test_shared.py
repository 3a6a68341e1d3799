"""The judge of the conformance suites: nothing that differs without a reason gets past it."""

import pytest

from tests import shared
from tests.shared import Tally, check, tally


@pytest.fixture(autouse=True)
def tallies(monkeypatch):
    """A table of its own, so that nothing here is printed."""
    monkeypatch.setattr(shared, "TALLIES", {})
    return shared.TALLIES


def test_what_agrees_and_what_is_explained_is_counted(tallies):
    judged = [("a", 1, 1), ("b", 1, 2), ("b", 1, 1), ("c", None, 3)]
    assert check("s", judged, {"b": "why", "c": "why"}) == [("b", 1, 2), ("c", None, 3)]
    assert tallies == {"s": Tally(4, 2, {"why": 2})}


def test_rows_of_one_suite_are_summed(tallies):
    tally("s", 2, 1, {"why": 1})
    tally("s", 3, 2, {"why not": 1})
    assert tallies == {"s": Tally(5, 3, {"why": 1, "why not": 1})}


@pytest.mark.parametrize(
    ("judged", "explained", "complaint"),
    [
        ([("a", 1, 2)], {}, r"1 \(case, got, expected\): \[\('a', 1, 2\)\]"),
        ([("a", 1, 1)], {"a": "why"}, "explained, but it passes: {'a'}"),
        ([("a", 1, 1)], {"b": "why"}, "explained, but it passes: {'b'}"),
        ([], {}, "0 cases, not 1"),
    ],
)
def test_what_is_not_accounted_for_fails(judged, explained, complaint, tallies):
    with pytest.raises(AssertionError, match=complaint):
        check("s", judged, explained)
    assert tallies == {}


@pytest.mark.parametrize("passed", [1, 3])
def test_every_case_passed_or_has_a_reason(passed, tallies):
    with pytest.raises(AssertionError, match="of 3"):
        tally("s", 3, passed, {"why": 1})
    assert tallies == {}
