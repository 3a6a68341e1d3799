"""Where each host in memory is: lent, scheduled, given up, or only waiting for its leased URLs to be settled."""

import random
from collections.abc import Iterable, Iterator
from itertools import islice

from crawler.config import Politeness
from crawler.frontier import politeness
from crawler.frontier.host import Host, Hosts
from crawler.frontier.politeness import EVER
from crawler.frontier.schedule import Schedule
from crawler.frontier.shared import Shared
from crawler.outcomes import Kind


class Places:
    """A host with unleased entries or errands is in one of `lent`, the schedules, `given_up`; one with nothing is gone.

    `apart`: the schedule of hosts that may harm others (`Host.unsafe`); all other ones are in `schedule`. `waiting`:
    the hosts that are failing or have only retries left; the end of the crawl waits for them until `until` at most
    (0.0: no longer), and does not begin while one of them is in `outages`, by the moment there. `parked`: those of them
    that are.
    """

    def __init__(self, hosts: Hosts, rules: Politeness, restarted: float) -> None:
        """`restarted`: hosts may have been asked until then by someone who could not write it down."""
        self._hosts = hosts
        self._rules = rules
        self._restarted = restarted
        self.schedule, self.apart = Schedule(), Schedule()
        self.waiting: dict[str, Host] = {}
        self.outages: dict[str, float] = {}
        self.parked: set[str] = set()
        self.until = EVER
        delay = rules.address_delay
        self._shared = None if delay is None else Shared(delay)
        self.given_up: dict[str, Host] = {}
        self.lent: dict[str, Host] = {}
        self.put_all(list(hosts.known.values()))

    @property
    def over(self) -> bool:
        """Whether hosts that are failing are waited for no longer."""
        return self.until <= 0.0

    def suspect(self, now: float) -> None:
        """Hosts may have been asked until `now`: none is asked again before its delay has passed since then."""
        self._restarted = max(self._restarted, now)

    def moment(self, host: Host) -> float:
        """When the host may next be asked, as far as the host is concerned."""
        moment = max(
            host.clock.moment,
            self._restarted + politeness.delay(host.name, host.clock, self._rules),
            0.0 if host.called else host.rests_until,
        )
        return moment if self._shared is None else max(moment, self._shared.moment(host))

    def draw(
        self, now: float, rng: random.Random, *, apart: bool = False
    ) -> Iterator[tuple[Host, float]]:
        """Hosts whose moment has come, and that moment; each is out of the schedule until it is lent or put back."""
        schedule = self._schedule(apart)
        schedule.mature(now)
        while (name := schedule.draw(rng)) is not None:
            host = self._hosts.known[name]
            moment = self.moment(host)
            if moment <= now:
                yield host, moment
            else:  # `suspect`, or another host of the address, has moved the moment since
                self.put(host)

    def lend(self, host: Host) -> None:
        """A drawn host goes to a fetch task."""
        host.lent = True
        self.lent[host.name] = host
        self.withdraw(host)
        self._note(host)
        if self._shared is not None:
            self._shared.lend(host)

    def end_loan(self, host: Host, asked: float | None, address: str | None, now: float) -> None:
        """A lent host is back; `put` must follow. It was `asked` until then, if at all; `address`: if that is news."""
        host.lent = False
        del self.lent[host.name]
        if self._shared is not None:
            self.put_all(self._shared.end_loan(host, asked, address, now))

    def put_all(self, hosts: Iterable[Host]) -> None:
        """`put` for each."""
        for host in hosts:
            self.put(host)

    def put(self, host: Host) -> None:
        """Puts a host where it belongs after whatever happened to it."""
        if host.lent:
            self._note(host)  # an errand of its own may have come back meanwhile
            return
        name = host.name
        if host.given_up is None and (host.queued or host.due or host.called):
            self._enter(host)
        else:
            self.withdraw(host)
            if host.queued or host.due:
                self.given_up[name] = host
            else:
                self.given_up.pop(name, None)
                if not host.leased:
                    self._unnote(host)
                    self._hosts.forget(host)
                    return
        self._note(host)

    def _enter(self, host: Host) -> None:
        turn = 0 if self._shared is None else self._shared.add(host)
        name, clock, moment = host.name, host.clock, self.moment(host)
        if not (host.queued or host.called):
            moment = max(moment, min(host.next_due, self.until))
        apart = host.unsafe
        if host.apart is not apart:
            self._schedule(host.apart).remove(name)
            host.apart = apart
        self._schedule(apart).put(name, moment, host.priority if host.queued else 0, turn)
        if clock.parks and clock.failing:
            self.parked.add(name)
        elif self.parked:
            self.parked.discard(name)

    def withdraw(self, host: Host) -> None:
        """Takes a host out of the schedules; it must be lent or put somewhere."""
        self._schedule(host.apart).remove(host.name)
        self.parked.discard(host.name)
        if self._shared is not None:
            self._shared.remove(host)

    def _note(self, host: Host) -> None:
        if _waits(host):
            self.waiting[host.name] = host
            until = politeness.patience(host.clock, self._rules) if host.given_up is None else 0.0
            if until:
                self.outages[host.name] = until
            elif self.outages:
                self.outages.pop(host.name, None)
        elif self.waiting:
            self._unnote(host)

    def _unnote(self, host: Host) -> None:
        self.waiting.pop(host.name, None)
        self.outages.pop(host.name, None)

    def _schedule(self, apart: bool) -> Schedule:
        return self.apart if apart else self.schedule

    def stalled(self, now: float) -> bool:
        """Whether there are hosts with something to do, and the end of the crawl need not wait long for any of them."""
        if not 0 < len(self.waiting) == len(self._hosts.known):
            return False
        return all(until <= now for until in self.outages.values())

    def call(self, until: float) -> list[Host]:
        """Waiting hosts are waited for until then; those whose place this may change, for whom `put` must follow."""
        self.until = until
        return [
            host
            for host in self.waiting.values()
            if host.ended or ((host.queued or host.due) and not host.lent and host.given_up is None)
        ]

    def hopeless(self, limit: int) -> list[tuple[Host, Kind]]:
        """Up to `limit` given-up hosts that have unleased entries, and how those end."""
        first = islice(self.given_up.values(), max(limit, 0))
        return [(host, host.given_up) for host in first if host.given_up is not None]

    def ready(self, now: float, *, apart: bool) -> int:
        """How many hosts may be drawn."""
        schedule = self._schedule(apart)
        schedule.mature(now)
        return schedule.ready

    def next_moment(self, now: float, *, common: bool = True, apart: bool = True) -> float | None:
        """The next moment at which a host may be drawn or a given-up one ended; `None` if there is none to wait for.

        `common`, `apart`: whether the hosts of the one schedule and of the other are waited for.
        """
        schedules = [self.schedule] * common + [self.apart] * apart
        if self.given_up or any(schedule.ready for schedule in schedules):
            return now
        moments = [
            moment for schedule in schedules if (moment := schedule.next_moment()) is not None
        ]
        return max(min(moments), now) if moments else None

    def check(self) -> None:
        """Asserts the invariant."""
        for host in self._hosts.known.values():
            scheduled = host.name in self.schedule, host.name in self.apart
            places = host.name in self.lent, any(scheduled), host.name in self.given_up
            has_work = host.queued + host.due > 0 or host.called
            assert not all(scheduled), host
            assert sum(places) == (host.lent or has_work), (host, places)
            assert host.lent == places[0], host
            assert places[2] == (
                host.given_up is not None and not host.lent and host.queued + host.due > 0
            ), host
            assert host.lent or has_work or host.leased, host
            assert scheduled[1] == (places[1] and host.unsafe), host
            assert _waits(host) == (host.name in self.waiting), host
        assert self.parked <= self.waiting.keys() <= self._hosts.known.keys()
        assert self.outages.keys() <= self.waiting.keys()


def _waits(host: Host) -> bool:
    """Whether the end of the crawl waits for the host at most until the last call. Failing, it does so while lent."""
    return host.clock.failing or not (host.queued or host.leased or host.lent or host.called)
