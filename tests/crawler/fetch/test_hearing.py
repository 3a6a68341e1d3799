"""What one answer for a robots.txt says: the table of design §6 on whole answers, broken ones and cut ones."""

import pytest

from crawler.config import Config, Robots
from crawler.fetch.exchange import Answer
from crawler.fetch.hearing import hear
from crawler.frontier.lease import Heard, Incident
from crawler.outcomes import Kind
from crawler.robots.rules import ALLOW_ALL, parse

URL = "http://a.example/robots.txt"
LIMIT = 500 * 1024
CONFIG = Config(robots=Robots(max_bytes=LIMIT))
TEXT = b"User-agent: *\nDisallow: /x\n"


def heard(kind, status, **more):
    return hear(URL, Answer(kind, 1.0, 3.0, 2.0, status, **more), "testbot", CONFIG)


@pytest.mark.parametrize(
    ("kind", "status", "more", "rules"),
    [
        (Kind.FETCHED, 200, {"body": TEXT}, parse(TEXT, "testbot")),
        (Kind.FETCHED, 204, {"body": b""}, ALLOW_ALL),
        (Kind.FETCHED, 200, {"body": None}, ALLOW_ALL),
        (Kind.HTTP_ERROR, 404, {}, ALLOW_ALL),
        (Kind.HTTP_ERROR, 401, {}, ALLOW_ALL),
        (Kind.HTTP_ERROR, 302, {}, ALLOW_ALL),  # to nowhere, or to no web page
        (Kind.HTTP_ERROR, 304, {}, ALLOW_ALL),  # to a request that named no version
        (Kind.FETCHED, 200, {"body": TEXT + b" " * (LIMIT - len(TEXT)), "truncated": True}, parse(TEXT, "testbot")),
    ],
)  # fmt: skip
def test_rules(kind, status, more, rules):
    assert heard(kind, status, **more) == Heard(URL, 3.0, rules.pack())


def test_a_redirect():
    target = "http://b.example/r"
    assert heard(Kind.REDIRECT, 301, redirect_to=target) == Heard(URL, 3.0, moved_to=target)


@pytest.mark.parametrize(
    ("kind", "status", "more", "failure"),
    [
        (Kind.HTTP_ERROR, 429, {"retry_after": 7.0}, Incident(Kind.HTTP_ERROR, 429, 7.0)),
        (Kind.HTTP_ERROR, 503, {"retry_after": 1e9}, Incident(Kind.HTTP_ERROR, 503, 3600.0)),
        (Kind.HTTP_ERROR, 500, {}, Incident(Kind.HTTP_ERROR, 500, None)),
        (Kind.DNS_ERROR, None, {}, Incident(Kind.DNS_ERROR, None, None)),
        # The status came, the rest did not: half a file is none.
        (Kind.TIMEOUT, 200, {"body": b"User", "truncated": True}, Incident(Kind.TIMEOUT, 200, None)),
        (Kind.TOO_SLOW, 200, {}, Incident(Kind.TOO_SLOW, 200, None)),
        (Kind.PROTOCOL_ERROR, 200, {"body": TEXT}, Incident(Kind.PROTOCOL_ERROR, 200, None)),
        (Kind.FETCHED, 200, {"body": TEXT, "truncated": True}, Incident(Kind.PROTOCOL_ERROR, 200, None)),
    ],
)  # fmt: skip
def test_failures(kind, status, more, failure):
    assert heard(kind, status, **more) == Heard(URL, 3.0, failure=failure)
