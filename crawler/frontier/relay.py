"""Errands and the hosts they concern: who runs some, who rests until one is run, and what its end means for a host.

It connects `errands` (what is remembered) with the hosts, their places and what is judged of them.
"""

from collections.abc import Iterable, Iterator

from crawler.config import Config
from crawler.frontier.budget import Ledger
from crawler.frontier.errands import Errands, Mail, Told, destination, slot_for
from crawler.frontier.host import Host, Hosts
from crawler.frontier.judging import Judging
from crawler.frontier.lease import Errand, HostReport, Incident, RobotsRecord
from crawler.frontier.places import Places
from crawler.frontier.politeness import EVER
from crawler.frontier.store import Batch, Store
from crawler.url.keys import site_of


class Relay:
    """Invariant: `host.called` says whether `errands` has some for the host; who rests waits for one."""

    def __init__(
        self, store: Store, hosts: Hosts, places: Places, judging: Judging, config: Config
    ) -> None:
        self._store = store
        self._config = config
        self._hosts = hosts
        self._places = places
        self._judging = judging
        self.errands = Errands(config)

    def called(self, now: float, *, apart: bool) -> Iterator[tuple[Host, float]]:
        """Hosts that others wait for, whose moment has come; each is to be lent or put back. `apart`: see `Places`."""
        for name in self.errands.hosts:
            host = self._hosts.known[name]
            moment = self._places.moment(host)
            if not host.lent and host.apart is apart and moment <= now:
                self._places.withdraw(host)
                yield host, moment

    def reported(self, host: Host, report: HostReport, now: float) -> None:
        """The errands in a report on a host, after the report was judged."""
        self.errands.heard(host.name, report.heard)
        if report.errand is not None:
            host.rests_until = self.errands.send(host.name, report.errand, now)
        self.reconsider(host, now)

    def post(self, mail: Iterable[Mail], now: float) -> None:
        """Takes errands to hosts here, and what is told to those that wait here. Again is as good as once."""
        batch = self._store.batch()
        ledger = Ledger(self._config, self._store)
        touched: set[Host] = set()
        for one in mail:
            host = self._told(one, batch, now) if isinstance(one, Told) else self._accept(one, now)
            if host is not None:
                touched.add(host)
                if not host.stored:
                    ledger.enter(host)
                self._hosts.save(batch, host)
        ledger.save(batch)
        self._store.write(batch)
        self._places.put_all(touched)

    def expire(self, now: float) -> None:
        """Who has waited too long takes it for a failure."""
        if late := self.errands.overdue(now):
            self.post(late, now)

    def _accept(self, errand: Errand, now: float) -> Host | None:
        if not self.errands.accept(errand, now):
            return None
        name = destination(errand)
        host = self._hosts.find(slot_for(errand), name, site_of(name))
        self.reconsider(host, now)
        return host

    def reconsider(self, host: Host, now: float) -> None:
        """Who waits in vain for a host that is given up, or must be left alone for long, is told so."""
        moment = EVER if host.given_up is not None else host.clock.moment
        self.errands.refuse(host.name, moment, now)
        host.called = self.errands.has(host.name)

    def _told(self, told: Told, batch: Batch, now: float) -> Host | None:
        host = self._hosts.known.get(destination(told))
        if not self.errands.awaited(told) or host is None:
            return None
        host.rests_until = 0.0
        came = self.errands.comes_to(told)
        if isinstance(came, Errand):
            host.rests_until = self.errands.send(host.name, came, now)
        else:
            self._judging.judge(host, _report(host.name, told, came), batch)
            self.reconsider(host, now)
        return host


def _report(host: str, told: Told, came: RobotsRecord | Incident) -> HostReport:
    """The end of an errand as if the host had been visited for it: it was not, so nothing counts as its answer."""
    failure = came if isinstance(came, Incident) else None
    return HostReport(
        host=host,
        free_at=told.heard.ended_at,
        ended_at=None,
        response_seconds=None,
        successes=0,
        robots=() if isinstance(came, Incident) else (came,),
        robots_failure=None if failure is None else told.errand.origin,
        incident=failure,
        not_before=None,
        unused=(),
        retries=(),
    )
