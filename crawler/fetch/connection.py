"""One connection and what its server may do on it: aiohttp's protocol, bounded.

A head has a limit for all its lines and all interim answers before it. Silence has a limit, and an
answer a least speed, whichever bytes it trickles: they are counted as they come off the wire. The
time in which nobody reads (the connection is held back) is not the server's.
"""

from asyncio import AbstractEventLoop
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http import RawResponseMessage

from crawler.config import Fetch
from crawler.fetch import exchange, heads
from crawler.fetch.failures import TimedOutError, TooSlowError

# Bytes of chunk sizes, extensions and trailers that an answer may have beyond as many as its body:
# each chunk costs us microseconds, and a server six bytes. A head and what has come but is not read
# yet, a quarter of a mebibyte each, count here too.
FRAMING = 512 * 1024


class Watched(ResponseHandler):
    """The watch begins anew with each exchange, and costs nothing between them.

    `exchanges`: how many it has begun.
    """

    def __init__(self, loop: AbstractEventLoop, fetch: Fetch) -> None:
        super().__init__(loop)
        self.exchanges = 0
        self._fetch = fetch
        self._headed = False
        self._head = bytearray()
        self._received = 0
        self._began = 0.0
        self._heard = 0.0
        self._held = 0.0

    def set_response_params(self, **params: Any) -> None:
        """An exchange begins."""
        self.exchanges += 1
        self._headed = False
        self._head.clear()
        self._received = 0
        super().set_response_params(**params)

    def feed_data(
        self, data: tuple[RawResponseMessage, aiohttp.StreamReader], size: int = 0
    ) -> None:
        """A head has come; perhaps an interim one."""
        self._headed = not 100 <= data[0].code < 200 or data[0].code == 101
        super().feed_data(data, size)

    def data_received(self, data: bytes) -> None:
        """Bytes have come, or (none) those held back may be looked at."""
        if not data:
            super().data_received(data)
            return
        if self._over:
            self.close()  # nobody asked for it: it would pass for the answer to the next request
            return
        now = self._loop.time()
        if not self._received:
            self._began = now
        self._received += len(data)
        if self._headed:
            super().data_received(data)
        else:
            self._take_heads(data)
        self._judge(now)

    def _take_heads(self, data: bytes) -> None:
        """Each head whole and apart: what is wrong with the bytes behind it does not undo it."""
        if self._head or heads.begins(data):
            at = max(0, len(self._head) - 2)
            self._head += data
            data = b""
            while not self._headed and self.exception() is None:
                end = heads.END.search(self._head, at)
                if end is None:
                    break
                head = bytes(self._head[: end.end()])
                del self._head[: end.end()]
                if (mended := heads.mended(head)) is not head:
                    self.force_close()  # where such an answer ends is not to be relied on
                super().data_received(mended)
                at = 0
            if not self._headed and (not self._head or heads.begins(bytes(self._head[:5]))):
                self._reschedule_timeout()
                return
            data = bytes(self._head)
            self._head.clear()
        if data:
            super().data_received(data)

    @property
    def _over(self) -> bool:
        """Whether the answer has come to its end, read or not."""
        return self._headed and (self._payload is None or self._payload.is_eof())

    def _judge(self, now: float) -> None:
        payload = self._payload
        if self._over:
            return
        if not self._headed and self._received > self._fetch.max_head:
            message = f"the head is longer than {self._fetch.max_head} bytes"
            self.set_exception(aiohttp.ClientPayloadError(message))
        elif payload is not None and self._received > 2 * payload.total_bytes + FRAMING:
            self.set_exception(aiohttp.ClientPayloadError("more framing than content"))
        elif exchange.too_slow(self._received, now - self._began, self._fetch.min_bytes_per_second):
            self.set_exception(TooSlowError(self._fetch.min_bytes_per_second))

    def set_exception(self, exc: BaseException, *cause: BaseException) -> None:
        """The exchange ends here, for whoever waits for its head or its body."""
        if self.exception() is None:
            super().set_exception(exc, *cause)
        payload = self._payload
        if payload is not None and not payload.is_eof() and payload.exception() is None:
            payload.set_exception(exc, *cause)

    def close(self) -> None:
        """Say goodbye and go: by TLS asyncio would wait for the answer, for half a minute."""
        transport = self.transport
        super().close()
        if transport is not None:
            transport.abort()

    def pause_reading(self) -> None:
        """Nobody reads."""
        self._held = self._loop.time()
        super().pause_reading()

    def resume_reading(self, resume_parser: bool = True) -> None:
        """Somebody reads again; also called when nothing was held back."""
        if self._held:
            self._began += self._loop.time() - self._held
            self._held = 0.0
        super().resume_reading(resume_parser)

    def _reschedule_timeout(self) -> None:
        """Note that something was heard, rather than move a timer for every piece."""
        self._heard = self._loop.time()
        if self._read_timeout_handle is None and self._read_timeout:
            self._read_timeout_handle = self._loop.call_later(
                self._read_timeout, self._on_read_timeout
            )

    def _on_read_timeout(self) -> None:
        self._read_timeout_handle = None
        limit = self._read_timeout or 0.0
        rest = self._heard + limit - self._loop.time()
        if rest > 0.001:
            self._read_timeout_handle = self._loop.call_later(rest, self._on_read_timeout)
        else:
            self.set_exception(
                TimedOutError("next byte" if self._received else "first byte", limit)
            )
