"""One clock for a run, in all its processes, whatever becomes of the wall clock."""

import pickle
import subprocess
import sys
import time

import pytest

from actors.clock import RunClock
from benchmarks.simweb.log import violations
from benchmarks.simweb.options import Options
from benchmarks.simweb.running import running
from crawler.loading import load
from tests.actors.inprocess import local_crawl
from tests.cluster.running import ROOT


@pytest.mark.parametrize("moved", [4.3, -4.3])
def test_it_begins_with_the_wall_clock_and_goes_on_evenly(monkeypatch, moved):
    clock, real = RunClock.begin(), time.time
    now = clock.here()
    assert now() == pytest.approx(real(), abs=0.05)
    monkeypatch.setattr(time, "time", lambda: real() + moved)
    assert now() == pytest.approx(real(), abs=0.05)
    assert clock.here()() == pytest.approx(real(), abs=0.05), "who comes later has the same"


def test_another_process_of_the_machine_has_it_too():
    set_back = RunClock.begin()._replace(ahead=RunClock.begin().ahead - 1000.0)
    code = f"import pickle; print(pickle.loads({pickle.dumps(set_back)!r}).here()())"
    before = set_back.here()()
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=20
    )  # fmt: skip
    assert before < float(done.stdout) < set_back.here()() < time.time() - 900.0


def test_another_machine_has_its_wall_clock():
    assert RunClock.begin()._replace(machine="another").here() is time.time


@pytest.mark.slow
async def test_no_host_is_asked_too_soon_while_the_wall_clock_jumps(tmp_path, monkeypatch):
    real, began = time.time, time.monotonic()
    with running(Options(hosts=5, pages=40, page_bytes=500, links=4, troubles=False)) as web:
        config, seeds = load(web.config_toml(tmp_path, 0.3), {}), web.seeds
        # To and fro every half second, as it was seen to on a virtual machine.
        monkeypatch.setattr(
            time, "time", lambda: real() + 5.0 * (int(2 * (time.monotonic() - began)) % 2)
        )
        async with local_crawl(config, seeds, tmp_path / "out") as crawl:
            totals = await crawl.finish()
        log = web.log()
    assert totals.pages > 0
    assert len(log) > totals.pages
    assert violations(log, 0.3) == []
