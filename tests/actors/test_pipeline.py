"""The marks: a restart never skips a segment that holds a row nobody settled."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.pipeline import Marks, Pipeline, halves
from actors.work import BrokenError, LostError, Part


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


def test_halving_ends_with_one_page_in_quarantine():
    parts, alone = [Part(0, 5)], []
    while parts:
        part = parts.pop()
        for half in halves(part):
            (alone if half.quarantine else parts).append(half)
    assert sorted(alone) == [Part(row, row + 1, quarantine=True) for row in range(5)]


async def test_a_page_that_crashes_even_unread_is_lost():
    class Crashing:
        parts = ()

        async def parse(self, batch, part, duplicates, source):
            self.parts += (part,)
            message = "crashed"
            raise BrokenError(message)

    work = Crashing()
    frontier = SimpleNamespace(shard=0, epoch=1, mark=3)
    pipeline = Pipeline(work, None, None, frontier, None, None)
    with pytest.raises(LostError, match="crashed"):
        await pipeline.push(None, [None, None])
    assert work.parts == (Part(0, 2), Part(0, 1), Part(0, 1, quarantine=True))
    assert repr(pipeline) == "<Pipeline 0 batches, settled up to segment 3>"
