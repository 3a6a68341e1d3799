"""The product token, by Google's published list and RFC 9309 §2.2.1."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.robots.product import product_token
from tests.shared import check, need


@pytest.mark.parametrize(
    ("agent", "token"),
    [
        ("raycrawl/0.1 (+https://example.com/bot)", "raycrawl"),
        ("Foo_Bar-Baz", "Foo_Bar-Baz"),
        ("Foo Bar", "Foo"),
        ("Foo2Bar", "Foo"),
        ("1bot", ""),
        ("ツ", ""),
        ("Foo\nBar\nBaz", "Foo"),
        ("", ""),
    ],
)
def test_the_leading_run_of_letters(agent, token):
    assert product_token(agent) == token


@given(st.text())
def test_a_token_is_its_own_token(agent):
    token = product_token(agent)
    assert agent.startswith(token)
    assert product_token(token) == token


@pytest.mark.conformance
def test_google_agrees_which_tokens_are_valid():
    cases = json.loads(need("robots/google_robotstxt_cases.json").read_text())[
        "valid_product_tokens"
    ]
    assert len(cases) == 10
    agents = [(case["agent"], case["valid"]) for case in cases]
    check(
        "robots: product tokens (google/robotstxt)",
        [(agent, agent != "" and product_token(agent) == agent, valid) for agent, valid in agents],
    )
