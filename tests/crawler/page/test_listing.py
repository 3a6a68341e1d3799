"""The entries of XML, as badly written as it comes."""

import pytest

from crawler.page import listing
from crawler.page.listing import LONGEST, Listing, root_of

WANTED = frozenset({"loc", "lastmod", "link"})


def entries(text, piece=None, root="urlset"):
    found = []
    reading = Listing(root, WANTED, frozenset({"link"}), found.append)
    for start in range(0, len(text), piece or len(text)):
        reading.feed(text[start : start + (piece or len(text))])
    reading.close()
    return found


def locs(text, piece=None):
    return [
        field.text.strip()
        for entry in entries(text, piece)
        for field in entry.fields
        if field.name in {"", "loc"} and field.text.strip()
    ]


@pytest.mark.parametrize(
    ("text", "root"),
    [
        ("<urlset>", "urlset"),
        ("\ufeff \n<?xml version='1.0'?><!-- x --><!DOCTYPE a [<!ENTITY b 'c'>]><s:urlset\nxmlns:s='x'>", "urlset"),
        ("<br />\n<b>Warning</b>: Undefined index in x.php<SiteMapIndex/>", "SiteMapIndex"),
        ("<rdf:RDF ", "RDF"),
    ],
)  # fmt: skip
def test_root(text, root):
    assert root_of(text)[1] == root


@pytest.mark.parametrize(
    "text",
    ["", "<urlsets>", "urlset", "<!DOCTYPE html><html><urlset>", "<html>\n<urlset>", "<svg><path/></svg>"],
)  # fmt: skip
def test_no_root(text):
    assert root_of(text) is None


REPAIRED = [
    ("<urlset><url><loc>a?b=1&c=2&amp;d=3&copy=4&</loc>", ["a?b=1&c=2&d=3&copy=4&"]),
    ("<urlset><url><loc>a&eacute;b&#233;c&#xE9;d&lt;</loc>", ["aébécéd<"]),
    ("<urlset><url><loc>a&#55357;&#56832;b&#xD83D;&#xde00;c</loc>", ["a\U0001f600b\U0001f600c"]),
    (
        "<urlset><url><loc>&#xDE00;&#x00D83D;&#055357;&#xDE00;&#55000;&#57999;</loc>",
        ["\ufffd\ufffd\U0001f600\ud6d8\ue28f"],
    ),
    ("<urlset><url><loc>a&unheard;b&LT;c</loc>", ["ab<c"]),
    ("<urlset><url><loc><![CDATA[a?b&c&eacute;]]>&d</loc>", ["a?b&c&eacute;&d"]),
    ("<urlset><url><loc>a\x00\x08b\x1f\ufffe</loc>", ["ab"]),
    ("<urlset><!-- <url><loc>no</loc></url> & --><url><loc>a</loc></url>", ["a"]),
    ("<urlset><url><loc>a</loc></url></url></url><url><loc>b</loc></url></urlset>", ["a", "b"]),
    ("<urlset><url><loc>a</loc><url><loc>b</loc><url><loc>c</loc></urlset>", ["a", "b", "c"]),
    ("<urlset><url><loc>a</url><url><loc>b</loc></url>", ["a", "b"]),
    ("<urlset><url><loc><url>a</url></loc></url>", ["a"]),
    ("<urlset><url>a<lastmod>2005</lastmod></url><url>\n b \n</url>", ["a", "b"]),
    ("<urlset><url><loc>a</loc><x><loc>no</loc></x></url>", ["a"]),
    ("<urlset xmlns:i='j'><url><i:loc>no</i:loc><loc>a</loc></url>", ["a"]),
    ("<urlset><url><loc>a</loc></url></urlset><p>junk<urlset><url><loc>b</loc></url>", ["a", "b"]),
    ("<s:urlset><s:url><s:loc>a</s:loc></s:url></s:urlset>", ["a"]),
    ("<URLSET><Url><LOC>a</LOC></Url></URLSET>", ["a"]),
    ("<urlset xmlns='a'><url xmlns=''><loc>a</loc></url></urlset>", ["a"]),
    ("<urlset><url><loc>a</loc></url><url><loc>b</lo", ["a", "b"]),
    ("<urlset><url><loc>a</loc></url><url><loc>b", ["a"]),
    ("<urlset><url><loc>a</loc></url><url>b", ["a"]),
    ("<urlset><url><loc>a</loc></url><url><loc>b&am", ["a"]),
]


@pytest.mark.parametrize(("text", "expected"), REPAIRED)
def test_what_is_wrong_is_put_right(text, expected):
    assert locs(text) == expected


@pytest.mark.parametrize("piece", [1, 2, 3, 7])
def test_pieces_make_no_difference(piece):
    for text, expected in REPAIRED:
        assert locs(text, piece) == expected, text


def test_entities_are_never_declared():
    declared = '<!DOCTYPE a [<!ENTITY b "c"><!ENTITY x SYSTEM "file:///etc/passwd">]>'
    text = "<url><loc>a&b;&x;</loc><link href='d&b;&x;'/></url>"
    [entry] = entries(f"<urlset>{text}{declared}{text}</urlset>")
    assert entry.fields[0].text == "a"
    assert entry.fields[1].attributes == {"href": "d"}


def test_attributes_of_entries_and_fields():
    text = '<feed xml:base="/a/"><entry id="1"><link href="b?c&d&amp;e&lt;"/></entry><entry xml:base="e/"/></feed>'
    first, second = entries(text, root="feed")
    assert (first.name, first.attributes, first.bases) == ("entry", {"id": "1"}, ("/a/",))
    assert [(field.name, field.attributes) for field in first.fields] == [
        ("link", {"href": "b?c&d&e<"})
    ]
    assert (second.fields, second.bases) == ([], ("/a/", "e/"))


def test_a_text_without_end_is_cut():
    [entry] = entries(f"<urlset><url><loc>{'a&amp;' * LONGEST}</loc></url>")
    assert len(entry.fields[0].text) == LONGEST + 1
    [entry] = entries(f"<urlset><url><loc>{'a&amp;' * LONGEST}</loc><loc>b</loc></url>")
    assert entry.fields[1].text == "b"


def test_an_entry_without_end_comes_in_parts():
    found = entries("<urlset><url>" + "<loc>a</loc>" * 2500)
    assert [len(entry.fields) for entry in found] == [1000, 1000, 500]


def test_what_is_nested_without_end_is_given_up(monkeypatch):
    monkeypatch.setattr(listing, "_DEEPEST", 1000)
    text = "<urlset><url><loc>a</loc></url>" + "<x>" * 2000
    assert locs(text + "<url><loc>b</loc></url>" * 5, 64) == ["a"]


def test_thousands_of_missing_end_tags_cost_no_entry():
    assert locs("<urlset>" + "<url><loc>a</loc>" * 5000, 8192) == ["a"] * 5000
