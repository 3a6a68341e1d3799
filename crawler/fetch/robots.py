"""What the robots.txt of a host's origins say in one visit: which rules hold, where to ask for others, what came.

Pure. It must not know when the host may be asked, nor what becomes of its URLs.
"""

from crawler.config import Config
from crawler.fetch.exchange import Answer
from crawler.fetch.hearing import hear
from crawler.frontier.errands import onward
from crawler.frontier.lease import Errand, HostLease, Incident, RobotsRecord
from crawler.outcomes import Kind, retry
from crawler.robots.rules import Rules
from crawler.url.keys import host_of, origin_of


class HostRobots:
    """`fetched`: the records that are news. `failure`: an origin whose robots.txt cannot be had.

    `errand`: one of them has moved to another host, and only that host's shard may ask there.
    """

    def __init__(self, lease: HostLease, config: Config, token: str) -> None:
        self._host = lease.host
        self._config = config
        self._token = token
        self._rules = {
            record.origin: (Rules.unpack(record.rules), record.expires_at)
            for record in lease.robots
        }
        self._strangers = lease.strangers
        self._heading: Errand | None = None
        self.fetched: list[RobotsRecord] = []
        self.failure: str | None = None
        self.errand: Errand | None = None

    @property
    def crawl_delay(self) -> float:
        """The longest that any of them asks for, in seconds; 0: none does."""
        return max((rules.crawl_delay or 0.0 for rules, _ in self._rules.values()), default=0.0)

    def rules(self, origin: str, now: float) -> Rules | None:
        """The rules of an origin, if they may be used at `now`."""
        rules, expires_at = self._rules.get(origin, (None, 0.0))
        return rules if now < expires_at else None

    def sitemaps(self, url: str) -> tuple[str, ...]:
        """The sitemaps that the robots.txt of the URL's origin names, as written."""
        known = self._rules.get(origin_of(url))
        return () if known is None else known[0].sitemaps

    def strange(self, origin: str, failure: Incident) -> bool:
        """Whether a failure is the origin's alone: the host answers elsewhere, never here, and asks for no time."""
        asks = failure.kind is Kind.HTTP_ERROR and retry(failure.kind, failure.status).against_host
        return origin in self._strangers and not asks

    def place(self, origin: str) -> str:
        """The URL at which the rules of an origin are to be asked for now."""
        return self._heading.url if self._heading else f"{origin}/robots.txt"

    def take(self, origin: str, answer: Answer) -> RobotsRecord | Errand | Incident | None:
        """What an answer to that means (RFC 9309 §2.3.1): rules, another place to ask, or a failure.

        `None`: the origin itself has no address that may be connected to.
        """
        url, hops = self.place(origin), self._heading.hops if self._heading else 0
        self._heading = None
        if answer.kind is Kind.BLOCKED_ADDRESS and not hops:
            return None
        heard = hear(url, answer, self._token, self._config)
        came = onward(origin, hops, heard, self._config.robots)
        if isinstance(came, RobotsRecord):
            self._rules[origin] = (Rules.unpack(came.rules), came.expires_at)
            self.fetched.append(came)
        elif isinstance(came, Incident):
            if not self.strange(origin, came):
                self.failure = origin
        elif host_of(came.url) == self._host:
            self._heading = came
        else:
            self.errand = came
        return came
