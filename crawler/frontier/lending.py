"""Hosts with some of their URLs, leased out: those whose moment has come to be asked, those given up to be ended.

It must not know what comes back: reports and outcomes are others' business.
"""

import random
from dataclasses import replace

from crawler.config import Config
from crawler.frontier import politeness
from crawler.frontier.host import Host
from crawler.frontier.lease import HostLease, LeasedUrl
from crawler.frontier.origins import Origins
from crawler.frontier.places import Places
from crawler.frontier.politeness import EVER
from crawler.frontier.queues import Queues
from crawler.frontier.records import Entry
from crawler.frontier.relay import Relay
from crawler.outcomes import Kind
from crawler.url.keys import origin_of


class Lending:
    """A host that is drawn is lent, or is back in its place at once."""

    def __init__(
        self,
        queues: Queues,
        places: Places,
        relay: Relay,
        origins: Origins,
        config: Config,
        rng: random.Random,
    ) -> None:
        self._queues = queues
        self._places = places
        self._relay = relay
        self._origins = origins
        self._rules = config.politeness
        self._urls_per_host = config.runtime.urls_per_host
        self._lease_hosts = config.runtime.lease_hosts
        self._rng = rng

    def lend(
        self, now: float, deadline: float, max_hosts: int, max_urls: int, *, apart: bool
    ) -> tuple[HostLease, ...]:
        """Up to `max_hosts` ready hosts, up to `max_urls` URLs in all; those with errands first, even without URLs.

        Of those that were in lost leases only as many as each may be leased with.
        """
        hosts: list[HostLease] = []
        room = max_urls
        called = self._relay.called(now, apart=apart)
        drawn = self._places.draw(now, self._rng, apart=apart)
        while len(hosts) < max_hosts:
            ready = next(called, None) or (next(drawn, None) if room > 0 else None)
            if ready is None:
                break
            max_hosts = min(max_hosts, self.company(ready[0].losses))
            if len(hosts) >= max_hosts:
                self._places.put(ready[0])
                break
            lent = self._lend(*ready, room, deadline, now)
            if lent is not None:
                hosts.append(lent)
                room -= len(lent.urls)
        return tuple(hosts)

    def company(self, losses: int) -> int:
        """How many hosts a lease may have if one of them has so many `losses`.

        Half as many with each: so the one that fetch tasks die of is soon alone, and the others are served without it.
        """
        return max(1, self._lease_hosts >> losses)

    def hopeless(self, limit: int) -> list[tuple[HostLease, Kind, str]]:
        """Up to `limit` URLs of given-up hosts, which are not to be fetched: the kind and text of their rows."""
        ended: list[tuple[HostLease, Kind, str]] = []
        for host, kind in self._places.hopeless(limit):
            entries = self._queues.take(host, limit, EVER)
            limit -= len(entries)
            lease = self._host_lease(host, host.clock.moment, entries, EVER)
            ended.append((lease, kind, politeness.reason(host.clock, self._rules)))
            self._places.put(host)
            if limit == 0:
                break
        return ended

    def _lend(
        self, host: Host, moment: float, room: int, deadline: float, now: float
    ) -> HostLease | None:
        """Lends a drawn host, or puts it back where it belongs."""
        gap = politeness.delay(host.name, host.clock, self._rules)
        most = politeness.allowance(deadline - now, gap, self._urls_per_host)
        if self._rules.address_delay is not None and not host.address:
            most = 1  # nothing is asked: the lease is for its address
        due = EVER if now >= self._places.until else now
        errands = self._relay.errands.of(host.name, most) if host.called else ()
        entries = [] if host.rests_until > now else self._queues.take(host, min(room, most), due)
        if not (entries or errands):
            self._places.put(host)
            return None
        self._places.lend(host)
        lent = self._host_lease(host, moment, entries, now)
        # Of an origin that is asked only for others the rules, and with them its crawl-delay, are not in the lease.
        return replace(lent, errands=errands, delay=gap) if errands else lent

    def _host_lease(self, host: Host, moment: float, entries: list[Entry], now: float) -> HostLease:
        urls = tuple(_leased(entry) for entry in entries)
        origins = dict.fromkeys(origin_of(leased.url) for leased in urls)
        failing = host.clock.robots_failures > 0
        return HostLease(
            host=host.name,
            site=host.site,
            slot=host.slot,
            not_before=moment,
            delay=politeness.configured_delay(host.name, self._rules),
            robots=self._origins.load(host, origins, now),
            urls=urls,
            response_seconds=host.clock.response_seconds,
            address=None if self._rules.address_delay is None else host.address,
            strangers=self._origins.strangers(host, origins) if failing else (),
        )


def _leased(entry: Entry) -> LeasedUrl:
    return LeasedUrl(
        entry.key, entry.url.decode(), entry.visit, entry.attempt, entry.depth, entry.hops, entry.priority,
        entry.found_on.decode() or None, entry.found_via.decode(),
    )  # fmt: skip
