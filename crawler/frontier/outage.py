"""Is it the network here that is gone? Sites that were well begin to fail, and since then nobody has answered at all.

A shard notes what it sees; whoever sees all shards decides (`cut_off`) and tells them. Then a host that cannot be
reached is excused: hours without a network would else cost every host its URLs, one after the other, and the crawl its
end. Pure.
"""

from collections.abc import Iterable

from crawler.frontier.host import Host
from crawler.frontier.lease import HostReport
from crawler.frontier.meta import Meta
from crawler.frontier.store import Batch
from crawler.outcomes import unreached

# So many sites do not fail together by themselves; two may be on one server.
SITES = 3


class Outage:
    """What one shard knows of it. Moments are those at which exchanges ended.

    The last answer is stored: who failed before it does so for reasons of his own. So is what the shard was told:
    otherwise each restart in an outage would cost every host an attempt.
    """

    def __init__(self, meta: Meta) -> None:
        self._meta = meta
        self._since: dict[str, float] = {}

    @property
    def answered_at(self) -> float:
        """When a host of this shard last answered, whatever it said; 0.0: never."""
        return self._meta.answered_at

    @property
    def cut_off_at(self) -> float:
        """When the shard was told that the crawl is cut off; 0.0: it is not."""
        return self._meta.cut_off_at

    @property
    def struck(self) -> tuple[float, ...]:
        """When those sites began to fail that did so last, of those that had given something before."""
        return tuple(self._since.values())

    def tell(self, moment: float) -> None:
        """The crawl is cut off (0.0: no longer)."""
        self._meta.set_cut_off(moment)

    def note(self, host: Host, report: HostReport, batch: Batch) -> None:
        """Takes in a report that its host was judged by."""
        if report.answered_at is not None:
            self._meta.answer(batch, report.answered_at)
        incident = report.incident
        if incident and host.clock.served and unreached(incident.kind, incident.status):
            self._since[host.site] = max(host.clock.since, self._since.get(host.site, 0.0))
            if len(self._since) > SITES:
                del self._since[min(self._since, key=self._since.__getitem__)]


def cut_off(answered: Iterable[float], told: Iterable[float], struck: Iterable[float]) -> bool:
    """Whether the crawl has no network, from what all shards know.

    After the last answer to any of them enough sites began to fail, or it was cut off before.
    """
    last = max(answered, default=0.0)
    return any(moment > last for moment in told) or sum(since > last for since in struck) >= SITES
