"""Where each host in memory is: lent, scheduled, given up, or only waiting for its leased URLs to be settled."""

import random
from collections.abc import Iterable, Iterator
from itertools import islice

from crawler.config import Politeness
from crawler.frontier import politeness
from crawler.frontier.host import Host, Hosts
from crawler.frontier.schedule import Schedule
from crawler.outcomes import Kind


class Places:
    """A host with unleased entries or errands is in one of `lent`, `schedule`, `given_up`; one with nothing is gone."""

    def __init__(self, hosts: Hosts, rules: Politeness, restarted: float) -> None:
        """`restarted`: hosts may have been asked until then by someone who could not write it down."""
        self._hosts = hosts
        self._rules = rules
        self._restarted = restarted
        self.schedule = Schedule()
        self.given_up: dict[str, Host] = {}
        self.lent: dict[str, Host] = {}
        self.put_all(list(hosts.known.values()))

    def suspect(self, now: float) -> None:
        """Hosts may have been asked until `now`: none is asked again before its delay has passed since then."""
        self._restarted = max(self._restarted, now)

    def moment(self, host: Host) -> float:
        """When the host may next be asked, as far as the host is concerned."""
        return max(
            host.clock.moment,
            self._restarted + politeness.delay(host.name, host.clock, self._rules),
            0.0 if host.called else host.rests_until,
        )

    def draw(self, now: float, rng: random.Random) -> Iterator[tuple[Host, float]]:
        """Hosts whose moment has come, and that moment; each is out of the schedule until it is lent or put back."""
        self.schedule.mature(now)
        while (name := self.schedule.draw(rng)) is not None:
            host = self._hosts.known[name]
            moment = self.moment(host)
            if moment <= now:
                yield host, moment
            else:  # `suspect` has moved the moment since
                self.put(host)

    def lend(self, host: Host) -> None:
        """A drawn host goes to a fetch task."""
        host.lent = True
        self.lent[host.name] = host

    def end_loan(self, host: Host) -> None:
        """A lent host is back; `put` must follow."""
        host.lent = False
        del self.lent[host.name]

    def put_all(self, hosts: Iterable[Host]) -> None:
        """`put` for each."""
        for host in hosts:
            self.put(host)

    def put(self, host: Host) -> None:
        """Puts a host where it belongs after whatever happened to it."""
        if host.lent:
            return
        if not (host.queued or host.due or host.called):
            self.schedule.remove(host.name)
            self.given_up.pop(host.name, None)
            if not host.leased:
                self._hosts.forget(host)
        elif host.given_up is not None:
            self.schedule.remove(host.name)
            self.given_up[host.name] = host
        elif host.queued or host.called:
            self.schedule.put(host.name, self.moment(host), host.priority)
        else:
            self.schedule.put(host.name, max(self.moment(host), host.next_due), 0)

    def hopeless(self, limit: int) -> list[tuple[Host, Kind]]:
        """Up to `limit` given-up hosts that have unleased entries, and how those end."""
        first = islice(self.given_up.values(), max(limit, 0))
        return [(host, host.given_up) for host in first if host.given_up is not None]

    def next_moment(self, now: float) -> float | None:
        """The next moment at which a host may be drawn or a given-up one ended; `None` if there is none to wait for."""
        if self.given_up or self.schedule.ready:
            return now
        moment = self.schedule.next_moment()
        return None if moment is None else max(moment, now)

    def check(self) -> None:
        """Asserts the invariant."""
        for host in self._hosts.known.values():
            places = host.name in self.lent, host.name in self.schedule, host.name in self.given_up
            has_work = host.queued + host.due > 0 or host.called
            assert sum(places) == (host.lent or has_work), (host, places)
            assert host.lent == places[0], host
            assert places[2] == (
                host.given_up is not None and not host.lent and host.queued + host.due > 0
            ), host
            assert host.lent or has_work or host.leased, host
