"""Lines to fields, whatever the file looks like."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.robots.escapes import normalise
from crawler.robots.rules import path_of
from crawler.robots.syntax import Field, read_fields
from tests.shared import check, need

BIG = 512 * 1024


def fields(text, max_bytes=BIG):
    return list(read_fields(text, max_bytes))


@pytest.mark.parametrize(
    ("line", "field"),
    [
        (b"User-agent: /x", Field.USER_AGENT),
        (b"USERAGENT:/x", Field.USER_AGENT),
        (b"user agent : /x", Field.USER_AGENT),
        (b"Allow: /x", Field.ALLOW),
        (b"  Disallow\t:  /x  # why", Field.DISALLOW),
        (b"disallow /x", Field.DISALLOW),
        (b"dissallow: /x", Field.DISALLOW),
        (b"disalow: /x", Field.DISALLOW),
        (b"diasllow: /x", Field.DISALLOW),
        (b"Crawl-delay: /x", Field.CRAWL_DELAY),
        (b"site-map: /x", Field.SITEMAP),
    ],
)
def test_a_field_however_spelt(line, field):
    assert fields(line) == [(field, b"/x")]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"#Allow: /x",
        b"Host: x",
        b"allow",
        b"disallow /a /b",
        b"noindex: /x",
        b": /x",
        b"<html>",
    ],
)
def test_a_line_that_says_nothing(line):
    assert fields(line) == []


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n", b"\n\n", b"\r\r\n"])
def test_every_line_end(end):
    assert fields(end.join([b"allow: /a", b"disallow: /b", b""])) == [
        (Field.ALLOW, b"/a"),
        (Field.DISALLOW, b"/b"),
    ]


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\xef\xbb", b"\xef", b""])
def test_a_byte_order_mark_whole_or_half_is_skipped(mark):
    assert fields(mark + b"allow: /a") == [(Field.ALLOW, b"/a")]


def test_a_broken_mark_spoils_its_line_only():
    assert fields(b"\xef\x11\xbfallow: /a\nallow: /b") == [(Field.ALLOW, b"/b")]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_read_where_a_mark_says_so(encoding):
    text = "\ufeffallow: /a\r\ndisallow: /\u00e9\r\n".encode(encoding)
    expected = [(Field.ALLOW, b"/a"), (Field.DISALLOW, "/\u00e9".encode())]
    assert fields(text) == expected
    assert fields(text + b"x") == expected
    for limit in range(4, len(text)):
        assert fields(text, limit) == expected[: (limit >= 22) + (limit >= len(text) - 2)]
    assert fields(text[2:]) == []


def test_a_nul_is_an_octet_like_others():
    assert fields(b"allow: /a\0b\n\0allow: /c") == [(Field.ALLOW, b"/a\0b")]


@pytest.mark.parametrize("end", [b"\n", b"\r"])
def test_a_text_is_cut_at_the_limit_and_the_half_line_dropped(end):
    text = b"allow: /a" + end + b"disallow: /b"
    assert fields(text, len(text) + 1) == [(Field.ALLOW, b"/a"), (Field.DISALLOW, b"/b")]
    for limit in range(10, len(text) + 1):
        assert fields(text, limit) == [(Field.ALLOW, b"/a")]
    assert fields(text, 9) == []


def test_an_overlong_line_is_read_to_its_end():
    value = b"/" + b"a" * 100_000
    assert fields(b"allow: " + value + b"\nallow: /b") == [
        (Field.ALLOW, value),
        (Field.ALLOW, b"/b"),
    ]


@given(st.binary())
def test_no_octets_make_it_fail(text):
    for field, value in read_fields(text, 100):
        assert isinstance(field, Field)
        assert value == value.strip()
        assert b"#" not in value


@pytest.mark.conformance
def test_google_agrees_on_paths_and_escapes():
    suite = json.loads(need("robots/google_robotstxt_cases.json").read_text())
    assert len(suite["path_extraction"]) == 19
    check(
        "robots: paths of URLs (google/robotstxt)",
        [(case["url"], path_of(case["url"]), case["path"]) for case in suite["path_extraction"]],
    )
    assert len(suite["pattern_escaping"]) == 4
    check(
        "robots: escapes in patterns (google/robotstxt)",
        [
            (case["pattern"], normalise(case["pattern"]), case["escaped"])
            for case in suite["pattern_escaping"]
        ],
    )
