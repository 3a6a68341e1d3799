"""Hosts and pages as values: what each is, not how it came to be.

Knows no port, no HTML and no answer's bytes.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from benchmarks.simweb.rules import Area, Robots

AGENT = "raycrawl"


class Manner(StrEnum):
    """How a host treats whoever calls."""

    PLAIN = "plain"
    SLOW = "slow"
    DEAD = "dead"  # nothing listens: connection refused
    SILENT = "silent"  # accepts and never answers
    OVERLOADED = "overloaded"  # 503 for every page, for ever


class Role(StrEnum):
    """What a page is."""

    CONTENT = "content"
    DUPLICATE = "duplicate"  # the bytes of `goal`
    NEAR = "near"  # `goal` with one sentence more
    REDIRECT = "redirect"  # to `goal`
    ERROR = "error"  # `status` for ever
    BURST = "burst"  # `status` and Retry-After once, then content
    FILE = "file"  # not a type that a crawler of text takes
    TEXT = "text"  # text/plain: no links


class Page(NamedTuple):
    """One page's facts. `goal` is the (host, number) of another page. `nofollow` names who says it: `robots` or an
    agent (meta elements), `header` (X-Robots-Tag), or nobody. `absolute`: every link is written out in full, so that
    the same bytes lead to the same places from any URL. `base`: has a `<base>` with the host's root.
    """

    host: int
    number: int
    target: str
    area: Area = Area.OPEN
    role: Role = Role.CONTENT
    status: int = 200
    goal: tuple[int, int] | None = None
    nofollow: str = ""
    charset: str = "utf-8"
    absolute: bool = False
    base: bool = False


@dataclass(slots=True)
class Host:
    """One host. `followable`: numbers of the pages whose links any crawler follows, in order; the first is 0."""

    number: int
    name: str
    site: str
    address: str
    manner: Manner
    robots: Robots
    latency: float
    traps: tuple[str, ...] = ()
    wild: bool = False
    pages: list[Page] = field(default_factory=list)
    followable: list[int] = field(default_factory=list)
    originals: list[int] = field(default_factory=list)

    @property
    def listening(self) -> bool:
        """Whether connections are accepted at its address."""
        return self.manner is not Manner.DEAD
