"""The writer: what it acknowledged is there, whoever asks for it and whatever failed in between."""

import asyncio
from pathlib import Path

import pytest

from actors import writer as module
from actors.writer import Writer
from crawler.config import Dataset
from crawler.dataset import manifest
from crawler.dataset.output import Output
from crawler.errors import FencedError, OutputError
from tests.crawler.dataset.samples import START, pages

CONFIG = Dataset(sync=False)


class Shelf:
    """An output whose disk can be made to refuse, and the writers of a shard on it."""

    def __init__(self, folder):
        self.output = Output.open(str(folder))
        self.now = START
        self.asked = asyncio.Event()
        self.writers = []

    def clock(self):
        self.asked.set()
        return self.now

    def writer(self, config=CONFIG):
        """A writer in a process of its own: it knows nothing of the others."""
        self.writers.append(Writer(3, self.output, config, self.clock))
        return self.writers[-1]

    def segments(self):
        return [(entry.sequence, entry.rows) for entry in manifest.entries(self.output)]

    def wals(self):
        return sorted(path.name for path in self.output.wal.glob("*.wal"))

    def refuse(self):
        """No segment can be published: a file stands where their folder should be."""
        Path(self.output.path("pages")).touch()

    def accept(self):
        Path(self.output.path("pages")).unlink()


@pytest.fixture
async def shelf(tmp_path):
    shelf = Shelf(tmp_path)
    yield shelf
    for writer in shelf.writers:
        if writer._ticking:
            writer._ticking.cancel()
            await asyncio.gather(writer._ticking, return_exceptions=True)


async def test_rows_become_a_segment(shelf):
    writer = shelf.writer()
    await writer.open(4)
    assert await writer.append(4, 1, pages(0, 2)) == 1
    assert shelf.segments() == []
    await writer.seal()
    assert shelf.segments() == [(1, 2)]
    assert await writer.append(4, 2, pages(2, 1)) == 2
    await writer.close()
    assert shelf.segments() == [(1, 2), (2, 1)]
    assert shelf.wals() == []
    assert writer._ticking is None


async def test_the_same_batch_again_changes_nothing(shelf):
    first = shelf.writer()
    assert [await first.append(1, 7, pages(0, 2)) for _ in range(2)] == [1, 1]
    # The answer was lost, and the process too; Ray asks the new one.
    second = shelf.writer()
    assert await second.append(1, 7, pages(0, 2)) == 1
    await second.close()
    assert shelf.segments() == [(1, 2)]


async def test_a_writer_opens_when_it_is_needed(shelf):
    writer = shelf.writer()
    assert repr(writer) == "<Writer 3, epoch None>"
    await writer.append(2, 1, pages(0, 1))
    assert repr(writer) == "<Writer 3, epoch 2>"
    await writer.open(2)
    assert len(shelf.wals()) == 1  # nothing was closed by that
    await writer.open(3)
    assert shelf.segments() == [(1, 1)]


@pytest.mark.parametrize("step", ["seal", "close"])
async def test_a_new_process_seals_what_the_old_one_left(shelf, step):
    await shelf.writer().append(5, 1, pages(0, 2))
    await getattr(shelf.writer(), step)()
    assert shelf.segments() == [(1, 2)]
    assert shelf.wals() == []


async def test_the_floor_is_the_newest_epoch_ever(shelf):
    writer = shelf.writer()
    assert await writer.floor() == 0
    await writer.append(5, 1, pages(0, 1))
    assert await shelf.writer().floor() == 5
    await writer.open(6)
    assert await shelf.writer().floor() == 6


async def test_an_older_incarnation_is_refused_and_disturbs_nobody(shelf):
    writer = shelf.writer()
    await writer.open(5)
    await writer.append(5, 1, pages(0, 1))
    with pytest.raises(FencedError, match="epoch 4 is over, epoch 5 has the journal"):
        await writer.open(4)
    with pytest.raises(FencedError):
        await writer.append(4, 1, pages(9, 1))
    assert await writer.append(5, 2, pages(1, 1)) == 1
    with pytest.raises(FencedError):
        await shelf.writer().append(4, 2, pages(9, 1))


async def test_after_an_error_the_next_call_opens_again(shelf):
    writer = shelf.writer(Dataset(sync=False, segment_bytes=1))  # every append makes a segment
    shelf.refuse()
    for _ in range(2):
        with pytest.raises(OutputError, match="cannot be written"):
            await writer.append(1, 1, pages(0, 2))
    shelf.accept()
    assert await writer.append(1, 1, pages(0, 2)) == 1
    assert shelf.segments() == [(1, 2)]


async def test_rows_that_could_not_be_sealed_are_not_said_to_be(shelf):
    writer = shelf.writer()
    await writer.append(1, 1, pages(0, 2))
    shelf.refuse()
    for step in (writer.seal, writer.close, writer.seal):
        with pytest.raises(OutputError):
            await step()
    shelf.accept()
    await writer.seal()
    assert shelf.segments() == [(1, 2)]


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(module, "TICK_SECONDS", 0.0)


async def test_an_old_segment_is_sealed_by_itself(shelf, quick):
    writer = shelf.writer()
    await writer.append(1, 1, pages(0, 2))
    shelf.now += CONFIG.segment_seconds
    shelf.asked.clear()
    await shelf.asked.wait()
    async with writer._lock:  # the tick lets go of it when it is done
        assert shelf.segments() == [(1, 2)]
    assert await writer.append(1, 2, pages(2, 1)) == 2


@pytest.mark.parametrize("step", ["append", "seal", "close"])
async def test_what_the_tick_failed_with_reaches_the_next_caller(shelf, quick, step):
    writer = shelf.writer()
    await writer.append(1, 1, pages(0, 2))
    shelf.refuse()
    shelf.now += CONFIG.segment_seconds
    await asyncio.wait([writer._ticking], timeout=10)
    shelf.accept()
    arguments = (1, 2, pages(2, 1)) if step == "append" else ()
    with pytest.raises(OutputError, match="cannot be written"):
        await getattr(writer, step)(*arguments)
    await writer.append(1, 2, pages(2, 1))
    await writer.close()
    assert shelf.segments() == [(1, 2), (2, 1)]


async def test_calls_wait_for_each_other(shelf):
    writer = shelf.writer()
    batches = [writer.append(1, n, pages(n, 1)) for n in range(8)]
    await asyncio.gather(
        *batches, writer.seal(), *(writer.append(1, n, pages(n, 1)) for n in range(8))
    )
    await writer.close()
    assert sum(rows for _, rows in shelf.segments()) == 8
