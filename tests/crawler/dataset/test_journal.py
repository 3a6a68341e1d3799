import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from crawler.config import Dataset
from crawler.dataset import journal as module
from crawler.dataset import manifest
from crawler.dataset.journal import Journal
from crawler.dataset.output import Output
from crawler.dataset.wal import SegmentName, recover
from crawler.errors import FencedError, OutputError
from tests.crawler.dataset.samples import pages

CONFIG = Dataset(sync=False, segment_seconds=100)


@pytest.fixture
def output(tmp_path):
    return Output.open(str(tmp_path / "out"))


def opened(output, epoch=1, shard=0, config=CONFIG):
    journal = Journal(output, shard, config)
    journal.open(epoch, 0.0)
    return journal


def urls(output):
    """The rows of all sealed segments, in the manifest's order."""
    return [
        url
        for entry in manifest.entries(output)
        for url in pq.read_table(output.path(entry.file), partitioning=None)["url"].to_pylist()
    ]


def numbered(*numbers):
    return [f"https://example.org/{n}" for n in numbers]


def test_rows_are_sealed_on_closing(output):
    journal = opened(output)
    assert (journal.append(1, 1, pages(1, 2), 5.0), journal.append(1, 2, pages(3, 1), 6.0)) == (
        1,
        1,
    )
    assert urls(output) == []
    journal.close(7.0)
    assert urls(output) == numbered(1, 2, 3)
    assert list(output.wal.glob("*.wal")) == []
    assert (journal.sequence, journal.due, journal.epoch) == (1, None, None)


def test_the_same_append_again_writes_nothing_and_answers_the_same(output):
    journal = opened(output)
    assert journal.append(1, 1, pages(1, 2), 5.0) == 1
    assert journal.append(1, 1, pages(1, 2), 5.0) == 1
    journal.seal(6.0)
    assert journal.append(1, 2, pages(3, 2), 6.0) == 2
    assert journal.append(1, 1, pages(1, 2), 6.0) == 1
    journal.close(7.0)
    assert urls(output) == numbered(1, 2, 3, 4)


def test_the_floor_is_the_newest_epoch_that_was_here(output):
    assert Journal(output, 0, CONFIG).floor() == 0
    opened(output, epoch=3).append(3, 1, pages(1, 1), 5.0)
    assert Journal(output, 0, CONFIG).floor() == 3  # of an open segment
    opened(output, epoch=4).close(6.0)
    assert Journal(output, 0, CONFIG).floor() == 4  # it opened, and wrote nothing
    assert Journal(output, 1, CONFIG).floor() == 0
    for path in output.wal.iterdir():
        path.unlink()
    assert Journal(output, 0, CONFIG).floor() == 3  # of a segment


@pytest.mark.parametrize("sealed", [True, False])
def test_an_append_is_remembered_by_the_next_process_of_the_epoch(output, sealed):
    journal = opened(output)
    journal.append(1, 1, pages(1, 2), 5.0)
    if sealed:
        journal.seal(5.0)
    again = opened(output)
    assert again.append(1, 1, pages(1, 2), 6.0) == 1
    assert again.append(1, 2, pages(3, 1), 6.0) == 2
    again.close(7.0)
    assert urls(output) == numbered(1, 2, 3)


def test_batch_ids_of_another_epoch_mean_nothing(output):
    opened(output).append(1, 1, pages(1, 2), 5.0)
    later = opened(output, epoch=2)
    assert later.append(2, 1, pages(3, 2), 6.0) == 2
    later.close(7.0)
    assert urls(output) == numbered(1, 2, 3, 4)


def test_what_a_killed_process_left_is_sealed_on_opening(output):
    opened(output).append(1, 1, pages(1, 2), 5.0)
    assert urls(output) == []
    journal = opened(output, epoch=2)
    assert urls(output) == numbered(1, 2)
    assert journal.sequence == 1


def test_opening_anew_in_the_same_process_seals_too(output):
    journal = opened(output)
    journal.append(1, 1, pages(1, 2), 5.0)
    journal.open(2, 6.0)
    assert urls(output) == numbered(1, 2)


def test_another_shards_files_are_left_alone(output):
    other = opened(output, shard=1)
    other.append(1, 1, pages(1, 2), 5.0)
    Path(output.temporary(f"{SegmentName(1, 1, 1)}.1")).touch()
    opened(output, shard=0, epoch=9)
    assert urls(output) == []
    assert output.names("tmp") == [f"{SegmentName(1, 1, 1)}.1.partial"]
    assert other.append(1, 2, pages(3, 1), 6.0) == 1


def test_half_written_files_of_the_dead_are_cleared(output):
    for name in (f"{SegmentName(0, 1, 1)}.1", f"{SegmentName(0, 1, 1)}.json.17", "something else"):
        Path(output.temporary(name)).touch()
    opened(output, epoch=2)
    assert output.names("tmp") == ["something else.partial"]


# --- the fence --------------------------------------------------------------------------------------------------


def test_a_lower_epoch_cannot_open(output):
    opened(output, epoch=5)
    with pytest.raises(FencedError, match="epoch 4 is over"):
        opened(output, epoch=4)
    opened(output, epoch=5)


def test_the_manifest_knows_the_epochs_that_wrote(output):
    journal = opened(output, epoch=5)
    journal.append(5, 1, pages(1, 1), 5.0)
    journal.close(6.0)
    (output.wal / "0000.epoch").unlink()  # another node
    with pytest.raises(FencedError):
        opened(output, epoch=4)


def test_a_damaged_fence_falls_back_on_the_files(output):
    opened(output, epoch=5).append(5, 1, pages(1, 1), 5.0)
    (output.wal / "0000.epoch").write_bytes(b"\0\0")
    with pytest.raises(FencedError):
        opened(output, epoch=4)


@pytest.mark.parametrize("epoch", [1, 3])
def test_rows_of_another_epoch_are_refused(output, epoch):
    journal = opened(output, epoch=2)
    with pytest.raises(FencedError):
        journal.append(epoch, 1, pages(1, 1), 5.0)
    assert journal.append(2, 1, pages(1, 1), 5.0) == 1


def test_a_predecessor_that_still_lives_is_stopped_at_its_next_append(output):
    old = opened(output, epoch=1)
    old.append(1, 1, pages(1, 2), 5.0)
    new = opened(output, epoch=2)
    with pytest.raises(FencedError):
        old.append(1, 2, pages(3, 2), 6.0)
    new.append(2, 1, pages(5, 1), 7.0)
    new.close(8.0)
    assert urls(output) == numbered(1, 2, 5)


def test_a_predecessor_is_stopped_before_its_rows_are_read(output, monkeypatch):
    old = opened(output, epoch=1)
    old.append(1, 1, pages(1, 2), 5.0)
    seal, tried = module.seal, []

    def racing(*arguments, **options):
        with pytest.raises(FencedError):
            old.append(1, 2, pages(3, 2), 6.0)
        tried.append(1)
        return seal(*arguments, **options)

    monkeypatch.setattr(module, "seal", racing)
    opened(output, epoch=2)
    assert tried == [1]
    assert set(urls(output)) >= set(numbered(1, 2))


def test_a_predecessor_without_an_open_segment_cannot_start_one(output):
    old = opened(output, epoch=1)
    new = opened(output, epoch=2)
    with pytest.raises(FencedError, match="a later one has the journal"):
        old.append(1, 1, pages(1, 2), 6.0)
    new.append(2, 1, pages(5, 1), 7.0)
    new.close(8.0)
    assert urls(output) == numbered(5)


# --- when a segment is sealed -----------------------------------------------------------------------------------


def test_size_seals(output):
    journal = opened(output, config=Dataset(sync=False, segment_bytes=3 * pages(1, 2).nbytes))
    answers = [journal.append(1, n, pages(2 * n, 2), 5.0) for n in range(9)]
    assert answers == sorted(answers)
    sealed = len(list(manifest.entries(output)))
    assert sealed >= 3
    assert answers[-1] - sealed in {0, 1}
    journal.close(6.0)
    assert urls(output) == numbered(*range(18))


def test_age_seals(output):
    journal = opened(output)
    assert not journal.tick(1000.0)
    journal.append(1, 1, pages(1, 2), 5.0)
    assert journal.due == 105.0
    assert not journal.tick(104.9)
    assert journal.tick(105.0)
    assert urls(output) == numbered(1, 2)
    assert journal.append(1, 2, pages(3, 1), 106.0) == 2
    assert journal.due == 206.0


def test_sealing_nothing_is_nothing(output):
    journal = opened(output)
    journal.seal(5.0)
    assert journal.epoch == 1
    assert manifest.names(output) == []


# --- rows -------------------------------------------------------------------------------------------------------


def test_a_table_is_one_append(output):
    journal = opened(output)
    journal.append(1, 1, pa.Table.from_batches([pages(1, 2), pages(3, 2)]), 5.0)
    (path,) = output.wal.glob("*.wal")
    with recover(path) as batches:
        assert [(batch_id, rows.num_rows) for batch_id, rows in batches] == [(1, 4)]
    journal.append(1, 2, pages(1, 1).schema.empty_table(), 5.0)
    journal.close(6.0)
    assert urls(output) == numbered(1, 2, 3, 4)


def test_an_append_without_rows_is_remembered(output):
    journal = opened(output)
    assert journal.append(1, 1, pages(1, 1).slice(0, 0), 5.0) == journal.append(
        1, 1, pages(1, 1), 5.0
    )
    journal.close(6.0)
    assert urls(output) == []


def test_rows_of_another_schema_are_refused_and_nothing_is_harmed(output):
    journal = opened(output)
    with pytest.raises(ValueError, match="schema"):
        journal.append(1, 1, pa.record_batch({"url": ["x"]}), 5.0)
    assert journal.append(1, 1, pages(1, 1), 5.0) == 1


# --- trouble ----------------------------------------------------------------------------------------------------


def test_a_journal_that_is_not_open_takes_nothing(output):
    journal = Journal(output, 0, CONFIG)
    with pytest.raises(OutputError, match="not open"):
        journal.append(1, 1, pages(1, 1), 5.0)


def test_a_disk_that_refuses_closes_the_journal_and_loses_nothing(output):
    journal = opened(output)
    journal.append(1, 1, pages(1, 2), 5.0)
    # The disk fills up: writes to the open file fail from now on.
    full = os.open("/dev/full", os.O_WRONLY)
    descriptor = next(
        int(fd) for fd in _descriptors() if _is(fd, journal._wal.path) and _writes(fd)
    )
    os.dup2(full, descriptor)
    os.close(full)
    with pytest.raises(OutputError, match="rows cannot be written"):
        journal.append(1, 2, pages(3, 2), 5.0)
    with pytest.raises(OutputError, match="not open"):
        journal.append(1, 2, pages(3, 2), 5.0)
    journal.open(1, 6.0)
    assert urls(output) == numbered(1, 2)
    assert journal.append(1, 1, pages(1, 2), 6.0) == 1
    assert journal.append(1, 2, pages(3, 2), 6.0) == 2


def _descriptors():
    return [path.name for path in Path("/proc/self/fd").iterdir()]


def _is(descriptor, path):
    try:
        return Path(f"/proc/self/fd/{descriptor}").readlink() == path
    except FileNotFoundError:
        return False


def _writes(descriptor):
    return (
        "01"
        in Path(f"/proc/self/fdinfo/{descriptor}").read_text().split("flags:")[1].split()[0][-2:]
    )


def test_a_segment_that_cannot_be_written_closes_the_journal_and_loses_nothing(output):
    journal = opened(output)
    journal.append(1, 1, pages(1, 2), 5.0)
    Path(output.root, "pages").write_bytes(b"in the way")
    with pytest.raises(OutputError):
        journal.seal(6.0)
    assert journal.epoch is None
    Path(output.root, "pages").unlink()
    journal.open(1, 7.0)
    assert urls(output) == numbered(1, 2)


def test_a_wal_folder_that_cannot_be_is_told(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError):
        opened(Output.open(str(tmp_path / "file")))


def test_synced_rows_are_the_same_rows(output):
    journal = opened(output, config=Dataset(sync=True))
    journal.append(1, 1, pages(1, 2), 5.0)
    journal.close(6.0)
    assert urls(output) == numbered(1, 2)


class KilledAndResumed(RuleBasedStateMachine):
    """Whatever is killed and whenever: each acknowledged append is in the segments once, and nothing else is."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.output = Output.open(self.folder.name)
        self.epoch = 1
        self.journal = opened(self.output)
        self.old = []
        self.answers = {}
        self.now = 0.0
        self.last = 0

    def teardown(self):
        self.look()
        self.folder.cleanup()

    @rule(batch_id=st.integers(0, 12))
    def append(self, batch_id):
        answer = self.journal.append(self.epoch, batch_id, ROWS_OF[batch_id], self.now)
        assert self.answers.setdefault((self.epoch, batch_id), answer) == answer
        self.last = max(self.last, answer)
        assert self.journal.sequence == self.last

    @rule(seconds=st.sampled_from([1.0, 60.0]))
    def time_passes(self, seconds):
        self.now += seconds
        self.journal.tick(self.now)

    @rule()
    def seal(self):
        self.journal.seal(self.now)

    @rule(higher=st.booleans(), torn=st.binary(max_size=20))
    def killed(self, higher, torn):
        self.old.append((self.journal, self.epoch))
        self.epoch += higher
        if torn and self.journal._wal is not None:
            with self.journal._wal.path.open("ab") as file:
                file.write(b"\xff\xff\xff\xff" + torn)
        self.journal = opened(self.output, self.epoch)
        assert self.journal.sequence >= self.last

    @precondition(lambda self: self.old)
    @rule(batch_id=st.integers(20, 30))
    def a_ghost_appends(self, batch_id):
        journal, epoch = self.old[-1]
        if epoch < self.epoch:
            with pytest.raises((FencedError, OutputError)):
                journal.append(epoch, batch_id, ROWS_OF[batch_id % 13], self.now)

    @rule()
    def look(self):
        self.journal.seal(self.now)
        found = [
            (entry.epoch, n, entry.sequence)
            for entry in manifest.entries(self.output)
            for first, last in entry.batches
            for n in range(first, last + 1)
        ]
        assert sorted(found) == sorted((*key, sequence) for key, sequence in self.answers.items())
        assert sum(entry.rows for entry in manifest.entries(self.output)) == sum(
            ROWS_OF[n].num_rows for _, n in self.answers
        )


ROWS_OF = [pages(10 * n, 1 + n % 3) for n in range(13)]
KilledAndResumed.TestCase.settings = settings(
    max_examples=30, stateful_step_count=15, deadline=None
)
TestKilledAndResumed = pytest.mark.slow(KilledAndResumed.TestCase)


_ENDLESS = """
import itertools, sys
from crawler.config import Dataset
from crawler.dataset.journal import Journal
from crawler.dataset.output import Output
from tests.crawler.dataset.samples import pages

rows = pages(1, 3)
journal = Journal(Output.open(sys.argv[1]), 0, Dataset(sync=False, segment_bytes=10 * rows.nbytes))
journal.open(1, 0.0)
for batch_id in itertools.count():
    print(batch_id, journal.append(1, batch_id, rows, 0.0), flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("lines", [1, 25, 60])
def test_what_a_killed_process_had_acknowledged_is_there(output, lines):
    root = Path(__file__).resolve().parents[3]
    command = [sys.executable, "-c", _ENDLESS, output.root]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        acknowledged = [next(process.stdout) for _ in range(lines)]
        process.kill()
        acknowledged += [line for line in process.stdout if line.endswith("\n")]
    opened(output, epoch=2)
    found = {
        batch_id: entry.sequence
        for entry in manifest.entries(output)
        for first, last in entry.batches
        for batch_id in range(first, last + 1)
    }
    said = dict(map(int, line.split()) for line in acknowledged)
    assert said.items() <= found.items()
    assert len(found) - len(said) <= 1
    assert len(urls(output)) == 3 * len(found)
    assert output.names("tmp") == []
