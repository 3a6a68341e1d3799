"""Outcomes as Arrow columns."""

from hashlib import sha256

from crawler.fetch import columns
from crawler.fetch.exchange import Answer
from crawler.fetch.fetched import FETCHED
from crawler.fetch.visit import Final
from crawler.frontier.lease import Content, HostLease, LeasedUrl
from crawler.outcomes import Kind

HOST = HostLease("a.example", "example", 7, 0.0, 1.0, (), ())
URL = LeasedUrl(-5, "http://a.example/", 2, 1, 3, 4, 9, "http://b.example/", "link")


def row(**answer):
    whole = {"kind": Kind.FETCHED, "fetched_at": 1.5, "ended_at": 2.0, **answer}
    return columns.row(HOST, Final(URL, Answer(**whole)))


def test_a_row_has_every_column_of_the_contract():
    headers = [("Server", "x"), ("X-A", "b")]
    batch = columns.batch(
        [
            row(status=200, elapsed=0.25, ip="127.0.0.1", tls_verified=False, content_type="text/html", etag='"e"',
                last_modified="then", wire_bytes=4, truncated=True, headers=headers, body=b"body")
        ]
    )  # fmt: skip
    assert batch.schema == FETCHED
    batch.validate(full=True)
    (got,) = batch.to_pylist()
    assert got == {
        "key": -5, "slot": 7, "host": "a.example", "site": "example", "url": "http://a.example/",
        "visit": 2, "attempt": 1, "depth": 3, "hops": 4, "priority": 9,
        "found_on": "http://b.example/", "found_via": "link", "kind": "fetched",
        "http_status": 200, "redirect_to": None, "fetched_at": 1.5, "elapsed_ms": 250,
        "ip": "127.0.0.1", "tls_verified": False, "content_type": "text/html", "etag": '"e"', "last_modified": "then",
        "wire_bytes": 4, "truncated": True,
        "headers": [{"name": "Server", "value": "x"}, {"name": "X-A", "value": "b"}],
        "body": b"body", "content_digest": sha256(b"body").digest(), "error": None, "sitemaps": None,
    }  # fmt: skip


def test_headers_are_those_of_their_row():
    many = [[("A", "1")], None, [], [("B", "2"), ("C", "3")]]
    batch = columns.batch([row(headers=headers) for headers in many])
    batch.validate(full=True)
    assert batch.column("headers").to_pylist() == [
        [{"name": "A", "value": "1"}],
        None,
        [],
        [{"name": "B", "value": "2"}, {"name": "C", "value": "3"}],
    ]


def test_octets_that_are_no_utf_8_are_kept_as_latin_1():
    odd = [("Server", "caf\udce9"), ("X-B", "é"), ("X-C", "plain")]
    batch = columns.batch([row(headers=odd, content_type="text/\udcff"), row(content_type=None)])
    values = [pair["value"] for pair in batch.column("headers")[0].as_py()]
    assert values == ["café", "é", "plain"]
    assert batch.column("content_type").to_pylist() == ["text/ÿ", None]


def test_the_contents_of_pages_are_named_and_of_nothing_else():
    rows = [row(body=b"x"), row(body=None), row(kind=Kind.HTTP_ERROR), row(body=b"")]
    assert columns.contents(rows) == (
        Content(sha256(b"x").digest(), -5, URL.url),
        None,
        None,
        None,
    )


def test_the_empty_batch_has_the_columns_too():
    assert (columns.EMPTY.schema, columns.EMPTY.num_rows) == (FETCHED, 0)


def test_a_rows_size_is_mostly_its_body():
    assert 10_000 < row(body=b"x" * 10_000, headers=[("A", "b")]).size < 11_000


def test_what_lies_where_a_sitemap_is_looked_for_is_compared_with_nothing():
    found = row(body=b"x")
    looked_for = found._replace(final=found.final._replace(sitemaps=()))
    named = found._replace(final=found.final._replace(sitemaps=("/a", "/b")))
    assert columns.contents([looked_for, named]) == (None, None)
    batch = columns.batch([found, looked_for, named])
    assert batch["sitemaps"].to_pylist() == [None, [], ["/a", "/b"]]


def test_a_zipped_body_weighs_what_it_may_unpack_to():
    assert row(body=b"\x1f\x8b" + b"x" * 2000).size > 2_000_000
