"""One host of a lease, as decisions: what to ask next and when, and what its answers mean.

Pure: `now` comes in, actions go out. It must not know sockets, loops or other hosts.

::

    next(now) ─► Locate ─► located() ───────┐     one action at a time: while an answer is
        │  ────► Run ────► run_answer() ────┤     outstanding, next() is not called
        │  ────► Robots ─► robots_answer() ─┤
        │  ────► Get ────► answered() ──────┤
        │  ────► Wait ──── (sleep) ─────────┤
        ▼                                   │
       Done ◄───────────── next() ◄─────────┘     then report()
"""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from crawler.config import Config
from crawler.fetch.exchange import Answer
from crawler.fetch.hearing import hear, incident
from crawler.fetch.pace import Pace
from crawler.fetch.robots import HostRobots
from crawler.frontier.lease import (
    Heard,
    HostLease,
    HostReport,
    Incident,
    LeasedUrl,
    RetryLater,
    RobotsRecord,
)
from crawler.outcomes import Kind, retry, unreached
from crawler.url.keys import origin_of
from crawler.url.sitemaps import is_probe


class Robots(NamedTuple):
    """Ask for the robots.txt of `origin`, at `url`."""

    origin: str
    url: str


class Run(NamedTuple):
    """Ask for the robots.txt of other origins, at `url`: an errand of the lease."""

    url: str


class Get(NamedTuple):
    """Ask for one URL of the lease."""

    leased: LeasedUrl


class Locate(NamedTuple):
    """Find the address of the host's name; nothing is sent to it."""

    host: str


class Wait(NamedTuple):
    """Ask nothing before the moment `until`."""

    until: float


class Done(NamedTuple):
    """Nothing more is asked of this host."""


class Final(NamedTuple):
    """A URL and the last word on it: one row.

    `sitemaps`: those that its origin's robots.txt names, as written; only where a sitemap is looked for.
    """

    leased: LeasedUrl
    answer: Answer
    sitemaps: tuple[str, ...] | None = None


Action = Locate | Run | Robots | Get | Wait | Done


class HostVisit:
    """Every URL of the lease ends as exactly one of: final, to be tried again, unused.

    No request starts before `not_before`, nor sooner after the end of the last response than the
    host's delay, nor after the deadline; robots.txt is a request like others. Where it leads to another
    host the visit ends: only that host's shard may ask there (`crawler.frontier.errands`).
    `rekey` gives the key of a URL, `None` if it is not one the crawl would take. `excused`: see `Lease`.
    """

    def __init__(
        self,
        lease: HostLease,
        deadline: float,
        config: Config,
        token: str,
        rekey: Callable[[str], int | None],
        *,
        excused: bool = False,
    ) -> None:
        self._lease = lease
        self._deadline = deadline
        self._config = config
        self._token = token
        self._pace = Pace(lease, config.politeness)
        self._robots = HostRobots(lease, config, token)
        self._rekey = rekey
        self._excused = excused
        self._queue = deque(lease.urls)
        self._errands = deque(lease.errands)
        self._stopped = False
        self._finals: list[Final] = []
        self._retries: list[RetryLater] = []
        self._heard: list[Heard] = []
        self._incident: Incident | None = None
        self._not_before: float | None = None
        self._successes = 0
        self._served = False
        self._address = lease.address
        self._located = lease.address is None

    def next(self, now: float) -> Action:
        """What to do at `now`. URLs that robots.txt denies become final on the way, unasked."""
        if not self._located:
            return Locate(self._lease.host)
        if self._errands and not self._stopped:
            return self._when(now, Run(self._errands[0]))
        while self._queue and not self._stopped:
            leased = self._queue[0]
            if self._config.robots.obey:
                origin = origin_of(leased.url)
                rules = self._robots.rules(origin, now)
                if rules is None:
                    return self._when(now, Robots(origin, self._robots.place(origin)))
                if not rules.allows(leased.url):
                    self._finish(self._queue.popleft(), Answer(Kind.ROBOTS_DENIED, now, now))
                    continue
            return self._when(now, Get(leased))
        return Done()

    def located(self, answer: Answer) -> None:
        """Take what came of a `Locate` action: an answer that has only an `ip`, or the reason why there is none.

        A host of which no address was known is asked nothing: its shard must see first who else is there.
        """
        self._located = True
        if self._unasked(answer):
            return
        if answer.ip is None:
            self._stop(incident(answer, self._config))
            return
        self._stopped = not self._address
        self._address = answer.ip

    def robots_answer(self, origin: str, answer: Answer) -> None:
        """Take what came of a `Robots` action."""
        if self._unasked(answer) or not self._exchanged(answer):
            return
        came = self._robots.take(origin, answer)
        if came is None:
            self._block(origin, answer)
        elif isinstance(came, Incident):
            if self._robots.strange(origin, came):
                self._put_off(origin, answer)
            else:
                self._stop(came)
        elif isinstance(came, RobotsRecord):
            self._successes += 1
        else:
            self._stopped = self._robots.errand is not None

    def run_answer(self, answer: Answer) -> None:
        """Take what came of a `Run` action: the first errand of the lease."""
        if self._unasked(answer):
            while answer.nameless and self._errands:
                url = self._errands.popleft()
                self._heard.append(hear(url, answer, self._token, self._config))
            return
        if not self._exchanged(answer):
            return
        heard = hear(self._errands.popleft(), answer, self._token, self._config)
        self._heard.append(heard)
        if heard.failure is None:
            self._successes += 1
        elif retry(answer.kind, answer.status).against_host:
            self._stop(heard.failure)

    def answered(self, leased: LeasedUrl, answer: Answer) -> None:
        """Take what came of a `Get` action: the first URL of the queue."""
        if self._unasked(answer) or not self._exchanged(answer):
            return
        self._queue.popleft()
        rule = retry(answer.kind, answer.status)
        if rule.against_host:
            self._stop(incident(answer, self._config))
        elif answer.status is not None:
            self._successes += 1
            self._served = True
        if leased.attempt + 1 < rule.attempts:
            later = RetryLater(leased.key, answer.kind, answer.status, rule.wait)
            self._retries.append(later)
        elif answer.redirect_to is not None and self._rekey(answer.redirect_to) == leased.key:
            self._again(leased, answer, answer.redirect_to)
        else:
            self._finish(leased, answer)

    def take(self) -> list[Final]:
        """The outcomes that have become final since the last call."""
        finals, self._finals = self._finals, []
        return finals

    def report(self) -> HostReport:
        """The last word on the host; what is still queued is unused."""
        return HostReport(
            host=self._lease.host,
            free_at=self._pace.ready_at(self._robots.crawl_delay),
            ended_at=self._pace.ended_at,
            response_seconds=self._pace.response_seconds,
            successes=self._successes,
            robots=tuple(self._robots.fetched),
            robots_failure=self._robots.failure,
            incident=self._incident,
            not_before=self._not_before,
            unused=tuple(leased.key for leased in self._queue),
            retries=tuple(self._retries),
            errand=self._robots.errand,
            heard=tuple(self._heard),
            address=None if self._address == self._lease.address else self._address,
            served=self._served,
            answered_at=self._pace.answered_at,
        )

    def _block(self, origin: str, answer: Answer) -> None:
        """The origin has no address that may be connected to: its URLs need not be tried."""
        for leased in self._take_out(origin):
            self._finish(leased, answer)

    def _put_off(self, origin: str, answer: Answer) -> None:
        """The origin cannot be had where others of the host can: its URLs are tried again later, the others go on."""
        rule = retry(Kind.ROBOTS_UNREACHABLE)
        ended = Answer(
            Kind.ROBOTS_UNREACHABLE, answer.fetched_at, answer.ended_at, answer.elapsed,
            ip=answer.ip, tls_verified=answer.tls_verified, error=answer.error or answer.kind,
        )  # fmt: skip
        for leased in self._take_out(origin):
            if leased.attempt + 1 < rule.attempts:
                later = RetryLater(leased.key, ended.kind, None, rule.wait)
                self._retries.append(later)
            else:
                self._finish(leased, ended)

    def _take_out(self, origin: str) -> list[LeasedUrl]:
        taken = [leased for leased in self._queue if origin_of(leased.url) == origin]
        self._queue = deque(leased for leased in self._queue if origin_of(leased.url) != origin)
        return taken

    def _unasked(self, answer: Answer) -> bool:
        """Whether no request was made: the host has no name, or we could not ask; an excused host counts as unasked.

        The first is the last word on all its URLs; the others say nothing about it.
        """
        if answer.nameless:
            while self._queue:
                self._finish(self._queue.popleft(), answer)
            return True
        excused = self._excused and unreached(answer.kind, answer.status)
        if excused:
            self._pace.exchanged(answer)  # it may have heard of us all the same
        if answer.ours or excused:
            self._not_before = answer.ended_at + self._config.dns.retry_wait
            self._stopped = True
        return answer.ours or excused

    def _exchanged(self, answer: Answer) -> bool:
        """A request was made; whether it came to anything.

        If not, the connection had died before: the same is asked again, when the host may be asked again.
        """
        self._pace.exchanged(answer)
        return not answer.stale

    def _when(self, now: float, action: Action) -> Action:
        ready_at = self._pace.ready_at(self._robots.crawl_delay)
        if max(now, ready_at) > self._deadline:
            self._stopped = True
            return Done()
        return action if now >= ready_at else Wait(ready_at)

    def _stop(self, incident: Incident) -> None:
        self._incident = incident
        self._stopped = True

    def _again(self, leased: LeasedUrl, answer: Answer, target: str) -> None:
        """Another spelling of the same URL: the frontier would call it known, so it is asked here.

        The answer to that spelling is the URL's outcome.
        """
        hops = leased.hops + 1
        # To itself: it wants to see a cookie again, and would for ever.
        if target == leased.url or hops > self._config.scope.max_redirects:
            self._finish(leased, answer._replace(error="redirect loop"))
        else:
            self._queue.appendleft(leased._replace(url=target, hops=hops))

    def _finish(self, leased: LeasedUrl, answer: Answer) -> None:
        wanted = self._config.sitemaps.discover and is_probe(leased.url)
        named = self._robots.sitemaps(leased.url) if wanted else None
        self._finals.append(Final(leased, answer, named))
