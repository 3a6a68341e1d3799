"""The invariants of a frontier, asserted against its whole store. For tests: it reads everything."""

from collections import Counter

from crawler.frontier.host import Hosts
from crawler.frontier.queues import Queues
from crawler.frontier.records import QUEUED, WAITING, Live, unpack_entry, unpack_host, unpack_url
from crawler.frontier.seen import Seen
from crawler.frontier.store import (
    Store,
    due_key,
    pack_key,
    queue_key,
    read_due,
    read_prefix,
    site_hosts_key,
)


def audit(store: Store, hosts: Hosts, queues: Queues, seen: Seen) -> None:
    """Asserts that every live URL has one entry, every entry a live URL, and that all counts are true."""
    rows = _entries(store)
    _check_urls(store, seen, rows)
    _check_sites(store)
    counted = {host.name: [0, 0, 0] for host in hosts.known.values()}
    for (family, row), key in rows.items():
        host = hosts.at(row[: -9 if family == QUEUED else -16])
        place = queues.leased.get(key)
        if place is not None:
            assert (place.host, place.row, place.due) == (host, row, family == WAITING), place
        elif family == QUEUED:
            assert host.floor <= row, (host, row)
        else:
            assert host.next_due <= read_due(row) / 1e6, (host, row)
        counted[host.name][2 if place else family] += 1
    for host in hosts.known.values():
        assert [host.queued, host.due, host.leased] == counted[host.name], host
        assert store.hosts.get(host.prefix) is not None, host
        assert host.admitted == 0 or host.admitted >= sum(counted[host.name]), host
    assert queues.queued == sum(host.queued for host in hosts.known.values())
    assert queues.due == sum(host.due for host in hosts.known.values())
    assert len(queues.leased) == sum(host.leased for host in hosts.known.values())


def _entries(store: Store) -> dict[tuple[int, bytes], int]:
    rows = {(QUEUED, row): unpack_entry(value).key for row, value in store.queue.scan(b"")}
    return rows | {(WAITING, row): unpack_entry(value).key for row, value in store.due.scan(b"")}


def _check_sites(store: Store) -> None:
    """Every host with a record counts for its site (`hosts` has the robots of its origins under the same prefix)."""
    counted = Counter(
        site_hosts_key(read_prefix(row)[0], unpack_host(value).site)
        for row, value in store.hosts.scan(b"")
        if row.index(b"\0", 2) == len(row) - 1
    )
    for key, hosts in counted.items():
        assert int.from_bytes(store.sites.get(key) or b"", "big") == hosts, (key, hosts)


def _check_urls(store: Store, seen: Seen, rows: dict[tuple[int, bytes], int]) -> None:
    live, known = set(), 0
    for row, value in store.urls.scan(b""):
        known += 1
        prefix, key = row[:-8], int.from_bytes(row[-8:], "big", signed=True)
        assert seen.perhaps([key]) == [True], key
        record = unpack_url(value)
        if isinstance(record, Live):
            place = (
                queue_key(prefix, record.priority, record.place)
                if record.state == QUEUED
                else due_key(prefix, record.place, key)
            )
            assert rows[record.state, place] == key, record
            live.add(prefix + pack_key(key))
    assert len(live) == len(rows)
    assert seen.size == known
