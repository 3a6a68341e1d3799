"""The rows that a right crawl of a world must have: a plain search over the world's own knowledge.

No HTML and no robots.txt is parsed here, and no rule of the crawler's is consulted.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from benchmarks.simweb.hosts import AGENT, Host, Manner, Page, Role
from benchmarks.simweb.links import page_links, trap_links
from benchmarks.simweb.rules import Area, RobotsAnswer
from benchmarks.simweb.sitemaps import USUAL, Form, Listing
from benchmarks.simweb.world import Place, World


@dataclass(frozen=True, slots=True)
class Limits:
    """The crawl whose truth is wanted. `scope`: any, site or host, judged by the seeds."""

    scope: str = "any"
    agent: str = AGENT
    max_repeated: int = 3
    max_segments: int = 32
    max_length: int = 2048
    follow_nofollow: bool = False


# Which kinds are right for a URL of a host that never gets to its pages.
_HOST_KINDS = {
    Manner.DEAD: frozenset({"connect_error", "gave_up", "robots_unreachable"}),
    Manner.SILENT: frozenset({"robots_unreachable"}),
    Manner.OVERLOADED: frozenset({"http_error", "gave_up"}),
}
# A host that gave one of these is there and answers.
_ANSWERED = frozenset(
    {"fetched", "sitemap", "redirect", "http_error", "robots_denied", "excluded_type"}
)
# A sitemap, those in an index, and those in an index in an index.
DEEPEST = 3
_NO_NAME = frozenset({"dns_error", "gave_up", "robots_unreachable"})


def truth(
    world: World, seeds: Iterable[str] | None = None, limits: Limits | None = None
) -> dict[str, frozenset[str]]:
    """Every URL that must have a final row → the kinds it may have. `seeds` are the world's own by default.

    URLs are identities (`world.identity`). Endless traps are left out: a comparison must drop the rows for which
    `world.is_endless` holds.
    """
    return _Search(
        world, list(seeds) if seeds is not None else world.seeds, limits or Limits()
    ).run()


class _Search:
    def __init__(self, world: World, seeds: list[str], limits: Limits) -> None:
        self.world = world
        self.limits = limits
        self.seeds = [world.identity(seed) for seed in seeds]
        self.allowed = {self._territory(seed) for seed in self.seeds}
        # Of sitemaps: how many indexes lead to each and one more, and which sites' robots.txt name it.
        self.levels: dict[str, int] = {}
        self.namers: dict[str, set[str]] = {}

    def run(self) -> dict[str, frozenset[str]]:
        found: dict[str, frozenset[str]] = {}
        waiting = deque(self.seeds)
        while waiting:
            url = waiting.popleft()
            if url in found or self._refused(url):
                continue
            kinds, onward = self._visit(url)
            found[url] = kinds
            waiting.extend(onward)
            if self.world.options.sitemaps and kinds <= _ANSWERED:
                waiting.extend(self._looked_for(url))
        return found

    def _looked_for(self, url: str) -> list[str]:
        """The usual place of a sitemap where a host answers; there, what its robots.txt names."""
        place = self.world.find(url)
        assert place
        usual = self.world.url(place.host, USUAL, place.wild)
        if url != usual:
            return [usual]
        named = list(self.world.named(place.host))
        for sitemap in named:
            self.namers.setdefault(sitemap, set()).add(place.host.site)
        return named

    def _territory(self, url: str) -> str:
        name = url.split("/")[2].partition(":")[0]
        if self.limits.scope == "any":
            return ""
        place = self.world.find(url)
        return place.host.site if self.limits.scope == "site" and place else name

    def _refused(self, url: str) -> bool:
        """Scope, and the rules on the form of a URL."""
        path = "/" + url.split("/", 3)[3].partition("?")[0]
        segments = [segment for segment in path.split("/") if segment]
        return (
            (self._territory(url) not in self.allowed and url not in self.namers)
            or len(url) > self.limits.max_length
            or len(segments) > self.limits.max_segments
            or any(segments.count(segment) > self.limits.max_repeated for segment in segments)
            or self.world.is_endless(url)
        )

    def _visit(self, url: str) -> tuple[frozenset[str], Iterator[str]]:
        place = self.world.find(url)
        if place is None:
            return _NO_NAME, iter(())
        host, page = place.host, place.page
        if host.manner in _HOST_KINDS:
            return _HOST_KINDS[host.manner], iter(())
        if host.robots.answer is RobotsAnswer.FAILING:
            return frozenset({"robots_unreachable"}), iter(())
        listing = self.world.listing(host, place.target)
        usual = place.target == USUAL and self.world.options.sitemaps
        area = page.area if page else Area.OPEN if listing or usual else None
        if area and host.robots.denies(area, self.limits.agent):
            return frozenset({"robots_denied"}), iter(())
        if listing:
            return self._listed(url, host, listing)
        return self._answered(page) if page else self._elsewhere(place)

    def _answered(self, page: Page) -> tuple[frozenset[str], Iterator[str]]:
        match page.role:
            case Role.ERROR:
                return frozenset({"http_error"}), iter(())
            case Role.FILE:
                return frozenset({"excluded_type"}), iter(())
            case Role.TEXT:
                return frozenset({"fetched"}), iter(())
            case Role.REDIRECT if page.goal:
                return frozenset({"redirect"}), iter((self.world.url_of(self.world.at(page.goal)),))
        silent = page.nofollow in ("robots", "header", self.limits.agent)
        # A duplicate's links are its original's, and the original is among them: whichever is met first, the same.
        links = page_links(self.world, page)
        followed = self.limits.follow_nofollow
        urls = (
            link.url for link in links if link.url and (followed or (link.followed and not silent))
        )
        return frozenset({"fetched"}), iter(list(urls))

    def _listed(
        self, url: str, host: Host, listing: Listing
    ) -> tuple[frozenset[str], Iterator[str]]:
        """A sitemap speaks for its site and for those that name it; one from outside of the scope for all in it."""
        level = self.levels.get(url, 1)
        if listing.form is Form.REDIRECT:
            self.levels[listing.goal] = level
            return frozenset({"redirect"}), iter([listing.goal])
        if listing.form is Form.SOFT_ERROR:
            return frozenset({"sitemap"}), iter(())
        sites = {host.site} | self.namers.get(url, set())
        trusted = self._territory(url) not in self.allowed
        pages = [page for page in listing.pages if trusted or self._site(page) in sites]
        deeper = listing.listings if level < DEEPEST else ()
        self.levels.update(dict.fromkeys(deeper, level + 1))
        return frozenset({"sitemap"}), iter([*pages, *deeper])

    def _site(self, url: str) -> str:
        place = self.world.find(url)
        return place.host.site if place else ""

    def _elsewhere(self, place: Place) -> tuple[frozenset[str], Iterator[str]]:
        onward = trap_links(self.world, place)
        if not onward:
            return frozenset({"http_error"}), iter(())
        return frozenset({"fetched"}), iter([link.url for link in onward if link.url])
