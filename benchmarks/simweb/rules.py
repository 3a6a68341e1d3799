"""robots.txt (RFC 9309) the other way round: from rules whose effect is known to the text that says them.

Nothing here parses or matches a pattern: each page has an *area*, each rule names the areas it shuts, and the
truth looks no further.
"""

from dataclasses import dataclass
from enum import StrEnum


class Area(StrEnum):
    """Which part of a host a page lies in; it shows in the page's path."""

    OPEN = "open"
    PRIVATE = "private"
    EXCEPTED = "excepted"
    SECRET = "secret"
    ENDING = "ending"
    NEAR_ENDING = "near_ending"
    SEARCH = "search"
    ESCAPED = "escaped"


# The path of page `number`, by area. Variants of a URL (tracking parameters and the like) are made in OPEN only, so
# that a rule cannot hold for one spelling and not for another.
PATHS = {
    Area.PRIVATE: "/private/{number}",
    Area.EXCEPTED: "/private/open/{number}",
    Area.SECRET: "/{word}/secret-{number}",
    Area.ENDING: "/files/{number}.tmp",
    Area.NEAR_ENDING: "/files/{number}.tmpl",
    Area.SEARCH: "/search?q={number}",
    Area.ESCAPED: "/caf%C3%A9/{number}",
}

# What a rule says, and the areas it shuts. `/private/` alone would shut EXCEPTED too: Allow is longer and wins.
LINES = {
    "private": ("Disallow: /private/\nAllow: /private/open/", {Area.PRIVATE}),
    "all_private": ("Disallow: /private/", {Area.PRIVATE, Area.EXCEPTED}),
    "secret": ("Disallow: /*/secret-", {Area.SECRET}),
    "ending": ("disallow: /*.tmp$   # leftovers", {Area.ENDING}),
    "search": ("Disallow: /search", {Area.SEARCH}),
    "escaped": ("Disallow: /café/", {Area.ESCAPED}),
    "all": ("Disallow: /", set(Area)),
    "nothing": ("Disallow:", set[Area]()),
}


@dataclass(frozen=True, slots=True)
class Group:
    """The rules (names in `LINES`) for one product token, or for `*`; a delay of 0 is not said."""

    agent: str
    rules: tuple[str, ...]
    delay: float = 0.0

    @property
    def denied(self) -> frozenset[Area]:
        """The areas that are shut to this agent."""
        return frozenset().union(*(LINES[rule][1] for rule in self.rules))

    def text(self) -> str:
        """The group's lines."""
        delay = f"Crawl-delay: {self.delay:g}\n" if self.delay else ""
        return (
            f"User-agent: {self.agent}\n{delay}"
            + "\n".join(LINES[rule][0] for rule in self.rules)
            + "\n"
        )


class RobotsAnswer(StrEnum):
    """How a host answers for /robots.txt."""

    RULES = "rules"
    EMPTY = "empty"
    MISSING = "missing"
    FORBIDDEN = "forbidden"
    REDIRECTING = "redirecting"
    RECOVERING = "recovering"
    FAILING = "failing"


HAVE_RULES = frozenset({RobotsAnswer.RULES, RobotsAnswer.REDIRECTING, RobotsAnswer.RECOVERING})


@dataclass(frozen=True, slots=True)
class Robots:
    """What a host says about robots, and how."""

    answer: RobotsAnswer
    groups: tuple[Group, ...] = ()

    def group(self, agent: str) -> Group | None:
        """The group that governs a product token (RFC 9309 §2.2.1), or `None`: all is allowed."""
        if self.answer not in HAVE_RULES:
            return None
        named = [group for group in self.groups if group.agent.lower() == agent.lower()]
        return next(iter(named or [group for group in self.groups if group.agent == "*"]), None)

    def denies(self, area: Area, agent: str) -> bool:
        """Whether the rules shut `area` to `agent`."""
        group = self.group(agent)
        return group is not None and area in group.denied

    def text(self) -> str:
        """The body of /robots.txt."""
        return "# Rules of a simulated host\n" + "\n".join(group.text() for group in self.groups)
