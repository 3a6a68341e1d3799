"""Links, settled rows and reports for the tests of the frontier: short to write, true to the schemas."""

import pyarrow as pa

from crawler.config import Config
from crawler.frontier.discovery import REASONS
from crawler.frontier.lease import HostLease, HostReport, LeasedUrl
from crawler.frontier.links import LINKS, SETTLED


def config(**branches):
    return Config.model_validate(branches)


def link(
    host="a.example",
    key=1,
    *,
    site=None,
    slot=7,
    depth=1,
    priority=32,
    hops=0,
    path=None,
    found_on="http://f/",
):
    """One link; the URL says its host and key."""
    url = f"https://{host}/{key if path is None else path}"
    return {
        "slot": slot, "host": host, "site": site or host, "key": key, "url": url, "depth": depth, "hops": hops,
        "priority": priority, "found_on": found_on, "found_via": "link",
    }  # fmt: skip


def links(*rows):
    return pa.RecordBatch.from_pylist(list(rows), schema=LINKS)


def row(host: HostLease, url: LeasedUrl, kind="fetched", *, status=200, fetched_at=0.0, **columns):
    """The settled row of a leased URL."""
    return {
        "slot": host.slot, "host": host.host, "site": host.site, "key": url.key, "kind": kind, "http_status": status,
        "visit": url.visit, "fetched_at": fetched_at, **columns,
    }  # fmt: skip


def fates(**counts):
    """What `discover` answers: so many links of each fate, and none of the others."""
    return dict.fromkeys(REASONS, 0) | counts


def settled(*rows):
    return pa.RecordBatch.from_pylist(list(rows), schema=SETTLED)


def rows_of(lease, kind="fetched"):
    return settled(*(row(host, url, kind) for host in lease.hosts for url in host.urls))


def report(host: str, free_at: float, **fields):
    """A report of a host that was contacted and is well, unless said otherwise."""
    values = {
        "ended_at": free_at, "response_seconds": None, "successes": 1, "robots": (), "robots_failure": None,
        "incident": None, "not_before": None, "unused": (), "retries": (),
    } | fields  # fmt: skip
    return HostReport(host=host, free_at=free_at, **values)
