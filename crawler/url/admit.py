"""The hot composition: from a wire URL to what the frontier needs of it, or to the reason why not.

A page has hundreds of links and most were met before, so what depends on the URL alone is
remembered; depth, redirects and how it was found are not part of that.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from crawler.config import Config
from crawler.url import seeds as seed_lines
from crawler.url import sitemaps
from crawler.url.keys import site_of, slot_of, url_key
from crawler.url.normal import apply, root_dot, steps
from crawler.url.parts import Parts, join, split
from crawler.url.patterns import Patterns
from crawler.url.scope import Reason, Scope, unresolved

# URLs remembered: the navigation of some dozens of sites; about 400 bytes each.
_URLS = 16_384
_HOSTS = 16_384
_SITEMAPS = 4096
_SCHEMES = ("http", "https")


class Admitted(NamedTuple):
    """A wire URL that belongs to the crawl, and where it belongs."""

    url: str
    key: int
    host: str
    site: str
    slot: int


class Admission:
    """The judge of one crawl's links: the same URL always gets the same answer.

    Only speed depends on the caches; they are bounded, and stay behind when it is pickled.
    """

    def __init__(self, config: Config, seeds: Iterable[str]) -> None:
        """`seeds`: as `crawler.url.seeds` writes them; with the mode they say where the crawl may go."""
        self._build(config, Scope(config.scope, [seed_lines.read(seed).url for seed in seeds]))

    def _build(self, config: Config, scope: Scope) -> None:
        self._config = config
        self._scope = scope
        self._steps = steps(config.url)
        self._boosts = {
            "seed": config.priority.seed_boost,
            **dict.fromkeys(("sitemap", *sitemaps.FILES), config.priority.sitemap_boost),
        }
        self._bonuses = [bonus for _, bonus in config.priority.patterns]
        self._favoured = Patterns([pattern for pattern, _ in config.priority.patterns])
        self._remembered = lru_cache(maxsize=_URLS)(self._judge)
        self._remembered_sitemap = lru_cache(maxsize=_SITEMAPS)(self._judge_sitemap)
        self._bonus = lru_cache(maxsize=_URLS)(self._first_bonus)

    def __getstate__(self) -> tuple[Config, Scope]:
        """The choices; what was computed from them is computed again."""
        return self._config, self._scope

    def __setstate__(self, state: tuple[Config, Scope]) -> None:
        """Start with empty caches."""
        self._build(*state)

    def admit(self, url: str, depth: int, hops: int = 0) -> Admitted | Reason:
        """What the frontier needs to know of a wire URL, or why it is not wanted.

        `depth`: links from the nearest seed. `hops`: redirects since the last link.
        """
        return self._scope.past_limits(url, depth, hops) or self._remembered(url)

    def admit_sitemap(
        self, url: str, depth: int, hops: int = 0, *, anywhere: bool = False
    ) -> Admitted | Reason:
        """The same of a sitemap, which is wanted for what it lists: the `include` patterns do not bind it.

        `anywhere`: nor does the scope's mode, because a robots.txt within it names the sitemap.
        """
        return self._scope.past_limits(url, depth, hops) or self._remembered_sitemap(url, anywhere)

    def priority(self, url: str, depth: int, via: str) -> int:
        """How late the turn of an admitted URL comes: 0 (soonest) to 255.

        `via`: how it was found; seeds, sitemaps and what they list have their boosts.
        """
        late = depth * self._config.priority.depth_step - self._boosts.get(via, 0)
        if self._bonuses:
            late -= self._bonus(url)
        return min(max(late, 0), 255)

    def rekey(self, url: str) -> int | None:
        """The key of any wire URL, wanted or not; `None` for text that is none."""
        parts = _split(url)
        if parts is None:
            return None
        return url_key(join(apply(self._steps, parts)))

    def _judge(self, url: str) -> Admitted | Reason:
        parts = _split(url)
        if parts is None:
            return unresolved(url)
        return self._scope.refuses(url, parts, _place(parts.host)[1]) or self._admitted(url, parts)

    def _judge_sitemap(self, url: str, anywhere: bool) -> Admitted | Reason:
        parts = _split(url)
        if parts is None:
            return unresolved(url)
        refused = self._scope.refuses_sitemap(url, parts, _place(parts.host)[1], anywhere=anywhere)
        return refused or self._admitted(url, parts)

    def _admitted(self, url: str, parts: Parts) -> Admitted:
        host, site, slot = _place(parts.host)
        return Admitted(url, url_key(join(apply(self._steps, parts))), host, site, slot)

    def _first_bonus(self, url: str) -> int:
        first = self._favoured.first(url)
        return 0 if first is None else self._bonuses[first]


def _split(url: str) -> Parts | None:
    """The parts of a web URL. A host has one name, however it is written: the frontier goes by it."""
    parts = split(url)
    if parts is None or parts.scheme not in _SCHEMES or not parts.host:
        return None
    return root_dot(parts)


@lru_cache(maxsize=_HOSTS)
def _place(host: str) -> tuple[str, str, int]:
    """The host itself comes back too, so that all URLs of a host share one string."""
    site = site_of(host)
    return host, site, slot_of(site)
