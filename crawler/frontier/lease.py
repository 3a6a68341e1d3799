"""What passes between a shard and a fetch task: hosts and some of their URLs, lent until a deadline; and reports.

All moments are seconds since the epoch by the clock of the run, so that they mean the same in another process and,
more or less, after a restart.
"""

from dataclasses import dataclass
from typing import NamedTuple

from crawler.outcomes import Kind


class LeasedUrl(NamedTuple):
    """One URL to fetch. `key` is its identity; `url` is what is sent."""

    key: int
    url: str
    visit: int
    attempt: int
    depth: int
    hops: int
    priority: int
    found_on: str | None
    found_via: str
    etag: str | None = None
    last_modified: str | None = None


class RobotsRecord(NamedTuple):
    """The rules of one origin in their packed form, and until when they may be used."""

    origin: str
    rules: bytes
    expires_at: float


class Errand(NamedTuple):
    """The robots.txt of `origin`, to be had at `url` on another host, which only that host's shard may contact.

    `hops`: redirects that led there, at least 1.
    """

    origin: str
    url: str
    hops: int


@dataclass(frozen=True, slots=True)
class HostLease:
    """One host, lent: nobody else contacts it until the shard has its final report.

    `not_before`: no request may start earlier. `delay`: seconds from the end of a response to the next request, before
    robots' crawl-delay is considered. `robots` holds the unexpired records of the origins in `urls`. `errands`: wire
    URLs at which other origins' robots.txt is to be had; they are asked first. `response_seconds`: of the host's last
    answer. `address`: where it is thought to be; empty: to be found out before anything is asked; `None`: of no
    interest. `strangers`: origins of which no robots.txt was ever had, though another one's was, and one has failed.
    """

    host: str
    site: str
    slot: int
    not_before: float
    delay: float
    robots: tuple[RobotsRecord, ...]
    urls: tuple[LeasedUrl, ...]
    errands: tuple[str, ...] = ()
    response_seconds: float = 0.0
    address: str | None = None
    strangers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Lease:
    """Many hosts for one fetch task. No request may start after `deadline`.

    `excused`: the crawl seems to have no network; a host that cannot be reached is as if it had not been asked.
    """

    number: int
    shard: int
    epoch: int
    deadline: float
    hosts: tuple[HostLease, ...]
    excused: bool = False

    @property
    def size(self) -> int:
        """URLs in the lease."""
        return sum(len(host.urls) for host in self.hosts)


class Incident(NamedTuple):
    """Why a host was stopped before its URLs were done: one step of back-off, however many answers said so.

    `retry_after`: seconds the server asked for, if it did.
    """

    kind: Kind
    status: int | None
    retry_after: float | None


class Heard(NamedTuple):
    """What one request for a robots.txt brought: one of `rules` (packed), `moved_to` (a wire URL) and `failure`.

    `ended_at`: when the answer had come.
    """

    url: str
    ended_at: float
    rules: bytes | None = None
    moved_to: str | None = None
    failure: Incident | None = None


class RetryLater(NamedTuple):
    """A URL whose outcome is not final: it goes back to the queue with `attempt` + 1, after `wait` seconds."""

    key: int
    kind: Kind
    status: int | None
    wait: float


class HostReport(NamedTuple):
    """The last word of a fetch task on one host of its lease; the host is free again once `free_at` has passed.

    `free_at`: the moment its delay ends, counted from the end of the last exchange. `ended_at`: that end, or `None` if
    the host was not contacted. `successes`: answers that count as the host being well. `robots`: records fetched
    during the lease. `robots_failure`: the origin whose robots.txt could not be had, if that stopped the host.
    `not_before`: the moment before which the host is not to be asked again, if something else than the host stopped it.
    `unused`: keys that were not tried. `retries`: keys to try again later. `errand`: where the robots.txt must be had
    for which the host waits from now on. `heard`: what came of the lease's errands; those not named were not run.
    `address`: where the host is, if the lease did not know it. `served`: it gave something besides its robots.txt.
    `answered_at`: the end of the last exchange in which it answered at all.
    """

    host: str
    free_at: float
    ended_at: float | None
    response_seconds: float | None
    successes: int
    robots: tuple[RobotsRecord, ...]
    robots_failure: str | None
    incident: Incident | None
    not_before: float | None
    unused: tuple[int, ...]
    retries: tuple[RetryLater, ...]
    errand: Errand | None = None
    heard: tuple[Heard, ...] = ()
    address: str | None = None
    served: bool = False
    answered_at: float | None = None


class Content(NamedTuple):
    """A body by its digest (SHA-256), and the URL that has it."""

    digest: bytes
    key: int
    url: str


class Delivery(NamedTuple):
    """The small item that follows each batch of a fetch stream; the last one says `end`.

    `keys`: URLs whose final outcomes are in the batch before, in its order; `contents`: what those that are pages with
    a body have in it, `None` for the others. `robots_fetched`, `requests`: for the counters.
    """

    keys: tuple[int, ...]
    contents: tuple[Content | None, ...]
    reports: tuple[HostReport, ...]
    requests: int
    robots_fetched: int
    end: bool
