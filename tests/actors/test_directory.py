"""The directory: epochs only grow, and no more pages are granted than there are."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from actors.directory import Directory


async def test_epochs_grow_over_restarts_and_storage():
    directory = Directory(shards=2, epoch_floor=7, max_pages=None)
    assert await directory.register(0, 0) == 8
    assert await directory.register(0, 0) == 9
    assert await directory.register(1, 20) == 21
    assert await directory.register(0, 5) == 10
    assert repr(directory) == "<Directory 2 shards, granted 0 of None>"


async def test_nothing_is_granted_before_all_have_said_what_they_have():
    directory = Directory(shards=2, epoch_floor=0, max_pages=10)
    assert await directory.draw(0, granted=3, want=5) == 0
    assert await directory.draw(1, granted=6, want=5) == 1
    assert await directory.draw(0, granted=3, want=5) == 0
    assert await directory.draw(1, granted=4, want=0) == 0
    assert await directory.draw(0, granted=3, want=5) == 3


async def test_without_a_budget_everything_is_granted():
    assert await Directory(shards=9, epoch_floor=0, max_pages=None).draw(0, granted=0, want=5) == 5


@given(
    budget=st.integers(min_value=1, max_value=50),
    steps=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 20), st.booleans()), max_size=40),
)
def test_the_budget_is_never_exceeded(budget, steps):
    async def play():
        directory = Directory(shards=3, epoch_floor=0, max_pages=budget)
        held = dict.fromkeys(range(3), 0)
        for shard, want, returns in steps:
            if returns:
                held[shard] //= 2
            held[shard] += await directory.draw(shard, held[shard], want)
            assert sum(held.values()) <= budget

    asyncio.run(play())
