"""The hosts that have something to do, in memory; all others are only records in the store."""

from crawler.frontier.politeness import EVER, Clock
from crawler.frontier.records import HostRecord, pack_host, unpack_host
from crawler.frontier.store import Batch, Store, host_prefix, read_prefix


class Host:
    """One host. Its entries in the store that are not leased are `queued` and `due` in number.

    `floor`: no unleased entry of the queue is before this key (the scan need not cross the tombstones of the eaten).
    `next_due`: no unleased waiting entry is due earlier. `lent`: a fetch task has it, so it is not in the schedule.
    `stored`: it has a record. `apart`: which schedule it was last in (`Places`). `called`: it has errands to run for
    others. Before `rests_until` it is asked for nothing else: it waits for an errand of its own. `ended`: it is given
    up only because the crawl seems to end, which is not stored. `losses`: how many leases with it were lost since
    it was last heard of; it may be what they died of.
    """

    __slots__ = (
        "address", "admitted", "apart", "called", "clock", "due", "ended", "floor", "given_up", "leased", "lent",
        "losses", "name", "next_due", "prefix", "queued", "rests_until", "site", "sitemaps", "slot", "stored",
    )  # fmt: skip

    def __init__(self, slot: int, name: str, record: HostRecord) -> None:
        self.slot = slot
        self.name = name
        self.prefix = host_prefix(slot, name)
        self.site, self.admitted, self.sitemaps, self.clock, self.given_up, self.address = record
        self.queued = self.due = self.leased = self.losses = 0
        self.lent = self.stored = self.apart = self.called = self.ended = False
        self.rests_until = 0.0
        self.floor = self.end
        self.next_due = EVER

    def __repr__(self) -> str:
        return f"<Host {self.name} {self.queued} queued, {self.due} due, {self.leased} leased>"

    @property
    def end(self) -> bytes:
        """A key after all keys of the host's queue."""
        return self.prefix + b"\xff" * 10

    @property
    def unsafe(self) -> bool:
        """Whether it may hold up others of a lease, or take them with it."""
        return self.losses > 0 or self.clock.apart

    @property
    def priority(self) -> int:
        """The best priority that an entry of the queue may have."""
        return self.floor[len(self.prefix)]

    @property
    def record(self) -> HostRecord:
        """What is stored of the host."""
        given_up = None if self.ended else self.given_up
        return HostRecord(
            self.site, self.admitted, self.sitemaps, self.clock, given_up, self.address
        )


class Hosts:
    """At most one object per host: whoever asks for a name gets the same one until it is forgotten."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.known: dict[str, Host] = {}

    def find(self, slot: int, name: str, site: str) -> Host:
        """The host, from memory or from its record; new if it has none."""
        host = self.known.get(name)
        if host is None:
            host = Host(slot, name, HostRecord(site, 0, 0, Clock(), None))
            value = self._store.hosts.get(host.prefix)
            if value is not None:
                host.site, host.admitted, host.sitemaps, host.clock, host.given_up, host.address = (
                    unpack_host(value)
                )
                host.stored = True
            self.known[name] = host
        return host

    def at(self, prefix: bytes) -> Host:
        """The host whose keys begin with `prefix` (it has a record, as all hosts with entries have)."""
        slot, name = read_prefix(prefix)
        return self.find(slot, name, "")

    def save(self, batch: Batch, host: Host) -> None:
        """Puts the host's record into the batch."""
        batch.put(host.prefix, pack_host(host.record), self._store.hosts.handle)
        host.stored = True

    def forget(self, host: Host) -> None:
        """Drops a host from memory; its record must have been saved."""
        del self.known[host.name]
