"""Sitemaps: what is read of them, and what bounds them."""

import gzip

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.page import sitemap
from crawler.page.sitemap import (
    SitemapEntry,
    SitemapKind,
    SitemapLimits,
    read_sitemap,
)

URL = "https://example.com/maps/sitemap.xml"
SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def read(text, content_type="text/xml", **limits):
    body = text if isinstance(text, bytes) else text.encode()
    return read_sitemap(body, content_type, URL, SitemapLimits(**limits))


def urls(found):
    return [entry.url for entry in found.entries]


def test_everything_that_an_entry_says():
    found = read(f"""<?xml version="1.0"?><urlset {SPACE} xmlns:xhtml="http://www.w3.org/1999/xhtml"><url>
        <loc> https://example.com/ä?b#c </loc><lastmod>1970-01-02</lastmod><changefreq> Weekly</changefreq>
        <priority>0.8</priority><xhtml:link rel="alternate" hreflang="de" href="/de"/>
        <xhtml:link rel="alternate" hreflang="fr" href="ftp://example.com/"/>
        <xhtml:link rel="alternate" hreflang="it"/><xhtml:link href="/no"/></url></urlset>""")
    entry = SitemapEntry(
        "https://example.com/%C3%A4?b", 86400.0, "weekly", 0.8, (("de", "https://example.com/de"),)
    )
    assert found == (SitemapKind.URLSET, [entry], None, {"not_http": 1})


@pytest.mark.parametrize(
    "wrong",
    ["<priority>high</priority>", "<priority>1.5</priority>", "<priority>nan</priority>", "<lastmod/>",
     "<changefreq>often</changefreq>", "<lastmod>soon</lastmod>"],
)  # fmt: skip
def test_what_is_not_as_the_protocol_wants_it_is_left_out(wrong):
    assert read(f"<urlset><url><loc>/</loc>{wrong}</url></urlset>").entries == [
        SitemapEntry("https://example.com/")
    ]


def test_index():
    found = read(f"<sitemapindex {SPACE}><sitemap><loc>/a.xml.gz</loc></sitemap></sitemapindex>")
    assert found == (
        SitemapKind.INDEX,
        [SitemapEntry("https://example.com/a.xml.gz")],
        None,
        {},
    )


def test_what_is_listed_says_whether_it_is_an_index():
    assert read("<urlset><sitemap><loc>/a</loc></sitemap></urlset>").kind == SitemapKind.INDEX
    assert read("<sitemapindex><url><loc>/a</loc></url></sitemapindex>").kind == SitemapKind.URLSET
    assert read("<sitemapindex/>").kind == SitemapKind.INDEX
    assert read("<urlset/>").kind == SitemapKind.URLSET
    both = "<sitemap><loc>/a</loc></sitemap><url><loc>/a</loc></url>"
    assert read(f"<urlset>{both}").kind == SitemapKind.URLSET
    assert read(f"<sitemapindex>{both}").kind == SitemapKind.INDEX


def test_two_places_in_an_entry_are_two_entries():
    found = read("""<urlset><url><lastmod>1970-01-02</lastmod><loc>/1</loc><loc/><loc>/2</loc>
        <lastmod>1970-01-03</lastmod><loc>/3</loc></url></urlset>""")
    assert [(entry.url[-1], entry.lastmod) for entry in found.entries] == [
        ("1", 86400.0),
        ("2", 172800.0),
        ("3", None),
    ]


def test_what_is_dropped_is_counted():
    found = read(f"""<urlset><url><loc>javascript:x</loc></url><url><loc>http://[</loc></url><url/>
        <url><loc> </loc><lastmod>2005</lastmod></url><url><loc>/{"a" * 10000}</loc></url></urlset>""")
    assert found == (
        SitemapKind.URLSET,
        [],
        None,
        {"not_http": 1, "invalid_url": 1, "no_location": 2, "too_long": 1},
    )


@pytest.mark.parametrize("wrap", [bytes, gzip.compress, lambda body: gzip.compress(gzip.compress(body))])  # fmt: skip
@pytest.mark.parametrize("content_type", [None, "text/html", "application/x-gzip", "nonsense", "text/xml"])  # fmt: skip
def test_the_body_shows_what_it_is(wrap, content_type):
    assert urls(read(wrap(b"<urlset><url><loc>/1</loc></url></urlset>"), content_type)) == [
        "https://example.com/1"
    ]
    assert urls(read(wrap(b"https://example.com/1\n"), content_type)) == ["https://example.com/1"]


def test_text_list():
    body = b"\xef\xbb\xbf http://a.example/1\r\n\r\n"
    body += b"HTTPS://b.example/2 \rexample.com/3\nftp://c.example\nnot a url\n/no"
    found = read(body, "text/plain")
    assert (found.kind, found.dropped) == (SitemapKind.TEXT, {"not_http": 1, "invalid_url": 2})
    assert urls(found) == ["http://a.example/1", "https://b.example/2", "https://example.com/3"]


@pytest.mark.parametrize(
    "body",
    ["", " \n", "<!DOCTYPE html><html><body>http://a.example/\nhttp://a.example/", "{}", "\0\1\2",
     "\n\ufeff<p>\nhttp://a.example/", "Page not found\nSorry.", "example.com/sitemap.xml was not found"],
)  # fmt: skip
def test_what_is_no_sitemap(body):
    assert read(body) == (SitemapKind.NOT_A_SITEMAP, [], None, {})


def test_limit_of_urls():
    listed = "".join(f"<url><loc>/{number}</loc></url>" for number in range(30))
    assert len(urls(read(f"<urlset>{listed}", max_urls=30))) == 30
    assert read(f"<urlset>{listed}", max_urls=30).truncated is None
    found = read(f"<urlset>{listed}", max_urls=29)
    assert (len(found.entries), found.truncated) == (29, "max_urls")
    lines = "http://a.example/\n" * 30
    found = read(lines, max_urls=29)
    assert (found.kind, len(found.entries), found.truncated) == (SitemapKind.TEXT, 29, "max_urls")


def test_reading_stops_at_the_limit_of_urls():
    padding = " " * 300_000
    for text in ("<urlset>" + "<url><loc>/</loc></url>" * 3 + padding, "http://a/\n" * 3 + padding):
        found = read(text + "x" * 300_000, max_urls=2, max_bytes=400_000)
        assert (len(found.entries), found.truncated) == (2, "max_urls")


def test_limit_of_bytes():
    text = "<urlset><url><loc>/1</loc></url><url><loc>/2"
    found = read(f"{text}</loc></url></urlset>", max_bytes=len(text))
    assert (urls(found), found.truncated) == (["https://example.com/1"], "max_bytes")
    found = read("http://a.example/1\n" * 10, max_bytes=19 * 9)
    assert (len(found.entries), found.truncated) == (9, "max_bytes")


def test_damaged_gzip():
    body = "".join(f"<url><loc>/{number}</loc></url>" for number in range(5000))
    found = read(gzip.compress(f"<urlset>{body}".encode())[:-1000])
    assert found.truncated == "damaged"
    assert len(found.entries) > 1000


def test_a_line_without_end_is_one_that_is_too_long():
    found = read("http://a.example/" + "a" * 200_000 + "\nhttp://a.example/b")
    assert (urls(found), found.dropped) == (["http://a.example/b"], {"too_long": 1})


def test_alternates_are_remembered_and_forgotten(monkeypatch):
    monkeypatch.setattr(sitemap, "_REMEMBERED", 2)
    links = "".join(f'<link hreflang="{number}" href="/{number % 3}"/>' for number in range(9))
    [entry] = read(f"<urlset><url><loc>/</loc>{links}</url></urlset>").entries
    assert [url[-1] for _, url in entry.alternates] == list("012012012")


def test_the_host_of_a_sitemap_without_one_names_nothing():
    found = read_sitemap(b"<urlset><url><loc>x</loc></url>", None, "nowhere", SitemapLimits())
    assert found == (SitemapKind.URLSET, [], None, {"invalid_url": 1})


def sound(found):
    assert len(found.entries) <= 5
    assert all(entry.url.startswith(("http://", "https://")) for entry in found.entries)
    assert (found.kind == SitemapKind.NOT_A_SITEMAP) <= (not found.entries and not found.dropped)


@given(st.binary(max_size=300), st.none() | st.text(max_size=30))
@example(b"<feed" + b" " * 10 + b"<\xff", "x; charset=utf-16le")
def test_any_bytes(body, content_type):
    sound(read_sitemap(body, content_type, URL, SitemapLimits(10**6, 5)))


PARTS = ["<urlset>", "<rss>", "<feed>", "<url>", "</url>", "<loc>", "</loc>", "<item>", "<entry>",
         "<link href='/a'>", "<link>", "</link>", "<lastmod>", "http://a/", "&amp;", "&", "&x;", "<![CDATA[", "]]>",
         "<!--", "-->", "<!DOCTYPE a [", "<?", "?>", "<", ">", "'", " ", "\0", "é", "\ud800", "xmlns:a='b'",
         "<a:url>", "</", "xml:base='//'", "&#xD83D;", "&#56832;"]  # fmt: skip


@given(st.lists(st.sampled_from(PARTS), max_size=40), st.integers(0, 5))
def test_any_soup(parts, start):
    body = "".join([PARTS[start], *parts]).encode("utf-8", "surrogatepass")
    sound(read_sitemap(body, None, URL, SitemapLimits(10**6, 5)))
    sound(read_sitemap(gzip.compress(body)[:-9], None, URL, SitemapLimits(10**6, 5)))


WRAPPINGS = [lambda body: body, gzip.compress, lambda body: gzip.compress(gzip.compress(body))]
LABELS = [
    None,
    "text/xml; charset=utf-16",
    "x; charset=iso-2022-jp",
    "application/gzip",
    "text/plain",
    "\udcff",
]


@given(
    st.binary(max_size=200) | st.lists(st.sampled_from(PARTS), max_size=20).map("".join),
    st.sampled_from(["utf-8", "utf-16", "utf-16-be"]),
    st.sampled_from(WRAPPINGS),
    st.tuples(st.integers(0, 300), st.integers(0, 300), st.binary(max_size=10)),
    st.sampled_from(LABELS),
    st.integers(1, 400),
)
def test_any_body_packed_and_damaged_in_any_way(body, charset, wrap, damage, content_type, most):
    octets = body.encode(charset, "surrogatepass") if isinstance(body, str) else body
    start, end, rubbish = damage
    whole = wrap(octets)
    for packed in (whole, whole[:start], whole[:start] + rubbish + whole[end:]):
        sound(read_sitemap(packed, content_type, URL, SitemapLimits(most, 5)))


@given(
    st.lists(
        st.text(
            st.characters(codec="utf-8", exclude_categories=["Cc", "Zs", "Zl", "Zp", "Cn"]),
            min_size=1,
        )
    )
)
def test_every_path_that_is_listed_is_found(names):
    wanted = [sitemap.resolve(f"/p/{name}x", URL) for name in names]
    listed = "".join(f"<url><loc><![CDATA[/p/{name}x]]></loc></url>" for name in names)
    assert urls(read(f"<urlset>{listed}</urlset>")) == wanted
