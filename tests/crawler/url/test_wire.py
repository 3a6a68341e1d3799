import tracemalloc

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.url.wire import _parsed, resolve, wire

BASE = "https://user@example.org:8080/a/b/c.html?x=/1#top"

# Text that is likely to be a reference: what a parser looks at, in any order.
references = st.text(
    st.one_of(st.sampled_from("/.?#:@%&=;\\ \t\n[]eE2aZ~_-"), st.characters()), max_size=30
)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTP://Example.ORG:80", "http://example.org/"),
        ("https://example.org/a#b", "https://example.org/a"),
        ("https://example.org/a#", "https://example.org/a"),
        ("https://example.org/%23#%23", "https://example.org/%23"),
        ("https://example.org/a?", "https://example.org/a?"),
        ("https://bücher.example/ü?ü", "https://xn--bcher-kva.example/%C3%BC?%C3%BC"),
        (" http://example.org/a\tb\n ", "http://example.org/ab"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://user:secret@example.org/", "http://user:secret@example.org/"),
        ("http://example.org/\ud800", "http://example.org/%EF%BF%BD"),
    ],
)
def test_wire_is_the_whatwg_serialisation_without_the_fragment(url, expected):
    assert wire(url) == expected


@pytest.mark.parametrize(
    "url", ["", "a/b", "//example.org/", "http://", "http://[::1", "http://a b/", "ftp://a/", "x:y"]
)
def test_what_is_not_http_with_a_host_has_no_wire_url(url):
    assert wire(url) is None


@given(references)
def test_wire_is_idempotent_and_ascii_and_accepts_any_text(text):
    for url in filter(None, (wire(text), wire(f"http://a/{text}"), wire(f"http://{text}/"))):
        assert wire(url) == url
        assert url.isascii()
        assert "#" not in url


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("d.html", "https://user@example.org:8080/a/b/d.html"),
        ("/d/e?f=g#h", "https://user@example.org:8080/d/e?f=g"),
        ("../d", "https://user@example.org:8080/a/d"),
        ("/d/../e", "https://user@example.org:8080/e"),
        ("//other.example/d", "https://other.example/d"),
        ("?y", "https://user@example.org:8080/a/b/c.html?y"),
        ("#top", "https://user@example.org:8080/a/b/c.html?x=/1"),
        ("", "https://user@example.org:8080/a/b/c.html?x=/1"),
        ("https://user@example.org:8080/d//e", "https://user@example.org:8080/d//e"),
        ("https://example.org/d", "https://example.org/d"),
        ("/ü\ud800", "https://user@example.org:8080/%C3%BC%EF%BF%BD"),
    ],
)
def test_resolve_reads_a_link_as_a_browser_does(href, expected):
    assert resolve(href, BASE) == expected


@pytest.mark.parametrize(
    "href",
    ["mailto:a@example.org", "javascript:void(0)", "data:,x", "tel:1", "JavaScript:x", "ftp://a/b"],
)
def test_links_that_lead_out_of_the_web_have_no_wire_url(href):
    assert resolve(href, BASE) is None


@pytest.mark.parametrize("base", ["", "about:blank", "/a", "http://", "ftp://a/b"])
def test_a_base_that_is_no_web_page_resolves_only_absolute_links(base):
    assert resolve("b.html", base) is None
    assert resolve("/b.html", base) is None
    if base == "ftp://a/b":
        assert resolve("http://c/d", base) == "http://c/d"


def test_a_base_of_any_length_resolves_and_is_not_remembered():
    tracemalloc.start()
    for number in range(50):
        base = f"http://a/{number}{10**5 * 'x'}/"
        assert resolve("b", base) == f"{base}b"
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 10**6


@given(
    references,
    st.sampled_from(
        [
            BASE,
            "http://a",
            "http://a/b/?/c/",
            "HTTPS://A:443/%7e/../b",
            "http://[::1]/x/y",
            "http://a//b//c",
            "ftp://a/b",
            "no base",
        ]
    ),
)
@example("https://user@example.org:8080//a", BASE)
@example("http://a/", "http://a")
@example("a/..", BASE)
@example("/a?b?c", BASE)
def test_the_short_cut_for_plain_references_answers_as_the_parser(href, base):
    assert resolve(href, base) == _parsed(href, base)


plain = st.from_regex(r"\A/?[a-zA-Z0-9_.~/-]{0,12}(\?[a-z=&%/.]{0,6})?(#[a-z/.]{0,3})?\Z")


@given(plain, st.sampled_from([BASE, "http://a", "http://a/b?c/d"]))
def test_likely_references_are_answered_as_by_the_parser(href, base):
    assert resolve(href, base) == _parsed(href, base)


@pytest.mark.parametrize(
    ("charset", "expected"),
    [
        ("utf-8", "/%C3%BC?q=%C3%BC%E2%82%AC%20x"),
        ("utf-16-le", "/%C3%BC?q=%C3%BC%E2%82%AC%20x"),
        ("iso8859-1", "/%C3%BC?q=%FC%26%238364%3B%20x"),
        ("cp1252", "/%C3%BC?q=%FC%80%20x"),
    ],
)
def test_a_query_is_written_in_the_charset_of_its_page(charset, expected):
    assert resolve("/ü?q=ü€ x#ü", "http://a/", charset) == f"http://a{expected}"


@given(references, st.sampled_from(["cp1252", "gb18030", "iso2022_jp", "euc_jp", "big5hkscs"]))
def test_any_link_on_a_page_of_any_charset_has_a_wire_url_or_none(href, charset):
    url = resolve(href, BASE, charset)
    assert url is None or wire(url) == url
