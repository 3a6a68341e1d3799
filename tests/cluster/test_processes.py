"""Single processes of a crawl that die under it, and machines of other sizes: it ends by itself, with the truth."""

import signal

import pytest

from benchmarks.simweb.options import Options
from benchmarks.simweb.running import running
from tests.cluster.running import answered, crawl_of, end, faults, title_of

pytestmark = pytest.mark.ray

DELAY = 0.1
# No host asks for a moment of its own: a process that dies just after it was told takes the moment with it.
WORLD = Options(
    hosts=60, pages=600, zipf=0.4, page_bytes=1500, links=8, traps="shape", retry_after=0
)


@pytest.mark.parametrize(
    "victims", [("ray::fetch", "ray::parse"), ("ray::ShardActor", "ray::WriterActor")]
)
def test_a_process_dies(victims, tmp_path):
    with running(WORLD) as web:
        command = crawl_of(web, tmp_path, delay=DELAY, shards=2)
        with command.running() as crawl:
            for share, victim in zip((0.2, 0.5), victims, strict=True):
                crawl.until(answered(web, share))
                # One of the tasks may just have done its work, so all that there are are ended.
                most = 1 if victim.endswith("Actor") else None
                end(crawl.until(lambda victim=victim, most=most: crawl.titled(victim)[:most]))
            completed = crawl.wait()
        assert (completed.code, completed.summary["ending"]) == (0, "complete")
        assert faults(web, command, DELAY) == []
        assert completed.summary["found"] == completed.accounted
        assert completed.summary["leases_lost"] >= ("ray::fetch" in victims)


def test_a_shard_dies_while_the_crawl_stops(tmp_path):
    """Who takes its place has not heard of the stop: it would crawl to the end, and then wait for ever."""
    with running(Options(hosts=1, pages=20, seeds=1, troubles=False)) as web:
        # The lease goes on for the first page however long its worker takes to start, which `lease_seconds` counts.
        long = "[runtime]\nlease_hosts = 1\nlease_seconds = 120.0\n"
        command = crawl_of(web, tmp_path, delay=40.0, config=long)
        with command.running() as crawl:
            crawl.until(web.log)  # robots.txt
            crawl.process.send_signal(signal.SIGTERM)
            # A line of progress, of which there is one in five seconds: the shard has taken the stop.
            crawl.until(lambda: "leased=" in crawl.errors.partition("no new requests")[2])
            end(crawl.titled("ray::ShardActor"))
            stopped = crawl.wait()
    assert (stopped.code, stopped.summary["ending"]) == (143, "stopped")
    assert stopped.summary["queued"] > 0


def test_a_raylet_dies(tmp_path):
    with running(WORLD) as web:
        command = crawl_of(web, tmp_path, delay=DELAY)
        with command.running() as crawl:
            crawl.until(answered(web, 0.1))
            end([process for process in crawl.tree() if "/raylet " in title_of(process)])
            failed = crawl.wait()
    assert failed.code == 1
    assert failed.errors.splitlines()[-1].startswith("raycrawl: Ray broke down under the crawl")
    assert "Traceback" not in failed.errors


@pytest.mark.parametrize("cpus", [1, 64])
def test_any_number_of_cpus(cpus, tmp_path):
    """Logical CPUs: what Ray thinks there is. Too few must not starve the crawl, and too many must not drown it.

    Two are what `test_whole` has.
    """
    with running(Options(hosts=20, pages=200, page_bytes=1500, links=8, troubles=False)) as web:
        command = crawl_of(
            web, tmp_path, delay=0.01, shards=2, config=f"[runtime]\ncpus = {cpus}\n"
        )
        completed = command.run()
        assert (completed.code, completed.summary["ending"]) == (0, "complete")
        assert faults(web, command, 0.01) == []


def test_budget_of_pages_is_kept_to_the_page(tmp_path):
    with running(WORLD) as web:
        command = crawl_of(web, tmp_path, "--max-pages", "50", delay=0.0, shards=4)
        completed = command.run()
    assert (completed.code, completed.summary["ending"]) == (0, "max_pages")
    kinds = command.rows("kind")["kind"].to_pylist()
    assert kinds.count("fetched") == completed.summary["pages"] == 50
    assert (command.out / "_SUCCESS").exists()
