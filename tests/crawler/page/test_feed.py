"""What entries of feeds lead to."""

from datetime import UTC, datetime

import pytest

from crawler.page.sitemap import SitemapEntry, SitemapKind, SitemapLimits, read_sitemap

URL = "https://example.com/feeds/all?x"
RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
ATOM = 'xmlns="http://www.w3.org/2005/Atom"'


def read(text):
    return read_sitemap(text.encode(), "text/xml", URL, SitemapLimits())


def at(*fields):
    return datetime(*fields, tzinfo=UTC).timestamp()


def rss(item):
    return f"""<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/elements/1.1/">
        <channel><link>https://example.com/</link><image><url>/logo.png</url><link>/</link></image>
        <item>{item}</item></channel></rss>"""


@pytest.mark.parametrize(
    ("item", "url"),
    [
        ("<link>https://example.com/1</link>", "https://example.com/1"),
        ("<link>\n/1?a=b&c=d#e\n</link>", "https://example.com/1?a=b&c=d"),
        ("<link><![CDATA[https://example.com/?a&b]]></link>", "https://example.com/?a&b"),
        ("<guid>https://example.com/2</guid><link>1</link>", "https://example.com/feeds/1"),
        ("<link></link><guid>HTTPS://example.com/2</guid>", "https://example.com/2"),
        ("<atom:link rel='self' href='/no'/><guid>https://example.com/2</guid>", "https://example.com/2"),
        ("<atom:link href='/3'/>", "https://example.com/3"),
        ("<enclosure url='/song.mp3'/><comments>/no</comments><link>/4</link>", "https://example.com/4"),
    ],
)  # fmt: skip
def test_rss_links(item, url):
    found = read(rss(item))
    assert found == (SitemapKind.FEED, [SitemapEntry(url)], None, {})


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ("<title>x</title>", "no_location"),
        ("<guid>urn:uuid:1</guid>", "no_location"),
        ("<link>mailto:a@example.com</link>", "not_http"),
        ("<link>http://[/</link>", "invalid_url"),
    ],
)
def test_rss_items_that_lead_nowhere_are_counted(item, reason):
    assert read(rss(item)) == (SitemapKind.FEED, [], None, {reason: 1})


@pytest.mark.parametrize(
    ("dates", "lastmod"),
    [
        ("<pubDate>Sun, 06 Nov 1994 08:49:37 GMT</pubDate>", at(1994, 11, 6, 8, 49, 37)),
        ("<dc:date>1994-11-06</dc:date>", at(1994, 11, 6)),
        ("<pubDate>06 Nov 1994 00:00 GMT</pubDate><atom:updated>1995-01-01T00:00:00Z</atom:updated>", at(1995, 1, 1)),
        ("<pubDate>soon</pubDate>", None),
    ],
)  # fmt: skip
def test_rss_dates(dates, lastmod):
    assert read(rss(f"<link>/</link>{dates}")).entries[0].lastmod == lastmod


def test_rss_1_and_0_90():
    found = read(f"""<?xml version="1.0"?>
        <rdf:RDF {RDF} xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
        <channel rdf:about="/"><link>/no</link><items><rdf:Seq><rdf:li resource="/no"/></rdf:Seq></items></channel>
        <item rdf:about="https://example.com/1"><link>/one</link><dc:date>2005-01</dc:date></item>
        <item rdf:about="https://example.com/2"><title>two</title></item></rdf:RDF>""")
    assert found.kind == SitemapKind.FEED
    assert found.entries == [
        SitemapEntry("https://example.com/one", at(2005, 1, 1)),
        SitemapEntry("https://example.com/2"),
    ]


def test_atom():
    found = read(f"""<feed {ATOM} xml:base="/blog/"><link href="/no"/><updated>2020-01-01T00:00:00Z</updated>
        <entry><link rel="self" href="no"/><link href="1"/><link rel="alternate" href="no"/><id>urn:1</id>
          <published>2003-12-13T18:30:02Z</published><updated>2004-12-13T18:30:02.25Z</updated>
          <source><link href="/no"/><updated>2021-01-01T00:00:00Z</updated></source>
          <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><a href="/no">x</a></div></content></entry>
        <entry xml:base="deep/"><link rel="ALTERNATE" href="2"/><link hreflang="de" href="2.de"/></entry>
        <entry><id>https://example.com/3</id></entry></feed>""")
    assert found == (
        SitemapKind.FEED,
        [
            SitemapEntry("https://example.com/blog/1", at(2004, 12, 13, 18, 30, 2) + 0.25),
            SitemapEntry("https://example.com/blog/deep/2",
                         alternates=(("de", "https://example.com/blog/deep/2.de"),)),
            SitemapEntry("https://example.com/3"),
        ],
        None,
        {},
    )  # fmt: skip


def test_a_base_that_is_no_url_is_passed_over():
    found = read(f"<feed {ATOM} xml:base='http://['><entry><link href='1'/></entry></feed>")
    assert found.entries == [SitemapEntry("https://example.com/feeds/1")]
