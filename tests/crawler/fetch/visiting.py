"""Visits of a host with two URLs, /open and /secret, whose robots.txt forbids the second."""

import time

from crawler.fetch.serve import serve
from crawler.frontier.lease import HostLease, Lease, LeasedUrl
from crawler.loading import load
from crawler.url.keys import host_of
from tests.crawler.fetch.raw_server import reply

LIMIT = 500 * 1024
RULES = b"User-agent: *\nDisallow: /secret\n"
ALLOWED, DENIED = ["/open", "/secret"], ["/open"]


def configured(**options):
    tree = {
        "fetch.allow_private": True, "robots.timeout": 20.0, "robots.max_bytes": LIMIT, "runtime.batch_seconds": 0.02,
        "fetch.first_byte_timeout": 20.0, "fetch.connect_timeout": 20.0,
    } | options  # fmt: skip
    return load(None, tree)


def site(*robots):
    """A site that gives these answers for its robots.txt, the last one for ever."""
    left = list(robots)

    def answer(target):
        if target == "/robots.txt":
            return left.pop(0) if len(left) > 1 else left[0]
        return reply(target.encode())

    return answer


async def visit(origin, client, config, records=(), clock=time.time):
    """The report of one visit, and the kinds of its rows by path."""
    urls = tuple(LeasedUrl(key, f"{origin}/{name}", 0, 0, 0, 0, 0, None, "seed")
                 for key, name in enumerate(["open", "secret"]))  # fmt: skip
    reports, rows = [], {}

    async def emit(batch, delivery):
        reports.extend(delivery.reports)
        if batch is not None:
            rows.update((row["url"].removeprefix(origin), row["kind"]) for row in batch.to_pylist())

    name = host_of(origin)
    host = HostLease(name, name, 1, 0.0, 0.0, tuple(records), urls)
    await serve(Lease(1, 0, 1, clock() + 20, (host,)), client, config, clock=clock, emit=emit)
    (report,) = reports
    return report, rows
