"""Stopped politely or killed at any moment: the same command goes on to the same end."""

import shutil
import signal

import psutil
import pytest

from benchmarks.simweb import log as logs
from benchmarks.simweb.options import Options
from benchmarks.simweb.running import running
from tests.cluster.running import answered, crawl_of, faults, survivors, title_of

pytestmark = pytest.mark.ray

DELAY = 0.05
WORLD = Options(hosts=60, pages=600, zipf=0.8, page_bytes=1500, links=8, traps="shape")
# Longer than a crawl takes to be up again: a restart that forgot about its hosts would show.
LONG_DELAY = 15.0
ACTORS = ("ray::Shard", "ray::Writer", "ray::Dir")


@pytest.fixture
def web():
    with running(WORLD) as web:
        yield web


def test_interrupted_and_terminated(web, tmp_path):
    # A stop waits for the open leases: short ones leave something to do.
    command = crawl_of(web, tmp_path, delay=DELAY, config="[runtime]\nlease_seconds = 0.5\n")
    with command.running() as crawl:
        crawl.until(answered(web, 0.2))
        crawl.interrupt()
        stopped = crawl.wait()
    assert (stopped.code, stopped.summary["ending"]) == (130, "stopped")
    rows = command.rows("url_key")
    assert 0 < rows.num_rows == stopped.summary["rows"]
    assert not (command.out / "_SUCCESS").exists()

    with command.running() as crawl:
        crawl.until(answered(web, 0.2))
        crawl.process.send_signal(signal.SIGTERM)
        terminated = crawl.wait()
    assert (terminated.code, terminated.summary["ending"]) == (143, "stopped")
    assert command.rows("url_key").num_rows == terminated.summary["rows"] > rows.num_rows

    finished = command.run()
    assert (finished.code, finished.summary["ending"]) == (0, "complete")
    assert (command.out / "_SUCCESS").exists()
    assert faults(web, command, DELAY) == []
    assert finished.summary["found"] == finished.accounted


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_stopped_while_it_starts(web, tmp_path, number, code):
    """Ray has handlers of its own while it starts."""
    command = crawl_of(web, tmp_path, delay=DELAY)
    with command.running() as crawl:
        crawl.until(lambda: any("gcs_server" in title_of(process) for process in crawl.tree()))
        crawl.process.send_signal(number)
        stopped = crawl.wait()
    assert stopped.code == code, stopped.errors
    assert "Traceback" not in stopped.errors


def test_killed_five_times(web, tmp_path):
    """With the state as the kill left it, and without any: the rows alone are enough."""
    command = crawl_of(web, tmp_path, delay=DELAY, shards=2)
    for number in range(5):
        with command.running() as crawl:
            crawl.until(answered(web, 0.2))
            if number == 0:
                ours = [process for title in ACTORS for process in crawl.titled(title)]
                assert len(ours) == 5
                # Nobody outlives the command, also where nobody reaps the dead, as here: Ray takes a dead raylet
                # for a living one then.
                crawl.process.kill()
                assert survivors(ours, seconds=30.0) == []
            crawl.kill()
        if number in (1, 3):
            shutil.rmtree(command.out / "state")
    again = crawl_of(web, tmp_path, delay=DELAY, shards=3)
    finished = again.run()
    assert (finished.code, finished.summary["ending"]) == (0, "complete")
    assert faults(web, again, DELAY) == []
    assert finished.summary["found"] == finished.accounted


def test_delay_outlives_a_kill(tmp_path):
    """The kill comes while the host is answering, so nobody can have written down that it was asked."""
    with running(Options(hosts=1, pages=5, seeds=1, latency=1.0, troubles=False)) as web:
        address, server = web.world.hosts[0].address, psutil.Process(web.pid)

        def asked():
            open_ones = server.net_connections()
            return any(one.status == "ESTABLISHED" and one.laddr.ip == address for one in open_ones)

        command = crawl_of(web, tmp_path, delay=LONG_DELAY)
        with command.running() as crawl:
            crawl.until(asked)
            crawl.kill()
        with command.running() as crawl:
            crawl.until(lambda: len(web.log()) > 1)
            crawl.kill()
        assert [request.status for request in web.log()] == [0, 200]
        assert logs.violations(web.log(), LONG_DELAY) == []
