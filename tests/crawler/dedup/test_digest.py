"""Digests: which texts are the same."""

import pytest

from crawler.dedup.digest import text_digest


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("One two", "one TWO", True),
        ("STRASSE", "straße", True),
        ("one two", "onetwo", False),
        ("one, two", "one two", False),
    ],
)
def test_case_does_not_count(a, b, same):
    assert (text_digest(a.casefold()) == text_digest(b.casefold())) is same


def test_any_string_has_a_digest():
    assert len(text_digest("\ud800")) == 32
