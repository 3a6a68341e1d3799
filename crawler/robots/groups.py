"""Which lines of a robots.txt are said to us: groups, merged (RFC 9309 §2.2.1).

It hands patterns on as they stand and knows nothing of matching.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from crawler.robots.product import product_token
from crawler.robots.syntax import Field

_EVERYONE = "*"
_NUMBER = re.compile(rb"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")


@dataclass(slots=True)
class Group:
    """What is said to some agents. Agents are lower-case product tokens, or `*`."""

    agents: set[str] = field(default_factory=set)
    rules: list[tuple[Field, bytes]] = field(default_factory=list)
    crawl_delay: float | None = None

    def slow_down(self, delay: float | None) -> None:
        """Take a further crawl-delay: the longest one counts."""
        if delay is not None:
            self.crawl_delay = max(delay, self.crawl_delay or 0.0)


@dataclass(slots=True)
class Sections:
    """A whole file: its groups in order, and the sitemaps, which belong to no group."""

    groups: list[Group] = field(default_factory=list)
    sitemaps: dict[str, None] = field(default_factory=dict)


def collect(fields: Iterable[tuple[Field, bytes]]) -> Sections:
    """Sort fields into groups. Only an Allow or Disallow line ends a run of User-agent lines.

    But a Crawl-delay is said to those named before it: `User-agent: a`, `Crawl-delay: 60`, `User-agent: *` slows nobody
    but `a`. So delays have groups of their own. Rules before the first User-agent line are said to nobody.
    """
    sections = Sections()
    group, pace = Group(), Group()
    in_rules = True
    for name, value in fields:
        if name is Field.USER_AGENT:
            if in_rules:
                group, pace = Group(), Group()
                sections.groups += [group, pace]
                in_rules = False
            elif pace.crawl_delay is not None:
                pace = Group()
                sections.groups.append(pace)
            agent = _agent(value)
            group.agents.add(agent)
            pace.agents.add(agent)
        elif name is Field.SITEMAP:
            if value:
                sections.sitemaps[value.decode("utf-8", "replace")] = None
        elif name is Field.CRAWL_DELAY:
            pace.slow_down(_seconds(value))
        else:
            in_rules = True
            group.rules.append((name, value))
    return sections


def said_to(token: str, groups: Iterable[Group]) -> Group:
    """The groups that name `token`, merged; where none does, those of `*`; else an empty one."""
    agent = token.lower()
    groups = list(groups)
    ours = [group for group in groups if agent and agent in group.agents]
    merged = Group()
    for group in ours or [group for group in groups if _EVERYONE in group.agents]:
        merged.rules += group.rules
        merged.slow_down(group.crawl_delay)
    return merged


def _agent(value: bytes) -> str:
    if value.split()[:1] == [b"*"]:
        return _EVERYONE
    return product_token(value.decode("latin-1")).lower()


def _seconds(value: bytes) -> float | None:
    match = _NUMBER.match(value)
    seconds = float(match[0]) if match else math.inf
    return seconds if math.isfinite(seconds) else None
