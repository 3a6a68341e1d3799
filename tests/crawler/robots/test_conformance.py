"""Suites that others wrote, and real files on which three other implementations agree.

An exception is a case where a suite clashes with RFC 9309 or with a decision of the conformance README: it is listed
with its reason, and the test fails as well if a listed case passes.
"""

import base64
import gzip
import json
import tarfile
from functools import cache

import pytest

from crawler.robots.rules import parse
from tests.shared import check, need

pytestmark = pytest.mark.conformance

# Why we answer a clashing case otherwise, by suite and test.
ESCAPES = "escapes are normalised on both sides (RFC 9309 §2.2.2): Google's matcher does not"
DIGITS = (
    "a suite's agent with digits is no product token, so no User-agent line can name it (§2.2.1)"
)
EQUALITY = "a token names an agent by equality, not by prefix (§2.2.1)"
REASONS = {
    ("google", "ID_Encoding"): ESCAPES,
    ("google", "GoogleOnly_LineTooLong"): "long lines are read whole, not cut at 16 KiB (§2.5 sets 500 KiB)",
    ("protego", "group1-hedwig-news2]"): DIGITS,
    ("protego", "group3-hedwig-new]"): EQUALITY,
    ("protego", "group3-hedwig-images]"): EQUALITY,
    ("protego", "test_allowed_wildcards"): DIGITS,
    ("protego", "test_1996rfc_examples"): DIGITS,
    ("protego", "test_unicode_url_and_useragent"): "a product token is of ASCII letters, `_` and `-` (§2.2.1)",
    ("protego", "test_grouping_unknown_keys"): "only a rule ends a run of User-agent lines (a decision)",
    ("protego", "test_generosity"): "`harry potter` and `foo*bot` are no product tokens (§2.2.1)",
    ("protego", "test_special_symbols_dual_behaviour"): "a last `$` ends the path and is nothing else (§2.2.3)",
    ("protego", "test_with_absolute_urls"): "a pattern begins with `/` (§2.2.2): a whole URL takes no path",
}  # fmt: skip
FAILING_CLASHES = 48


def judged(case, expected):
    """The agent goes in as the suite gives it, as it does into Google's matcher."""
    text = (
        base64.b64decode(case["robots_base64"])
        if "robots_base64" in case
        else case["robots"].encode()
    )
    name = (case.get("suite"), case.get("test", case.get("section")), case["agent"], case["url"])
    return name, parse(text, case["agent"]).allows(case["url"]), case[expected]


@cache
def collected():
    return [json.loads(line) for line in need("robots/cases.jsonl").read_text().splitlines()]


def test_what_three_implementations_agree_on():
    cases = [case for case in collected() if case["unanimous"]]
    assert len(cases) == 346
    check("robots: where three implementations agree", [judged(case, "expected") for case in cases])


def test_where_they_clash_every_difference_has_a_reason():
    cases = (judged(case, "expected") for case in collected() if not case["unanimous"])
    named = [
        ((suite, test.rpartition("::")[2]), got, expected)
        for (suite, test, _, _), got, expected in cases
    ]
    failed = check("robots: where the three clash", named, REASONS)
    assert len(failed) == FAILING_CLASHES


def test_google():
    cases = json.loads(need("robots/google_robotstxt_cases.json").read_text())["cases"]
    ours = [case for case in cases if not case["google_only"]]
    assert len(ours) == 72
    named = [(case["test"], *judged(case, "allowed")[1:]) for case in ours]
    failed = check("robots: google/robotstxt", named, {"ID_Encoding": ESCAPES})
    assert len(failed) == 3
    assert all(expected is False for _, _, expected in failed)


def test_the_examples_of_rfc_9309():
    cases = json.loads(need("robots/rfc9309_examples.json").read_text())["cases"]
    assert len(cases) == 32
    check("robots: examples of RFC 9309", [judged(case, "allowed") for case in cases])


@pytest.mark.slow
def test_real_files():
    with tarfile.open(need("robots/real_robots.tar.xz")) as archive:
        texts = {
            member.name.removeprefix("./"): archive.extractfile(member).read()
            for member in archive
            if member.isfile()
        }
    with gzip.open(need("robots/real_robots_verdicts.jsonl.gz"), "rt") as lines:
        verdicts = [json.loads(line) for line in lines]
    agreed = [one for one in verdicts if one["google"] is one["protego"] is one["crawler_commons"]]
    assert (len(verdicts), len(agreed)) == (12_650, 12_486)
    rules = cache(lambda file, agent: parse(texts[file], agent))
    check(
        "robots: real files, where three implementations agree",
        [
            (
                (one["file"], one["agent"], one["url"]),
                rules(one["file"], one["agent"]).allows(one["url"]),
                one["google"],
            )
            for one in agreed
        ],
    )
