"""The marks: a restart never skips a segment that holds a row nobody settled."""

import asyncio
import time
from collections import Counter
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.pipeline import Marks, Pipeline
from actors.work import Facts, LostError, Source


def test_marks_follow_the_newest_segment_when_nothing_is_open():
    marks = Marks(4)
    assert marks.mark == 4
    ticket = marks.begin()
    marks.end(ticket, 7)
    assert marks.mark == 6


def test_an_append_that_is_answered_late_holds_the_mark():
    marks = Marks(0)
    slow, quick = marks.begin(), marks.begin()
    marks.end(quick, 2)
    assert marks.mark == 0
    marks.end(slow, 1)
    assert marks.mark == 1


@given(st.data())
def test_the_mark_is_below_every_unsettled_segment(data):
    marks = Marks(0)
    segment, unsettled, answered = 1, [], []
    for _ in range(data.draw(st.integers(1, 30))):
        step = data.draw(st.sampled_from(["begin", "land", "end", "seal"]))
        if step == "begin":
            unsettled.append((marks.begin(), None))
        elif step == "seal":
            segment += 1
        elif step == "land" and unsettled:  # the writer takes it; the answer is under way
            at = data.draw(st.integers(0, len(unsettled) - 1))
            ticket, landed = unsettled[at]
            unsettled[at] = (ticket, landed or segment)
        elif step == "end" and (answered := [one for one in unsettled if one[1]]):
            one = data.draw(st.sampled_from(answered))
            unsettled.remove(one)
            marks.end(*one)
        assert all(marks.mark < landed for _, landed in unsettled if landed)


async def test_a_lost_batch_makes_the_workers_forget_its_links():
    class Losing:
        sources = ()

        async def parse(self, batch, duplicates, source):
            self.sources += (source,)
            message = "the node is gone"
            raise LostError(message)

    work = Losing()
    frontier = SimpleNamespace(shard=0, epoch=1, mark=3)
    pipeline = Pipeline(work, None, None, frontier, None, None)
    for _ in range(2):
        with pytest.raises(LostError, match="gone"):
            await pipeline.push(None, [None, None])
    assert work.sources == (
        Source(shard=0, epoch=1, losses=0, batch=1, arrived=0),
        Source(shard=0, epoch=1, losses=1, batch=2, arrived=1),
    )
    assert repr(pipeline) == "<Pipeline 0 batches, settled up to segment 3>"


async def test_only_batches_before_which_all_have_been_sent_have_arrived():
    class Work:
        def __init__(self):
            self.arrived = []
            self.begun = [asyncio.Event() for _ in range(3)]
            self.parsed = [asyncio.Event() for _ in range(3)]

        async def parse(self, batch, duplicates, source):
            self.arrived.append(source.arrived)
            self.begun[batch].set()
            await self.parsed[batch].wait()
            return None, Facts(None, None, {})

    async def send(links):
        return Counter()

    async def append(batch, rows):
        return 1

    work = Work()
    frontier = SimpleNamespace(shard=0, epoch=1, mark=0, settle=lambda *_, **__: None)
    pipeline = Pipeline(
        work, SimpleNamespace(append=append), SimpleNamespace(send=send), frontier, None, time.time
    )

    async def begun(batch):
        pushed = asyncio.create_task(pipeline.push(batch, []))
        await work.begun[batch].wait()
        return pushed

    first, second = await begun(0), await begun(1)
    work.parsed[0].set()
    await first
    third = await begun(2)
    assert work.arrived == [0, 0, 1]
    for parsed in work.parsed:
        parsed.set()
    await asyncio.gather(second, third)
