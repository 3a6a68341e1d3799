"""Final outcomes come back, after their rows are durable: one write batch that may be repeated.

The same code serves a settled lease and the replay of the journal, where URLs may be unknown and nothing is leased.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from crawler.config import Config
from crawler.frontier.budget import Ledger
from crawler.frontier.host import Host, Hosts
from crawler.frontier.queues import Queues
from crawler.frontier.records import Done, Live, pack_done, unpack_url
from crawler.frontier.seen import Seen
from crawler.frontier.store import Batch, Store, host_prefix, pack_key
from crawler.outcomes import PAGES, Kind


class _Row(NamedTuple):
    """One settled row, its columns in the order of `crawler.frontier.links.SETTLED`."""

    slot: int
    host: str
    site: str
    key: int
    kind: str
    http_status: int | None
    visit: int
    fetched_at: float | None
    wire_bytes: int | None
    content_digest: bytes | None
    etag: str | None
    last_modified: str | None


class Settling:
    """A visit counts once, however often its row comes: the URL's record says which visits are done."""

    def __init__(
        self, store: Store, seen: Seen, hosts: Hosts, queues: Queues, config: Config
    ) -> None:
        self._store = store
        self._seen = seen
        self._hosts = hosts
        self._queues = queues
        self._config = config

    def take_in(self, settled: pa.RecordBatch, batch: Batch) -> set[Host]:
        """Adds everything to the batch, which the caller writes; the hosts whose entries have changed."""
        ledger = Ledger(self._config, self._store)
        touched: set[Host] = set()
        changed: set[Host] = set()
        rows = _rows(settled)
        records = self._records(rows)
        unknown = []
        for row in rows.values():
            host = self._hosts.find(row.slot, row.host, row.site)
            touched.add(host)
            counted = self._finish(batch, host, row, records)
            if counted is None:
                continue
            if records.get(row.key, b"") is None:
                unknown.append(row.key)
                if row.kind == Kind.SITEMAP:
                    host.sitemaps += 1  # it was not let in here, but by the state before
                    changed.add(host)
            change = (row.kind in PAGES) - counted
            if change and ledger.change(host, change):
                changed.add(host)
            if not host.stored:
                ledger.enter(host)
                changed.add(host)
            batch.put(host.prefix + pack_key(row.key), _done(row), self._store.urls.handle)
        for host in changed:
            self._hosts.save(batch, host)
        ledger.save(batch)
        self._seen.add(unknown)
        return touched

    def pending(self, settled: pa.RecordBatch) -> list[bool]:
        """Which of some rows (schema `SETTLED`) would change anything: their visit is not done yet."""
        rows = [_Row._make(values) for values in _values(settled)]
        records = self._records({row.key: row for row in rows})
        return [
            (value := records.get(row.key)) is None
            or isinstance(record := unpack_url(value), Live)
            or record.visit < row.visit
            for row in rows
        ]

    def _records(self, rows: dict[int, _Row]) -> dict[int, bytes | None]:
        """The stored records of the keys that are not leased."""
        keys = [key for key in rows if key not in self._queues.leased]
        values = self._store.urls.get_many(
            [host_prefix(rows[key].slot, rows[key].host) + pack_key(key) for key in keys]
        )
        return dict(zip(keys, values, strict=True))

    def _finish(
        self, batch: Batch, host: Host, row: _Row, records: dict[int, bytes | None]
    ) -> int | None:
        """Removes the URL's entry. How often the URL counted for its budgets; `None` if this visit is done already."""
        place = self._queues.leased.get(row.key)
        if place is not None:
            if row.visit < place.visit:
                return None
            self._queues.finish(batch, row.key)
            return 1
        value = records[row.key]
        if value is None:
            return 0
        record = unpack_url(value)
        if row.visit < record.visit:
            return None
        if isinstance(record, Live):
            self._queues.withdraw(batch, host, record, row.key)
            return 1
        return None if row.visit == record.visit else row.kind in PAGES


def _rows(settled: pa.RecordBatch) -> dict[int, _Row]:
    """The last visit of each key in the batch."""
    rows: dict[int, _Row] = {}
    for values in _values(settled):
        row = _Row._make(values)
        other = rows.get(row.key)
        if other is None or other.visit < row.visit:
            rows[row.key] = row
    return rows


def _values(settled: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in settled.columns), strict=True)


def _done(row: _Row) -> bytes:
    return pack_done(
        Done(
            row.visit, row.fetched_at or 0.0, row.http_status or 0, row.content_digest or b"",
            _octets(row.etag), _octets(row.last_modified),
        )
    )  # fmt: skip


def _octets(text: str | None) -> bytes:
    return text.encode()[:65535] if text else b""
