"""One spelling per resource: the RFC 9309 §2.2.2 comparison."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.robots.escapes import normalise, normalise_octets, open_query


@pytest.mark.parametrize(
    ("written", "spelt"),
    [
        ("/plain/path-1_2.~html?a=b&c=(d)", "/plain/path-1_2.~html?a=b&c=(d)"),
        ("/%62%61%7A", "/baz"),
        ("/%7ejoe", "/~joe"),
        ("/a%2fb", "/a%2Fb"),
        ("/a/b", "/a/b"),
        ("/ツ", "/%E3%83%84"),
        ("/%e3%83%84", "/%E3%83%84"),
        ("/a<b", "/a%3Cb"),
        ("/a b\n", "/a%20b%0A"),
        ("/*$'", "/%2A%24%27"),
        ("/100%", "/100%25"),
        ("/%%41B", "/%25AB"),
        ("/\ud800", "/%ED%A0%80"),
    ],
)
def test_one_spelling(written, spelt):
    assert normalise(written) == spelt
    assert normalise_octets(written.encode("utf-8", "surrogatepass")) == spelt


@given(st.text() | st.text("%2Ff41aA/?*$'é"))
def test_normalising_is_idempotent_and_printable(text):
    once = normalise(text)
    assert normalise(once) == once
    assert re.fullmatch(r"(?:[!-~])*", once)


@given(st.binary())
def test_octets_of_any_encoding_have_a_spelling(octets):
    spelt = normalise_octets(octets)
    assert normalise(spelt) == spelt


@pytest.mark.parametrize(
    ("spelt", "opened"),
    [
        ("/a%2Fb", "/a%2Fb"),
        ("/a%2Fb?c", "/a%2Fb?c"),
        ("/a%2Fb?u=https%3A%2F%2Fc%3Fd%40e%26f", "/a%2Fb?u=https://c?d@e%26f"),
    ],
)
def test_only_a_query_is_opened(spelt, opened):
    assert open_query(spelt) == opened
