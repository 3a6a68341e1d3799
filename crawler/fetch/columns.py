"""Final outcomes as one Arrow batch in the columns of `FETCHED`.

Pure, and on the hot path: a batch is some tens of pages, each with some tens of headers.
"""

from hashlib import sha256
from typing import Any, NamedTuple

import pyarrow as pa

from crawler.fetch.exchange import Answer
from crawler.fetch.fetched import FETCHED, HEADERS
from crawler.fetch.visit import Final
from crawler.frontier.lease import Content, HostLease
from crawler.outcomes import Kind

# DEFLATE packs at most 1,032 bytes into one.
GZIP_GROWTH = 1000


class Row(NamedTuple):
    """One final outcome, the host it belongs to, and the digest of its body if it is a page with one."""

    host: HostLease
    final: Final
    digest: bytes | None

    @property
    def size(self) -> int:
        """Bytes that it holds, nearly: what is not body or headers hardly counts.

        A zipped sitemap counts as what it may unpack to, so that few are parsed in one batch.
        """
        answer = self.final.answer
        body = answer.body or b""
        growth = GZIP_GROWTH if body.startswith(b"\x1f\x8b") else 1
        return growth * len(body) + 64 * len(answer.headers or ()) + 512


def row(host: HostLease, final: Final) -> Row:
    """The row of an outcome; SHA-256, as the dataset has it. What broke off is no page's content."""
    body = final.answer.body if final.answer.kind is Kind.FETCHED else None
    return Row(host, final, sha256(body).digest() if body else None)


EMPTY: pa.RecordBatch = pa.RecordBatch.from_pylist([], FETCHED)


def contents(rows: list[Row]) -> tuple[Content | None, ...]:
    """What each row has in it, if it is a page with a body.

    Where a sitemap is looked for, some sites answer with their home page: which must not become its duplicate.
    """
    return tuple(
        Content(digest, final.leased.key, final.leased.url)
        if digest and final.sitemaps is None
        else None
        for _, final, digest in rows
    )


def batch(rows: list[Row]) -> pa.RecordBatch:
    """The batch of `rows`, in their order."""
    hosts = [row.host for row in rows]
    leased = [row.final.leased for row in rows]
    answers = [row.final.answer for row in rows]
    columns: dict[str, list[Any]] = {
        "key": [url.key for url in leased],
        "slot": [host.slot for host in hosts],
        "host": [host.host for host in hosts],
        "site": [host.site for host in hosts],
        "url": [url.url for url in leased],
        "visit": [url.visit for url in leased],
        "attempt": [url.attempt for url in leased],
        "depth": [url.depth for url in leased],
        "hops": [url.hops for url in leased],
        "priority": [url.priority for url in leased],
        "found_on": [url.found_on for url in leased],
        "found_via": [url.found_via for url in leased],
        "kind": [answer.kind.value for answer in answers],
        "http_status": [answer.status for answer in answers],
        "redirect_to": [answer.redirect_to for answer in answers],
        "fetched_at": [answer.fetched_at for answer in answers],
        "elapsed_ms": [round(answer.elapsed * 1000) for answer in answers],
        "ip": [answer.ip for answer in answers],
        "tls_verified": [answer.tls_verified for answer in answers],
        "content_type": [answer.content_type for answer in answers],
        "etag": [answer.etag for answer in answers],
        "last_modified": [answer.last_modified for answer in answers],
        "wire_bytes": [answer.wire_bytes for answer in answers],
        "truncated": [answer.truncated for answer in answers],
        "body": [answer.body for answer in answers],
        "content_digest": [row.digest for row in rows],
        "error": [answer.error for answer in answers],
        "sitemaps": [row.final.sitemaps for row in rows],
    }
    arrays = [
        _headers([answer.headers for answer in answers])
        if field.name == "headers"
        else _array(columns[field.name], field.type)
        for field in FETCHED
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=FETCHED)


def _headers(many: list[list[tuple[str, str]] | None]) -> pa.Array:
    offsets: list[int | None] = []
    names: list[str] = []
    values: list[str] = []
    for headers in many:
        offsets.append(None if headers is None else len(names))
        for name, value in headers or ():
            names.append(name)
            values.append(value)
    offsets.append(len(names))
    pairs = pa.StructArray.from_arrays(
        [_array(names, pa.string()), _array(values, pa.string())],
        fields=[HEADERS.value_type.field(0), HEADERS.value_type.field(1)],
    )
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pairs, type=HEADERS)


def _array(values: list[Any], type_: pa.DataType) -> pa.Array:
    try:
        return pa.array(values, type_)
    except UnicodeEncodeError:
        return pa.array([_scalar(value) for value in values], type_)


def _scalar(value: str | None) -> str | None:
    """Octets of a header that are not UTF-8 (surrogates, as aiohttp leaves them) read as latin-1.

    RFC 9110 §5.5: what lies beyond ASCII in a field value is opaque; latin-1 loses nothing.
    """
    if value is None or value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogateescape").decode("latin-1")
    return value


def unfetched(closed: list[tuple[HostLease, Kind, str]], now: float) -> pa.RecordBatch:
    """The batch of URLs that end without having been asked for: hosts, the kind of all their URLs, and why."""
    return batch(
        [
            Row(host, Final(leased, Answer(kind, now, now, error=reason)), None)
            for host, kind, reason in closed
            for leased in host.urls
        ]
    )
