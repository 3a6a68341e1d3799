"""A process that is killed has lost nothing it had said it had: neither links nor what was settled."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from crawler.frontier.frontier import Frontier
from crawler.frontier.records import Done, unpack_url
from tests.crawler.frontier.builders import config

PROGRAM = Path(__file__).with_name("killed_shard.py")
ROOT = Path(__file__).parents[3]


@pytest.mark.slow
@pytest.mark.parametrize("lines", [1, 7, 40])
def test_what_was_acknowledged_before_a_kill_is_there_after_it(tmp_path, lines):
    command = [sys.executable, str(PROGRAM), str(tmp_path / "state")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}
    ) as shard:
        said = [shard.stdout.readline().split() for _ in range(lines)]
        shard.kill()
        said += [line.split() for line in shard.stdout.read().splitlines() if line.endswith(".")]
    found = {int(key) for verb, *keys, _ in said if verb == "found" for key in keys}
    settled = {int(key) for verb, *keys, _ in said if verb == "settled" for key in keys}
    frontier = Frontier(tmp_path / "state", config(), rng=random.Random(1), now=0.0)
    frontier.check()
    records = {
        int.from_bytes(row[-8:], "big", signed=True): unpack_url(value)
        for row, value in frontier._store.urls.scan(b"")
    }
    done = {key for key, record in records.items() if isinstance(record, Done)}
    assert found <= set(records)
    assert settled <= done
    assert len(records) - len(found) <= 50, (
        "at most the last, unacknowledged batch is there besides"
    )
    assert frontier.queued == len(records) - len(done)
    assert frontier.mark >= len(settled)
    assert frontier.counters.get("settled", 0) == len(done)
    frontier.close()
