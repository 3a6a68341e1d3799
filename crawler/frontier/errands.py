"""Robots.txt that is redirected to another host: asked for by that host's shard, on its clock, and told back.

An *errand* goes from the shard of the host that waits for it to the shard of the host that can be asked; what is
*told* goes back. All of it is in memory: whoever waits too long takes it for a failure, backs off and asks anew.
Pure: it knows hosts by name and only remembers; contacting, scheduling and storing are others' work.
"""

from collections.abc import Iterable
from itertools import islice, takewhile
from typing import NamedTuple

from crawler.config import Config, Robots
from crawler.frontier.lease import Errand, Heard, Incident, RobotsRecord
from crawler.outcomes import Kind
from crawler.robots.answer import follows
from crawler.robots.rules import ALLOW_ALL
from crawler.url.keys import host_of, site_of, slot_of

# Different URLs of one host that wait to be asked, and origins that wait for them in a shard. Real hosts to which many
# robots.txt lead have one URL for all of them, which is asked once for all.
MAX_URLS = 100
MAX_ASKERS = 10_000

_REFUSED = Incident(Kind.ROBOTS_UNREACHABLE, None, None)
_SILENCE = Incident(Kind.TIMEOUT, None, None)


class Told(NamedTuple):
    """An errand, and what came of it."""

    errand: Errand
    heard: Heard


Mail = Errand | Told


def destination(mail: Mail) -> str:
    """The host whose shard is to have it: the one that can be asked, or the one that waits."""
    return host_of(mail.url if isinstance(mail, Errand) else mail.errand.origin)


def slot_for(mail: Mail) -> int:
    """The slot of the destination."""
    return slot_of(site_of(destination(mail)))


def onward(origin: str, hops: int, heard: Heard, rules: Robots) -> RobotsRecord | Errand | Incident:
    """What an answer for the robots.txt of `origin`, had after `hops` redirects, comes to.

    Its rules until they expire; or where to ask next; or a failure.
    """
    if heard.failure is not None:
        return heard.failure
    packed = heard.rules
    if heard.moved_to is not None:
        if follows(heard.moved_to, hops, rules.max_redirects):
            return Errand(origin, heard.moved_to, hops + 1)
        packed = ALLOW_ALL.pack()
    return RobotsRecord(origin, packed or ALLOW_ALL.pack(), heard.ended_at + rules.ttl)


def patience(config: Config) -> float:
    """Seconds for which a host waits for an errand: the other host's lease, its last exchange and its delay, and ours.

    Then the shard that could have told has lost it.
    """
    before = config.runtime.lease_seconds + config.fetch.total_timeout
    return before + config.politeness.crawl_delay_cap + 2 * config.robots.timeout


class _Waiting(NamedTuple):
    errand: Errand
    until: float


class Errands:
    """What is to be asked here for others, which hosts here wait for others, and what is to be sent.

    A host waits for one errand at a time. A URL that several origins need is asked once, and told to all of them.
    """

    def __init__(self, config: Config) -> None:
        self._rules = config.robots
        self._patience = patience(config)
        # By host, by URL: the errands (they differ in their origins), and until when they wait.
        self._asked: dict[str, dict[str, dict[Errand, float]]] = {}
        self._askers = 0
        self._waiting: dict[str, _Waiting] = {}
        self._outgoing: list[Mail] = []

    def __repr__(self) -> str:
        return f"<Errands {self._askers} to run, {len(self._waiting)} waited for, {len(self._outgoing)} to send>"

    @property
    def pending(self) -> int:
        """Errands to run, and mail to send."""
        return self._askers + len(self._outgoing)

    @property
    def hosts(self) -> list[str]:
        """The hosts that have errands to run."""
        return list(self._asked)

    def has(self, host: str) -> bool:
        """Whether the host has errands to run."""
        return host in self._asked

    def of(self, host: str, most: int) -> tuple[str, ...]:
        """Up to `most` URLs that others need of the host, those that wait longest first."""
        return tuple(islice(self._asked.get(host, ()), most))

    def send(self, host: str, errand: Errand, now: float) -> float:
        """`host` waits from now on; returns until when at most."""
        until = now + self._patience
        self._waiting.pop(host, None)  # so that the order is that of `until`
        self._waiting[host] = _Waiting(errand, until)
        self._outgoing.append(errand)
        return until

    def accept(self, errand: Errand, now: float) -> bool:
        """Takes an errand to one of the hosts here; again is as good as once. If it is too much: told as refused."""
        host = host_of(errand.url)
        urls = self._asked.get(host, {})
        if self._askers >= MAX_ASKERS or (errand.url not in urls and len(urls) >= MAX_URLS):
            self._tell(errand, Heard(errand.url, now, failure=_REFUSED))
            return False
        askers = self._asked.setdefault(host, urls).setdefault(errand.url, {})
        self._askers += errand not in askers
        askers[errand] = now + self._patience
        return True

    def heard(self, host: str, answers: Iterable[Heard]) -> None:
        """The host was asked: everyone who waits for these URLs is told."""
        for heard in answers:
            for errand in self._remove(host, heard.url):
                self._tell(errand, heard)

    def refuse(self, host: str, moment: float, now: float) -> None:
        """The host is not asked before `moment`: who does not wait so long is told so, or has stopped waiting."""
        for url in self.of(host, MAX_URLS):
            askers = self._asked[host][url]
            late = [errand for errand, until in askers.items() if until < max(moment, now)]
            if len(late) == len(askers):
                self._remove(host, url)
            else:
                self._askers -= len(late)
                for errand in late:
                    del askers[errand]
            for errand in late:
                self._tell(errand, Heard(url, now, failure=_REFUSED))

    def awaited(self, told: Told) -> bool:
        """Whether a host here waits for this very errand; it no longer does. Anything else came too late, or twice."""
        host = destination(told)
        waiting = self._waiting.get(host)
        if waiting is None or waiting.errand != told.errand:
            return False
        del self._waiting[host]
        return True

    def overdue(self, now: float) -> list[Told]:
        """The errands that have been waited for too long, as failures."""
        late = takewhile(lambda waiting: waiting.until <= now, self._waiting.values())
        return [Told(errand, Heard(errand.url, now, failure=_SILENCE)) for errand, _ in late]

    def comes_to(self, told: Told) -> RobotsRecord | Errand | Incident:
        """What is told, judged as if the origin had said it itself."""
        return onward(told.errand.origin, told.errand.hops, told.heard, self._rules)

    def outgoing(self) -> list[Mail]:
        """What is to be sent, since the last call."""
        mail, self._outgoing = self._outgoing, []
        return mail

    def _tell(self, errand: Errand, heard: Heard) -> None:
        self._outgoing.append(Told(errand, heard))

    def _remove(self, host: str, url: str) -> Iterable[Errand]:
        urls = self._asked.get(host, {})
        errands = urls.pop(url, {})
        self._askers -= len(errands)
        if not urls:
            self._asked.pop(host, None)
        return errands
