"""Whole crawls of a troubled web of 200 hosts, on one shard and on four: what they leave, and how they behaved."""

import subprocess
import sys
import threading

import duckdb
import polars
import pyarrow.dataset as pads
import pytest

from actors.plan import plan
from benchmarks.simweb import log as logs
from benchmarks.simweb.options import Options
from benchmarks.simweb.running import running
from tests.cluster.running import ROOT, crawl_of, environment, faults, title_of

pytestmark = pytest.mark.ray

# All hosts have about the same size, so that no single one with its delay takes longer than the rest together.
WORLD = Options(
    hosts=200,
    pages=5000,
    zipf=0.1,
    page_bytes=1500,
    links=8,
    traps="shape",
    crawl_delay=0.3,
    sitemaps=True,
)
DELAY = 0.2
CPUS = 2

# Ray Data needs a cluster, and a process that has one is not fit for other tests.
RAY_DATA = """
import collections, sys, ray
ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
kinds = collections.Counter()
for batch in ray.data.read_parquet(sys.argv[1], columns=["kind"]).iter_batches(batch_format="pyarrow"):
    kinds.update(batch["kind"].to_pylist())
print("KINDS", sorted(kinds.items()))
"""


class Crawled:
    """A finished crawl of the web; `workers`: the pids of all worker processes that were seen in it."""

    def __init__(self, folder, shards):
        self.shards = shards
        with running(WORLD) as web:
            self.command = crawl_of(
                web, folder, delay=DELAY, shards=shards, config=f"[runtime]\ncpus = {CPUS}\n"
            )
            with self.command.running() as crawl:
                self.workers = set()
                over = threading.Event()
                watcher = threading.Thread(target=self._watch, args=(crawl, over))
                watcher.start()
                try:
                    self.end = crawl.wait()
                finally:
                    over.set()
                    watcher.join()
            self.log = web.log()
            self.faults = faults(web, self.command, DELAY)
            identity = web.world.identity
            rows = self.command.rows("url", "kind").to_pylist()
            path = self._path
            self.rows = {(path(identity(row["url"])), row["kind"]) for row in rows}

    @staticmethod
    def _path(url):
        """Two servers have two ports."""
        scheme, netloc, path = url.split("/", 3)[0], url.split("/")[2], url.split("/", 3)[3]
        return f"{scheme}//{netloc.partition(':')[0]}/{path}"

    def _watch(self, crawl, over):
        while not over.wait(0.2):
            titles = ((process.pid, title_of(process)) for process in crawl.tree())
            self.workers |= {
                pid for pid, title in titles if title.startswith("ray::") and "Agent" not in title
            }  # fmt: skip


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    return Crawled(tmp_path_factory.mktemp("one"), 1)


@pytest.fixture(scope="module")
def four(tmp_path_factory):
    return Crawled(tmp_path_factory.mktemp("four"), 4)


@pytest.fixture(params=["one", "four"])
def crawled(request):
    return request.getfixturevalue(request.param)


def test_rows_are_the_truth_and_every_host_was_left_alone_for_its_delay(crawled):
    assert crawled.end.code == 0, crawled.end.errors
    assert crawled.faults == []
    # The log that this was judged by has what it should: every delay was about used up.
    assert DELAY <= logs.smallest_gap(crawled.log) < 2 * DELAY


def test_nothing_vanishes(crawled):
    summary = crawled.end.summary
    assert summary["ending"] == "complete"
    assert summary["found"] == crawled.end.accounted > summary["rows"]
    assert summary["rows"] == sum(summary["kinds"].values()) == len(crawled.rows)
    assert (summary["queued"], summary["leased"], summary["leases_lost"]) == (0, 0, 0)


def test_shards_change_nothing(one, four):
    assert one.rows == four.rows
    for count in ("pages", "rows", "kinds", "urls_known", "found"):
        assert one.end.summary[count] == four.end.summary[count]


def test_workers_are_kept(crawled):
    """Each start of a worker imports everything anew; a crawl that does so again and again is slow, not wrong."""
    actors = 2 * crawled.shards + 1
    late = crawled.shards * plan(CPUS, crawled.shards).late
    assert actors < len(crawled.workers) <= actors + late + 5 * CPUS


def test_others_read_one_table(four):
    pages = four.command.out / "pages"
    files = str(pages / "**" / "*.parquet")
    kinds = four.end.summary["kinds"]
    counts = pads.dataset(pages, partitioning="hive").to_table(columns=["kind"])["kind"].value_counts()  # fmt: skip
    assert {pair["values"]: pair["counts"] for pair in counts.to_pylist()} == kinds
    with duckdb.connect() as connection:
        query = f"select kind, count(*) from read_parquet('{files}') group by kind"
        assert dict(connection.sql(query).fetchall()) == kinds
    frame = polars.scan_parquet(files).group_by("kind").len().collect()
    assert dict(frame.iter_rows()) == kinds
    asked = subprocess.run(
        [sys.executable, "-c", RAY_DATA, str(pages)], cwd=ROOT, env=environment(), timeout=120,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert f"KINDS {sorted(kinds.items())}" in asked.stdout, asked.stderr[-2000:]
