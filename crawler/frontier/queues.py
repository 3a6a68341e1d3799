"""The entries of all hosts: where each is in the store, and which are leased. It decides nothing.

An entry stays in the store while it is leased, and the lease is only in memory: a killed shard has lost no URL.
"""

import math
from typing import NamedTuple

from crawler.frontier.host import Host, Hosts
from crawler.frontier.politeness import EVER
from crawler.frontier.records import (
    QUEUED,
    WAITING,
    Entry,
    Live,
    entry_key,
    pack_entry,
    pack_live,
    unpack_entry,
)
from crawler.frontier.store import (
    Batch,
    Family,
    Store,
    due_key,
    pack_key,
    queue_key,
    read_due,
    read_sequence,
)

_MICRO = 1e6


class Place(NamedTuple):
    """Where a leased entry is: its key in the family `queue`, or in `due` if it is a retry."""

    host: Host
    row: bytes
    due: bool
    visit: int


class Queues:
    """An entry is in one place: in `queue` or in `due`; and it is leased or counted by its host and here."""

    def __init__(self, store: Store, hosts: Hosts) -> None:
        """Counts the entries in the store: 0.3 µs for each."""
        self._queue, self._due, self._urls = store.queue, store.due, store.urls
        self.leased: dict[int, Place] = {}
        self.queued = 0
        self.due = 0
        self._sequence = 0
        self._count_queue(hosts)
        self._count_due(hosts)

    def add(self, batch: Batch, host: Host, entry: Entry) -> bool:
        """A new entry at the end of its priority in the host's queue, and its URL record; whether it is first."""
        self._sequence = sequence = self._sequence + 1
        row = queue_key(host.prefix, entry.priority, sequence)
        batch.put(row, pack_entry(entry), self._queue.handle)
        record = pack_live(QUEUED, entry.priority, entry.depth, sequence, entry.visit)
        batch.put(host.prefix + pack_key(entry.key), record, self._urls.handle)
        host.queued += 1
        self.queued += 1
        if row < host.floor:
            host.floor = row
            return True
        return False

    def improve(self, batch: Batch, host: Host, live: Live, found: Entry) -> None:
        """Moves an unleased entry up: the link `found` to the same URL is nearer to the seeds, or more urgent."""
        row, family = self._locate(host, live, found.key)
        old = unpack_entry(family.get(row))  # type: ignore[arg-type]
        better = found if found.depth < old.depth else old
        priority = min(found.priority, old.priority)
        entry = better._replace(priority=priority, visit=old.visit, attempt=old.attempt)
        target = row
        if live.state == QUEUED and priority != old.priority:
            target = queue_key(host.prefix, priority, live.place)
            batch.delete(row, family.handle)
            host.floor = min(host.floor, target)
        batch.put(target, pack_entry(entry), family.handle)
        record = pack_live(live.state, priority, entry.depth, live.place, entry.visit)
        batch.put(host.prefix + pack_key(found.key), record, self._urls.handle)

    def take(self, host: Host, limit: int, now: float) -> list[Entry]:
        """Leases up to `limit` entries: retries that are due, then the queue in its order."""
        taken: list[Entry] = []
        if host.due and host.next_due <= now:
            self._take_due(host, limit, now, taken)
        if host.queued and len(taken) < limit:
            self._take_queued(host, limit, taken)
        return taken

    def give_back(self, key: int) -> Host | None:
        """A leased entry is an unleased one again; the host, or `None` if the key is not leased."""
        place = self.leased.pop(key, None)
        if place is None:
            return None
        host = place.host
        host.leased -= 1
        if place.due:
            self._wait(host, read_due(place.row))
        else:
            host.queued += 1
            self.queued += 1
            host.floor = min(host.floor, place.row)
        return host

    def postpone(self, batch: Batch, key: int, moment: float) -> Host | None:
        """A leased entry waits for its next attempt until `moment`; the host, or `None` if the key is not leased."""
        place = self.leased.get(key)
        if place is None:
            return None
        family = self._due if place.due else self._queue
        entry = unpack_entry(family.get(place.row))  # type: ignore[arg-type]
        self.finish(batch, key)
        micros = math.ceil(moment * _MICRO)
        entry = entry._replace(attempt=entry.attempt + 1)
        batch.put(due_key(place.host.prefix, micros, key), pack_entry(entry), self._due.handle)
        record = pack_live(WAITING, entry.priority, entry.depth, micros, entry.visit)
        batch.put(place.host.prefix + pack_key(key), record, self._urls.handle)
        self._wait(place.host, micros)
        return place.host

    def finish(self, batch: Batch, key: int) -> None:
        """Removes a leased entry."""
        place = self.leased.pop(key)
        place.host.leased -= 1
        batch.delete(place.row, (self._due if place.due else self._queue).handle)

    def withdraw(self, batch: Batch, host: Host, live: Live, key: int) -> None:
        """Removes an unleased entry: its outcome is known without it."""
        row, family = self._locate(host, live, key)
        batch.delete(row, family.handle)
        if live.state == WAITING:
            host.due -= 1
            self.due -= 1
        else:
            host.queued -= 1
            self.queued -= 1

    def _locate(self, host: Host, live: Live, key: int) -> tuple[bytes, Family]:
        if live.state == WAITING:
            return due_key(host.prefix, live.place, key), self._due
        return queue_key(host.prefix, live.priority, live.place), self._queue

    def _wait(self, host: Host, micros: int) -> None:
        host.due += 1
        self.due += 1
        host.next_due = min(host.next_due, micros / _MICRO)

    def _take_due(self, host: Host, limit: int, now: float, taken: list[Entry]) -> None:
        # Before it there are only tombstones of the eaten: thousands, where a server's answer is 502 for all it has.
        start = due_key(host.prefix, max(0, int(host.next_due * _MICRO) - 1), 0)
        host.next_due = EVER
        for row, value in self._due.scan(host.prefix, start):
            if entry_key(value) in self.leased:
                continue
            moment = read_due(row) / _MICRO
            if moment > now or len(taken) == limit:
                host.next_due = moment
                break
            self._lease(Place(host, row, True, 0), value, taken)
        host.due -= len(taken)
        self.due -= len(taken)

    def _take_queued(self, host: Host, limit: int, taken: list[Entry]) -> None:
        before = len(taken)
        floor = host.end
        for row, value in self._queue.scan(host.prefix, host.floor):
            if entry_key(value) in self.leased:
                continue
            if len(taken) == limit:
                floor = row
                break
            self._lease(Place(host, row, False, 0), value, taken)
        host.floor = floor
        host.queued -= len(taken) - before
        self.queued -= len(taken) - before

    def _lease(self, place: Place, value: bytes, taken: list[Entry]) -> None:
        entry = unpack_entry(value)
        self.leased[entry.key] = place._replace(visit=entry.visit)
        place.host.leased += 1
        taken.append(entry)

    def _count_queue(self, hosts: Hosts) -> None:
        host: Host | None = None
        for row in self._queue.rows():
            prefix = row[:-9]
            if host is None or host.prefix != prefix:
                host = hosts.at(prefix)
                host.floor = row
            host.queued += 1
            self.queued += 1
            self._sequence = max(self._sequence, read_sequence(row))

    def _count_due(self, hosts: Hosts) -> None:
        for row in self._due.rows():
            self._wait(hosts.at(row[:-16]), read_due(row))
