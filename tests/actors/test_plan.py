"""The plan: on every size of machine all fetch tasks and one parse task fit at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.plan import plan


@given(
    cpus=st.floats(min_value=0.5, max_value=512),
    shards=st.integers(min_value=1, max_value=128),
    fetch_tasks=st.integers(min_value=0, max_value=200),
)
def test_fetching_never_starves_parsing(cpus, shards, fetch_tasks):
    shape = plan(cpus, shards, fetch_tasks)
    assert shape.leases >= 1
    assert shape.parsers >= 1
    assert shape.batches >= 2
    assert 0 < shape.fetch_cpus <= 1
    assert 0 < shape.parse_cpus <= 1
    assert shape.late >= 1
    fetching = shards * (shape.leases + shape.late) * shape.fetch_cpus
    assert fetching + shape.parse_cpus <= cpus + 1e-9


@pytest.mark.parametrize("cpus", [1, 2, 4, 64])
def test_the_cpus_are_used(cpus):
    shape = plan(cpus, shards=1)
    fetching = (shape.leases + shape.late) * shape.fetch_cpus
    assert fetching + shape.parsers * shape.parse_cpus >= 0.85 * cpus


def test_a_given_number_of_fetch_tasks_is_shared_out():
    assert plan(64, shards=4, fetch_tasks=32).leases == 8
    assert plan(64, shards=3, fetch_tasks=8).leases == 3
