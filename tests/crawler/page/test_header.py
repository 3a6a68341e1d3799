"""`Link` headers: the examples of RFC 8288 section 3.5, and what servers make of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.page.header import HeaderLink, parse_links


def link(href, rel="", anchor=None, hreflang="", media="", title=""):
    return HeaderLink(href, rel, anchor, hreflang, media, title)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            '<http://example.com/TheBook/chapter2>; rel="previous"; title="previous chapter"',
            [link("http://example.com/TheBook/chapter2", "previous", title="previous chapter")],
        ),
        ('</>; rel="http://example.net/foo"', [link("/", "http://example.net/foo")]),
        ('</terms>; rel="copyright"; anchor="#foo"', [link("/terms", "copyright", "#foo")]),
        (
            """</2>; rel="previous"; title*=UTF-8'de'letztes%20Kapitel,
            </4>; rel="next"; title*=UTF-8'de'n%c3%a4chstes%20Kapitel""",
            [link("/2", "previous", title="letztes Kapitel"), link("/4", "next", title="nächstes Kapitel")],
        ),
        ('<a>; rel="start  http://b.test/C"', [link("a", "start http://b.test/c")]),
        ('<a>;rel=next,<b,c>; rel="x \\" y, z" , <d>', [link("a", "next"), link("b,c", 'x " y, z'), link("d")]),
        ("<a>; REL = Next ; HrefLang = de ; type=text/html", [link("a", "next", hreflang="de", media="text/html")]),
        ("<a>; rel=next; rel=prev", [link("a", "next")]),
        ("<a>; title=b; title*=iso-8859-1''%e9", [link("a", title="b")]),
        ('junk "x, <y>", <e>; rel=up', [link("e", "up")]),
        ("<a", []),
        ('<a>; title="open, <b>', [link("a", title="open, <b>")]),
        (",,<z>;;;rel=x;=y;rel", [link("z", "x")]),
    ],
)  # fmt: skip
def test_one_header(value, expected):
    assert list(parse_links([value])) == expected


def test_several_headers_are_one_list():
    assert list(parse_links(["<a>, ", "", "<b>"])) == [link("a"), link("b")]


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(exclude_characters=">", codec="utf-8")),
            st.text(st.sampled_from('ab "\\,;<>=')),
        )
    )
)
def test_what_is_written_as_it_should_be_is_read_as_it_was(pairs):
    quoted = [(href, title.replace("\\", "\\\\").replace('"', '\\"')) for href, title in pairs]
    value = ", ".join(f'<{href}>; rel=next; title="{title}"' for href, title in quoted)
    assert [(found.href, found.title) for found in parse_links([value])] == [
        (href.strip(), title) for href, title in pairs
    ]


@pytest.mark.parametrize(
    "part", ["<a>;", '"', "<a>,", ";=", '\\"', '<a>; title="x\\', " ", "<", ",", ", ", ",<?", ",x"]
)
def test_long_headers_take_no_longer_than_they_are_long(part):
    """Ten times what a header may be; quadratic time would be the test's time limit."""
    long = part * (640_000 // len(part))
    list(parse_links([long, f"{long}<a>"]))


SOUP = ["<", ">", "<a>", "< a >", ";", ",", "=", '"', "\\", "rel", "anchor", "title*", "UTF-8''%ff", "utf-8'", " ",
        "\udcff", "é"]  # fmt: skip


@given(st.lists(st.lists(st.sampled_from(SOUP), max_size=20).map("".join) | st.text(), max_size=3))
def test_any_values_are_links_or_passed_over(values):
    for found in parse_links(values):
        assert found.href == found.href.strip()
        assert found.rel == " ".join(found.rel.lower().split())
