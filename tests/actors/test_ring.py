"""The ring: every slot has one owner, shares are even, and few slots move."""

import numpy as np
import pytest

from actors.ring import Ring
from crawler.url.keys import SLOTS


@pytest.mark.parametrize("shards", [1, 2, 3, 4, 8, 64])
def test_every_slot_has_one_owner(shards):
    ring = Ring(shards)
    owned = [ring.slots_of(shard) for shard in range(shards)]
    assert sum(len(slots) for slots in owned) == SLOTS
    assert frozenset().union(*owned) == frozenset(range(SLOTS))


@pytest.mark.parametrize(("shards", "most"), [(2, 1.15), (4, 1.25), (8, 1.35), (16, 1.6)])
def test_shares_are_even(shards, most):
    shares = np.bincount(Ring(shards).owners, minlength=shards)
    mean = SLOTS / shards
    assert shares.max() <= most * mean
    assert shares.min() >= mean / (most + 0.25)


@pytest.mark.parametrize("shards", [1, 2, 4, 8, 16])
def test_a_new_shard_only_takes(shards):
    before, after = Ring(shards).owners, Ring(shards + 1).owners
    moved = before != after
    assert set(after[moved]) == {shards}
    assert moved.sum() <= 1.5 * SLOTS / (shards + 1)


def test_the_ring_is_the_same_everywhere():
    assert Ring(5).owners.tolist() == Ring(5).owners.tolist()
    assert repr(Ring(5)) == "<Ring 5 shards, 1024 slots>"
