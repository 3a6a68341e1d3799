"""One shard's frontier: links in, leases out, reports and outcomes back. It composes; each rule has a file of its own.

Synchronous and single-threaded; it knows nothing of processes, and what time it is, it is told. Every public method
ends with each host in its place: lent, or scheduled, or among those given up, or (with nothing to do) out of memory.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from crawler.config import Config
from crawler.frontier import politeness
from crawler.frontier.audit import audit
from crawler.frontier.budget import recount
from crawler.frontier.contents import Contents
from crawler.frontier.discovery import Discovery
from crawler.frontier.host import Host, Hosts
from crawler.frontier.judging import GIVEN_UP, Judging
from crawler.frontier.lease import HostLease, HostReport, Lease
from crawler.frontier.lending import Lending
from crawler.frontier.meta import Meta
from crawler.frontier.origins import Origins
from crawler.frontier.outage import Outage
from crawler.frontier.places import Places
from crawler.frontier.politeness import EVER
from crawler.frontier.queues import Queues
from crawler.frontier.relay import Relay
from crawler.frontier.seen import Seen
from crawler.frontier.settling import Settling
from crawler.frontier.stats import FrontierStats
from crawler.frontier.store import Batch, Store
from crawler.outcomes import Kind


class Frontier:
    """A URL let in is queued, leased or settled, and never two of them; a host is in one lease at a time.

    `shard` and `epoch` go into the leases; `fresh`: the directory was empty; `mark`: how much of the journal is in it;
    `relay`: what its hosts and those of other shards do for one another; `outage`: whether it is they who fail.
    """

    def __init__(self, path: Path, config: Config, *, rng: random.Random, now: float) -> None:
        """Opens or creates the state in `path`; raises `StateError` where it cannot be used."""
        self._rules = config.politeness
        self._rng = rng
        limits = config.frontier
        self._store = Store(path, block_cache=limits.block_cache, write_buffer=limits.write_buffer)
        self._hosts = Hosts(self._store)
        try:
            self._read(config)
        except BaseException:
            self._store.close()
            raise
        parts = self._store, self._seen, self._hosts, self._queues, config
        self._discovery, self._settling = Discovery(*parts), Settling(*parts)
        self._contents = Contents(self._store)
        self.outage = Outage(self._meta)
        self._number = 0
        # A host may have been asked just before the last incarnation ended, which could not write it down; one of
        # which no URL is known here too, on an errand.
        first = self.fresh and self.epoch == 0
        self._places = Places(self._hosts, self._rules, -EVER if first else now)
        places, origins = self._places, Origins(self._store)
        self._judging = Judging(self._hosts, places, origins, self._meta, self._rules, rng)
        self.relay = Relay(self._store, self._hosts, places, self._judging, config)
        self._lending = Lending(self._queues, places, self.relay, origins, config, rng)
        self.shard = 0

    def __repr__(self) -> str:
        return f"<Frontier {self.queued} queued, {self.due} due, {self.leased} leased | {self._places.schedule!r}>"

    @property
    def queued(self) -> int:
        """URLs that may be leased when their host's moment comes."""
        return self._queues.queued

    @property
    def due(self) -> int:
        """URLs that wait for a moment of their own: that of their next attempt."""
        return self._queues.due

    @property
    def leased(self) -> int:
        """URLs that are lent and not settled."""
        return len(self._queues.leased)

    @property
    def errands(self) -> int:
        """Robots.txt to ask for on behalf of other hosts, and mail of theirs that is not sent."""
        return self.relay.errands.pending

    @property
    def idle(self) -> bool:
        """Nothing is left to do, and nothing is being done."""
        return not (self.queued or self.due or self.leased or self.errands)

    @property
    def mark(self) -> int:
        """The journal's high-water mark: what is up to it has been taken in."""
        return self._meta.mark

    @property
    def epoch(self) -> int:
        """The shard's incarnation."""
        return self._meta.epoch

    @property
    def counters(self) -> dict[str, int]:
        """The named counters, as they were last stored."""
        return dict(self._meta.counters)

    @property
    def whole(self) -> bool:
        """Whether the journal has once been taken in to its end: until then the state is not to be built upon."""
        return self._meta.whole

    def set_whole(self) -> None:
        """Says that the journal has been taken in to its end."""
        self._meta.set_whole()

    def set_epoch(self, epoch: int) -> None:
        """Begins an incarnation; raises `FencedError` if a later one has been here."""
        self._meta.set_epoch(epoch)

    def discover(self, links: pa.RecordBatch, now: float) -> dict[str, int]:  # noqa: ARG002
        """Takes in links (schema `LINKS`): how many met which fate (`crawler.frontier.discovery.REASONS`)."""
        counts, touched = self._discovery.take_in(links)
        self._places.put_all(touched)
        return counts

    def lease(
        self, now: float, *, deadline: float, max_hosts: int, max_urls: int, apart: bool = False
    ) -> Lease | None:
        """Lends ready hosts, with as many URLs of each as its delay allows until `deadline`; `None`: none is ready.

        Hosts with errands come first; for these no URL need be allowed. `apart`: those that are slow or have failed,
        which are never leased together with others.
        """
        self.relay.expire(now)
        hosts = self._lending.lend(now, deadline, max_hosts, max_urls, apart=apart)
        if not hosts:
            return None
        self._number += 1
        excused = self.outage.cut_off_at > 0
        return Lease(self._number, self.shard, self.epoch, deadline, hosts, excused)

    def report(self, reports: Iterable[HostReport], now: float) -> None:
        """Takes hosts back. The owner drops reports of leases that it has declared lost (`release`)."""
        batch = self._store.batch()
        touched: set[Host] = set()
        for report in reports:
            host = self._places.lent.get(report.host)
            if host is not None:
                touched.add(host)
                self._take_back(host, report, batch, now)
        self._store.write(batch)
        self._places.put_all(touched)

    def last_call(self, until: float | None, now: float) -> None:
        """Nothing is left anywhere but failing hosts and retries: these end at `until`. `None`: something is, again.

        A retry is due at the latest then. 0.0: the moment is over; a host that is failing is given up, now or with its
        next failure, unless the crawl goes on after all. Calling it again changes nothing.
        """
        places = self._places
        waiting = places.call(EVER if until is None else until)
        batch = self._store.batch()
        if until is None:
            self._judging.pardon(waiting, batch)
        else:
            self._judging.conclude(waiting, batch)
        self._store.write(batch)
        for host in waiting:
            self.relay.reconsider(host, now)
        places.put_all(waiting)

    def abandon(self, keys: Iterable[int]) -> None:
        """Leased URLs whose lease or batch was lost are queued again, for the same attempt; other keys are ignored."""
        self._places.put_all(
            {host for key in keys if (host := self._queues.give_back(key)) is not None}
        )

    def release(self, hosts: Iterable[str], now: float) -> None:
        """Hosts of a lost lease are free again, but they may have been asked until this very moment.

        One of them may be what the lease died of: they are leased in ever smaller company, and one that was alone has
        had an incident.
        """
        batch = self._store.batch()
        lent = self._places.lent
        touched = {lent[name] for name in hosts if name in lent}
        for host in touched:
            free_at = now + politeness.delay(host.name, host.clock, self._rules)
            host.clock = host.clock._replace(free_at=max(host.clock.free_at, free_at))
            if self._lending.company(host.losses) == 1:
                host.clock = politeness.after_loss(host.clock, now, self._rules, self._rng)
                self._judging.conclude((host,), batch)
            host.losses += 1
            self._end_loan(host, batch, now, None, now)
        self._store.write(batch)
        self._places.put_all(touched)

    def settle(
        self,
        settled: pa.RecordBatch,
        now: float,  # noqa: ARG002
        *,
        counters: Mapping[str, int],
        mark: int,
    ) -> None:
        """Takes in final outcomes (schema `SETTLED`) whose rows are durable. Repeating rows changes nothing.

        `counters` are added each time; `mark` only ever grows.
        """
        batch = self._store.batch()
        touched = self._settling.take_in(settled, batch)
        self._meta.count(batch, counters)
        self._meta.advance(batch, mark)
        self._store.write(batch)
        self._places.put_all(touched)

    def restore(
        self, settled: pa.RecordBatch, now: float, *, counters: Mapping[str, int], mark: int
    ) -> None:
        """As `settle`, for rows from the journal: URLs may be unknown, and hosts may have been asked until just now."""
        self._places.suspect(now)
        self.settle(settled, now, counters=counters, mark=mark)

    def pending(self, settled: pa.RecordBatch) -> list[bool]:
        """Which of some rows (schema `SETTLED`) are not settled yet."""
        return self._settling.pending(settled)

    def hopeless(self, limit: int) -> list[tuple[HostLease, Kind, str]]:
        """Leases out up to `limit` URLs of given-up hosts, not to be fetched: the kind and text of their rows."""
        return self._lending.hopeless(limit)

    def first_with(
        self, digests: Sequence[bytes], keys: Sequence[int], urls: Sequence[str]
    ) -> list[str | None]:
        """For each content digest the URL that had it first, unless it is the same key; else `None`, and recorded."""
        return self._contents.first_with(digests, keys, urls)

    def next_ready(self, now: float, *, common: bool = True, apart: bool = True) -> float | None:
        """The next moment at which `lease` or `hopeless` may give something; `None`: not before something comes in.

        `common`, `apart`: which of the two kinds of lease is asked for.
        """
        return self._places.next_moment(now, common=common, apart=apart)

    def ready(self, now: float, *, apart: bool) -> int:
        """How many hosts may be leased, apart or not."""
        return self._places.ready(now, apart=apart)

    def stalled(self, now: float) -> bool:
        """Whether all that is left here are hosts that are failing, asked at this moment or not, and retries."""
        return self._places.stalled(now)

    def stats(self, now: float) -> FrontierStats:
        """The counts of this moment."""
        places = self._places
        ready = places.ready(now, apart=False) + places.ready(now, apart=True)
        return FrontierStats(
            queued=self.queued,
            leased=self.leased,
            due=self.due,
            hosts_ready=ready,
            hosts_waiting=places.schedule.waiting + places.apart.waiting,
            hosts_parked=len(places.parked),
            hosts_leased=len(places.lent),
            hosts_given_up=self._meta.counters.get(GIVEN_UP, 0),
            urls_known=self._seen.size,
            bloom_bits=self._seen.bits,
            bloom_fill=self._seen.fill,
            bloom_measured_fp_rate=self._seen.measured_rate,
            counters=self.counters,
        )

    def check(self) -> None:
        """Asserts that memory and store agree, and that every host is in its place. Reads the whole store."""
        audit(self._store, self._hosts, self._queues, self._seen)
        self._places.check()

    def close(self) -> None:
        """Closes the store. What is leased is queued again when it is next opened."""
        self._store.close()

    def _read(self, config: Config) -> None:
        """Reads what is stored: all URL keys and all queues, so damage there is found now."""
        limits = config.frontier
        self._meta = Meta(self._store)
        self.fresh = self._store.urls.empty
        expected = 2 * self._store.urls.estimate()
        self._seen = Seen(max(limits.bloom_capacity, expected), limits.bloom_false_positive_rate)
        self._seen.fill_from(self._store.urls.rows())
        self._queues = Queues(self._store, self._hosts)
        recount(config, self._store, self._hosts)

    def _take_back(self, host: Host, report: HostReport, batch: Batch, now: float) -> None:
        host.losses = 0
        for key in report.unused:
            self._queues.give_back(key)
        for retry in report.retries:
            self._queues.postpone(
                batch, retry.key, now + retry.wait * self._rules.retry_wait_factor
            )
        self._judging.judge(host, report, batch)
        self.outage.note(host, report, batch)
        self.relay.reported(host, report, now)
        self._end_loan(host, batch, report.ended_at, report.address, now)

    def _end_loan(
        self, host: Host, batch: Batch, asked: float | None, address: str | None, now: float
    ) -> None:
        self._places.end_loan(host, asked, address, now)
        self._hosts.save(batch, host)
