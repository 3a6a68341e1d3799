"""One origin's robots.txt as one agent must read it: `parse` it, ask it `allows`, keep it packed.

RFC 9309. It does no I/O, needs no clock and knows nothing of origins or of how the text was had.
"""

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Self

from crawler.errors import StateError
from crawler.robots.escapes import normalise, normalise_octets, open_query
from crawler.robots.groups import collect, said_to
from crawler.robots.match import NO_MATCH, Matcher, rank_of
from crawler.robots.syntax import Field, read_fields

MAX_BYTES: Final = 512 * 1024

_PLAIN, _DEFLATED = b"1", b"2"
_UNFOLD: Final[dict[bytes, Callable[[bytes], bytes]]] = {_PLAIN: bytes, _DEFLATED: zlib.decompress}
# Below this many bytes deflating saves little and costs more than it saves.
_WORTH_DEFLATING = 400

_AUTHORITY = re.compile(r"(?:[^/?#]*:)?(?://)?[^/?#]*")
_QUERY_WITH_DELIMITERS = re.compile(r"\?.*(?:[:/?@]|%3A|%2F|%3F|%40)")


@dataclass(frozen=True, slots=True)
class Rules:
    """What one agent may fetch of one origin, and how it should behave there.

    Patterns are normalised. The one with the most octets that takes a path decides; Allow wins a
    tie, and a path that none takes is allowed. `crawl_delay` is in seconds; `sitemaps` are as
    written, so they may be relative.
    """

    allow: tuple[str, ...] = ()
    disallow: tuple[str, ...] = ()
    crawl_delay: float | None = None
    sitemaps: tuple[str, ...] = ()
    _strict: Matcher | None = field(init=False, repr=False, compare=False, default=None)
    _open: Matcher | None = field(init=False, repr=False, compare=False, default=None)

    def allows(self, url: str) -> bool:
        """Whether `url`, absolute or a path and query, may be fetched; `/robots.txt` always may."""
        # Compiled when they are first asked: whoever only keeps or sends rules never asks.
        strict = self._strict or self._compile()
        path = normalise(path_of(url))
        best = strict.best(path)
        if self._open is not None:
            best = max(best, self._open.best(open_query(path)))
        return best == NO_MATCH or best % 2 == 1

    def _compile(self) -> Matcher:
        """Sort the patterns; those with delimiters in a query see every query opened."""
        ranked = [(rank_of(pattern, allow=True), pattern) for pattern in self.allow]
        ranked += [(rank_of(pattern, allow=False), pattern) for pattern in self.disallow]
        strict, opened = [], []
        for rank, pattern in ranked:
            if "?" in pattern and _QUERY_WITH_DELIMITERS.search(pattern):
                opened.append((rank, open_query(pattern)))
            else:
                strict.append((rank, pattern))
        matcher = Matcher(strict)
        object.__setattr__(self, "_strict", matcher)
        object.__setattr__(self, "_open", Matcher(opened) if opened else None)
        return matcher

    def pack(self) -> bytes:
        """A compact form for keeping and sending; `unpack` gives the same rules back."""
        lines = ["" if self.crawl_delay is None else repr(self.crawl_delay)]
        lines += ["a" + pattern for pattern in self.allow]
        lines += ["d" + pattern for pattern in self.disallow]
        lines += ["s" + sitemap for sitemap in self.sitemaps]
        text = "\n".join(lines).encode()
        return _PLAIN + text if len(text) < _WORTH_DEFLATING else _DEFLATED + zlib.compress(text)

    @classmethod
    def unpack(cls, packed: bytes) -> Self:
        """The rules that `pack` wrote. Raises `StateError` for anything else."""
        try:
            delay, *lines = _UNFOLD[packed[:1]](packed[1:]).decode().split("\n")
            kinds: dict[str, list[str]] = {"a": [], "d": [], "s": []}
            for line in lines:
                kinds[line[:1]].append(line[1:])
            seconds = float(delay) if delay else None
        except (zlib.error, ValueError, KeyError):
            message = (
                "robots rules are damaged: delete the shard's state, it is rebuilt from the rows"
            )
            raise StateError(message) from None
        return cls(tuple(kinds["a"]), tuple(kinds["d"]), seconds, tuple(kinds["s"]))


ALLOW_ALL: Final = Rules()


def parse(text: bytes, token: str, *, max_bytes: int = MAX_BYTES) -> Rules:
    """What a robots.txt says to the agent with this product token; no octets whatever make it fail.

    The groups that name the token, merged; else those of `*`; else everything is allowed. Only the
    first `max_bytes` bytes count (RFC 9309 §2.5).
    """
    sections = collect(read_fields(text, max_bytes))
    ours = said_to(token, sections.groups)
    patterns: dict[Field, dict[str, None]] = {Field.ALLOW: {}, Field.DISALLOW: {}}
    for name, value in ours.rules:
        # A pattern that begins otherwise takes no path, and an empty one is no rule (§2.2.2).
        if not value.startswith((b"/", b"*")):
            continue
        pattern = _normalise_pattern(value)
        patterns[name][pattern] = None
        directory, slash, page = pattern.rpartition("/")
        if name is Field.ALLOW and page.startswith("index.htm"):
            # Not in the RFC, but Google's, crawler-commons' and protego's readings agree.
            patterns[name][f"{directory}{slash}$"] = None
    return Rules(
        tuple(patterns[Field.ALLOW]),
        tuple(patterns[Field.DISALLOW]),
        ours.crawl_delay,
        tuple(sections.sitemaps),
    )


def path_of(url: str) -> str:
    """The path and query of a URL, as written; `/` where it has no path.

    >>> path_of("https://example.com?a#b")
    '/?a'
    """
    local = url.startswith("/") and not url.startswith("//")
    path = (url if local else _AUTHORITY.sub("", url, count=1)).partition("#")[0]
    return path if path.startswith("/") else "/" + path


def _normalise_pattern(value: bytes) -> str:
    """Normalise what stands between the operators: `%2A`, `%24` and a `$` inside stay literal."""
    body = value.removesuffix(b"$")
    end = "$" if body != value else ""
    return "*".join(normalise_octets(part) for part in body.split(b"*")) + end
