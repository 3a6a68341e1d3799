"""Types: the header's word, and what is sniffed where it says nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.page.media import media_type


@pytest.mark.parametrize(
    ("header", "body", "expected"),
    [
        ("Text/HTML; charset=utf-8", b"", "text/html"),
        (" application/json ", b"<html>", "application/json"),
        ("image/png", b"<html>", "image/png"),
        (None, b"  <!DOCTYPE html>", "text/html"),
        (None, b"<!-- a --> <p>x", "text/html"),
        ("", b"\xef\xbb\xbf<HTML>", "text/html"),
        ("nonsense", b"<?xml version='1.0'?>", "application/xml"),
        ("application/octet-stream", b"<body>", "text/html"),
        ("application/octet-stream", b"%PDF-1.7", "application/pdf"),
        (None, b"\x89PNG\r\n\x1a\n", "image/png"),
        (None, b"\xff\xfeh\0i\0", "text/plain"),
        (None, b"words", "text/plain"),
        (None, b"", "text/plain"),
        (None, b"\x00\x01\x02", "application/octet-stream"),
        ("text/plain", b"<!doctype html><p>", "text/html"),
        ("text/plain", b"<p>how to write a paragraph", "text/plain"),
        ("text/plain", b"\x7fELF\x02\x01", "application/octet-stream"),
    ],
)
def test_media_type(header, body, expected):
    assert media_type(header, body) == expected


@given(st.one_of(st.none(), st.text(max_size=50)), st.binary(max_size=100))
def test_there_is_always_a_type(header, body):
    assert "/" in media_type(header, body)
