"""The rules that RFC 9309 gives in words: what this project decides, by section.

How they are carried out (redirects followed, records kept) is in `tests/crawler/fetch/test_visit.py`.
"""

import json

import pytest

from crawler.config import Robots
from crawler.robots.answer import AFTER_LAST_REDIRECT, Verdict, judge
from crawler.robots.rules import parse
from tests.shared import check, need

DENIED = b"User-agent: *\nDisallow: /a\n"


def verdicts(statuses):
    return {judge(status) for status in statuses}


def allowed(text, agent="foo", path="/a"):
    return parse(text, agent).allows(path)


def the_limit_is_at_least_500_kib():
    padding = b"#" * (500 * 1024 - len(DENIED) - 1) + b"\n"
    return Robots().max_bytes >= 500 * 1024 and not allowed(padding + DENIED)


def the_text_is_read_as_written():
    ends = [DENIED.replace(b"\n", end) for end in (b"\n", b"\r", b"\r\n")]
    to_foo = b"User-agent: FOO/2\nDisallow: /\nAllow: /a\nDisallow: /ab\n"
    tie = b"User-agent: *\nDisallow: /a\nAllow: /a\n"
    return (
        not any(allowed(text) for text in ends)
        and not allowed("User-agent: *\nDisallow: /ツ".encode(), path="/%E3%83%84")
        and (allowed(to_foo), allowed(to_foo, path="/ab"), allowed(to_foo, "fo", "/ab"))
        == (True, False, True)
        and allowed(tie)
    )


KEPT = {
    "2.3.1.1": lambda: verdicts(range(200, 300)) == {Verdict.PARSE},
    "2.3.1.2": lambda: (
        verdicts([301, 302, 303, 307, 308]) == {Verdict.REDIRECT}
        and Robots().max_redirects >= 5
        and AFTER_LAST_REDIRECT is Verdict.ALLOW_ALL
    ),
    "2.3.1.3": lambda: verdicts(range(400, 500)) == {Verdict.ALLOW_ALL},
    "2.3.1.4": lambda: verdicts([*range(500, 600), None]) == {Verdict.UNREACHABLE},
    "2.3.1.5": lambda: not allowed(b"<html>\n\xff\0\nfoo: bar: baz\n:\n" + DENIED),
    "2.4": lambda: Robots().ttl <= 24 * 3600,
    "2.5": the_limit_is_at_least_500_kib,
    "2.1/2.2": the_text_is_read_as_written,
}


EXPLAINED = {
    "2.3.1.3": '429 says "not now" about the whole server: no licence to go on (the RFC has a MAY)'
}


@pytest.mark.conformance
def test_every_rule_is_kept():
    rules = json.loads(need("robots/rfc9309_examples.json").read_text())["protocol_rules"]
    assert {rule["section"] for rule in rules} == KEPT.keys()
    judged = [(rule["section"], KEPT[rule["section"]](), True) for rule in rules]
    check("robots: rules of RFC 9309 in words", judged, EXPLAINED, at_least=8)
    assert [status for status in range(400, 500) if judge(status) is not Verdict.ALLOW_ALL] == [429]
