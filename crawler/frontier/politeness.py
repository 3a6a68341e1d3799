"""When a host may next be asked, and when it is given up: pure decisions on one host's clock.

Two clocks run side by side and the later one counts: the *delay* after each exchange, which is the rule of the house,
and the *back-off* after an incident, which is the host's answer to being asked. Nothing here knows of queues.
"""

import random
from typing import NamedTuple

from crawler.config import Politeness
from crawler.frontier.lease import HostReport, Incident
from crawler.outcomes import Kind

# A host whose last answer took longer is not leased together with others. Most servers answer within one second.
SLOW_SECONDS = 5.0
EVER = float("inf")


class Clock(NamedTuple):
    """One host's politeness. All moments are wall-clock seconds.

    `free_at`: the delay's clock. `blocked_until`: the back-off's clock. `incidents`, `robots_failures`: how many steps
    of back-off are not forgiven. `parks`: how often it was parked for them. `since`: when the first of them ended.
    `trouble`: the last of them in words. `crawl_delay`: what robots.txt asks for, uncapped. `response_seconds`: of the
    last answer. `served`: it has given something once, and not only its robots.txt.
    """

    free_at: float = 0.0
    blocked_until: float = 0.0
    incidents: int = 0
    robots_failures: int = 0
    parks: int = 0
    since: float = 0.0
    trouble: str = ""
    crawl_delay: float = 0.0
    response_seconds: float = 0.0
    served: bool = False

    @property
    def moment(self) -> float:
        """The first moment at which the host may be asked."""
        return max(self.free_at, self.blocked_until)

    @property
    def failing(self) -> bool:
        """Whether an incident was the last that was heard of the host: it is in back-off, or parked."""
        return self.blocked_until > self.free_at

    @property
    def apart(self) -> bool:
        """Whether it may hold up the others of a lease: it is slow to answer, or has not made up for its failures."""
        return self.response_seconds > SLOW_SECONDS or self.incidents + self.robots_failures > 0


def configured_delay(host: str, rules: Politeness) -> float:
    """Seconds between two requests to `host` before the host itself is asked for its wishes."""
    own = rules.hosts.get(host) if rules.hosts else None
    seconds = rules.delay if own is None or own.delay is None else own.delay
    return seconds if rules.address_delay is None else max(seconds, rules.address_delay)


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
    """Seconds of the `step`-th (1, 2, …) back-off: doubling up to the cap, less up to a quarter."""
    return _jittered(min(rules.backoff_cap, rules.backoff_base * 2.0 ** min(step - 1, 32)), rng)


def after(
    clock: Clock,
    report: HostReport,
    crawl_delay: float | None,
    rules: Politeness,
    rng: random.Random,
) -> Clock:
    """The clock after a lease's report on the host. `crawl_delay`: from robots.txt, if it was fetched in the lease.

    An incident is one step however many answers said so; a report with successes forgives one, or all of a host that
    was parked. A failing robots.txt has steps of its own, for which only a robots.txt that can be had makes up.
    """
    incidents, failures, parks = clock.incidents, clock.robots_failures, clock.parks
    if report.robots_failure is not None:
        failures += 1
    elif report.robots:
        failures = 0
    if report.successes:
        incidents = 0 if parks else max(0, incidents - 1)
        parks = parks if failures else 0
    step = failures if report.robots_failure is not None else 0
    if report.incident is not None and not step:
        incidents += 1
        step = incidents
    parks += step >= rules.incidents_before_parking
    ended = report.free_at if report.ended_at is None else report.ended_at
    blocked = clock.blocked_until
    if step:
        blocked = max(blocked, ended + _hold(step, report.incident, rules, rng))
    return Clock(
        # What holds a host back through no fault of its own is a delay: the end of the crawl waits for it.
        free_at=max(clock.free_at, report.free_at, report.not_before or 0.0),
        blocked_until=blocked,
        incidents=incidents,
        robots_failures=failures,
        parks=parks,
        since=(clock.since or ended) if incidents or failures else 0.0,
        trouble=clock.trouble if report.incident is None else _words(report.incident),
        crawl_delay=clock.crawl_delay if crawl_delay is None else crawl_delay,
        response_seconds=clock.response_seconds
        if report.response_seconds is None
        else report.response_seconds,
        served=clock.served or report.served,
    )


def after_loss(clock: Clock, now: float, rules: Politeness, rng: random.Random) -> Clock:
    """The clock after a fetch task has died that served no other host: an incident that nobody could report."""
    incidents = clock.incidents + 1
    return clock._replace(
        blocked_until=max(clock.blocked_until, now + _hold(incidents, None, rules, rng)),
        incidents=incidents,
        parks=clock.parks + (incidents >= rules.incidents_before_parking),
        since=clock.since or now,
        trouble="the fetch task died that asked it",
    )


def patience(clock: Clock, rules: Politeness) -> float:
    """Until when the end of the crawl waits for a host that is failing as for one that is well.

    A site that has served pages may be restarting; nobody wants its crawl to end for that.
    """
    return clock.since + rules.outage_wait if clock.failing and clock.served else 0.0


def verdict(clock: Clock, rules: Politeness, *, over: bool = False) -> Kind | None:
    """How the host's remaining URLs end if it is given up now; `None` while there is hope.

    `over`: the crawl ends, and does not wait for a host that is failing (but for those with its `patience`).
    """
    if clock.parks <= rules.parks_before_giving_up and not (
        over and clock.failing and clock.blocked_until > patience(clock, rules)
    ):
        return None
    return Kind.ROBOTS_UNREACHABLE if clock.robots_failures else Kind.GAVE_UP


def reason(clock: Clock, rules: Politeness) -> str:
    """One sentence for the rows of a host that was given up."""
    if clock.parks > rules.parks_before_giving_up:
        end = "given up"
    else:
        end = "the crawl ended before the host could be asked again"
    what = "failures of robots.txt" if clock.robots_failures else "incidents"
    number = clock.robots_failures or clock.incidents
    seconds = clock.free_at - clock.since
    return f"{end}: {number} {what} within {seconds:.0f} s, the last: {clock.trouble}"


def _hold(step: int, incident: Incident | None, rules: Politeness, rng: random.Random) -> float:
    """Seconds of the `step`-th back-off, or of a park.

    A Retry-After is taken at its word up to its cap (RFC 9110 section 10.2.3). If the host says so again after it has
    been obeyed, its word counts only where the wait of the step before would be shorter.
    """
    asked = None if incident is None else incident.retry_after
    if asked is not None:
        asked = min(max(0.0, asked), rules.retry_after_cap)
    if step >= rules.incidents_before_parking:
        return max(_jittered(rules.park_seconds, rng), asked or 0.0)
    if asked is None:
        return backoff(step, rules, rng)
    return asked if step == 1 else max(asked, backoff(step - 1, rules, rng))


def _jittered(seconds: float, rng: random.Random) -> float:
    """Less up to a quarter: hosts that failed together (one network, one server) are not asked together ever after."""
    return seconds * rng.uniform(0.75, 1.0)


def _words(incident: Incident) -> str:
    status = "" if incident.status is None else f" {incident.status}"
    asked = (
        "" if incident.retry_after is None else f", to be asked after {incident.retry_after:.0f} s"
    )
    return f"{incident.kind}{status}{asked}"
