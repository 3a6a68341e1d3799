"""Links come in: which are new, which are known but better, which are over a limit. One write batch for all.

The hot path of a shard: there are some hundred links to a page. Hence columns and lists, and a host's prefix made once.
"""

from typing import NamedTuple

import pyarrow as pa

from crawler.config import Config
from crawler.frontier.budget import Ledger
from crawler.frontier.host import Host, Hosts
from crawler.frontier.queues import Queues
from crawler.frontier.records import LAST_PRIORITY, Entry, is_better, unpack_live
from crawler.frontier.seen import Seen
from crawler.frontier.shapes import Shapes
from crawler.frontier.store import Batch, Store, host_prefix, pack_key
from crawler.url import sitemaps
from crawler.url.shape import Trap

REASONS = ("new", "known", "budget_host", "budget_site", "hosts_per_site", "sitemap_limit", *Trap)

# Who names a URL wants it: as a seed, or (unless its host is one too many) in a sitemap.
_SEEDS = frozenset({b"seed", sitemaps.SEED.encode()})
_SITEMAPS = frozenset(via.encode() for via in sitemaps.FILES)
_NAMED = frozenset({*_SEEDS, *_SITEMAPS, b"sitemap"})


class _Links(NamedTuple):
    """The columns of a batch as lists. `code`: the number of a row's host in the batch; `prefixes` go by it."""

    code: list[int]
    prefixes: list[bytes]
    slot: list[int]
    host: list[str]
    site: list[str]
    key: list[int]
    url: list[bytes]
    depth: list[int]
    hops: list[int]
    priority: list[int]
    found_on: list[bytes | None]
    found_via: list[bytes]

    def rank(self, row: int) -> tuple[int, int]:
        """What makes one link to a URL better than another: lower is better."""
        return self.depth[row], self.priority[row]

    def entry(self, row: int) -> Entry:
        """A link as a queue entry of its first visit and attempt."""
        priority = min(max(self.priority[row], 0), LAST_PRIORITY)
        return Entry(
            self.key[row], self.url[row], self.depth[row], self.hops[row], priority, 0, 0,
            self.found_on[row] or b"", self.found_via[row],
        )  # fmt: skip


class _Intake(NamedTuple):
    """What is done with one batch of links: `hosts` by their code, and `moved`, those that need a new place."""

    links: _Links
    batch: Batch
    hosts: dict[int, Host]
    moved: set[Host]


class Discovery:
    """A key that was let in is in the filter and in the store, or in neither."""

    def __init__(
        self, store: Store, seen: Seen, hosts: Hosts, queues: Queues, config: Config
    ) -> None:
        self._store = store
        self._seen = seen
        self._hosts = hosts
        self._queues = queues
        self._config = config

    def take_in(self, links: pa.RecordBatch) -> tuple[dict[str, int], set[Host]]:
        """How many links met which fate (sums to the rows), and the hosts whose place has changed."""
        intake = _Intake(_lists(links), self._store.batch(), {}, set())
        fresh, asked = self._sort(intake.links)
        unseen = self._ask(intake, asked)
        self._seen.observe(len(fresh) + len(unseen), len(unseen))
        rows = sorted([*fresh.values(), *unseen])
        counts = self._let_in(intake, rows)
        counts["known"] = links.num_rows - len(rows)
        return counts, intake.moved

    def _sort(self, links: _Links) -> tuple[dict[int, int], dict[int, int]]:
        """Key to row, the best link of each key: those never seen before, and those to ask the store about."""
        fresh: dict[int, int] = {}
        asked: dict[int, int] = {}
        keys = links.key
        for row, perhaps in enumerate(self._seen.perhaps(keys)):
            key = keys[row]
            rows = asked if perhaps else fresh
            other = rows.setdefault(key, row)
            if other != row and links.rank(row) < links.rank(other):
                rows[key] = row
        return fresh, asked

    def _ask(self, intake: _Intake, asked: dict[int, int]) -> list[int]:
        """The rows whose keys the store has not; entries of known URLs are moved up where the link is better."""
        links, leased = intake.links, self._queues.leased
        prefixes, code = links.prefixes, links.code
        records = self._store.urls.get_many(
            [prefixes[code[row]] + pack_key(key) for key, row in asked.items()]
        )
        unseen = []
        for (key, row), value in zip(asked.items(), records, strict=True):
            if value is None:
                unseen.append(row)
            elif key not in leased and is_better(value, links.depth[row], links.priority[row]):
                host = self._host(intake, row)
                self._queues.improve(intake.batch, host, unpack_live(value), links.entry(row))
                intake.moved.add(host)
        return unseen

    def _let_in(self, intake: _Intake, rows: list[int]) -> dict[str, int]:
        """Stores the links in these rows that are not refused, and writes the batch; counts them by fate."""
        links, batch, moved = intake.links, intake.batch, intake.moved
        counts = dict.fromkeys(REASONS, 0)
        ledger, shapes = Ledger(self._config, self._store), Shapes(self._config, self._store)
        changed: set[Host] = set()
        added = []
        for row in rows:
            host = self._host(intake, row)
            via = links.found_via[row]
            sitemap = via in _SITEMAPS
            reason = ledger.refusal(host, seed=via in _SEEDS, sitemap=sitemap) or shapes.let_in(
                host, links.url[row], always=via in _NAMED
            )
            if reason:
                counts[reason] += 1
                moved.add(host)
                continue
            if ledger.change(host, 1) or sitemap:
                changed.add(host)
            if not host.stored:
                ledger.enter(host)
                changed.add(host)
            host.sitemaps += sitemap
            if self._queues.add(batch, host, links.entry(row)):
                moved.add(host)
            added.append(links.key[row])
        for host in changed:
            self._hosts.save(batch, host)
        ledger.save(batch)
        shapes.save(batch)
        self._store.write(batch)
        self._seen.add(added)
        counts["new"] = len(added)
        return counts

    def _host(self, intake: _Intake, row: int) -> Host:
        code = intake.links.code[row]
        host = intake.hosts.get(code)
        if host is None:
            links = intake.links
            host = intake.hosts[code] = self._hosts.find(
                links.slot[row], links.host[row], links.site[row]
            )
        return host


def _lists(links: pa.RecordBatch) -> _Links:
    encoded = links.column("host").dictionary_encode()
    code = encoded.indices.to_pylist()
    slots = links.column("slot").to_pylist()
    first = dict(zip(reversed(code), range(len(code) - 1, -1, -1), strict=True))
    names = encoded.dictionary.to_pylist()
    octets = {
        name: links.column(name).cast(pa.binary()).to_pylist()
        for name in ("url", "found_on", "found_via")
    }
    return _Links(
        code=code,
        prefixes=[host_prefix(slots[first[number]], name) for number, name in enumerate(names)],
        slot=slots,
        host=links.column("host").to_pylist(),
        site=links.column("site").to_pylist(),
        key=links.column("key").to_pylist(),
        depth=links.column("depth").to_pylist(),
        hops=links.column("hops").to_pylist(),
        priority=links.column("priority").to_pylist(),
        **octets,
    )
