"""What is heard of a host becomes its clock and its robots records and, where it is beyond hope, the end of its URLs.

It must not know URLs or loans: whoever calls it saves the host, writes the batch and puts the host in its place.
"""

import random
from collections.abc import Iterable

from crawler.config import Politeness
from crawler.frontier import politeness
from crawler.frontier.host import Host, Hosts
from crawler.frontier.lease import HostReport
from crawler.frontier.meta import Meta
from crawler.frontier.origins import Origins
from crawler.frontier.places import Places
from crawler.frontier.store import Batch

# The counter of hosts that have been given up.
GIVEN_UP = "hosts_given_up"


class Judging:
    """A host is given up once, and counted when it is; only if the crawl does not end with it, it is so no longer."""

    def __init__(
        self,
        hosts: Hosts,
        places: Places,
        origins: Origins,
        meta: Meta,
        rules: Politeness,
        rng: random.Random,
    ) -> None:
        self._hosts = hosts
        self._places = places
        self._origins = origins
        self._meta = meta
        self._rules = rules
        self._rng = rng

    def judge(self, host: Host, report: HostReport, batch: Batch) -> None:
        """What a report says of its host."""
        crawl_delay = self._origins.save(batch, host, report.robots)
        host.clock = politeness.after(host.clock, report, crawl_delay, self._rules, self._rng)
        self.conclude((host,), batch)

    def conclude(self, hosts: Iterable[Host], batch: Batch) -> None:
        """Gives up those that are beyond hope, or all that are failing where the crawl ends, and saves these."""
        over, given_up = self._places.over, 0
        for host in hosts:
            if host.given_up is None:
                host.given_up = politeness.verdict(host.clock, self._rules, over=over)
                if host.given_up is not None:
                    host.ended = politeness.verdict(host.clock, self._rules) is None
                    self._hosts.save(batch, host)
                    given_up += 1
        self._meta.count(batch, {GIVEN_UP: given_up} if given_up else {})

    def pardon(self, hosts: Iterable[Host], batch: Batch) -> None:
        """The crawl has not ended: who was given up only for that may be asked again; `put` must follow."""
        pardoned = [host for host in hosts if host.ended]
        for host in pardoned:
            host.given_up, host.ended = None, False
            self._places.given_up.pop(host.name, None)
        self._meta.count(batch, {GIVEN_UP: -len(pardoned)} if pardoned else {})
