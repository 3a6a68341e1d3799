"""Content codings: every name, every stack, in any pieces; bombs, damage and rubbish."""

import gzip
import tracemalloc
import zlib

import brotli
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from crawler.fetch.body import Body
from crawler.fetch.coding import MAX_CODINGS, MAX_MEMBERS, STEP, CodingError, Decoder

PLENTY = 1 << 30


def raw(body):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


PACK = {"gzip": gzip.compress, "x-gzip": gzip.compress, "deflate": zlib.compress,
        "br": brotli.compress, "zstd": zstd.compress}  # fmt: skip


def decode(header, body, limit=PLENTY, piece=5000, end=True):
    decoder = Decoder(header, limit)
    pieces = []
    for start in range(0, len(body), piece):
        pieces += decoder.feed(body[start : start + piece])
    if end:
        decoder.end()
    return b"".join(pieces)


@pytest.mark.parametrize(
    ("header", "packings"),
    [
        (None, []),
        ("identity", []),
        ("none", []),
        ("UTF-8", []),
        ("gzip", ["gzip"]),
        ("GZIP", ["gzip"]),
        (" X-GZip ", ["x-gzip"]),
        ("gzip, deflate", ["gzip", "deflate"]),
        ("gzip,identity", ["gzip"]),
        ("br, gzip", ["br", "gzip"]),
        ("gzip, br", ["gzip", "br"]),
        ("zstd,,br", ["zstd", "br"]),
    ],
)
def test_what_a_header_says_comes_off(header, packings):
    body = b"plain"
    for name in packings:
        body = PACK[name](body)
    assert decode(header, body) == b"plain"


@given(
    st.binary(max_size=300),
    st.lists(st.sampled_from(sorted(PACK)), max_size=MAX_CODINGS),
    st.integers(1, 400),
)
def test_a_stack_comes_off_as_it_was_put_on_in_any_pieces(body, names, piece):
    packed = body
    for name in names:
        packed = PACK[name](packed)
    assert decode(", ".join(names), packed, piece=piece) == body


@pytest.mark.parametrize("name", sorted(PACK))
@pytest.mark.parametrize("body", [b"x" * 1_000_000, bytes(range(256)) * 2000], ids=["bomb", "page"])
def test_pieces_are_of_one_step(name, body):
    pieces = list(Decoder(name, PLENTY).feed(PACK[name](body)))
    assert b"".join(pieces) == body
    assert max(map(len, pieces)) <= 2 * STEP


def test_deflate_without_its_header():
    assert decode("deflate", raw(b"plain")) == b"plain"


@pytest.mark.parametrize("name", ["gzip", "zstd"])
def test_several_streams_are_one_body(name):
    assert decode(name, PACK[name](b"one") + PACK[name](b"") + PACK[name](b"two")) == b"onetwo"
    with pytest.raises(CodingError, match="in a row"):
        decode(name, PACK[name](b"") * (MAX_MEMBERS + 1))


@pytest.mark.parametrize("name", ["gzip", "deflate"])
def test_rubbish_behind_the_end_is_not_read(name):
    assert decode(name, PACK[name](b"page") + b"\0\0<!-- cached -->") == b"page"


@pytest.mark.parametrize("name", sorted(PACK))
def test_a_body_that_breaks_off_is_told_and_gives_what_it_had(name):
    page = bytes(range(256)) * 300
    packed = PACK[name](page)[:-4]
    got = decode(name, packed, end=False)
    assert page.startswith(got)
    with pytest.raises(CodingError, match=f"{name} ends too early"):
        decode(name, packed)
    assert decode(name, b"") == b""


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_a_damaged_body_gives_what_came_before_the_damage(name):
    page = b" ".join(b"%d" % (n * n * n) for n in range(100_000))
    packed = bytearray(PACK[name](page))
    middle = len(packed) // 2
    packed[middle : middle + 2000] = b"\xff" * 2000
    got = bytearray()

    def read():
        for piece in Decoder(name, PLENTY).feed(bytes(packed)):
            got.extend(piece)

    with pytest.raises(CodingError, match=f"not {name}"):
        read()
    kept = next((n for n, (a, b) in enumerate(zip(got, page, strict=False)) if a != b), len(got))
    assert kept > len(page) // 3


@pytest.mark.parametrize(
    ("header", "body"),
    [("x-gzip", b"plain"), ("gzip", b"plain"), ("deflate", b"\x18plain"), ("br", b"<html><body>"),
     ("zstd", b"plain"), ("gzip", gzip.compress(b"x" * 10_000, mtime=0)[:-8] + b"12345678")],
)  # fmt: skip
def test_what_is_not_what_it_says(header, body):
    with pytest.raises(CodingError, match=f"not {header}"):
        decode(header, body)


def test_a_pile_of_codings_is_refused():
    with pytest.raises(CodingError, match="content codings"):
        Decoder(", ".join(["gzip"] * (MAX_CODINGS + 1)), PLENTY)


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_a_layer_in_the_middle_has_the_limit_too(name):
    """Nothing comes out of the last coding, so nobody above could stop it."""
    nothing = gzip.compress(b"") * 200_000
    with pytest.raises(CodingError, match=r"in a row|more than"):
        decode(f"gzip, {name}", PACK[name](nothing), limit=100_000)


def test_memory_is_that_of_one_step():
    bomb = zstd.compress(brotli.compress(gzip.compress(bytes(20_000_000))))
    tracemalloc.start()
    size = sum(map(len, Decoder("gzip, br, zstd", PLENTY).feed(bomb)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size == 20_000_000
    assert peak < 10 * STEP


def test_a_window_larger_than_the_standard_grants_is_refused():
    options = {zstd.CompressionParameter.window_log: 27}
    packer = zstd.ZstdCompressor(options=options)
    packed = packer.compress(b"x" * 1000) + packer.flush()
    with pytest.raises(CodingError, match="not zstd"):
        decode("zstd", packed)


@given(
    st.lists(st.sampled_from([*PACK, "identity", "", "\udcff"]), max_size=MAX_CODINGS + 2),
    st.lists(st.sampled_from(sorted(PACK)), max_size=3),
    st.binary(max_size=300),
    st.tuples(st.integers(0, 400), st.integers(0, 400), st.binary(max_size=20)),
    st.integers(1, 500),
)
def test_any_octets_under_any_codings_are_a_body_or_a_reason(said, packed, plain, damage, limit):
    octets = plain
    for name in packed:
        octets = PACK[name](octets)
    start, end, rubbish = damage
    octets = octets[:start] + rubbish + octets[end:]
    body = Body(", ".join(said), len(octets), limit)
    for at in range(0, len(octets), 100):
        for piece in body.feed(octets[at : at + 100]) if body.wanted else ():
            body.keep(piece)
    body.end()
    assert body.size == len(body.taken()) <= limit
    assert body.truncated or body.error is None
