"""Content codings: a body decoded as it comes, through any stack of codings, bounded at every layer.

Pure. It must not know HTTP, nor how much of a body is wanted: it hands out pieces of at most `STEP`
bytes, and whoever has enough asks for no more.
"""

import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import ClassVar

import brotli
from backports import zstd

# The most that is decoded at once, and so the most that a layer holds besides its window.
STEP = 64 * 1024

# Codings are fed in slices: where a body is damaged, what one slice would have given is lost.
SLICE = 1024

# Several streams in a row are one body (RFC 1952 §2.2, RFC 8878 §3.1). Real ones have a handful; an
# empty one costs a server twenty bytes and us a decoder.
MAX_MEMBERS = 1024

# curl's limit; each layer has a window of its own.
MAX_CODINGS = 5

# RFC 9659: a window of 8 MiB is the most that a client has to grant. A frame may ask for 128 MiB.
_ZSTD_OPTIONS = {int(zstd.DecompressionParameter.window_log_max): 23}

_GZIP, _ZLIB, _RAW = 31, 15, -15  # the `wbits` that tell zlib which wrapping to expect


class CodingError(ValueError):
    """A body is not what its codings say; what was decoded before stands."""


class Decoder:
    """Takes the codings of a Content-Encoding off (RFC 9110 §8.4), piece by piece.

    Names that mean nothing (`identity`, `none`, `utf-8`: servers write all of them) are ignored.
    No layer gives more than `limit` bytes (and one step) to the next. Raises `CodingError`.
    """

    def __init__(self, content_encoding: str | None, limit: int) -> None:
        self._layers: list[_Layer] = []
        if content_encoding is not None:
            names = [name.strip().lower() for name in content_encoding.split(",")]
            names = [name for name in names if name in _LAYERS]
            if len(names) > MAX_CODINGS:
                message = f"{len(names)} content codings on top of each other"
                raise CodingError(message)
            self._layers = [_LAYERS[name](name, limit) for name in reversed(names)]

    @property
    def plain(self) -> bool:
        """Whether there is nothing to decode."""
        return not self._layers

    def feed(self, data: bytes) -> Iterable[bytes]:
        """What `data` adds to the body; lazy, and to be read to its end before more is fed."""
        stream: Iterable[bytes] = (data,)
        for layer in self._layers:
            stream = layer.run(stream)
        return stream

    def end(self) -> None:
        """Nothing more comes: raises `CodingError` if a coding was cut off."""
        for layer in self._layers:
            if layer.began and not layer.ended:
                message = f"{layer.name} ends too early"
                raise CodingError(message)


class _Layer(ABC):
    """One coding. `began`: it has had input; `ended`: it has seen its own end."""

    errors: ClassVar[type[Exception]]

    def __init__(self, name: str, limit: int) -> None:
        self.name = name
        self.began = False
        self.ended = False
        self._limit = limit
        self._given = 0
        self._members = 0

    def run(self, stream: Iterable[bytes]) -> Iterator[bytes]:
        """Decode what `stream` gives, at most a step at a time."""
        for data in stream:
            for start in range(0, len(data), SLICE):
                self.began = True
                try:
                    for plain in self._decode(data[start : start + SLICE]):
                        self._given += len(plain)
                        yield plain
                except self.errors as error:
                    message = f"not {self.name}: {error}"
                    raise CodingError(message) from None
                if self._given > self._limit + STEP:
                    message = f"more than {self._limit} bytes under {self.name}"
                    raise CodingError(message)

    @abstractmethod
    def _decode(self, data: bytes) -> Iterator[bytes]:
        """Decode one slice."""

    def _member(self) -> None:
        self.ended = False
        self._members += 1
        if self._members > MAX_MEMBERS:
            message = f"more than {MAX_MEMBERS} streams of {self.name} in a row"
            raise CodingError(message)


class _Zlib(_Layer):
    """gzip, and deflate with a zlib header (by the standard) or without (by habit)."""

    errors = zlib.error
    _inflate: "zlib._Decompress"  # made with the first byte, which says what it is to be

    def _decode(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self.ended or not self._members:
                if self.ended and not self._another(data):
                    return
                self._member()
                self._inflate = zlib.decompressobj(self._wrapping(data))
            plain = b""
            while not self._inflate.eof and (data or len(plain) == STEP):
                plain = self._inflate.decompress(data, STEP)
                data = self._inflate.unconsumed_tail
                if plain:
                    yield plain
            self.ended = self._inflate.eof
            data = self._inflate.unused_data

    def _another(self, data: bytes) -> bool:
        """Whether a further member begins; else it is padding, or rubbish that nobody reads."""
        return self.name != "deflate" and data[0] == 0x1F

    def _wrapping(self, data: bytes) -> int:
        if self.name != "deflate":
            return _GZIP
        return _ZLIB if data[0] & 0x0F == 8 else _RAW


class _Brotli(_Layer):
    errors = brotli.error

    def __init__(self, name: str, limit: int) -> None:
        super().__init__(name, limit)
        self._decompressor = brotli.Decompressor()

    def _decode(self, data: bytes) -> Iterator[bytes]:
        if self.ended:
            return
        while True:
            plain: bytes = self._decompressor.process(data, output_buffer_limit=STEP)
            data = b""
            if plain:
                yield plain
            full = len(plain) >= STEP or not self._decompressor.can_accept_more_data()
            if self._decompressor.is_finished() or not full:
                break
        self.ended = self._decompressor.is_finished()


class _Zstd(_Layer):
    errors = zstd.ZstdError
    _decompressor: zstd.ZstdDecompressor

    def _decode(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self.ended or not self._members:
                self._member()
                self._decompressor = zstd.ZstdDecompressor(options=_ZSTD_OPTIONS)
            while data or not (self._decompressor.needs_input or self._decompressor.eof):
                plain = self._decompressor.decompress(data, STEP)
                data = b""
                if plain:
                    yield plain
                if self._decompressor.eof:
                    break
            self.ended = self._decompressor.eof
            data = self._decompressor.unused_data if self.ended else b""


_LAYERS: dict[str, type[_Layer]] = {
    "gzip": _Zlib,
    "x-gzip": _Zlib,
    "deflate": _Zlib,
    "br": _Brotli,
    "zstd": _Zstd,
}
