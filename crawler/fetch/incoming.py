"""What comes back in one exchange: the head is judged, the body read as far as it is wanted, and both are an `Answer`.

It must not know how the request was made, nor why: it reads a reply, and keeps what it has when that breaks off.
"""

import asyncio
from contextlib import suppress
from typing import cast

import aiohttp
from aiohttp.connector import Connection

from crawler.fetch import exchange
from crawler.fetch.body import Body
from crawler.fetch.connection import Watched
from crawler.fetch.exchange import Answer, Head, Limits
from crawler.fetch.failures import FAILURES, Failure, NoAnswerError, reason
from crawler.fetch.inflight import Inflight
from crawler.outcomes import Kind


class Reply(aiohttp.ClientResponse):
    """aiohttp's response, and whom it came from; that none came is told as `NoAnswerError`."""

    ip: str | None = None

    async def start(self, connection: Connection) -> "Reply":
        """Read the head."""
        peer = connection.transport and connection.transport.get_extra_info("peername")
        self.ip = peer[0] if peer else None
        protocol = connection.protocol
        stale = isinstance(protocol, Watched) and protocol.exchanges > 1
        try:
            await super().start(connection)
        except aiohttp.ClientOSError as error:
            raise NoAnswerError(reason(error), stale=stale) from error
        except aiohttp.ServerDisconnectedError as error:
            raise NoAnswerError("the server hung up before it answered", stale=stale) from error
        return self


class Incoming:
    """What has come so far; an exchange that breaks off keeps it.

    `waited`: seconds in which the budget, not the server, was waited for: the deadline was moved by as many.
    """

    def __init__(self, limits: Limits, inflight: Inflight, deadline: asyncio.Timeout) -> None:
        self.waited = 0.0
        self._limits = limits
        self._inflight = inflight
        self._deadline = deadline
        self._reply: Reply | None = None
        self._head: Head | None = None
        self._body: Body | None = None

    async def take(self, url: str, reply: Reply, *, conditional: bool) -> None:
        """Read the reply of `url`; its connection is free afterwards, or closed."""
        self._reply = reply
        try:
            found = reply.headers
            head = self._head = exchange.head_verdict(
                url, reply.status, found, self._limits, conditional=conditional
            )
            if head.read:
                length = exchange.content_length(found.get("Content-Length"))
                body = Body(found.get("Content-Encoding"), length, self._limits.max_body)
                self._body = body
                await self._read(reply.content, body)
            elif exchange.drains(head.kind, found.get("Content-Length")):
                await _drain(reply.content)
        finally:
            reply.close()

    def answer(self, failed: Failure | None, *, verify: bool, now: float) -> Answer:
        """What came and how it ended, without its times. `verify`: whether certificates were looked at."""
        reply, head, body = self._reply, self._head, self._body
        if reply is None or head is None:
            assert failed is not None
            return Answer(fetched_at=0.0, ended_at=0.0, **failed._asdict())
        kind, error = head.kind, head.error
        if body is not None:
            # Of a body that nobody wants nobody asks how it ended.
            if failed is not None:
                kind, error = failed.kind, failed.error
            elif body.error is not None:
                kind, error = kind if body.size else Kind.PROTOCOL_ERROR, body.error
        headers = reply.headers
        return Answer(
            kind=kind,
            fetched_at=0.0,
            ended_at=0.0,
            status=reply.status,
            redirect_to=head.redirect_to,
            ip=reply.ip,
            tls_verified=verify if reply.url.scheme == "https" else None,
            content_type=headers.get("Content-Type"),
            etag=headers.get("ETag"),
            last_modified=headers.get("Last-Modified"),
            wire_bytes=reply.content.total_bytes,
            truncated=body is not None and body.truncated,
            headers=list(headers.items()),
            body=None if body is None or (error and not body.size) else body.taken(),
            error=error,
            retry_after=exchange.retry_after(headers.get("Retry-After"), now),
            share=None if body is None else body.share,
        )

    def drop(self) -> None:
        """Nobody wants it any more; asyncio may keep the frames that know it until the collector comes by."""
        if self._body is not None:
            self._body.drop()

    async def _read(self, content: aiohttp.StreamReader, body: Body) -> None:
        try:
            while body.wanted:
                piece = await content.readany()
                if not piece:
                    body.end()
                    break
                for plain in body.feed(piece):
                    if body.grows(plain):
                        await self._draw(body)
                    body.keep(plain)
                    if body.truncated:
                        break
        except BaseException:
            body.truncated = True
            rest = _rest(content)
            for plain in body.feed(rest) if body.wanted else ():
                if body.grows(plain):
                    break  # there is no time left to wait for room
                body.keep(plain)
            raise

    async def _draw(self, body: Body) -> None:
        """Take a share of the budget; while it is waited for, the time for the exchange stands still."""
        body.share = self._inflight.draw(body.most)
        if body.share is not None:
            return
        loop = asyncio.get_running_loop()
        began, when = loop.time(), self._deadline.when()
        self._deadline.reschedule(None)
        body.share = await self._inflight.wait(body.most)
        waited = loop.time() - began
        self.waited += waited
        self._deadline.reschedule(None if when is None else when + waited)


async def _drain(content: aiohttp.StreamReader) -> None:
    size = 0
    with suppress(*FAILURES):  # the verdict stands, whatever becomes of a body that nobody wants
        while size <= exchange.DRAIN and (piece := await content.readany()):
            size += len(piece)


def _rest(content: aiohttp.StreamReader) -> bytes:
    """What had come before the stream broke: it gives nothing more while it has an exception."""
    content.set_exception(cast("BaseException", None))
    with suppress(*FAILURES):
        return content.read_nowait()
    return b""
