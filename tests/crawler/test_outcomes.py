"""The retry table: complete, and as it is documented."""

import pytest

from crawler.outcomes import FINAL, PAGES, RETRIES, STATUS_RETRIES, Kind, retry


def test_every_kind_has_a_rule():
    assert set(RETRIES) == set(Kind)


@pytest.mark.parametrize("kind", list(Kind))
def test_rules_make_sense(kind):
    rule = retry(kind)
    assert rule.attempts >= 1
    assert (rule.attempts == 1) == (rule.wait == 0.0)
    if rule.attempts == 1:
        assert rule == FINAL
    assert retry(kind, 503) == (
        RETRIES[kind] if kind is not Kind.HTTP_ERROR else STATUS_RETRIES[503]
    )


@pytest.mark.parametrize(
    ("status", "attempts", "against_host"),
    [(429, 5, True), (503, 5, True), (500, 2, False), (404, 1, False), (410, 1, False), (None, 1, False)],
)  # fmt: skip
def test_statuses(status, attempts, against_host):
    rule = retry(Kind.HTTP_ERROR, status)
    assert (rule.attempts, rule.against_host) == (attempts, against_host)


def test_pages_are_what_has_a_body():
    assert {Kind.FETCHED, Kind.PARSE_FAILED} == PAGES
