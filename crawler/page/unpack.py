"""A body to its text, piece by piece: gzip taken off however often it was put on, then the encoding.

So a bomb costs no more than the limit of what is unpacked, whatever it would grow to. Knows nothing of XML and URLs.
"""

import codecs
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain

from crawler.page.charset import sniff
from crawler.page.labels import CODECS

PIECE = 64 * 1024

_GZIP = b"\x1f\x8b"
_LAYERS = 3  # a file that was zipped, zipped again on its way, and again by a careless copy


class Texts:
    """The text of a body, in pieces; iterate once.

    Invariant: no more than `max_bytes` decoded bytes are ever looked at, and of them a few pieces at a time are held.
    `cut`, once it is iterated: `max_bytes`, or `damaged` for gzip that breaks off; `None` if the whole was there.
    """

    def __init__(self, body: bytes, content_type: str | None, max_bytes: int) -> None:
        """`content_type`: the header; only its `charset` counts, the type shows in the body."""
        self.cut: str | None = None
        self._content_type = content_type
        self._plain = self._bounded(body, max_bytes)

    def __iter__(self) -> Iterator[str]:
        head = b""
        for piece in self._plain:
            head += piece
            if len(head) >= PIECE:
                break
        decoder = _decoder(head, self._content_type)
        for piece in chain([head], self._plain):
            if text := decoder.decode(piece):
                yield text
        if text := decoder.decode(b"", final=True):
            yield text

    def _bounded(self, body: bytes, left: int) -> Iterator[bytes]:
        try:
            for piece in _unzipped(_pieces(body)):
                yield piece[:left]
                left -= len(piece)
                if left < 0:
                    self.cut = "max_bytes"
                    return
        except (zlib.error, EOFError):
            self.cut = "damaged"


def _pieces(body: bytes) -> Iterator[bytes]:
    for start in range(0, len(body), PIECE):
        yield body[start : start + PIECE]


def _unzipped(pieces: Iterator[bytes]) -> Iterator[bytes]:
    for _ in range(_LAYERS):
        first = next(pieces, b"")
        pieces = chain([first], pieces)
        if not first.startswith(_GZIP):
            break
        pieces = _gunzip(pieces)
    return pieces


def _gunzip(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The members of a gzip file, one after the other (RFC 1952 section 2.2); what follows them is padding."""
    member = zlib.decompressobj(31)
    for piece in pieces:
        packed = piece
        while packed:
            if member.eof:
                if not packed.startswith(_GZIP):
                    return
                member = zlib.decompressobj(31)
            if plain := member.decompress(packed, PIECE):
                yield plain
            packed = member.unused_data if member.eof else member.unconsumed_tail
    if not member.eof:
        raise EOFError


def _decoder(head: bytes, content_type: str | None) -> codecs.IncrementalDecoder:
    codec = CODECS.get(_charset(head, content_type), "utf-8")
    errors = "replace" if codec.startswith("utf") else "raycrawl-whatwg"
    return codecs.getincrementaldecoder(codec)(errors)


def _charset(head: bytes, content_type: str | None) -> str:
    """Sitemaps must be UTF-8, and what is valid UTF-8 beyond ASCII is hardly anything else: headers lie more often."""
    if head.startswith((b"<\0", b"\0<")):  # XML 1.0 appendix F
        return "utf-16le" if head[0] else "utf-16be"
    if not head.isascii() and _is_utf8(head):
        return "utf-8"
    return sniff(head, content_type)


def _is_utf8(head: bytes) -> bool:
    try:  # a longer text may go on in the middle of a character
        codecs.getincrementaldecoder("utf-8")().decode(head, final=len(head) < PIECE)
    except UnicodeDecodeError:
        return False
    return True
