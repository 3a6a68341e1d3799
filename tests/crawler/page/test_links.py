"""Resolving, counting, the encoding of queries, and which `<link>`s are pages."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.page.links import Links, leads_to_page
from crawler.url.wire import resolve
from tests.shared import check, need


def urls(hrefs, base="http://h.test/a/b?c", charset="utf-8", limit=100):
    links = Links(base, charset, limit)
    for href in hrefs:
        links.add(href, "", "", "link")
    return links.links.urls, links.unresolved


def test_every_occurrence_is_a_link_or_counted():
    found, unresolved = urls(
        ["x", "x#y", "", "mailto:a@b", "http://[", "//o.test", "ftp://f.test/"], limit=3
    )
    assert found == ["http://h.test/a/x", "http://h.test/a/x", "http://h.test/a/b?c"]
    assert unresolved == {"not_http": 2, "invalid_url": 1, "link_limit": 1}


@given(
    st.text(st.sampled_from("#? \t\n\0\xa0/.:ax&;\ud800é"), max_size=8),
    st.sampled_from(["http://h.test/a/b?c", "data:x", "nowhere"]),
    st.sampled_from(["utf-8", "windows-1251", "iso-2022-jp"]),
)
def test_leaving_out_the_fragment_changes_no_url(href, base, charset):
    codec = {"iso-2022-jp": "iso2022_jp", "windows-1251": "cp1251"}.get(charset, charset)
    assert Links(base, charset, 9).resolve(href) == resolve(href, base, codec)


def test_places_in_one_page_are_one_reference_but_for_blanks_before_the_fragment():
    found, _ = urls(["#a", "#b", "x#a", "x#b", "x #a", "x "])
    here, x = "http://h.test/a/b?c", "http://h.test/a/x"
    assert found == [here, here, x, x, f"{x}%20", x]


# Nobody sends them.
REFUSED = dict.fromkeys(
    [("iso-2022-jp", "\x0eA"), ("gb18030", "\ue5e5")],
    "Python's encoder writes what the standard's refuses",
)


@pytest.mark.conformance
def test_web_platform_tests_of_queries_in_the_pages_encoding():
    cases = [
        case
        for case in json.loads(need("urls/wpt/percent-encoding.json").read_text())
        if "input" in case
    ]
    assert len(cases) == 7
    judged = [
        (
            (charset, case["input"]),
            urls([f"/é?{case['input']}"], charset=charset)[0],
            [f"http://h.test/%C3%A9?{expected}"],
        )
        for case in cases
        for charset, expected in case["output"].items()
    ]
    check("pages: queries in the page's encoding (web-platform-tests)", judged, REFUSED)


@pytest.mark.parametrize("charset", ["utf-16le", "utf-32be", "replacement"])
def test_queries_of_encodings_without_an_encoder_are_utf_8(charset):
    assert urls(["?é"], charset=charset)[0] == ["http://h.test/a/b?%C3%A9"]


@pytest.mark.parametrize(
    ("rel", "media", "expected"),
    [
        ("next", "", True),
        ("alternate", "text/html; charset=utf-8", True),
        ("alternate", "application/rss+xml", False),
        ("alternate stylesheet", "", False),
        ("icon", "", False),
        ("preload", "", False),
        ("search", "application/opensearchdescription+xml", False),
        ("nofollow license", "Application/XHTML+XML", True),
    ],
)
def test_leads_to_page(rel, media, expected):
    assert leads_to_page(rel.split(), media) is expected
