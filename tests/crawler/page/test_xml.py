"""XML served as pages: feeds, sitemaps, XHTML, and anything else."""

import pytest

from crawler.page.facts import Extra
from crawler.page.page import read_page

URL = "http://h.test/f"
RSS = """<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY a "bbb">]>
<rss version="2.0"><channel><title>My &amp; feed</title><link>http://h.test/home</link><language>en</language>
<description>&lt;p&gt;All&lt;/p&gt;things</description>
<item><title>One</title><link>/1</link><description><![CDATA[<b>x</b><p>y]]></description>
<pubDate>Sun, 06 Nov 1994 08:49:37 GMT</pubDate></item>
<item><title>Two</title><link>mailto:x</link></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de" xml:base="/b/">
<title type="html">T &lt;i&gt;x&lt;/i&gt;</title><link rel="self" href="s"/><link href="home"/>
<entry><title>E</title><link href="1"/><link hreflang="fr" href="2"/><summary>s</summary><content>no</content></entry>
</feed>"""
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
<channel><title>T</title><link>/home</link></channel><item><title>E</title><link>/1</link></item></rdf:RDF>"""
SITEMAP = """<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:x="http://www.w3.org/1999/xhtml">
<url><loc>http://h.test/a</loc><priority>0.5</priority><lastmod>1970-01-02</lastmod><changefreq>daily</changefreq>
<x:link rel="alternate" hreflang="de" href="http://h.test/d"/></url><url><loc>ftp://x</loc></url></urlset>"""


def read(text, media="text/xml", limit=10, encoding="utf-8"):
    return read_page(text.encode(encoding), media, URL, limit)


def test_rss():
    page = read(RSS, "application/rss+xml")
    assert (page.title, page.language) == ("My & feed", "en")
    assert page.text == "My & feed All things One x y Two"
    assert page.links.urls == ["http://h.test/home", "http://h.test/1"]
    assert page.links.texts == ["My & feed", "One"]
    assert page.links.vias == ["feed", "feed"]
    assert page.links.extras == {1: Extra(lastmod=784111777.0)}
    assert page.unresolved == {"not_http": 1}


def test_atom_in_another_encoding():
    page = read(ATOM, "application/atom+xml", encoding="utf-16")
    assert (page.title, page.language, page.text) == ("T x", "de", "T x E s")
    assert page.links.urls == [f"http://h.test/b/{path}" for path in ("home", "1", "2")]
    assert page.links.extras == {2: Extra("fr")}


def test_rss_1():
    page = read(RDF, "application/rdf+xml")
    assert (page.title, page.text) == ("T", "T E")
    assert page.links.urls == ["http://h.test/home", "http://h.test/1"]


def test_a_sitemap_met_as_a_page():
    page = read(SITEMAP)
    assert page.links.urls == ["http://h.test/a", "http://h.test/d"]
    assert page.links.vias == ["sitemap", "sitemap"]
    assert page.links.extras == {0: Extra(None, 86400.0, "daily", 0.5), 1: Extra("de")}
    assert page.unresolved == {"not_http": 1}
    assert read(SITEMAP, limit=1).unresolved == {"not_http": 1, "link_limit": 1}


def test_the_entries_of_an_index_are_no_pages():
    index = SITEMAP.replace("urlset", "sitemapindex").replace("url>", "sitemap>")
    assert (len(read(index).links), read(index).unresolved) == (0, {})


@pytest.mark.parametrize(
    "prolog", ["", "<?xml version='1.0'?>\n", "<!-- <rss> -->", "<!DOCTYPE html>"]
)
def test_xhtml(prolog):
    page = read(
        f"{prolog}<html xmlns='http://www.w3.org/1999/xhtml'><script/><a href='x'>b</a></html>"
    )
    assert (page.text, page.links.urls) == ("b", ["http://h.test/x"])


@pytest.mark.parametrize("unit", ["<!--a>", "<![CDATA[]>", "<![CDATA[", "<!a[", "<?"])
def test_a_prolog_without_end_takes_no_time(unit):
    """The test's own time limit is the assertion: fifty pages took two minutes."""
    for _ in range(50):
        read(unit * (65_536 // len(unit)))


@pytest.mark.parametrize(
    ("xml", "text"),
    [
        ("<a>b<c>d</c></a>", "b d"),
        ("<a>&lt;b&gt; &eacute;<![CDATA[<c> &amp;]]></a>", "<b> é <c> &amp;"),
        ("<!DOCTYPE a [<!ENTITY b 'x'> <!-- > --> ]><a>&b;</a>", "&b;"),
        ("<a>b<!-- c <d> --><?e f?>g", "b g"),
        ("<a>b<!-- c", "b"),
        ("no markup", "no markup"),
        ("<?xml", ""),
        ("", ""),
    ],
)
def test_other_documents_are_their_text(xml, text):
    page = read(xml)
    assert (page.text, len(page.links), page.title) == (text, 0, None)


def test_language_and_encoding_of_other_documents():
    xml = "<?xml version='1.0' encoding='koi8-r'?><a xml:lang='ru'><meta charset='utf-8'/>жук</a>"
    page = read(xml, "application/xml", encoding="koi8-r")
    assert (page.charset, page.language, page.text) == ("koi8-r", "ru", "жук")
    assert read("<a xml:lang=''>b</a>").language is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "part",
    ["<a>", "<!--", "<![CDATA[", "<?", "<!DOCTYPE [", "&a;", "<!DOCTYPE a [<!ENTITY a '&a;&a;'>", "<a b='",
     "<rss><channel>",     "<rss><item><title>&lt;b&gt;", "<feed><entry><link href='x'/>", "<urlset><url><loc>http://h.test/</loc>"],
)  # fmt: skip
def test_huge_documents_end(part):
    read(part * (5_000_000 // len(part)), limit=100_000)
