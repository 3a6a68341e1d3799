"""Meta refresh: every case of web-platform-tests."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.page.refresh import parse_refresh
from tests.shared import check, need


@pytest.mark.conformance
def test_web_platform_tests():
    cases = json.loads(need("html/wpt_meta_refresh.json").read_text())["cases"]
    assert len(cases) == 69
    judged = [
        (
            case["input"],
            parse_refresh(case["input"]),
            case["expected"] and tuple(case["expected"]),
        )
        for case in cases
    ]
    check("meta refresh: web-platform-tests", judged)


def test_a_time_beyond_all_measure_is_a_number():
    assert parse_refresh("9" * 10_000 + ";url=x") == (10**20 - 1, "x")


@given(st.text(alphabet="0123456789.;, \turlURL='\"/x", max_size=40))
def test_never_raises(content):
    found = parse_refresh(content)
    assert found is None or found[0] >= 0
