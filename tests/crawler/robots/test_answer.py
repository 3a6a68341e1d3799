"""The table of design §6 and RFC 9309 §2.3.1, status by status."""

import pytest

from crawler.robots.answer import AFTER_LAST_REDIRECT, MAX_TARGET, Verdict, follows, judge


@pytest.mark.parametrize(
    ("statuses", "verdict"),
    [
        ([200, 203, 204, 206, 299], Verdict.PARSE),
        ([300, 301, 302, 303, 304, 307, 308, 399], Verdict.REDIRECT),
        ([400, 401, 403, 404, 410, 428, 430, 451, 499], Verdict.ALLOW_ALL),
        ([429, 500, 502, 503, 599, None], Verdict.UNREACHABLE),
        ([0, 100, 199, 600, 999, -1], Verdict.UNREACHABLE),
    ],
)
def test_every_answer_has_one_meaning(statuses, verdict):
    assert {judge(status) for status in statuses} == {verdict}


def test_too_many_redirects_are_as_no_file():
    assert AFTER_LAST_REDIRECT is judge(404)


@pytest.mark.parametrize(
    ("target", "hops", "followed"),
    [
        ("https://a.example/robots.txt", 0, True),
        ("https://a.example/robots.txt", 4, True),
        ("https://a.example/robots.txt", 5, False),
        ("https://a.example/".ljust(MAX_TARGET, "x"), 0, True),
        ("https://a.example/".ljust(MAX_TARGET + 1, "x"), 0, False),
        (None, 0, False),
    ],
)
def test_so_many_redirects_are_followed_to_targets_of_a_bearable_length(target, hops, followed):
    assert follows(target, hops, 5) is followed
