"""Answers that other crawlers archived, served again byte for byte: what they kept is what is fetched."""

import gzip
import io
import time

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawler.config import Config
from crawler.dataset.schema import ROWS
from crawler.fetch import exchange
from crawler.fetch.client import Client
from crawler.outcomes import Kind
from tests.crawler.dataset.samples import built, outcome
from tests.crawler.fetch.raw_server import serving
from tests.shared import check, need

CONFIG = Config.model_validate({"fetch": {"allow_private": True}})
ANY_TYPE = exchange.page_limits(CONFIG)._replace(types=None)

ARCHIVES = [("pywb_iana", 48), ("resiliparse_warcfile", 16), ("warcio_example", 1),
            ("warcio_example-bad-non-chunked", 1)]  # fmt: skip

KINDS = {"2": Kind.FETCHED, "3": Kind.REDIRECT, "4": Kind.HTTP_ERROR, "5": Kind.HTTP_ERROR}


def head_of(record):
    """The head that fits the body as it was kept: one archiver took off chunks, and noted it by a length of -1."""
    headers = record.http_headers
    if headers.get_header("Content-Length") == "-1":
        headers.remove_header("Content-Length")
        headers.remove_header("Transfer-Encoding")
    return headers.to_bytes()


def archived(name):
    """URL, status line, the answer's bytes, and its decoded body, of every response in an archive."""
    packed = need(f"warc/{name}.warc.gz").read_bytes()

    def records():
        # Unpacked at once: one archive is a single gzip member, which no reader can seek in.
        return ArchiveIterator(io.BytesIO(gzip.decompress(packed)))

    wires = [
        head_of(record) + record.raw_stream.read()
        for record in records()
        if record.rec_type == "response"
    ]
    decoded = [
        (
            record.rec_headers.get_header("WARC-Target-URI"),
            record.http_headers.get_statuscode(),
            record.content_stream().read(),
        )
        for record in records()
        if record.rec_type == "response"
    ]
    return [(*said, wire) for said, wire in zip(decoded, wires, strict=True)]


@pytest.mark.slow
@pytest.mark.conformance
@pytest.mark.parametrize(("name", "responses"), ARCHIVES)
async def test_an_archived_answer_is_fetched_as_it_was(name, responses):
    cases = archived(name)
    assert len(cases) == responses
    current = iter(())
    judged, outcomes = [], []
    async with serving(lambda _: next(current), keep=False) as server:
        for url, status, body, wire in cases:
            current = iter([wire])
            async with Client(CONFIG, time.time) as client:
                answer = await client.get(server.url("/"), ANY_TYPE)
            expected = KINDS[status[0]]
            got = answer.kind, answer.body if answer.kind is Kind.FETCHED else body
            judged.append((url, got, (expected, body)))
            outcomes.append(
                outcome(url, body=answer.body, kind=answer.kind, content_type=answer.content_type)
            )
    check("warc: archived answers", judged, at_least=responses)
    rows = built(*outcomes).rows
    assert rows.schema.equals(ROWS)
    assert rows["kind"].to_pylist() == [kind.value for kind in (case[1][0] for case in judged)]
