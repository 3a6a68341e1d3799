"""What a simulated host says to one request: an HTTP/1.1 answer as bytes, and when to say it.

Knows no sockets. The only state that matters is how often a thing was asked that answers differently at first.
"""

from gzip import compress
from hashlib import blake2b
from typing import NamedTuple

from benchmarks.simweb.hosts import Host, Manner, Page, Role
from benchmarks.simweb.html import page_bytes, plain_text, trap_bytes
from benchmarks.simweb.rules import RobotsAnswer
from benchmarks.simweb.sitemaps import Form, Listing, listing_bytes
from benchmarks.simweb.traps import trap_of
from benchmarks.simweb.world import Place, World

# A robots.txt that recovers fails so often first.
FAILURES = 1
_REASONS = {
    200: "OK", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect",
    308: "Permanent Redirect", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 410: "Gone",
    421: "Misdirected Request", 429: "Too Many Requests", 500: "Internal Server Error", 503: "Service Unavailable",
}  # fmt: skip
_MEDIA = {"png": "image/png", "gif": "image/gif", "zip": "application/zip"}
_FILE_BYTES = 2000


class Answer(NamedTuple):
    """`wait`: seconds between the request and the answer; `None`: never. `etag`: what If-None-Match may name."""

    raw: bytes
    status: int
    wait: float | None = 0.0
    etag: str = ""


def answer(
    status: int, body: bytes = b"", headers: tuple[str, ...] = (), wait: float = 0.0
) -> Answer:
    """An answer with its length; `headers` are whole lines."""
    lines = [
        f"HTTP/1.1 {status} {_REASONS[status]}",
        "Server: simweb",
        f"Content-Length: {len(body)}",
        *headers,
    ]
    return Answer("\r\n".join([*lines, "\r\n"]).encode("latin-1") + body, status, wait)


class Answers:
    """Same world, same answers. Pages are made when first asked for and kept until `cache_bytes` are held."""

    def __init__(self, world: World, cache_bytes: int) -> None:
        self.world = world
        self._kept: dict[tuple[str, str, bool], Answer] = {}
        self._room = cache_bytes
        self._asked: dict[tuple[int, str], int] = {}

    def get(self, name: str, target: str, *, gzip: bool) -> Answer:
        """The answer for a Host header (`name:port`) and a request target."""
        gzip = gzip and self.world.options.gzip
        kept = self._kept.get((name, target, gzip))
        if kept:
            return kept
        found = self.world.host_named(name)
        if found is None:
            return answer(421)
        host, wild = found
        if host.manner is Manner.SILENT:
            return Answer(b"", 0, None)
        made, lasting = self._make(host, wild, target, gzip)
        made = made._replace(wait=host.latency)
        if lasting and len(made.raw) <= self._room:
            self._room -= len(made.raw)
            self._kept[name, target, gzip] = made
        return made

    def warm(self, *, gzip: bool) -> None:
        """Makes every page in its plain spelling while there is room, so that serving costs next to nothing."""
        for host in self.world.hosts:
            for page in host.pages if host.manner in (Manner.PLAIN, Manner.SLOW) else ():
                if page.role is not Role.BURST and self._room > 0:
                    self.get(f"{host.name}:{self.world.port}", page.target, gzip=gzip)

    def _make(self, host: Host, wild: int | None, target: str, gzip: bool) -> tuple[Answer, bool]:
        """The answer, and whether it will be the same next time."""
        if wild is not None or trap_of(target):
            return self._trap(Place(host, target, None, wild), gzip), False
        if target in ("/robots.txt", "/robots-rules.txt"):
            return self._robots(host, target)
        if host.manner is Manner.OVERLOADED:
            return self._later(503), True
        listing = self.world.listing(host, target)
        if listing:
            return _listed(listing), True
        page = self.world.page(host, target)
        if page is None:
            return answer(404, b"nothing here\n", ("Content-Type: text/plain",)), False
        return self._known(page, target, gzip)

    def _known(self, page: Page, target: str, gzip: bool) -> tuple[Answer, bool]:
        host = self.world.hosts[page.host]
        if page.role is Role.CONTENT and "utm_source=r" in target:
            # A redirect to the same page without the parameter: the same key.
            return answer(302, headers=(f"Location: {page.target}",)), True
        if page.role is Role.BURST:
            first = self._count(host, page.target) == 1
            return (self._later(page.status) if first else self._page(page, gzip)), False
        if target != page.target:
            # Another spelling: the same answer, kept once.
            return self.get(f"{host.name}:{self.world.port}", page.target, gzip=gzip), False
        return self._page(page, gzip), True

    def _later(self, status: int) -> Answer:
        return answer(status, headers=(f"Retry-After: {self.world.options.retry_after}",))

    def _trap(self, place: Place, gzip: bool) -> Answer:
        """Trap pages are not kept: there is no end of them."""
        if place.wild is not None and place.target != "/":
            return answer(404)
        return self._html(trap_bytes(self.world, place), "utf-8", "", gzip)

    def _count(self, host: Host, target: str) -> int:
        times = self._asked.get((host.number, target), 0) + 1
        self._asked[host.number, target] = times
        return times

    def _robots(self, host: Host, target: str) -> tuple[Answer, bool]:
        kind = host.robots.answer
        text = host.robots.text() + "".join(f"\nSitemap: {url}\n" for url in self.world.named(host))
        rules = answer(200, text.encode(), ("Content-Type: text/plain; charset=utf-8",))
        if target == "/robots-rules.txt":
            return (rules if kind is RobotsAnswer.REDIRECTING else answer(404)), True
        failing = kind is RobotsAnswer.RECOVERING and self._count(host, target) <= FAILURES
        if kind is RobotsAnswer.FAILING or failing:
            return answer(500), False
        return {
            RobotsAnswer.MISSING: answer(404),
            RobotsAnswer.FORBIDDEN: answer(403),
            RobotsAnswer.EMPTY: answer(200, headers=("Content-Type: text/plain",)),
            RobotsAnswer.REDIRECTING: answer(301, headers=("Location: /robots-rules.txt",)),
        }.get(kind, rules), True

    def _page(self, page: Page, gzip: bool) -> Answer:
        match page.role:
            case Role.ERROR:
                return answer(
                    page.status, b"<p>An error, no link.</p>", ("Content-Type: text/html",)
                )
            case Role.REDIRECT if page.goal:
                goal = self.world.at(page.goal)
                near = goal.host == page.host and page.number % 2
                return answer(
                    page.status,
                    headers=(f"Location: {goal.target if near else self.world.url_of(goal)}",),
                )
            case Role.FILE:
                media = _MEDIA[page.target.rpartition(".")[2]]
                return answer(
                    200, bytes(range(256)) * (_FILE_BYTES // 256), (f"Content-Type: {media}",)
                )
            case Role.TEXT:
                return answer(
                    200, plain_text(self.world, page), ("Content-Type: text/plain; charset=utf-8",)
                )
            case _:
                return self._html(page_bytes(self.world, page), page.charset, page.nofollow, gzip)

    def _html(self, body: bytes, charset: str, nofollow: str, gzip: bool) -> Answer:
        headers = [
            "Content-Type: text/html" + ("" if charset == "meta" else f"; charset={charset}")
        ]
        if nofollow == "header":
            headers.append("X-Robots-Tag: nofollow")
        if gzip:
            body = compress(body, 1, mtime=0)
            headers += ["Content-Encoding: gzip", "Vary: Accept-Encoding"]
        etag = f'"{blake2b(body, digest_size=8).hexdigest()}"'
        return answer(200, body, (*headers, f"ETag: {etag}"))._replace(etag=etag)


def _listed(listing: Listing) -> Answer:
    if listing.form is Form.REDIRECT:
        return answer(301, headers=(f"Location: {listing.goal}",))
    body, media = listing_bytes(listing)
    return answer(200, body, (f"Content-Type: {media}",))
