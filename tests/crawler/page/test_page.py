"""From bytes to facts: which reader, and that nothing raises."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.config import Fetch
from crawler.page.page import READERS, read_page, reads_apart

URL = "http://h.test/"


def test_the_type_chooses_the_reader():
    body = b"<title>t</title><a href=x>y</a>"
    assert read_page(body, "text/html", URL, 10).title == "t"
    assert read_page(body, None, URL, 10).content_type == "text/html"
    assert read_page(body, "text/plain", URL, 10).text == body.decode()


def test_what_has_a_reader_is_fetched():
    assert set(READERS) == {"text/html", "application/xhtml+xml", "text/plain", "application/pdf"}
    assert READERS.keys() <= set(Fetch().types)


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


ANY_TYPE = st.one_of(
    st.sampled_from([None, "text/html", "application/xhtml+xml", "text/plain", "text/xml"]),
    st.text(),
)
PIECES = """<a href= <base href=/x> <p> </p> <table> <td> </table> <svg> </svg> <title> <noscript> </noscript>
<iframe> <template> </template> <script> </script> <frameset> <!-- --> <![CDATA[ ]]> </body> <select> <option> \0 >
<link rel=canonical href=x> <meta name=robots content=none> <b> </b> <math> <plaintext> &#xD800; ' " /> x"""
MARKUP = st.lists(st.sampled_from(PIECES.split()), max_size=60).map(" ".join)


@given(st.binary(max_size=400), ANY_TYPE)
def test_no_bytes_raise(body, content_type):
    page = read_page(body, content_type, URL, 10)
    page.text.encode("utf-8")
    assert page.base == URL


@given(MARKUP, ANY_TYPE, st.integers(0, 3))
def test_no_markup_raises_and_nothing_vanishes(markup, content_type, limit):
    page = read_page(markup.encode(), content_type, URL, limit)
    everything = read_page(markup.encode(), content_type, URL, 1000)
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
