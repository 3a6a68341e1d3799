"""The links of a page: where each leads and how it is spelled. Pure, made anew at each call from the page's own seed.

Truth reads `Link.url`, the HTML is made of `Link.href`; that both say the same is what the tests of the world prove.
"""

from bisect import bisect_left
from collections.abc import Iterator
from math import log
from random import Random
from typing import NamedTuple

from benchmarks.simweb.hosts import Host, Page
from benchmarks.simweb.rules import Area
from benchmarks.simweb.traps import TRAPS, trap_of
from benchmarks.simweb.world import Place, World

NAVIGATION = 8
BRANCHES = 8
_RELS = ("nofollow", "ugc nofollow", "noopener", "Nofollow external")


class Link(NamedTuple):
    """`url`: the identity it leads to, `None` for nowhere (mail, scripts). `href`: as written, not yet escaped."""

    href: str
    url: str | None
    rel: str
    text: str

    @property
    def followed(self) -> bool:
        """Whether a crawler that heeds nofollow takes it."""
        return self.url is not None and "nofollow" not in self.rel.lower()


def navigation(world: World, host: Host, *, absolute: bool) -> list[Link]:
    """The menu that all pages of a host share."""
    chosen = host.pages[:NAVIGATION]
    return [
        Link(
            world.url_of(page) if absolute else page.target,
            world.url_of(page),
            "",
            _title(world, page),
        )
        for page in chosen
    ]


def page_links(world: World, page: Page) -> list[Link]:
    """All links of a page with HTML of its own, menu first. A duplicate's are its original's."""
    if page.goal is not None:
        return page_links(world, world.at(page.goal))
    return [
        *navigation(world, world.hosts[page.host], absolute=page.absolute),
        *_Linking(world, page).body(),
    ]


def trap_links(world: World, place: Place) -> list[Link]:
    """The links of a page in a trap: further into it."""
    if place.wild is not None:
        ahead = (2 * place.wild + 1, 2 * place.wild + 2)
        urls = [
            world.url(place.host, "/", number)
            for number in ahead
            if number < world.options.wild_names
        ]
        return [Link(url, url, "", "onward") for url in urls]
    trap = trap_of(place.target)
    targets = trap.step(place.target) if trap else []
    return [
        Link(target, world.identity(world.url(place.host, target)), "", "onward")
        for target in targets
    ]


def _title(world: World, page: Page) -> str:
    return world.prose.words[(page.host * 31 + page.number) % len(world.prose.words)]


class _Linking:
    """Draws one page's links from the page's own random stream."""

    def __init__(self, world: World, page: Page) -> None:
        options = world.options
        self.world = world
        self.page = page
        self.host = world.hosts[page.host]
        self.random = Random((options.seed << 48) ^ (page.host << 24) ^ (page.number + 1))
        self.root = world.url(self.host, "")
        self.upwards = "../" * (page.target.partition("?")[0].count("/") - 1)

    def body(self) -> list[Link]:
        """The links in the text: to the page's children, the structure between hosts, then anywhere."""
        wanted = min(2000, int(self.random.lognormvariate(log(self.world.options.links), 1.0)))
        links = [self._link(page) for page in self._structure()]
        links += self._entries()
        links += [
            self._link(self._anywhere()) for _ in range(max(2, wanted - NAVIGATION - len(links)))
        ]
        return links + list(self._noise())

    def _structure(self) -> Iterator[Page]:
        """Each page of a host is the child of one that is followed; homes link to homes. So most can be reached."""
        host, hosts = self.host, self.world.hosts
        place = bisect_left(host.followable, self.page.number)
        if host.followable[place : place + 1] == [self.page.number]:
            yield from host.pages[1 + BRANCHES * place : 1 + BRANCHES * (place + 1)]
        if self.page.number == 0:
            ahead = (2 * host.number + 1, 2 * host.number + 2, host.number + 1, host.number + 5)
            yield from (hosts[number].pages[0] for number in ahead if number < len(hosts))
        # An original's copies may be met first, and their canonical link may or may not count as a link: this one
        # leads to the same place and counts for certain.
        yield self.page

    def _anywhere(self) -> Page:
        """Mostly the own host, its first pages more often; one link in seven goes to another host."""
        random, host = self.random, self.host
        if random.random() < 0.15:
            host = self.world.hosts[int(len(self.world.hosts) * random.random())]
            if random.random() < 0.5:
                return host.pages[0]
        return host.pages[int(len(host.pages) * random.random() ** 2)]

    def _link(self, goal: Page) -> Link:
        random, world = self.random, self.world
        text = random.choice(world.prose.phrases)
        rel, spelled = "", goal.target
        # A page's link to itself stays plain: see `_structure`.
        if goal is not self.page:
            if random.random() < 0.05:
                rel = random.choice(_RELS)
            # Rules of robots.txt must not hold for one spelling and not for another: `rules.PATHS`.
            if goal.area is Area.OPEN and random.random() < 0.15:
                spelled = self._variant(goal)
        return Link(self._written(goal, spelled), world.url_of(goal), rel, text)

    def _variant(self, goal: Page) -> str:
        """Another spelling of a target with the same key."""
        random, target = self.random, goal.target
        joint = "&" if "?" in target else "?"
        path = target.partition("?")[0]
        variants = [
            f"{target}#part-{random.randint(1, 9)}",
            f"{target}{joint}utm_source={random.choice('abr')}&UTM_Medium=mail",
            f"{target}{joint}gclid={random.getrandbits(32):x}",
            f"{target}{joint}PHPSESSID={random.getrandbits(64):x}",
        ]
        if path != "/":
            variants += [
                f"/./x/..{target}",
                target.replace("/p/", "/%70/"),
                target.replace("%C3%BC", "%c3%bc"),
            ]
        if "?" not in target and path != "/":
            variants.append(f"{target};jsessionid={random.getrandbits(64):X}")
        if target.startswith("/view.php"):
            variants.append(f"/view.php?lang=en&id={goal.number}")
        return random.choice(variants)

    def _written(self, goal: Page, spelled: str) -> str:
        """The href for a spelled target: absolute, without scheme, from the root, or relative."""
        chance = self.random.random()
        host = self.world.hosts[goal.host]
        if goal.host != self.page.host or self.page.absolute or chance < 0.25:
            if chance < 0.05:
                return f"HTTP://{host.name.upper()}:{self.world.port}{spelled}"
            if chance < 0.1 and not self.page.absolute:
                return f"//{host.name}:{self.world.port}{spelled}"
            return self.world.url(host, spelled)
        if chance < 0.6 or spelled.startswith(("/?", "/#")) or spelled == "/":
            return spelled
        return spelled[1:] if self.page.base else self.upwards + spelled[1:]

    def _entries(self) -> Iterator[Link]:
        """The doors of the host's traps, on its home page."""
        if self.page.number:
            return
        for name in self.host.traps:
            entry = TRAPS[name].entry
            yield Link(entry, self.root + entry, "", name)
        if self.host.wild:
            url = self.world.url(self.host, "/", 0)
            yield Link(url, url, "", "wild")

    def _noise(self) -> Iterator[Link]:
        """What looks like a link and leads nowhere."""
        random = self.random
        if random.random() < 0.3:
            yield Link("mailto:someone@example.org", None, "", "write to us")
        if random.random() < 0.3:
            yield Link("javascript:void(0)", None, "", "menu")
        if not self.page.base and not self.page.absolute and random.random() < 0.3:
            yield Link("#top", self.world.url_of(self.page), "", "top")
        if self.world.options.outside:
            yield Link("http://outside.invalid/", "http://outside.invalid/", "", "outside")
