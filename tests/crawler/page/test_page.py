"""From bytes to facts: which reader, and that nothing raises."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crawler.config import Fetch
from crawler.page.facts import Asked, Extra
from crawler.page.header import LinkHeaders
from crawler.page.page import READERS, read_page, reads_apart

URL = "http://h.test/"


def test_the_type_chooses_the_reader():
    body = b"<title>t</title><a href=x>y</a>"
    assert read_page(body, "text/html", URL, 10).title == "t"
    assert read_page(body, None, URL, 10).content_type == "text/html"
    assert read_page(body, "text/plain", URL, 10).text == body.decode()


def test_what_has_a_reader_is_fetched():
    assert READERS.keys() == set(Fetch().types)


def test_which_types_are_read_apart():
    assert reads_apart(b"", "application/pdf; x=y")
    assert reads_apart(b"%PDF-1.4", "application/octet-stream")
    assert not reads_apart(b"%PDF-1.4", "text/html")


def test_a_type_without_a_reader_has_no_text_and_no_links():
    page = read_page(b"PK\3\4 <a href=x>", "application/zip", URL, 10)
    assert (page.content_type, page.charset, page.text, len(page.links)) == (
        "application/zip",
        None,
        "",
        0,
    )


def test_xhtml_served_as_xml_is_read():
    body = b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><script/><p>a <a href='x'>b</a></p></html>"
    page = read_page(body, "text/xml", URL, 10)
    assert (page.text, page.links.urls) == ("a b", ["http://h.test/x"])
    assert (
        read_page(
            b"<?xml version='1.0'?><feed/>", "application/xml; charset=utf-8", URL, 10
        ).charset
        == "utf-8"
    )


def test_the_charset_reaches_text_and_queries():
    page = read_page(
        "<meta charset=koi8-r><a href='?q=ж'>жук".encode("koi8-r"), "text/html", URL, 10
    )
    assert (page.charset, page.text) == ("koi8-r", "жук")
    assert page.links.urls[0] == "http://h.test/?q=%D6"


def test_links_of_headers_are_the_pages_own_whatever_its_type():
    page = read_page(
        b"PK\3\4",
        "application/zip",
        URL + "a.zip",
        1,
        LinkHeaders(['<a>; rel=canonical, <b>; rel="next"']),
    )
    assert (page.canonical, page.links.rels, page.unresolved) == (
        f"{URL}a",
        ["canonical"],
        {"link_limit": 1},
    )


def test_the_page_itself_speaks_before_its_headers():
    body = b"<base href=/x/><link rel=canonical href=1><a href=y>z</a>"
    headers = [
        '<2>; rel=canonical, <style.css>; rel=stylesheet, <3>; rel="alternate"; hreflang=de; title="drei  3"',
        '<4>; rel=next; anchor="/other", <5>; rel=prev; anchor="#here", <6>; rev=made, <mailto:a@b>; rel=author',
    ]
    page = read_page(body, "text/html", URL, 9, LinkHeaders(headers))
    assert page.canonical == f"{URL}x/1"
    assert page.links.urls == [URL + path for path in ("x/1", "x/y", "2", "3", "5")]
    assert page.links.vias == ["canonical", "link", "canonical", "link", "link"]
    assert page.links.texts[3] == "drei 3"
    assert page.links.extras == {3: Extra("de")}
    assert page.unresolved == {"not_http": 1}


def test_a_refresh_header_is_a_link_of_the_page_itself():
    refreshes = ["0;url=next", "5", "soon; url=never", "3; URL='/there'", "0; url=mailto:a@b.test"]
    body = b"<base href=/x/><meta http-equiv=refresh content='1; url=here'>"
    page = read_page(body, "text/html", URL, 9, LinkHeaders(refreshes=refreshes))
    assert page.links.urls == [URL + path for path in ("x/here", "next", "there")]
    assert page.links.vias == ["refresh"] * 3
    assert page.unresolved == {"not_http": 1}


ANY_TYPE = st.one_of(
    st.sampled_from(
        [
            None,
            *(media for media, reader in READERS.items() if not reader.apart),
            "application/zip",
            "text/html; charset=utf-16",
            "text/xml; charset=utf-7",
        ]
    ),
    st.text(),
)
PIECES = """<a href= <base href=/x> <p> </p> <table> <td> </table> <svg> </svg> <title> <noscript> </noscript>
<iframe> <template> </template> <script> </script> <frameset> <!-- --> <![CDATA[ ]]> </body> <select> <option> \0 >
<link rel=canonical href=x> <img srcset= <a hreflang=de <rss> <channel> <item> <link> </item> <urlset> <url> <loc>
<feed> <entry> <?xml encoding='utf-16' ?> <html
<meta name=robots content=none> <b> </b> <math> <plaintext> &#xD800; ' " /> x"""
HEADER = st.lists(
    st.one_of(st.text(max_size=30), st.lists(st.sampled_from(
        ["<x>", "<", ">", ";", ",", "rel", "=", '"', "next", "canonical", "anchor", "\\", "title*", "UTF-8''%ff", " ",
         "0", "url="]
    )).map("".join)), max_size=3,
)  # fmt: skip
HEADERS = st.builds(LinkHeaders, HEADER, HEADER)
MARKUP = st.lists(st.sampled_from(PIECES.split()), max_size=60).map(" ".join)


@given(st.binary(max_size=400), ANY_TYPE, HEADERS)
def test_no_bytes_raise(body, content_type, headers):
    assume(not reads_apart(body, content_type))
    page = read_page(body, content_type, URL, 10, headers)
    page.text.encode("utf-8")
    assert page.base == URL


@given(MARKUP, ANY_TYPE, HEADERS, st.integers(0, 3))
def test_no_markup_raises_and_nothing_vanishes(markup, content_type, headers, limit):
    asked = Asked(srcset=True, feeds=True)
    page = read_page(markup.encode(), content_type, URL, limit, headers, asked)
    everything = read_page(markup.encode(), content_type, URL, 1000, headers, asked)
    links = everything.links
    assert len(links.urls) == len(links.rels) == len(links.texts) == len(links.vias)
    assert all(0 <= at < len(links) for at in links.extras)
    assert len(page.links) == min(limit, len(everything.links))
    assert sum(page.unresolved.values()) + len(page.links) == sum(
        everything.unresolved.values()
    ) + len(everything.links)


@pytest.mark.parametrize(
    "body", [b"", b"\0" * 3000, b"<" * 3000, b"<a href='", b"<!--", bytes(range(256)) * 20]
)
def test_junk_is_a_page(body):
    assert read_page(body, "text/html", URL, 10).links.urls == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "part",
    [b"<div>", b"<a href=x>", b"<p><b id=", b"<table><tr><td>", b"<a ", b"<svg>", b"&", b"<li>"],
)
def test_huge_bodies_end(part):
    """Ten million bytes of anything take seconds at worst (the test's time limit is the assertion)."""
    read_page(part * (10_000_000 // len(part)), "text/html", URL, 100_000)


MILLION = 10**6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "links"),
    [
        (b"".join(b"<a href=/%d>x</a> " % number for number in range(100_000)), 100_000),
        (b"x" * 10_000_000, 0),
        (b"<a " + b"".join(b"a%d " % number for number in range(MILLION)) + b"href=x>y</a>", 0),
        (b"<meta name=robots content=noindex>" * MILLION, 0),
        (b"<a href='/%b'>y</a>" % (b"x" * 5_000_000), 1),
        (b"<base href=/x/>" * 100_000 + b"<a href=y>z</a>", 1),
        (b"<li><dd>" * MILLION + b"<a href=x>y</a>", 1),
    ],
    ids=["links", "text", "attributes", "metas", "href", "bases", "nesting"],
)
def test_pages_of_one_thing_without_number_end(body, links):
    """Seconds at worst (the test's time limit is the assertion)."""
    page = read_page(body, "text/html", URL, 50_000)
    assert len(page.links) + page.unresolved.get("link_limit", 0) == links
