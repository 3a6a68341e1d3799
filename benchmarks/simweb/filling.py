"""The pages of one host: their roles, areas and targets, drawn from the host's own random stream. Pure."""

from random import Random

from benchmarks.simweb.hosts import AGENT, Host, Page, Role
from benchmarks.simweb.options import Options
from benchmarks.simweb.rules import PATHS, Area, RobotsAnswer
from benchmarks.simweb.words import Prose

_ROLES = (
    Role.CONTENT,
    Role.DUPLICATE,
    Role.NEAR,
    Role.REDIRECT,
    Role.ERROR,
    Role.BURST,
    Role.FILE,
    Role.TEXT,
)
_TROUBLED = (77, 5, 3, 5, 4, 2, 2, 2)
_CALM = (88, 4, 2, 3, 2, 0, 1, 0)
_AREAS = tuple(Area)
_AREA_WEIGHTS = (82, 4, 2, 3, 3, 2, 2, 2)
_FILES = ("png", "gif", "zip")


class Filling:
    """Gives one host its pages. A page may refer to earlier pages of the host and to hosts before it."""

    def __init__(self, options: Options, prose: Prose, hosts: list[Host], host: Host) -> None:
        self.random = Random(options.seed * 1_000_003 + host.number + 1)
        self.weights = _TROUBLED if options.troubles else _CALM
        self.prose = prose
        self.hosts = hosts
        self.host = host
        # One of each status at most: a host must not look as if it were failing.
        self.bursts = (
            []
            if host.robots.answer is RobotsAnswer.RECOVERING
            else [[429, 503], [503, 429]][host.number % 2]
        )

    def fill(self, size: int) -> None:
        """Adds `size` pages; the first is the home page."""
        self._keep(Page(self.host.number, 0, "/"))
        while len(self.host.pages) < size:
            role = self.random.choices(_ROLES, self.weights)[0]
            if role is Role.REDIRECT:
                self._redirects(size - len(self.host.pages))
            else:
                self._keep(self._page(role))

    def _keep(self, page: Page) -> None:
        self.host.pages.append(page)
        if page.role is Role.CONTENT and page.area is Area.OPEN and not page.nofollow:
            self.host.followable.append(page.number)
            if page.absolute and page.charset == "utf-8":
                self.host.originals.append(page.number)

    def _page(self, role: Role) -> Page:
        number, random = len(self.host.pages), self.random
        area = random.choices(_AREAS, _AREA_WEIGHTS)[0]
        page = Page(self.host.number, number, self._target(number, area), area, role)
        if role in (Role.DUPLICATE, Role.NEAR):
            owner = random.choice((self.host, self.host, self.hosts[max(0, self.host.number - 1)]))
            if owner.originals:
                return page._replace(
                    goal=(owner.number, random.choice(owner.originals)), absolute=True
                )
        if role is Role.BURST and self.bursts:
            return page._replace(status=self.bursts.pop())
        if role is Role.ERROR:
            return page._replace(status=random.choice((404, 404, 404, 410, 410, 403, 500)))
        if role is Role.FILE:
            return page._replace(target=f"/media/{number}.{_FILES[number % 3]}", area=Area.OPEN)
        return page if role is Role.TEXT else self._content(page)

    def _content(self, page: Page) -> Page:
        chance = self.random.random()
        page = page._replace(
            role=Role.CONTENT,
            charset=self.random.choices(("utf-8", "meta", "windows-1252"), (90, 5, 5))[0],
        )
        if chance < 0.04:
            return page._replace(nofollow=self.random.choice(("robots", "header", AGENT)))
        return page._replace(absolute=chance > 0.85, base=chance < 0.09)

    def _redirects(self, room: int) -> None:
        """A chain of one to five redirects to an earlier page or another host's home, or a loop of three."""
        first, random = len(self.host.pages), self.random
        length = min(room, random.choice((1, 1, 1, 2, 2, 3, 3, 4, 5)))
        end = (self.host.number, random.choice(self.host.followable))
        if random.random() < 0.2:
            end = (random.randrange(len(self.hosts)), 0)
        if length == 3 and random.random() < 0.5:
            end = (self.host.number, first)
        for number in range(first, first + length):
            goal = (self.host.number, number + 1) if number + 1 < first + length else end
            status = random.choice((301, 302, 303, 307, 308))
            self._keep(
                Page(
                    self.host.number,
                    number,
                    self._target(number, Area.OPEN),
                    Area.OPEN,
                    Role.REDIRECT,
                    status,
                    goal,
                )
            )

    def _target(self, number: int, area: Area) -> str:
        word, other = (self.random.choice(self.prose.words) for _ in range(2))
        if area is not Area.OPEN:
            return PATHS[area].format(number=number, word=word)
        return (
            f"/p/{number}",
            f"/docs/{word}/{other}-{number}.html",
            f"/view.php?id={number}&lang=en",
            f"/a%20b/%C3%BC{word}/{number}",
        )[number % 4]
