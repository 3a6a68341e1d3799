"""From bytes to text, piece by piece."""

import codecs
import gzip
import zlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.page.unpack import PIECE, Texts

LARGE = "".join(f"line {number} é\n" for number in range(30_000))


def text_of(body, content_type=None, max_bytes=10**9):
    texts = Texts(body, content_type, max_bytes)
    return "".join(texts), texts.cut


@pytest.mark.parametrize("layers", range(4))
@pytest.mark.parametrize("text", ["", "x", LARGE])
def test_gzip_comes_off_however_often_it_was_put_on(text, layers):
    body = text.encode()
    for _ in range(layers):
        body = gzip.compress(body, 1)
    assert text_of(body) == (text, None)


def test_more_layers_than_anybody_puts_on_stay():
    body = b"x"
    for _ in range(4):
        body = gzip.compress(body)
    assert "x" not in text_of(body)[0][:1]


def test_the_members_of_a_gzip_file_are_one_text():
    body = gzip.compress(b"one ") + gzip.compress(b"two") + b"\0" * 512
    assert text_of(body) == ("one two", None)


def test_gzip_that_breaks_off_gives_what_there_is():
    text, cut = text_of(gzip.compress(LARGE.encode())[:-2000])
    assert cut == "damaged"
    assert text
    assert LARGE.startswith(text.rstrip("\ufffd"))


def test_gzip_that_is_damaged_gives_what_there_is():
    body = bytearray(gzip.compress(LARGE.encode()))
    body[len(body) // 2 : len(body) // 2 + 50] = b"\xff" * 50
    text, cut = text_of(bytes(body))
    assert cut == "damaged"
    assert text.startswith("line 0 é\nline 1 é\n")


def test_no_more_than_the_limit_is_unpacked():
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(b"a" * 2**20) for _ in range(64)) + packer.flush()
    for body in (bomb, gzip.compress(bomb)):
        texts = Texts(body, None, 3 * PIECE + 5)
        pieces = list(texts)
        assert texts.cut == "max_bytes"
        assert max(map(len, pieces)) <= PIECE
        assert sum(map(len, pieces)) == 3 * PIECE + 5


def test_a_body_of_exactly_the_limit_is_whole():
    assert text_of(b"x" * 10, max_bytes=10) == ("x" * 10, None)
    assert text_of(b"x" * 11, max_bytes=10) == ("x" * 10, "max_bytes")


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        ("é".encode(), "text/xml; charset=iso-8859-1", "é"),
        ("é.".encode("latin-1"), "text/xml; charset=iso-8859-1", "é."),
        ("<?xml version='1.0' encoding='iso-8859-2'?>ł.".encode("iso8859-2"), "text/xml", "ł."),
        ("<?xml version='1.0' encoding='iso-8859-2'?>é.".encode(), "text/xml", "é."),
        ("<?xml version='1.0' encoding='nonsense'?>é.".encode(), "text/xml", "é."),
        (codecs.BOM_UTF16_BE + "<é>".encode("utf-16be"), None, "<é>"),
        ("<é>".encode("utf-16le"), "text/xml; charset=utf-8", "<é>"),
        ("<é>".encode("utf-16be"), None, "<é>"),
        (b"plain", "text/plain; charset=hz-gb-2312", "plain"),
        ("é".encode() * PIECE, "text/xml; charset=iso-8859-1", "é" * PIECE),
        (b"x" + "é".encode() * PIECE, "text/xml; charset=iso-8859-1", "x" + "é" * PIECE),
    ],
)
def test_encodings(body, content_type, expected):
    text, cut = text_of(body, content_type)
    assert cut is None
    assert text.rpartition("?>")[2].strip("\ufeff") == expected


@example(b"\x06", b"\x1f\x8b\x08\0\0\0\0\0\0\0", None)
@given(st.binary(max_size=200), st.sampled_from([b"", b"\x1f\x8b", b"\x1f\x8b\x08\0\0\0\0\0\0\0"]),
       st.sampled_from([None, "x; charset=utf-16", "x; charset=iso-2022-jp", "x; charset=big5"]))  # fmt: skip
def test_any_bytes(body, start, content_type):
    text, _ = text_of(start + body, content_type)
    text.encode()


@given(st.text(max_size=300))
def test_text_comes_through_unharmed(text):
    body = text.encode()
    if (
        not body.startswith((b"\x1f\x8b", b"<\0", b"\0<"))
        and text[:1] != "\ufeff"
        and "\0" not in text
    ):
        assert text_of(body, "text/plain; charset=utf-8") == (text, None)
