"""What has come of one body: decoded, cut at a limit, kept as far as it came.

Pure. It must not know where the bytes come from, nor wait for anything.
"""

from collections.abc import Iterable, Iterator

from crawler.fetch.coding import CodingError, Decoder
from crawler.fetch.inflight import FREE, Share


class Body:
    """At most `limit` bytes of a body.

    `wanted`: more may come. `truncated`: cut at the limit or broken off. `error`: why its coding
    ended before it did. `share`: the budget's bytes that it lies on.
    """

    def __init__(self, content_encoding: str | None, length: int | None, limit: int) -> None:
        self.size = 0
        self.wanted = True
        self.truncated = False
        self.error: str | None = None
        self.share: Share | None = None
        self._limit = limit
        self._length = length
        self._wire = 0
        self._pieces: list[bytes] = []
        try:
            self._decoder = Decoder(content_encoding, limit)
        except CodingError as error:
            self._decoder = Decoder(None, limit)
            self._broken(error)

    @property
    def most(self) -> int:
        """Bytes that it may become."""
        if self._length is not None and self._decoder.plain:
            return min(self._length, self._limit)
        return self._limit

    def feed(self, wire: bytes) -> Iterable[bytes]:
        """The decoded pieces of bytes off the wire, each to be kept or, if there is no room, let go."""
        if self._decoder.plain:
            return (wire,)
        self._wire += len(wire)
        return self._decode(wire)

    def _decode(self, wire: bytes) -> Iterator[bytes]:
        try:
            yield from self._decoder.feed(wire)
        except CodingError as error:
            self._broken(error)
        if self._wire > 2 * self._limit and self.wanted:
            self._broken(CodingError("its coding makes it longer, not shorter"))

    def grows(self, plain: bytes) -> bool:
        """Whether it needs a share of the budget before it keeps `plain`."""
        return self.share is None and self.size + len(plain) > FREE

    def keep(self, plain: bytes) -> None:
        """Add a piece, as far as the limit allows."""
        room = self._limit - self.size
        if len(plain) > room:
            plain = plain[:room]
            self.truncated, self.wanted = True, False
        self._pieces.append(plain)
        self.size += len(plain)

    def end(self) -> None:
        """It has come to its end, says the transport."""
        if self.wanted:
            try:
                self._decoder.end()
            except CodingError as error:
                self._broken(error)

    def taken(self) -> bytes:
        """All of it, in one piece; it holds nothing afterwards."""
        if self.share is not None:
            self.share.shrink(self.size)
        pieces, self._pieces = self._pieces, []
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def drop(self) -> None:
        """Hold nothing any more, no share either."""
        self._pieces, self.share = [], None

    def _broken(self, error: CodingError) -> None:
        self.error = str(error)
        self.truncated, self.wanted = True, False
