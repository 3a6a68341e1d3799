"""When a host may next be asked, and when it is given up: pure decisions on one host's clock.

Two clocks run side by side and the later one counts: the *delay* after each exchange, which is the rule of the house,
and the *back-off* after an incident, which is the host's answer to being asked. Nothing here knows of queues.
"""

import random
from typing import NamedTuple

from crawler.config import Politeness
from crawler.frontier.lease import HostReport
from crawler.outcomes import Kind


class Clock(NamedTuple):
    """One host's politeness. All moments are wall-clock seconds.

    `free_at`: the delay's clock. `blocked_until`: the back-off's clock. `incidents`, `robots_failures`: how many steps
    of back-off are not forgiven. `crawl_delay`: what robots.txt asks for, uncapped. `response_seconds`: of the last
    answer.
    """

    free_at: float = 0.0
    blocked_until: float = 0.0
    incidents: int = 0
    robots_failures: int = 0
    crawl_delay: float = 0.0
    response_seconds: float = 0.0

    @property
    def moment(self) -> float:
        """The first moment at which the host may be asked."""
        return max(self.free_at, self.blocked_until)


def configured_delay(host: str, rules: Politeness) -> float:
    """Seconds between two requests to `host` before the host itself is asked for its wishes."""
    own = rules.hosts.get(host) if rules.hosts else None
    return rules.delay if own is None or own.delay is None else own.delay


def delay(host: str, clock: Clock, rules: Politeness) -> float:
    """Seconds from the end of an answer to the next request: the longest of what anyone asks for."""
    return max(
        configured_delay(host, rules),
        min(clock.crawl_delay, rules.crawl_delay_cap),
        clock.response_seconds * rules.response_time_factor,
    )


def allowance(seconds: float, gap: float, most: int) -> int:
    """How many requests with `gap` seconds between them may start within `seconds`: at least 1, at most `most`."""
    if gap <= 0:
        return most
    return max(1, min(most, 1 + int(seconds / gap)))


def backoff(step: int, rules: Politeness, rng: random.Random) -> float:
    """Seconds of the `step`-th (1, 2, …) back-off: doubling up to the cap, less up to a quarter.

    The jitter keeps hosts that failed together (one network, one server) from being asked together for ever after.
    """
    full = min(rules.backoff_cap, rules.backoff_base * 2.0 ** min(step - 1, 32))
    return full * rng.uniform(0.75, 1.0)


def after(
    clock: Clock,
    report: HostReport,
    crawl_delay: float | None,
    rules: Politeness,
    rng: random.Random,
) -> Clock:
    """The clock after a lease's report on the host. `crawl_delay`: from robots.txt, if it was fetched in the lease.

    An incident is one step however many answers said so; a report with successes forgives one. A failing robots.txt
    has steps of its own, for which only a robots.txt that can be had makes up. A Retry-After is taken at its word up
    to its cap (RFC 9110 section 10.2.3), even where the exponential wait would be longer.
    """
    incidents, failures, blocked = clock.incidents, clock.robots_failures, clock.blocked_until
    ended = report.free_at if report.ended_at is None else report.ended_at
    asked = None if report.incident is None else report.incident.retry_after
    if report.successes:
        incidents = max(0, incidents - 1)
    step = 0
    if report.robots_failure is not None:
        failures += 1
        step = failures
    elif report.robots:
        failures = 0
    if report.incident is not None and report.robots_failure is None:
        incidents += 1
        step = incidents
    if step:
        wait = (
            backoff(step, rules, rng)
            if asked is None
            else min(max(0.0, asked), rules.retry_after_cap)
        )
        blocked = max(blocked, ended + wait)
    if report.not_before is not None:  # no fault of the host's, so no step
        blocked = max(blocked, report.not_before)
    return Clock(
        free_at=max(clock.free_at, report.free_at),
        blocked_until=blocked,
        incidents=incidents,
        robots_failures=failures,
        crawl_delay=clock.crawl_delay if crawl_delay is None else crawl_delay,
        response_seconds=clock.response_seconds
        if report.response_seconds is None
        else report.response_seconds,
    )


def verdict(clock: Clock, rules: Politeness) -> Kind | None:
    """How the host's remaining URLs end if it is given up now; `None` while there is hope."""
    limit = rules.incidents_before_giving_up
    if clock.robots_failures >= limit:
        return Kind.ROBOTS_UNREACHABLE
    return Kind.GAVE_UP if clock.incidents >= limit else None


def reason(kind: Kind, clock: Clock) -> str:
    """One sentence for the rows of a host that was given up."""
    if kind is Kind.ROBOTS_UNREACHABLE:
        return f"robots.txt could not be had in {clock.robots_failures} attempts"
    return f"the host was given up after {clock.incidents} incidents"
