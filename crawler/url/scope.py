"""Which URLs belong to the crawl, and under which name the others are counted.

Knows only the URL and how far it is from the seeds; budgets (how many) belong to the frontier,
robots.txt to the moment of leasing.
"""

import re
from collections.abc import Iterable
from enum import StrEnum

from crawler import config
from crawler.url.keys import host_of, site_of
from crawler.url.parts import Parts, split
from crawler.url.patterns import Patterns

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
    TOO_MANY_PARAMETERS = "too_many_parameters"
    OUT_OF_SCOPE = "out_of_scope"
    EXCLUDED = "excluded"
    NOT_INCLUDED = "not_included"


def unresolved(href: str) -> Reason:
    """Why a link that has no wire URL has none: it names another scheme, or it cannot be parsed."""
    return Reason.NOT_HTTP if _SCHEME.match(href) else Reason.INVALID_URL


class Scope:
    """The rules of one crawl, as plain values: it may be pickled, and means the same everywhere.

    Who names a URL wants it: a seed is bound by the mode, the depth and `exclude`, not by `include`
    nor by any rule against traps. Of the seeds only what that needs is kept, so that a million of
    them stay cheap to send.
    """

    def __init__(self, scope: config.Scope, seeds: Iterable[str]) -> None:
        """`seeds`: wire URLs."""
        seeds = list(seeds)
        hosts = (
            {host_of(seed) for seed in seeds} if scope.mode is not config.ScopeMode.ANY else set()
        )
        by_site = scope.mode is config.ScopeMode.SITE
        self._rules = scope
        self._places = frozenset(map(site_of, hosts) if by_site else hosts)
        self._include = Patterns(scope.include)
        self._exclude = Patterns(scope.exclude)
        self._exempt = frozenset(filter(self._needs_exemption, seeds))

    def _needs_exemption(self, seed: str) -> bool:
        parts = split(seed)
        return parts is not None and (
            len(seed) > self._rules.max_url_length
            or self._trap(parts) is not None
            or bool(self._include and not self._include.match(seed))
        )

    def past_limits(self, url: str, depth: int, hops: int) -> Reason | None:
        """Why a wire URL of any length, `depth` links from a seed and `hops` redirects from a link,
        need not be looked at; `None` if it need.
        """
        rules = self._rules
        if len(url) > rules.max_url_length and url not in self._exempt:
            return Reason.TOO_LONG
        if rules.max_depth is not None and depth > rules.max_depth:
            return Reason.TOO_DEEP
        return Reason.REDIRECT_LIMIT if hops > rules.max_redirects else None

    def refuses(self, url: str, parts: Parts, site: str) -> Reason | None:
        """Why a wire URL, given with its parts and its site, is not wanted; `None` if it is.

        How long it is and how far away is `past_limits`.
        """
        refused = self._outside(parts, site) or self._excluded(url)
        if refused:
            return refused
        refused = self._trap(parts)
        if refused is None and self._include and not self._include.match(url):
            refused = Reason.NOT_INCLUDED
        return None if refused and url in self._exempt else refused

    def refuses_sitemap(
        self, url: str, parts: Parts, site: str, *, anywhere: bool
    ) -> Reason | None:
        """The same of a sitemap, whatever the `include` patterns say of pages; `anywhere`: the mode too."""
        outside = None if anywhere else self._outside(parts, site)
        trap = None if url in self._exempt else self._trap(parts)
        return outside or self._excluded(url) or trap

    def _outside(self, parts: Parts, site: str) -> Reason | None:
        mode = self._rules.mode
        if mode is config.ScopeMode.ANY:
            return None
        place = site if mode is config.ScopeMode.SITE else parts.host
        return None if place in self._places else Reason.OUT_OF_SCOPE

    def _excluded(self, url: str) -> Reason | None:
        return Reason.EXCLUDED if self._exclude and self._exclude.match(url) else None

    def _trap(self, parts: Parts) -> Reason | None:
        """URLs that grow without end: relative links that resolve ever deeper, mirrored trees, filters.

        Counting how often a segment occurs covers a repeated group too: its members repeat.
        """
        rules = self._rules
        if parts.query.count("&") >= rules.max_parameters:
            return Reason.TOO_MANY_PARAMETERS
        segments = parts.path.split("/")[1:]
        if len(segments) > rules.max_path_segments:
            return Reason.TOO_MANY_SEGMENTS
        if len(segments) - len(set(segments)) < rules.max_repeated_segments:
            return None  # a segment that occurs n + 1 times makes n duplicates
        most = max(map(segments.count, set(segments)))
        return Reason.REPEATED_SEGMENTS if most > rules.max_repeated_segments else None
