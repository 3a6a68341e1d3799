"""The robots records of a host's origins (scheme, host, port): kept packed, and opened only for their crawl-delay."""

from collections.abc import Iterable

from crawler.frontier.host import Host
from crawler.frontier.lease import RobotsRecord
from crawler.frontier.records import pack_robots, unpack_robots
from crawler.frontier.store import Batch, Store
from crawler.robots.rules import Rules


class Origins:
    """The last record of each origin; a record that has expired is never given out."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def load(self, host: Host, origins: Iterable[str], now: float) -> tuple[RobotsRecord, ...]:
        """The records of these origins that may still be used."""
        found = []
        for origin in origins:
            value = self._store.hosts.get(host.prefix + origin.encode())
            if value is not None:
                rules, expires_at = unpack_robots(value)
                if expires_at > now:
                    found.append(RobotsRecord(origin, rules, expires_at))
        return tuple(found)

    def strangers(self, host: Host, origins: Iterable[str]) -> tuple[str, ...]:
        """Those of which there was never a record, if there was one of another origin of the host."""
        size = len(host.prefix)
        known = {row[size:].decode() for row, _ in self._store.hosts.scan(host.prefix)} - {""}
        return tuple(origin for origin in origins if origin not in known) if known else ()

    def save(self, batch: Batch, host: Host, records: Iterable[RobotsRecord]) -> float | None:
        """Stores records; the longest crawl-delay among them in seconds (0: none asked), or `None` without records."""
        longest = None
        for origin, rules, expires_at in records:
            batch.put(
                host.prefix + origin.encode(),
                pack_robots(rules, expires_at),
                self._store.hosts.handle,
            )
            longest = max(longest or 0.0, Rules.unpack(rules).crawl_delay or 0.0)
        return longest
