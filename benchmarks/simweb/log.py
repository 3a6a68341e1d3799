"""The log of a server and what it proves about whoever called: written by the server, never by the crawler.

A line is start, end (wall-clock seconds), status, host, target, user agent, separated by tabs. `start` is when the
whole request had arrived, `end` when the answer was handed to the transport, all at once (or when the client gave
the connection up: status 0; then it is the last moment at which the client was certainly there). Hosts are names: two
names on one address are two hosts.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from math import inf
from pathlib import Path
from typing import NamedTuple


class Request(NamedTuple):
    """One request, robots.txt included."""

    start: float
    end: float
    status: int
    host: str
    target: str
    agent: str


# Seconds, or seconds by the request that came before.
Wait = float | Callable[[Request], float]


class Violation(NamedTuple):
    """Two requests of one host that came too close. `gap`: seconds from the end of one to the start of the next."""

    host: str
    gap: float
    before: Request
    after: Request


def render(requests: Iterable[Request]) -> str:
    """The text of a log."""
    return "".join(
        f"{r.start:.6f}\t{r.end:.6f}\t{r.status}\t{r.host}\t{r.target}\t{r.agent}\n"
        for r in requests
    )


def parse(text: str) -> list[Request]:
    """The requests of a log's text, ordered by start. Raises `ValueError` for a line that is none."""
    requests = []
    for line in text.split("\n")[:-1]:
        start, end, status, host, target, agent = line.split("\t")
        requests.append(Request(float(start), float(end), int(status), host, target, agent))
    return sorted(requests)


def load(path: Path) -> list[Request]:
    """The requests of a log file, ordered by start."""
    return parse(path.read_text(encoding="utf-8"))


def violations(
    log: Iterable[Request], delay: Wait = 0.0, tolerance: float = 0.001
) -> list[Violation]:
    """Where a host had two requests in flight, or was asked again too soon.

    `delay`: seconds from the end of a request to the next start, the same for all or by what the earlier request was
    (its host, its status). `tolerance` allows for a client that gave up: the server hears of it a little later.
    """
    wait = delay if callable(delay) else lambda _: delay
    # The request that holds each host back longest, and until when.
    holding: dict[str, tuple[float, Request]] = {}
    found = []
    for request in sorted(log):
        until, before = holding.get(request.host, (-inf, request))
        if request.start < until - tolerance:
            found.append(Violation(request.host, request.start - before.end, before, request))
        own = request.end + wait(request)
        if own >= until:
            holding[request.host] = own, request
    return found


def counts(log: Iterable[Request]) -> Counter[tuple[str, int]]:
    """How many requests each (host, status) had."""
    return Counter((request.host, request.status) for request in log)


def refetched(log: Iterable[Request]) -> dict[tuple[str, str], int]:
    """Times that a (host, target) was answered with 200 or a redirect more than once, robots.txt apart."""
    times: defaultdict[tuple[str, str], int] = defaultdict(int)
    for request in log:
        if 200 <= request.status < 400 and not request.target.startswith("/robots"):
            times[request.host, request.target] += 1
    return {place: number for place, number in times.items() if number > 1}


def smallest_gap(log: Iterable[Request]) -> float:
    """The least time that any host had between two requests; infinite where none had two."""
    close = violations(log, delay=inf)
    return min((violation.gap for violation in close), default=inf)
