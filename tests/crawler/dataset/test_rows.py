import hashlib
import time
from contextlib import closing
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.config import Config
from crawler.dataset import reading
from crawler.dataset.recent import Recent
from crawler.dataset.rows import RowBuilder
from crawler.dataset.schema import ROWS
from crawler.dedup.digest import text_digest
from crawler.dedup.simhash import simhash
from crawler.errors import ApartError
from crawler.frontier.links import LINKS, SETTLED
from crawler.outcomes import Kind
from crawler.page.apart import Apart
from crawler.page.facts import Extra
from crawler.url.admit import Admission
from crawler.url.keys import slot_of, url_key
from tests.crawler.dataset.samples import (
    PLAIN,
    SEEDS,
    START,
    builder,
    built,
    fetched,
    outcome,
    page,
)

URL = "https://example.org/here"
BODY = page(
    "<p>Some words here</p>",
    "<a href='/next' rel='Next'>Further <b>on</b></a>",
    "<a href='/next'>again</a>",
    "<a href='mailto:me@example.org'>write</a>",
    head="<title> A page </title><link rel=canonical href='/canonical'><meta name=robots content='noarchive'>",
)

NOTHING_MORE = dict.fromkeys(Extra._fields)


def only(parsed):
    (row,) = parsed.rows.to_pylist()
    return row


def config(**page):
    return Config.model_validate({"page": page, "sitemaps": {"discover": False}})


def test_a_page_becomes_a_row():
    parsed = built(
        outcome(
            URL, body=BODY, ip="127.0.0.1", etag='"e"', headers=[{"name": "Server", "value": "x"}]
        )
    )
    row = only(parsed)
    text = row["text"]
    assert parsed.rows.schema.equals(ROWS, check_metadata=True)
    assert row["outlinks"] == [
        {**NOTHING_MORE, "url": "https://example.org/canonical", "rel": "canonical", "text": ""},
        {**NOTHING_MORE, "url": "https://example.org/next", "rel": "next", "text": "Further on"},
        {**NOTHING_MORE, "url": "https://example.org/next", "rel": "", "text": "again"},
    ]
    assert text.startswith("Some words here")
    assert row == row | {
        "url": URL,
        "url_key": url_key(URL),
        "kind": "fetched",
        "content_type": "text/html",
        "charset": "utf-8",
        "title": "A page",
        "canonical": "https://example.org/canonical",
        "robots_directives": ["noarchive"],
        "body": BODY,
        "body_bytes": len(BODY),
        "content_digest": hashlib.sha256(BODY).digest(),
        "text_digest": text_digest(text.casefold()),
        "simhash": simhash(text.casefold())[0],
        "simhash_tokens": simhash(text.casefold())[1],
        "headers": [{"name": "Server", "value": "x"}],
        "etag": '"e"',
        "ip": "127.0.0.1",
        "duplicate_of": None,
        "error": None,
    }
    assert row["fetched_at"].timestamp() == START


def test_a_page_whose_coding_was_cut_says_so():
    parsed = built(outcome(URL, body=BODY, truncated=True, error="gzip ends too early"))
    row = only(parsed)
    assert (row["kind"], row["truncated"], row["error"]) == ("fetched", True, "gzip ends too early")
    assert (row["title"], parsed.links.num_rows) == ("A page", 2)


def test_what_is_known_of_single_links_stands_beside_them(monkeypatch):
    def read(*arguments, **choice):
        columns, found = reading.read(*arguments, **choice)
        last = len(found.urls) - 1
        return columns, found._replace(extras={last: Extra("de", START + 0.5, "daily", 0.25)})

    monkeypatch.setattr("crawler.dataset.rows.read", read)
    rows = built(outcome(URL, body=BODY), outcome(f"{URL}/2", body=BODY)).rows.to_pylist()
    for row in rows:
        first, _, last = row["outlinks"]
        assert first == first | NOTHING_MORE
        assert last["lastmod"].timestamp() == START + 0.5
        assert last == last | {"hreflang": "de", "changefreq": "daily", "priority": 0.25}


def test_a_page_gives_its_links_and_their_counts():
    parsed = built(outcome(URL, body=BODY, depth=4))
    assert parsed.links.schema == LINKS
    assert [
        (link["url"], link["depth"], link["found_via"]) for link in parsed.links.to_pylist()
    ] == [
        ("https://example.org/canonical", 5, "canonical"),
        ("https://example.org/next", 5, "link"),
    ]
    assert parsed.counters == {
        "links.found": 4,
        "links.same_page": 1,
        "links.not_http": 1,
        "rows.fetched": 1,
        "bytes.wire": 100,
        "bytes.body": len(BODY),
    }


def test_what_a_frontier_needs_comes_from_the_row():
    parsed = built(outcome(URL, visit=3, etag='"e"', fetched_at=START + 0.1234567))
    assert parsed.settled.schema == SETTLED
    (settled,) = parsed.settled.to_pylist()
    assert settled == settled | {
        "slot": slot_of("example.org"),
        "key": url_key(URL),
        "kind": "fetched",
        "visit": 3,
        "fetched_at": round(START + 0.1234567, 6),
        "content_digest": sha256(b"<p>hello").digest(),
        "etag": '"e"',
    }


@pytest.mark.parametrize(
    "kind", [kind for kind in Kind if kind not in {Kind.FETCHED, Kind.REDIRECT}]
)
def test_other_outcomes_keep_what_they_came_with(kind):
    parsed = built(
        outcome(URL, kind=kind.value, error="why", body=None, content_type="Text/HTML ;charset=x")
    )
    row = only(parsed)
    assert (row["kind"], row["error"], row["content_type"]) == (kind.value, "why", "text/html")
    assert all(
        row[name] is None
        for name in ("body", "body_bytes", "text", "outlinks", "simhash", "content_digest")
    )
    assert parsed.counters == {f"rows.{kind.value}": 1, "bytes.wire": 100, "bytes.body": 0}
    assert parsed.links.num_rows == 0


def test_a_redirect_gives_its_target():
    parsed = built(
        outcome(
            URL, kind="redirect", redirect_to="https://example.org/new", body=None, hops=2, depth=4
        )
    )
    (link,) = parsed.links.to_pylist()
    assert (link["url"], link["depth"], link["hops"]) == ("https://example.org/new", 4, 3)
    assert only(parsed)["error"] is None


def test_a_redirect_too_many_says_so_in_its_row():
    parsed = built(
        outcome(URL, kind="redirect", redirect_to="https://example.org/new", body=None, hops=10)
    )
    assert only(parsed)["error"] == "redirect_limit"
    assert parsed.counters["links.redirect_limit"] == 1


def test_the_links_of_a_duplicate_are_neither_sent_nor_remembered():
    first, recent = "https://example.org/0", Recent(100)
    tags = ("<a href=/a>", "<a href=mailto:x>")
    outcomes = (
        outcome(f"https://example.org/{n}", body=page(*tags, f"<a href=/{n}>")) for n in range(3)
    )
    rows = RowBuilder(PLAIN, Admission(PLAIN, SEEDS), "raycrawl", recent)
    parsed = rows.build(fetched(outcomes), {1: first})
    assert parsed.rows["duplicate_of"].to_pylist() == [None, first, None]
    assert [url[-1] for url in parsed.links["url"].to_pylist()] == ["a", "0", "2"]
    assert [url[-1] for url in parsed.links["found_on"].to_pylist()] == ["0", "0", "2"]
    assert parsed.counters == {
        "links.found": 9,
        "links.not_http": 3,
        "links.duplicate_page": 2,
        "links.forwarded": 1,
        "rows.fetched": 3,
        "rows.duplicate": 1,
        "bytes.wire": 300,
        "bytes.body": sum(map(len, parsed.rows["body"].to_pylist())),
    }
    assert not recent.holds("https://example.org/1", 9)
    assert len(parsed.rows["outlinks"][1]) == 2


@pytest.mark.slow
def test_rows_are_the_same_when_pages_are_read_apart():
    outcomes = fetched(
        [
            outcome(URL, body=BODY),
            outcome("https://example.org/1", body=page("<a href=/a hreflang=de>&#xD800;")),
            outcome("https://example.org/2", body=b"words", content_type="text/plain"),
            outcome("https://example.org/3", body=b"\x89PNG", content_type="image/png"),
            outcome("https://example.org/4", kind="timeout", body=None),
        ]
    )
    with closing(Apart(config().page, time.monotonic)) as elsewhere:
        rows = RowBuilder(PLAIN, Admission(PLAIN, SEEDS), "raycrawl", elsewhere=elsewhere)
        here, apart = rows.build(outcomes), rows.build(outcomes, apart=True)
        assert here == builder().build(outcomes) == apart
        assert apart.rows["kind"].to_pylist() == ["fetched"] * 4 + ["timeout"]


@pytest.mark.slow
def test_some_types_are_always_read_apart():
    outcomes = [outcome(URL, body=b"%PDF-1.7", content_type="application/pdf"), outcome(URL)]
    with closing(Apart(config().page, time.monotonic)) as elsewhere:
        rows = RowBuilder(Config(), Admission(Config(), SEEDS), "raycrawl", elsewhere=elsewhere)
        rows.build(fetched(outcomes[1:]))
        assert elsewhere.pid is None
        first, second = rows.build(fetched(outcomes)).rows.to_pylist()
        assert elsewhere.pid is not None
    assert (first["kind"], second["kind"]) == ("parse_failed", "fetched")
    assert (first["body"], first["content_type"]) == (b"%PDF-1.7", "application/pdf")
    assert "Data format error" in first["error"]


def test_that_nothing_can_be_read_apart_is_no_row(monkeypatch):
    monkeypatch.setattr("crawler.page.apart._PROGRAM", "raise SystemExit(7)")
    monkeypatch.setattr(reading, "reads_apart", lambda *_: True)
    with closing(Apart(config().page, time.monotonic)) as elsewhere:
        rows = RowBuilder(Config(), Admission(Config(), SEEDS), "raycrawl", elsewhere=elsewhere)
        with pytest.raises(ApartError):
            rows.build(fetched([outcome(URL, body=BODY)]))


def test_the_size_of_a_body_is_that_of_what_was_kept():
    parsed = built(
        outcome("https://example.org/1", body=b"x"),
        outcome("https://example.org/2", body=b""),
        outcome("https://example.org/3", body=None),
        outcome("https://example.org/4", kind="http_error", body=b"x"),
    )
    assert parsed.rows["kind"].to_pylist() == ["fetched"] * 3 + ["http_error"]
    assert parsed.rows["body_bytes"].to_pylist() == [1, 0, None, 1]


def test_a_page_that_breaks_its_reader_harms_no_other(monkeypatch):
    read_page = reading.read_page

    def breaks(body, *rest):
        if b"poison" in body:
            raise RecursionError("deep\n" * 200)
        return read_page(body, *rest)

    monkeypatch.setattr(reading, "read_page", breaks)
    parsed = built(
        outcome("https://example.org/1", body=page("<a href=/a>")),
        outcome("https://example.org/2", body=b"poison"),
        outcome("https://example.org/3", body=page("<a href=/b>")),
        config=config(store_body=False),
    )
    first, second, third = parsed.rows.to_pylist()
    assert (first["kind"], third["kind"]) == ("fetched", "fetched")
    assert second["kind"] == "parse_failed"
    assert second["error"].startswith("RecursionError: deep")
    assert len(second["error"]) == 500
    assert (first["body"], second["body"], third["body"]) == (None, b"poison", None)
    assert second["outlinks"] is None
    assert [url[-1] for url in parsed.links["url"].to_pylist()] == ["a", "b"]
    assert parsed.counters["rows.parse_failed"] == 1
    assert parsed.settled["kind"].to_pylist() == ["fetched", "parse_failed", "fetched"]


def test_bodies_and_text_need_not_be_kept():
    parsed = built(outcome(URL, body=BODY), config=config(store_body=False, store_text=False))
    kept = only(built(outcome(URL, body=BODY)))
    assert only(parsed) == kept | {"body": None, "text": None}


def test_links_are_limited_and_the_rest_is_counted():
    parsed = built(
        outcome(URL, body=page(*(f"<a href=/{n}>" for n in range(9)))), config=config(max_links=4)
    )
    assert len(only(parsed)["outlinks"]) == 4
    assert parsed.counters["links.link_limit"] == 5


def test_headers_speak_to_robots_too():
    headers = [
        {"name": "X-Other", "value": "noindex"},
        {"name": "x-robots-tag", "value": "nofollow"},
        {"name": "X-Robots-Tag", "value": "unavailable_after: 2001-01-01"},
        {"name": "X-Robots-Tag", "value": None},
    ]
    parsed = built(
        outcome("https://example.org/1", body=BODY),
        outcome("https://example.org/2", body=BODY, headers=headers),
        outcome("https://example.org/3", body=BODY, headers=None),
        outcome("https://example.org/4", kind="http_error", body=None, headers=headers),
    )
    assert parsed.rows["robots_directives"].to_pylist() == [
        ["noarchive"],
        ["noarchive", "nofollow", "unavailable_after:2001-01-01"],
        ["noarchive"],
        None,
    ]
    assert parsed.counters["links.nofollow_page"] == 3
    assert {url[-1] for url in parsed.links["found_on"].to_pylist()} == {"1", "3"}


def test_links_of_headers_are_outlinks_with_their_languages():
    headers = [
        {"name": "Link", "value": "</de>; rel=alternate; hreflang=de, <a>; rel=stylesheet"},
        {"name": "link", "value": "</c>; rel=canonical"},
        {"name": "Refresh", "value": "0; url=/on"},
    ]
    parsed = built(outcome(URL, body=b"PK\3\4", content_type="application/zip", headers=headers))
    row = only(parsed)
    assert [link["url"][-3:] for link in row["outlinks"]] == ["/de", "g/c", "/on"]
    assert [link["hreflang"] for link in row["outlinks"]] == ["de", None, None]
    assert row["canonical"].endswith("/c")
    assert parsed.links["found_via"].to_pylist() == ["link", "canonical", "refresh"]


def test_what_is_chosen_in_the_configuration_reaches_the_reader():
    body = page("<img srcset=/b><link rel=alternate type=application/rss+xml href=/c>")
    chosen = config(srcset=True, follow_feeds=True)
    assert built(outcome(URL, body=body)).links.num_rows == 0
    found = built(outcome(URL, body=body), config=chosen).links["found_via"].to_pylist()
    assert found == ["srcset", "feed"]


def test_a_type_without_a_reader_is_a_row_without_text():
    row = only(built(outcome(URL, body=b"PK\3\4", content_type="application/zip")))
    assert (row["kind"], row["content_type"], row["text"], row["outlinks"]) == (
        "fetched",
        "application/zip",
        "",
        [],
    )
    assert (row["text_digest"], row["simhash"], row["simhash_tokens"]) == (None, None, 0)


def test_half_a_surrogate_pair_is_no_reason_to_fail(monkeypatch):
    read_page = reading.read_page

    def halves(*arguments):
        found = read_page(*arguments)
        found.title = "half \ud800"
        found.meta_robots = (("robots", "noarchive, x\ud800"),)
        return found

    monkeypatch.setattr(reading, "read_page", halves)
    first, second = built(outcome(URL, body=BODY), outcome(URL, kind="timeout")).rows.to_pylist()
    assert (first["title"], first["robots_directives"]) == ("half ?", ["noarchive", "x?"])
    assert (second["title"], second["robots_directives"]) == (None, None)


def test_no_outcomes_are_no_rows():
    parsed = builder().build(fetched([]))
    assert parsed.rows.schema == ROWS
    assert (
        parsed.rows.num_rows,
        parsed.settled.num_rows,
        parsed.links.num_rows,
    ) == (0, 0, 0)


def test_a_slice_of_a_batch_is_read_like_a_batch():
    outcomes = [
        outcome(
            f"https://example.org/{n}",
            body=page(f"<a href=/{n}>"),
            headers=[{"name": "X-Robots-Tag", "value": f"max-snippet:{n}"}] * n,
        )
        for n in range(5)
    ]
    whole = builder().build(fetched(outcomes))
    part = builder().build(fetched(outcomes).slice(2, 2))
    assert part.rows.to_pylist() == whole.rows.to_pylist()[2:4]
    assert part.links["url"].to_pylist() == ["https://example.org/2", "https://example.org/3"]


@pytest.mark.slow
@given(
    st.lists(st.binary(max_size=200), max_size=4),
    st.sampled_from([None, "text/html", "text/plain; charset=utf-16"]),
)
def test_whatever_the_bytes_every_outcome_is_one_row(bodies, content_type):
    parsed = built(
        *(
            outcome(f"https://example.org/{n}", body=body, content_type=content_type)
            for n, body in enumerate(bodies)
        )
    )
    parsed.rows.validate(full=True)
    counts = dict(parsed.counters)
    assert parsed.rows["body"].to_pylist() == bodies
    found = counts.pop("links.found", 0)
    assert found == parsed.links.num_rows + sum(
        n for name, n in counts.items() if name.startswith("links.")
    )
