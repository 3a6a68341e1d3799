"""Whole crawls, in one process, of hosts whose sitemaps have no end."""

import gzip
import time
from collections import Counter

import pytest

from crawler.config import Config
from tests.actors.inprocess import local_crawl, rows_of
from tests.crawler.dataset.samples import listing
from tests.crawler.fetch.raw_server import reply, serving
from tests.shared import figure, forget_peak, peak_mib

pytestmark = pytest.mark.slow

MIB = 1 << 20
FILES, ENTRIES = 50_000, 50_000


class Tree:
    """An index of 50,000 sitemaps, each of them 50,000 entries and 50 MiB, zipped."""

    def at(self, port):
        """Fills it in for a server at this port."""
        self.port, pad = port, " " * (50 * MIB // ENTRIES - 70)
        entries = "".join(
            f"<url><loc>http://127.0.0.1:{port}/{n}</loc>{pad}</url>" for n in range(ENTRIES)
        )
        self.unpacked = len(entries)
        self._zipped = gzip.compress(f"<urlset>{entries}</urlset>".encode(), 1)

    def __call__(self, target):
        if target == "/sitemap.xml":
            root = f"http://127.0.0.1:{self.port}/maps"
            return reply(listing("sitemapindex", (f"{root}/{n}.xml.gz" for n in range(FILES))))
        if target.startswith("/maps/"):
            return reply(self._zipped, headers=("Content-Type: text/plain",))
        return reply(status="404 No")


async def test_a_tree_of_indexes_is_bounded_by_files_and_each_file_by_itself(tmp_path):
    tree, most = Tree(), 23
    config = Config.model_validate({
        "fetch": {"allow_private": True}, "politeness": {"delay": 0}, "sitemaps": {"max_files": most},
        "budget": {"pages_per_host": 40}, "page": {"store_body": False}, "dataset": {"sync": False},
    })  # fmt: skip
    async with serving(tree) as server:
        tree.at(server.port)
        assert 45 * MIB < tree.unpacked < 50 * MIB
        forget_peak()
        before, began = peak_mib(), time.monotonic()
        async with local_crawl(config, [server.url("/")], tmp_path) as crawl:
            totals = await crawl.finish()
        seconds, grown = time.monotonic() - began, peak_mib() - before
    rows = Counter(kind for (kind,) in rows_of(tmp_path, "kind"))
    # The probe is one of the files; the others make a gibibyte.
    assert rows["sitemap"] == most
    assert (most - 1) * tree.unpacked > 1024 * MIB
    assert totals.links["sitemap_limit"] == FILES - (most - 1)
    assert totals.found == totals.accounted
    assert grown < 700
    figure(
        "sitemaps", f"an index of {FILES:,}, {most} read of {tree.unpacked / MIB:.0f} MiB each",
        seconds=round(seconds, 1), grown_mib=grown, found=totals.found, rows=rows.total(),
    )  # fmt: skip
