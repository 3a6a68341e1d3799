import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.frontier.seen import Seen

KEYS = st.integers(-(2**63), 2**63 - 1)


@given(st.lists(KEYS, max_size=200), st.integers(1, 20))
def test_what_was_added_is_never_called_unseen(keys, capacity):
    seen = Seen(capacity, 0.01)
    seen.add(keys)
    assert all(seen.perhaps(keys))
    assert seen.size == len(keys)


def test_the_first_filter_has_the_size_of_the_formula():
    bits = Seen(100_000, 0.01).bits
    assert bits == pytest.approx(-100_000 * math.log(0.005) / math.log(2) ** 2, rel=0.01)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_rate_asked_for_holds_over_several_filters(seed):
    rng = random.Random(seed)
    seen = Seen(1000, 0.02)
    seen.add([rng.randint(-(2**63), 2**63 - 1) for _ in range(15_000)])
    assert len(seen._filters) == 4
    strangers = [rng.randint(-(2**63), 2**63 - 1) for _ in range(20_000)]
    assert 0 < sum(seen.perhaps(strangers)) / len(strangers) < 0.022


def test_growth_is_shown():
    seen = Seen(4, 0.01)
    assert repr(seen) == f"<Seen 0 keys, 1 filters, {seen.bits} bits>"
    seen.add([1, 2, 3])
    assert seen.fill == 0.75
    seen.add([4, 5])
    assert seen.fill == 0.125
    assert repr(seen).startswith("<Seen 5 keys, 2 filters")


def test_filling_from_rows_takes_the_last_eight_octets():
    seen = Seen(50_000, 0.001)
    keys = [*range(-10, 12_000)]
    seen.fill_from(iter([b"slot host\0" + key.to_bytes(8, "big", signed=True) for key in keys]))
    assert seen.size == len(keys)
    assert all(seen.perhaps(keys))


def test_measured_rate():
    seen = Seen(10, 0.01)
    assert seen.measured_rate == 0
    seen.observe(90, 0)
    seen.observe(10, 2)
    assert seen.measured_rate == 0.02
