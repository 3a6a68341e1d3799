"""How many URLs of a host and of a site are let in, and how many hosts of a site: counting, before anything is stored.

A URL counts from the moment it is let in, and stops counting if it ends as no page (`crawler.outcomes.PAGES`): so a
budget of a hundred pages is not used up by redirects, and is never overdrawn. Where there is no limit nothing is
counted (it costs as much as storing the link): of a crawl that is resumed with a new limit what is queued counts, and
all that is let in from then on.
Hosts are always counted: there are few of them. Sitemaps are counted by themselves, and for good: their limit is what
bounds a tree of indexes.
"""

from collections import Counter
from collections.abc import Mapping

from crawler.config import Config
from crawler.frontier.host import Host, Hosts
from crawler.frontier.store import Batch, Store, site_hosts_key, site_key


def host_limit(config: Config, host: str) -> int | None:
    """Pages granted to one host: its own rule if it has one, else the general one; `None`: no limit."""
    own = config.politeness.hosts.get(host)
    return config.budget.pages_per_host if own is None or own.max_pages is None else own.max_pages


def recount(config: Config, store: Store, hosts: Hosts) -> None:
    """What is queued has been let in, limit or not: else each of its failures would make room for another URL."""
    batch = store.batch()
    sites: Counter[bytes] = Counter()
    for host in hosts.known.values():
        live = host.queued + host.due
        sites[site_key(host.slot, host.site)] += live
        if host_limit(config, host.name) is not None and host.admitted < live:
            host.admitted = live
            hosts.save(batch, host)
    if config.budget.pages_per_site is not None:
        ledger = Ledger(config, store)
        ledger.raise_to(sites)
        ledger.save(batch)
    store.write(batch)


class Ledger:
    """The counts that one write batch changes, by their keys in the store."""

    def __init__(self, config: Config, store: Store) -> None:
        self._config = config
        self._stored = store.sites
        self._site_limit = config.budget.pages_per_site
        self._hosts_limit = config.budget.hosts_per_site
        self._entered: set[Host] = set()
        self.counts: dict[bytes, int] = {}

    def refusal(self, host: Host, *, seed: bool = False, sitemap: bool = False) -> str | None:
        """Why one more URL is not let in ("budget_host", "budget_site", "hosts_per_site", "sitemap_limit"), or `None`.

        A seed brings its host along, however many the site has.
        """
        if sitemap and host.sitemaps >= self._config.sitemaps.max_files:
            return "sitemap_limit"
        limit = host_limit(self._config, host.name)
        if limit is not None and host.admitted >= limit:
            return "budget_host"
        if (
            self._site_limit is not None
            and self._count(site_key(host.slot, host.site)) >= self._site_limit
        ):
            return "budget_site"
        if (
            not (host.stored or seed or host in self._entered)
            and self._hosts_limit is not None
            and self._count(site_hosts_key(host.slot, host.site)) >= self._hosts_limit
        ):
            return "hosts_per_site"
        return None

    def enter(self, host: Host) -> None:
        """Counts a host of which nothing is stored yet for its site, once."""
        if host not in self._entered:
            self._entered.add(host)
            hosts = site_hosts_key(host.slot, host.site)
            self.counts[hosts] = self._count(hosts) + 1

    def change(self, host: Host, by: int) -> bool:
        """Counts `by` URLs for the host and its site, where they are limited; whether the host's record has changed."""
        if self._site_limit is not None:
            site = site_key(host.slot, host.site)
            self.counts[site] = self._count(site) + by
        if host_limit(self._config, host.name) is None:
            return False
        host.admitted += by
        return True

    def raise_to(self, sites: Mapping[bytes, int]) -> None:
        """No site's count is lower than this, by its key in the store."""
        for site, count in sites.items():
            if self._count(site) < count:
                self.counts[site] = count

    def save(self, batch: Batch) -> None:
        """Puts the sites' new counts into the batch."""
        for key, count in self.counts.items():
            batch.put(key, count.to_bytes(8, "big", signed=True), self._stored.handle)

    def _count(self, key: bytes) -> int:
        count = self.counts.get(key)
        if count is None:
            stored = self._stored.get(key)
            count = 0 if stored is None else int.from_bytes(stored, "big", signed=True)
        return count
