"""The content codings that the HTTP client leaves alone: `x-gzip`, and several on top of each other.

Pure. A body with one coding by its usual name never comes here: it is decoded as it arrives.
"""

import zlib

_GZIP, _ZLIB, _RAW = 31, 15, -15  # the `wbits` that tell zlib which wrapping to expect
_DECODED = frozenset({"gzip", "deflate", "br", "zstd"})


def left_over(content_encoding: str | None) -> list[str]:
    """The codings still on a body, in the order in which they come off (RFC 9110 §8.4).

    Names that mean nothing (`identity`, `none`, `utf-8`: servers write all of them) are dropped.
    """
    if content_encoding is None or content_encoding.lower() in _DECODED:
        return []
    names = [name.strip().lower() for name in content_encoding.split(",")]
    return [name for name in reversed(names) if name == "x-gzip" or name in _DECODED]


def decode(body: bytes, codings: list[str], max_bytes: int) -> tuple[bytes, bool]:
    """The body without `codings`, at most `max_bytes` of it; whether it was cut there.

    Raises `ValueError` if it is not what the codings say.
    """
    cut = False
    for name in codings:
        body, cut = _inflate(body, name, max_bytes)
    return body, cut


def _inflate(body: bytes, name: str, max_bytes: int) -> tuple[bytes, bool]:
    if name in ("br", "zstd"):
        message = f"{name} together with other content codings"
        raise ValueError(message)
    wrapping = _GZIP
    if name == "deflate":  # with a zlib header by the standard, without by habit
        wrapping = _ZLIB if body[:1] and body[0] & 0x0F == 8 else _RAW
    try:
        plain = zlib.decompressobj(wrapping).decompress(body, max_bytes + 1)
    except zlib.error as error:
        message = f"not {name}: {error}"
        raise ValueError(message) from None
    return plain[:max_bytes], len(plain) > max_bytes
