"""Which URLs belong to the crawl, and under which name the others are counted.

Knows only the URL and how far it is from the seeds; budgets (how many) belong to the frontier,
robots.txt to the moment of leasing.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Any

import re2

from crawler import config
from crawler.url.keys import host_of, site_of
from crawler.url.parts import Parts

_SCHEME = re.compile(r"[\x00-\x20]*(?!https?:)[A-Za-z][A-Za-z0-9+.-]*:", re.IGNORECASE)


class Reason(StrEnum):
    """Why a link is not followed. The names are what the counters are called."""

    INVALID_URL = "invalid_url"
    NOT_HTTP = "not_http"
    TOO_LONG = "too_long"
    TOO_DEEP = "too_deep"
    REDIRECT_LIMIT = "redirect_limit"
    TOO_MANY_SEGMENTS = "too_many_segments"
    REPEATED_SEGMENTS = "repeated_segments"
    OUT_OF_SCOPE = "out_of_scope"
    EXCLUDED = "excluded"
    NOT_INCLUDED = "not_included"


def unresolved(href: str) -> Reason:
    """Why a link that has no wire URL has none: it names another scheme, or it cannot be parsed."""
    return Reason.NOT_HTTP if _SCHEME.match(href) else Reason.INVALID_URL


class Scope:
    """The rules of one crawl, as plain values: it may be pickled, and means the same everywhere.

    It keeps of the seeds only what its mode needs, so that a million seeds stay cheap to send.
    """

    def __init__(self, scope: config.Scope, seeds: Iterable[str]) -> None:
        """`seeds`: wire URLs. The `include` patterns do not bind a seed: who names it wants it."""
        seeds = list(seeds)
        hosts = (
            {host_of(seed) for seed in seeds} if scope.mode is not config.ScopeMode.ANY else set()
        )
        by_site = scope.mode is config.ScopeMode.SITE
        self._rules = scope
        self._places = frozenset(map(site_of, hosts) if by_site else hosts)
        self._seeds = frozenset(seeds) if scope.include else frozenset()
        self._compile()

    def _compile(self) -> None:
        self._include = _compiled(self._rules.include)
        self._exclude = _compiled(self._rules.exclude)

    def __getstate__(self) -> tuple[config.Scope, frozenset[str], frozenset[str]]:
        """Everything but the compiled patterns, which RE2 cannot pickle."""
        return self._rules, self._places, self._seeds

    def __setstate__(self, state: tuple[config.Scope, frozenset[str], frozenset[str]]) -> None:
        """Compile the patterns again."""
        self._rules, self._places, self._seeds = state
        self._compile()

    def past_limits(self, url: str, depth: int, hops: int) -> Reason | None:
        """Why a wire URL of any length, `depth` links from a seed and `hops` redirects from a link,
        need not be looked at; `None` if it need.
        """
        rules = self._rules
        if len(url) > rules.max_url_length:
            return Reason.TOO_LONG
        if rules.max_depth is not None and depth > rules.max_depth:
            return Reason.TOO_DEEP
        return Reason.REDIRECT_LIMIT if hops > rules.max_redirects else None

    def refuses(self, url: str, parts: Parts, site: str) -> Reason | None:
        """Why a wire URL, given with its parts and its site, is not wanted; `None` if it is.

        How long it is and how far away is `past_limits`.
        """
        return self._outside(parts, site) or self._trap(parts.path) or self._pattern(url)

    def refuses_sitemap(
        self, url: str, parts: Parts, site: str, *, anywhere: bool
    ) -> Reason | None:
        """The same of a sitemap, whatever the `include` patterns say of pages; `anywhere`: the mode too."""
        outside = None if anywhere else self._outside(parts, site)
        excluded = Reason.EXCLUDED if self._excluded(url) else None
        return outside or self._trap(parts.path) or excluded

    def _outside(self, parts: Parts, site: str) -> Reason | None:
        mode = self._rules.mode
        if mode is config.ScopeMode.ANY:
            return None
        place = site if mode is config.ScopeMode.SITE else parts.host
        return None if place in self._places else Reason.OUT_OF_SCOPE

    def _trap(self, path: str) -> Reason | None:
        """Paths that grow without end: relative links that resolve ever deeper, mirrored trees.

        Counting how often a segment occurs covers a repeated group too: its members repeat.
        """
        rules = self._rules
        segments = path.split("/")[1:]
        if len(segments) > rules.max_path_segments:
            return Reason.TOO_MANY_SEGMENTS
        if len(segments) - len(set(segments)) < rules.max_repeated_segments:
            return None  # a segment that occurs n + 1 times makes n duplicates
        most = max(map(segments.count, set(segments)))
        return Reason.REPEATED_SEGMENTS if most > rules.max_repeated_segments else None

    def _pattern(self, url: str) -> Reason | None:
        if self._excluded(url):
            return Reason.EXCLUDED
        included = any(pattern.search(url) for pattern in self._include) or not self._include
        return None if included or url in self._seeds else Reason.NOT_INCLUDED

    def _excluded(self, url: str) -> bool:
        return any(pattern.search(url) for pattern in self._exclude)


def _compiled(patterns: tuple[str, ...]) -> list[Any]:
    r"""The patterns as one, which RE2 searches at once; each by itself if they cannot be joined.

    Two that name their groups alike cannot, nor can one that opens a `\Q` and leaves it open.
    """
    if not patterns:
        return []
    quiet = re2.Options()
    quiet.log_errors = False  # RE2 would write to stderr what is handled here
    try:
        return [re2.compile("|".join(f"(?:{pattern})" for pattern in patterns), quiet)]
    except re2.error:
        return [re2.compile(pattern) for pattern in patterns]
