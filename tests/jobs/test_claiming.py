"""An output belongs to one crawl at a time, and what another layout left is taken over."""

import subprocess
import sys

import pytest

from crawler.config import Config, Dataset, Runtime
from crawler.dataset import manifest
from crawler.dataset.journal import Journal
from crawler.dataset.output import Output
from crawler.errors import FencedError, OutputError
from jobs.claiming import alone, leave_other_layouts
from tests.crawler.dataset.samples import START, pages

DATASET = Dataset(sync=False)


@pytest.fixture
def output(tmp_path):
    return Output.open(str(tmp_path))


def shards(count):
    return Config(dataset=DATASET, runtime=Runtime(shards=count))


def test_the_second_is_refused_until_the_first_is_gone(output):
    with (
        alone(output),
        pytest.raises(OutputError, match="another process crawls into it"),
        alone(output),
    ):
        pass
    with alone(output):
        pass


@pytest.mark.slow
def test_a_lock_goes_with_its_process(output):
    code = (
        "import sys, os; from crawler.dataset.output import Output; from jobs.claiming import alone\n"
        "with alone(Output.open(sys.argv[1])): os._exit(9)"
    )
    ended = subprocess.run([sys.executable, "-c", code, output.root], check=False, timeout=60)
    assert ended.returncode == 9
    with alone(output):
        pass


def test_a_state_that_cannot_be_written_is_told(output):
    output.state.write_text("a file")
    with pytest.raises(OutputError, match="state: cannot be written: File exists"), alone(output):
        pass


def test_only_states_of_another_number_of_shards_go(output):
    names = ["shard-0-of-2", "shard-1-of-2", "shard-0-of-12", "shard-0-of-1", "lock"]
    for name in names:
        (output.state / name).mkdir(parents=True)
    leave_other_layouts(output, shards(2), START)
    assert {path.name for path in output.state.iterdir()} == {
        "shard-0-of-2",
        "shard-1-of-2",
        "lock",
    }


def test_a_state_that_cannot_be_removed_is_told(output):
    output.state.mkdir(parents=True)
    (output.state / "shard-0-of-1").write_text("a file")
    with pytest.raises(OutputError, match="shard-0-of-1: cannot be removed: Not a directory"):
        leave_other_layouts(output, shards(2), START)


def test_a_new_output_has_nothing_to_leave(output):
    leave_other_layouts(output, shards(1), START)
    assert not output.wal.exists()


def test_rows_that_writers_of_more_shards_left_open_become_segments(output):
    left = {}
    for number, epoch in ((0, 3), (1, 4), (2, 5)):
        left[number] = Journal(output, number, DATASET)
        left[number].open(epoch, START)
        left[number].append(epoch, 1, pages(10 * number, number + 1), START)
    leave_other_layouts(output, shards(1), START)
    assert [(one.shard, one.rows) for one in manifest.entries(output)] == [(1, 2), (2, 3)]
    # Should one of these writers still live, it is shut out.
    with pytest.raises((FencedError, OutputError)):
        left[2].append(5, 2, pages(50, 1), START)
    # The one that goes on does so itself.
    journal = Journal(output, 0, DATASET)
    journal.open(journal.floor() + 1, START)
    assert [(one.shard, one.rows) for one in manifest.entries(output)] == [(0, 1), (1, 2), (2, 3)]
    leave_other_layouts(output, shards(1), START)
    assert len(manifest.names(output)) == 3
