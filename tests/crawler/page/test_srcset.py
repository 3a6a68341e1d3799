"""Candidates of `srcset`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.page.srcset import parse_srcset


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" , ,", []),
        ("a.jpg", ["a.jpg"]),
        ("a 1x, b 2x", ["a", "b"]),
        ("a 100w 50h,b 1.5x", ["a", "b"]),
        ("a,b", ["a,b"]),
        ("a, b,, c", ["a", "b", "c"]),
        ("data:,x ( , ) 3x, b 2x", ["b"]),
        ("\n\ta\f 1x\r,\nb", ["a", "b"]),
        ("a 1x 2x, b 0w, c -1x, d 5h, e 1q, f 1x 5w, g 5w 5w", []),
        ("a 2e1x, b -0x, c .5x, d 1.x, e 1w 1h", ["a", "b", "c", "e"]),
        ("a 1x(,), b", ["b"]),
        ("a (", []),
    ],
)
def test_candidates(text, expected):
    assert parse_srcset(text) == expected


@pytest.mark.parametrize("part", ["(", "a ", ",", "a(", "a 1x,", "a ("])
def test_long_ones_take_no_longer_than_they_are_long(part):
    parse_srcset(part * (1_000_000 // len(part)))


@given(st.text(st.sampled_from("ab,(). \t\n\f\r0195-+eExwh\u0661")) | st.text())
def test_any_text_has_candidates_without_blanks(text):
    for reference in parse_srcset(text):
        assert reference in text
        assert not set(reference) & set("\t\n\f\r ")
