"""A simulated web, whole: hosts, pages, links and spellings, as a pure function of (options, port).

Knows nothing of sockets, HTML or HTTP messages.
"""

from typing import NamedTuple

from benchmarks.simweb.hosts import Host, Page
from benchmarks.simweb.identity import identity, normal_target
from benchmarks.simweb.options import Options
from benchmarks.simweb.population import make_hosts
from benchmarks.simweb.rules import HAVE_RULES
from benchmarks.simweb.sitemaps import Listing, Sitemaps, hidden_pages, make_sitemaps
from benchmarks.simweb.traps import trap_of
from benchmarks.simweb.words import Prose


class Place(NamedTuple):
    """Where a URL leads. `page` is `None` in a trap and where nothing is. `wild`: the number of a wildcard name."""

    host: Host
    target: str
    page: Page | None
    wild: int | None = None


class World:
    """The same options and port give the same world, in any process.

    `overrides` maps every name to its address; `seeds` are the home pages of the largest hosts, which are never
    troubled.
    """

    def __init__(self, options: Options, port: int) -> None:
        self.options = options
        self.port = port
        self.prose = Prose(options.seed)
        self.hosts = make_hosts(options, self.prose)
        self._sitemaps = Sitemaps({}, {})
        if options.sitemaps:
            self._sitemaps = make_sitemaps(self.hosts, self.url)
        self._hidden = {
            (page.host, page.target): page
            for host in self.hosts
            for page in (hidden_pages(host) if options.sitemaps else ())
        }
        self._by_name = {host.name: host for host in self.hosts}
        self._pages = {
            (host.number, page.target): page for host in self.hosts for page in host.pages
        } | self._hidden
        self._wild = {
            f"w{number}.wild.{host.site}": (host, number)
            for host in self.hosts
            if host.wild
            for number in range(options.wild_names)
        }
        self.overrides = {host.name: host.address for host in self.hosts}
        self.overrides |= {name: host.address for name, (host, _) in self._wild.items()}
        self.seeds = [self.url(host) for host in self.hosts[: options.seeds]]
        self.identity = identity

    def url(self, host: Host, target: str = "/", wild: int | None = None) -> str:
        """The plainest spelling of a URL of this world."""
        name = host.name if wild is None else f"w{wild}.wild.{host.site}"
        return f"http://{name}:{self.port}{target}"

    def url_of(self, page: Page) -> str:
        """A page's URL, plainly spelled: equal to its identity."""
        return self.url(self.hosts[page.host], page.target)

    def at(self, where: tuple[int, int]) -> Page:
        """The page of (host, number)."""
        return self.hosts[where[0]].pages[where[1]]

    def host_named(self, netloc: str) -> tuple[Host, int | None] | None:
        """Host and wildcard number of a `name:port`; `None` for names that this world has not."""
        name = netloc.partition(":")[0].lower()
        host = self._by_name.get(name)
        return (host, None) if host else self._wild.get(name)

    def page(self, host: Host, target: str) -> Page | None:
        """The page behind a target in any of its spellings."""
        return self._pages.get((host.number, target)) or self._pages.get(
            (host.number, normal_target(target))
        )

    def listing(self, host: Host, target: str) -> Listing | None:
        """The sitemap that lies at a target of a host."""
        return self._sitemaps.files.get((host.number, target))

    def named(self, host: Host) -> tuple[str, ...]:
        """The sitemaps that the host's robots.txt names, where it has rules."""
        return self._sitemaps.named.get(host.number, ()) if host.robots.answer in HAVE_RULES else ()

    def find(self, url: str) -> Place | None:
        """What a URL leads to; `None` out of this world."""
        netloc, slash, rest = url.partition("//")[2].partition("/")
        found = self.host_named(netloc)
        if found is None or not url.startswith("http://"):
            return None
        host, wild = found
        target = normal_target(slash + rest)
        return Place(host, target, None if wild is not None else self.page(host, target), wild)

    def is_trap(self, url: str) -> bool:
        """Whether a URL lies in a trap."""
        place = self.find(url)
        return place is not None and (place.wild is not None or trap_of(place.target) is not None)

    def is_endless(self, url: str) -> bool:
        """Whether a URL lies in a trap that only a budget ends."""
        place = self.find(url)
        if place is None:
            return False
        trap = trap_of(place.target)
        return place.wild is not None or (trap is not None and trap.endless)
