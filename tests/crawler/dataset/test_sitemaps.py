"""Rows of sitemaps: what is one, what its row keeps, and which links follow from it."""

import gzip

import pytest

from crawler.config import Config
from crawler.dataset.recent import Recent
from crawler.dataset.rows import RowBuilder
from crawler.page.facts import Extra
from crawler.url.admit import Admission
from tests.crawler.dataset.samples import SEEDS, builder, fetched, listing, outcome, page

ROOT = "https://example.org/"
PROBE = f"{ROOT}sitemap.xml"
MAP = f"{ROOT}maps/1.xml"
HTML = page("<a href='/a'>a</a>", "<p>Some words")


def built(*outcomes, recent=None, **tree):
    config = Config.model_validate(tree)
    made = RowBuilder(config, Admission(config, SEEDS), "raycrawl", recent)
    return made.build(fetched(outcomes))


def only(url, body, via="robots", **columns):
    tree = columns.pop("tree", {})
    parsed = built(outcome(url, body=body, found_via=via, **columns), **tree)
    (row,) = parsed.rows.to_pylist()
    links = {link["url"]: link["found_via"] for link in parsed.links.to_pylist()}
    reasons = {name[6:]: n for name, n in parsed.counters.items() if name.startswith("links.")}
    links.pop(PROBE, None)
    return row, links, reasons


ENTRY = f"""<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">
  <url><loc>{ROOT}en</loc><lastmod>2026-11-07</lastmod><changefreq>daily</changefreq><priority>0.25</priority>
    <xhtml:link rel="alternate" hreflang="en" href="{ROOT}en"/>
    <xhtml:link rel="alternate" hreflang="de" href="{ROOT}de"/>
  </url>
  <url><loc>{ROOT}de</loc><xhtml:link rel="alternate" hreflang="de" href="{ROOT}de"/></url>
  <url><loc>https://other.example/x</loc></url><url><loc>mailto:me@example.org</loc></url>
</urlset>""".encode()


def test_a_sitemaps_row_keeps_all_it_says():
    row, links, reasons = only(MAP, ENTRY, content_type="text/xml", tree={"scope": {"mode": "any"}})
    assert (row["kind"], row["error"], row["content_type"]) == ("sitemap", None, "text/xml")
    assert row["text"] is row["title"] is row["simhash"] is row["simhash_tokens"] is None
    kept = [(link["url"], link["rel"], link["hreflang"]) for link in row["outlinks"]]
    assert kept == [
        (f"{ROOT}en", "sitemap", None), (f"{ROOT}en", "alternate", "en"), (f"{ROOT}de", "alternate", "de"),
        (f"{ROOT}de", "sitemap", None), ("https://other.example/x", "sitemap", None),
    ]  # fmt: skip
    first = row["outlinks"][0]
    assert first["lastmod"].isoformat() == "2026-11-07T00:00:00+00:00"
    assert (first["changefreq"], first["priority"]) == ("daily", 0.25)
    assert dict.fromkeys(Extra._fields).items() <= row["outlinks"][3].items()
    assert links == {f"{ROOT}en": "sitemap", f"{ROOT}de": "sitemap"}
    # Found besides: the probe.
    assert reasons == {
        "found": 8, "same_page": 2, "sitemap_location": 1, "not_http": 1, "same_version": 1,
    }  # fmt: skip


@pytest.mark.parametrize(("body", "via", "says"), [
    (listing("urlset", [f"{ROOT}a"]), "robots", "sitemap"),
    (listing("rss", [f"{ROOT}a"]), "sitemap_seed", "feed"),
    (f"{ROOT}a\n{ROOT}b\n".encode(), "index", "sitemap"),
    (gzip.compress(gzip.compress(listing("urlset", [f"{ROOT}a"]), mtime=0), mtime=0), "probe", "sitemap"),
    (listing("sitemapindex", [f"{ROOT}a"]), "probe", "index"),
    (listing("sitemapindex", [f"{ROOT}a"]), "index", "nested_index"),
    (listing("sitemapindex", [f"{ROOT}a"]), "nested_index", None),
])  # fmt: skip
def test_every_form_gives_its_entries(body, via, says):
    row, links, reasons = only(MAP, body, via, content_type="application/octet-stream")
    assert row["kind"] == "sitemap"
    assert links.get(f"{ROOT}a") == says
    assert reasons.get("sitemap_depth", 0) == (says is None)


@pytest.mark.parametrize("date", [
    "0001-01-01T00:00:00+02:00", "Sun, 06 Nov 1994 08:49:37 +9999999999999999",
])  # fmt: skip
def test_a_date_that_no_row_can_hold_harms_nothing(date):
    """The first could be written, and then no reader in Python got further; the second ended the crawl."""
    body = f"<urlset><url><loc>{ROOT}a</loc><lastmod>{date}</lastmod></url></urlset>".encode()
    row, links, _ = only(MAP, body, "robots")
    assert [link["lastmod"] for link in row["outlinks"]] == [None]
    assert links == {f"{ROOT}a": "sitemap"}


def test_a_linked_sitemap_in_xml_is_one():
    xml = {"content_type": "application/xml"}
    row, links, _ = only(MAP, listing("urlset", [f"{ROOT}a"]), "link", **xml)
    assert (row["kind"], links) == ("sitemap", {f"{ROOT}a": "sitemap"})
    for body, tree in (
        (listing("feed", []), {}),
        (listing("urlset", []), {"sitemaps": {"discover": False}}),
    ):
        assert only(MAP, body, "link", **xml, tree=tree)[0]["kind"] == "fetched"
    assert (
        only(MAP, listing("urlset", []), "link", content_type="text/html")[0]["kind"] == "fetched"
    )


def test_a_page_where_the_sitemap_should_be_is_none():
    row, links, _ = only(PROBE, HTML, "probe")
    assert (row["kind"], row["error"], row["text"]) == ("sitemap", "not a sitemap", None)
    assert (row["outlinks"], links) == ([], {})
    row, _, _ = only(PROBE, HTML, "link", tree={"sitemaps": {"discover": False}})
    assert row["kind"] == "fetched"


def test_a_page_that_was_named_as_a_sitemap_is_a_page_if_it_is_wanted():
    row, links, _ = only(f"{ROOT}here", HTML)
    assert (row["kind"], links) == ("fetched", {f"{ROOT}a": "link"})
    assert row["simhash_tokens"] > 0
    for url in ("https://cdn.example/here", f"{ROOT}private/here"):
        row, links, _ = only(url, HTML, tree={"scope": {"exclude": ["/private/"]}})
        assert (row["kind"], row["error"], links) == ("sitemap", "not a sitemap", {})


def test_limits_are_told_in_the_row():
    urls = [f"{ROOT}{n}" for n in range(5)]
    row, links, _ = only(MAP, listing("urlset", urls), tree={"sitemaps": {"max_urls": 3}})
    assert (row["error"], len(links)) == ("max_urls", 3)
    row, links, _ = only(MAP, gzip.compress(listing("urlset", urls * 99))[:-9])
    assert row["error"] == "damaged"
    row, _, reasons = only(MAP, ENTRY, tree={"page": {"max_links": 4}})
    assert len(row["outlinks"]) == 4
    assert reasons["link_limit"] == 2


@pytest.mark.parametrize(
    ("kind", "columns"),
    [("http_error", {}), ("robots_denied", {}), ("redirect", {"redirect_to": f"{ROOT}map"}),
     ("timeout", {}), ("fetched", {"body": HTML}), ("fetched", {"body": listing("urlset", [])})],
)  # fmt: skip
def test_what_robots_names_stands_in_the_row_of_the_usual_place(kind, columns):
    named = [
        "/maps/1.xml",
        "https://cdn.example/2.xml.gz",
        "https://cdn.example/2.xml.gz",
        "http://[",
    ]
    columns = {"body": None, **columns}
    row, links, reasons = only(PROBE, via="probe", kind=kind, sitemaps=named, **columns)
    assert [(link["url"], link["rel"]) for link in row["outlinks"]] == [
        (MAP, "robots"), ("https://cdn.example/2.xml.gz", "robots"), ("https://cdn.example/2.xml.gz", "robots"),
    ]  # fmt: skip
    expected = {MAP: "robots", "https://cdn.example/2.xml.gz": "robots"}
    if kind == "redirect":
        expected[f"{ROOT}map"] = "probe"  # it goes on as a sitemap
    assert links == expected
    assert (reasons["same_page"], reasons["invalid_url"]) == (1, 1)


@pytest.mark.parametrize(("kind", "probes"), [
    ("fetched", 1), ("http_error", 1), ("not_modified", 1), ("excluded_type", 1), ("robots_denied", 1),
    ("robots_unreachable", 0), ("dns_error", 0), ("connect_error", 0), ("timeout", 0), ("gave_up", 0),
])  # fmt: skip
def test_where_a_host_answers_its_sitemap_is_looked_for(kind, probes):
    body = b"<p>x" if kind == "fetched" else None
    parsed = built(outcome(f"{ROOT}a/b", kind=kind, body=body, depth=4))
    found = [(row["url"], row["depth"], row["found_via"]) for row in parsed.links.to_pylist()]
    assert found == [(PROBE, 4, "probe")] * probes
    assert parsed.counters.get("links.found", 0) == probes


def test_each_origin_of_the_scope_is_looked_at_once_a_worker():
    recent = Recent(100)
    recent.begin(0, 1, 0)
    urls = [ROOT, f"{ROOT}a", "http://example.org/", "https://elsewhere.example/", PROBE]
    parsed = built(*map(outcome, urls), recent=recent)
    assert parsed.links["url"].to_pylist() == [PROBE, "http://example.org/sitemap.xml"]
    reasons = {"links.found": 4, "links.forwarded": 1, "links.out_of_scope": 1}
    assert parsed.counters.items() >= reasons.items()


def test_the_nearest_row_of_an_origin_says_how_deep_its_sitemap_is():
    recent = Recent(100)
    recent.begin(0, 1, 0)
    depths = [3, 1, 2, 1]
    rows = [outcome(f"{ROOT}{n}", depth=depth) for n, depth in enumerate(depths)]
    parsed = built(*rows, recent=recent)
    found = [(row["url"], row["depth"]) for row in parsed.links.to_pylist()]
    assert found == [(PROBE, 3), (PROBE, 1)]
    assert parsed.counters["links.forwarded"] == 2


@pytest.mark.parametrize(
    ("url", "via", "found"),
    [(MAP, via, via) for via in ("robots", "index", "nested_index", "sitemap_seed")]
    + [(PROBE, "link", "probe"), (f"{ROOT}page", "link", "redirect")],
)
def test_where_a_sitemap_has_moved_to_is_found_as_it_was(url, via, found):
    _, links, _ = only(url, None, via, kind="redirect", redirect_to=f"{ROOT}elsewhere.xml")
    assert links == {f"{ROOT}elsewhere.xml": found}


def test_what_a_worker_has_sent_on_it_does_not_send_again():
    config, recent = Config(), Recent(100)
    made = RowBuilder(config, Admission(config, SEEDS), "raycrawl", recent)
    row = outcome(MAP, body=listing("urlset", [f"{ROOT}a", f"{ROOT}b"]), found_via="index")
    recent.begin(0, 1, 0)
    assert made.build(fetched([row])).links.num_rows == 3
    recent.begin(0, 2, 1)
    again = made.build(fetched([row]))
    assert (again.links.num_rows, again.counters["links.forwarded"]) == (0, 3)


def test_without_discovery_nothing_is_looked_for():
    assert builder().build(fetched([outcome(ROOT)])).links.num_rows == 0


def test_duplicates_among_sitemaps_are_read():
    config = Config()
    made = RowBuilder(config, Admission(config, SEEDS), "raycrawl")
    body = listing("urlset", [f"{ROOT}a"])
    parsed = made.build(fetched([outcome(MAP, body=body, found_via="index")]), {0: PROBE})
    assert f"{ROOT}a" in parsed.links["url"].to_pylist()
    assert parsed.rows["duplicate_of"].to_pylist() == [PROBE]
