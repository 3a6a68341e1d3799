"""When a host may be asked again within one visit: the longest pause that anyone asks for.

Pure. It must not know what is asked, nor until when the visit may last. Between visits `crawler.frontier.politeness`
says it.
"""

from crawler.config import Politeness
from crawler.fetch.exchange import Answer
from crawler.frontier.lease import HostLease
from crawler.url.keys import host_of


class Pace:
    """`ended_at`: of the last exchange, `answered_at`, `response_seconds`: of the last answer; `None`: none yet."""

    def __init__(self, lease: HostLease, rules: Politeness) -> None:
        self._lease = lease
        self._rules = rules
        self._pause = 0.0
        self.ended_at: float | None = None
        self.answered_at: float | None = None
        self.response_seconds: float | None = None

    def exchanged(self, answer: Answer) -> None:
        """A request was made, and this came of it."""
        self.ended_at = answer.ended_at
        self._pause = self._pause_after(answer)
        if answer.status is not None:
            self.answered_at = answer.ended_at
            self.response_seconds = answer.elapsed

    def ready_at(self, crawl_delay: float) -> float:
        """The first moment at which the next request may start; `crawl_delay`: what robots.txt asks for, uncapped."""
        if self.ended_at is None:
            return self._lease.not_before
        last = self.response_seconds
        slow = self._lease.response_seconds if last is None else last
        gap = max(
            self._lease.delay,
            min(max(crawl_delay, self._pause), self._rules.crawl_delay_cap),
            self._rules.response_time_factor * slow,
        )
        return max(self._lease.not_before, self.ended_at + gap)

    def _pause_after(self, answer: Answer) -> float:
        """Seconds that a redirect asks for before its target is asked, if that is here (RFC 9110 §10.2.3)."""
        if answer.redirect_to is None or answer.retry_after is None:
            return 0.0
        return answer.retry_after if host_of(answer.redirect_to) == self._lease.host else 0.0
