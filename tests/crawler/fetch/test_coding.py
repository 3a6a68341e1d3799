"""Content codings in unusual spellings and stacks."""

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.fetch.coding import decode, left_over


def raw(body):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


PACK = {"gzip": gzip.compress, "x-gzip": gzip.compress, "deflate": zlib.compress}


@pytest.mark.parametrize(
    ("header", "codings"),
    [
        (None, []),
        ("gzip", []),
        ("GZIP", []),
        ("br", []),
        ("identity", []),
        ("none", []),
        ("UTF-8", []),
        ("x-gzip", ["x-gzip"]),
        ("X-GZip", ["x-gzip"]),
        ("gzip, deflate", ["deflate", "gzip"]),
        ("gzip,identity", ["gzip"]),
        ("br, gzip", ["gzip", "br"]),
    ],
)
def test_what_is_still_to_be_decoded(header, codings):
    assert left_over(header) == codings


@given(st.binary(max_size=300), st.lists(st.sampled_from(sorted(PACK)), max_size=4))
def test_a_stack_comes_off_as_it_was_put_on(body, names):
    packed = body
    for name in names:
        packed = PACK[name](packed)
    assert decode(packed, names[::-1], 10_000) == (body, False)


def test_deflate_without_its_header():
    assert decode(raw(b"plain"), ["deflate"], 100) == (b"plain", False)


def test_a_bomb_is_cut_at_the_limit():
    bomb = gzip.compress(gzip.compress(b"x" * 1_000_000))
    body, cut = decode(bomb, ["gzip", "gzip"], 2000)
    assert (body, cut) == (b"x" * 2000, True)
    assert decode(gzip.compress(b"x" * 2000), ["x-gzip"], 2000) == (b"x" * 2000, False)


@pytest.mark.parametrize(
    ("body", "codings", "reason"),
    [
        (b"plain", ["x-gzip"], "not x-gzip"),
        (b"\x18plain", ["deflate"], "not deflate"),
        (b"", ["br", "gzip"], "br together with"),
    ],
)
def test_what_is_not_what_it_says(body, codings, reason):
    with pytest.raises(ValueError, match=reason):
        decode(body, codings, 100)
