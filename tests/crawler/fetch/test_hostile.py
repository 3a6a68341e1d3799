"""Answers that other projects collected: whatever a server sends, there is an outcome, and soon."""

import base64
import gzip
import json
import re
import time
from collections import Counter

import psutil
import pytest

from crawler.config import Config, Fetch
from crawler.fetch import exchange
from crawler.fetch.client import Client
from crawler.outcomes import Kind
from tests.crawler.fetch.raw_server import reply, serving
from tests.shared import check, figure, need

pytestmark = pytest.mark.conformance

CONFIG = Config(fetch=Fetch(allow_private=True, first_byte_timeout=1, total_timeout=2))
ANSWERED = {
    Kind.FETCHED, Kind.NOT_MODIFIED, Kind.REDIRECT, Kind.HTTP_ERROR, Kind.EXCLUDED_TYPE,
}  # fmt: skip

BARE_LF = "chunk sizes that end in a bare LF (request smuggling)"

# Accepted by curl and refused here, each for a reason.
REFUSED = {
    66: "HTTP/0.9", 1164: "HTTP/0.9", 1266: "HTTP/0.9",
    770: "Content-Lengths that are equal as numbers only", 1122: "gzip as a Transfer-Encoding, without chunks",
    1032: "the answer to a HEAD, which has no body", 1484: "the answer to a HEAD, which has no body",
    1116: BARE_LF, 1124: BARE_LF, 1170: BARE_LF,
}  # fmt: skip

# Accepted by llhttp and refused here.
LENIENT = {
    "Bare CR after response line (lenient)": "read by llhttp when told to be lenient",
    "Content-Length reset when no body is received": "the beginning of a body, to a parser of streams",
}


async def ask_all(wires):
    """The answer to each of the wires, from a server that closes after it; every one comes in time."""
    answers = []
    current = iter(())
    async with (
        serving(lambda _: next(current), keep=False) as server,
        Client(CONFIG, time.time) as client,
    ):
        for wire in wires:
            current = iter([wire])
            began = time.monotonic()
            answer = await client.get(server.url("/"), exchange.page_limits(CONFIG))
            if answer.stale:  # the end of the connection before came just now
                answer = await client.get(server.url("/"), exchange.page_limits(CONFIG))
            assert time.monotonic() - began < 10, wire
            answers.append(answer)
    return answers


async def ask_flat(suite, wires):
    """The same, with memory that stays flat; their kinds are a line of the table that `--tally` prints."""
    wires = list(wires)
    await ask_all(wires[:20])
    process = psutil.Process()
    before = process.memory_info().rss
    answers = await ask_all(wires)
    growth = (process.memory_info().rss - before) / 2**20
    assert growth < 40
    kinds = Counter(answer.kind.value for answer in answers)
    figure("fetch: raw answers of others", suite, replies=len(wires), **dict(kinds.most_common()))
    return answers


def has_outcome(answer):
    """An answer, or an error with its kind."""
    return answer.kind in ANSWERED or bool(answer.error)


@pytest.mark.slow
async def test_curls_answers():
    cases = json.loads(gzip.decompress(need("http/curl_http_replies.json.gz").read_bytes()))[
        "cases"
    ]
    assert len(cases) == 269
    replies = [
        (case["test"], name, case["curl_errorcode"], base64.b64decode(wire))
        for case in cases
        for name, wire in sorted(case["replies"].items())
    ]
    answers = await ask_flat("curl: 269 cases", (wire for *_, wire in replies))
    got = list(zip(replies, answers, strict=True))
    check(
        "http: curl's answers have an outcome",
        [((test, name), has_outcome(answer), True) for (test, name, *_), answer in got],
    )
    # curl's verdict is on a case: on the first answer, that is, to which its others are later ones.
    check(
        "http: what curl accepts is accepted",
        [
            (test, answer.kind in ANSWERED, True)
            for (test, name, error, _), answer in got
            if error == 0 and name == "data"
        ],
        REFUSED,
    )


def unescaped(block):
    """The bytes of a block of llhttp's tests: line ends are CRLF, the others are escaped."""
    text = block.replace("\\\n", "").replace("\n", "\r\n")
    escape = re.compile(r"\\(?:([nrtfb])|x([0-9a-fA-F]{2}))")
    plain = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "b": "\b"}
    return escape.sub(lambda m: plain[m[1]] if m[1] else chr(int(m[2], 16)), text)


@pytest.mark.slow
async def test_llhttps_cases():
    cases = json.loads(need("http/llhttp_response_cases.json").read_bytes())["cases"]
    assert len(cases) == 85
    # The collection lost the line break at the end of each that it put together.
    wires = [f"{c['raw_crlf']}\r\n" if c["raw_crlf"] else unescaped(c["http_block"]) for c in cases]
    answers = await ask_flat(
        "llhttp: 85 cases", (wire.encode("latin-1", "replace") for wire in wires)
    )
    pairs = list(zip(cases, answers, strict=True))
    check(
        "http: llhttp's cases have an outcome",
        [(case["title"], has_outcome(answer), True) for case, answer in pairs],
    )
    check(
        "http: what llhttp accepts is accepted",
        [
            (case["title"], answer.kind in ANSWERED, True)
            for case, answer in pairs
            if case["complete"] and case["error"] is None
        ],
        LENIENT,
    )


BOMBS = [("br", "bomb-br.bin"), ("deflate", "bomb-deflate.bin"), ("gzip", "bomb-gzip.bin"),
         ("zstd", "bomb-zstd.bin")]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("coding", "name"), BOMBS)
async def test_a_bomb_does_not_grow_beyond_the_limit(coding, name):
    packed = need(f"http/compressed/{name}").read_bytes()
    headers = ("Content-Type: text/html", f"Content-Encoding: {coding}")
    (answer,) = await ask_all([reply(packed, headers=headers)])
    found = answer.kind, answer.truncated, len(answer.body)
    check("http: bombs", [(name, found, (Kind.FETCHED, True, CONFIG.fetch.max_body))])
    assert answer.wire_bytes <= len(packed)


PAGES = [("br", "html-br.bin"), ("gzip", "html-gzip.bin"), ("x-gzip", "html-gzip.bin"),
         ("deflate", "html-rawdeflate.bin"), ("deflate", "html-zlibdeflate.bin"),
         ("zstd", "html-zstd-static-content-size.bin"),
         ("zstd", "html-zstd-static-no-content-size.bin"),
         ("zstd", "html-zstd-streaming-no-content-size.bin"),
         ("gzip, deflate", "html-gzip-deflate.bin"),
         ("gzip, deflate, gzip", "html-gzip-deflate-gzip.bin")]  # fmt: skip


@pytest.mark.parametrize(("coding", "name"), PAGES)
async def test_a_page_in_every_coding(coding, name):
    packed = need(f"http/compressed/{name}").read_bytes()
    headers = ("Content-Type: text/html", f"Content-Encoding: {coding}")
    (answer,) = await ask_all([reply(packed, headers=headers)])
    assert answer.body.startswith(b"<!DOCTYPE HTML")
    assert len(answer.body) > 70_000
    found = answer.kind, answer.wire_bytes
    check("http: content codings", [((coding, name), found, (Kind.FETCHED, len(packed)))])


TRUNCATED = [("truncated-crc-error-short.gz", 3741), ("truncated-crc-error.gz", 25542),
             ("unexpected-eof.gz", 8576)]  # fmt: skip


@pytest.mark.parametrize(("name", "size"), TRUNCATED)
async def test_what_can_be_had_of_a_damaged_gzip_is_kept(name, size):
    packed = need(f"http/compressed/{name}").read_bytes()
    headers = ("Content-Type: text/html", "Content-Encoding: gzip")
    (answer,) = await ask_all([reply(packed, headers=headers)])
    found = answer.kind, len(answer.body)
    check("http: damaged gzip", [(name, found, (Kind.FETCHED, size))])
