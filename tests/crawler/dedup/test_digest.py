"""Digests: which texts are the same."""

import hashlib

import pytest

from crawler.dedup.digest import content_digest, text_digest


def test_a_body_is_digested_as_it_is():
    assert content_digest(b"abc") == hashlib.sha256(b"abc").digest()


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
    assert (text_digest(a) == text_digest(b)) is same


def test_any_string_has_a_digest():
    assert len(text_digest("\ud800")) == 32
