import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.dataset.recent import Recent
from tests.crawler.dataset.samples import built, outcome, page

LINKS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), max_size=60)


def links(*found):
    """Links with these (number, depth)."""
    return built(
        *(
            outcome(f"https://example.org/at/{i}", depth=depth - 1, body=page(f"<a href='/{n}'>"))
            for i, (n, depth) in enumerate(found)
        )
    ).links


def test_a_link_is_held_from_its_depth_on():
    recent = Recent(10)
    assert not recent.holds("a", 3)
    recent.note("a", 3)
    assert recent.holds("a", 3)
    assert recent.holds("a", 4)
    assert not recent.holds("a", 2)
    recent.forget()
    assert not recent.holds("a", 3)


@given(LINKS, st.integers(1, 8))
def test_what_is_held_was_noted_at_that_depth_or_a_better(noted, capacity):
    recent, best = Recent(capacity), {}
    for link, depth in noted:
        if recent.holds(link, depth):
            assert best[link] <= depth
        else:
            recent.note(link, depth)
            best[link] = min(depth, best.get(link, depth))
        assert len(recent) <= max(2, capacity)


def test_what_is_used_stays():
    recent = Recent(20)
    recent.note("menu", 1)
    for n in range(1000):
        recent.note(n, 1)
        assert recent.holds("menu", 1)
    assert not recent.holds(0, 1)


def test_fresh_links_are_those_not_held_once_each():
    recent = Recent(100)
    found = links((1, 2), (2, 2), (1, 2), (1, 1), (2, 5))
    fresh = recent.fresh(found)
    assert [url[-2:] for url in fresh["url"].to_pylist()] == ["/1", "/2", "/1"]
    assert fresh["depth"].to_pylist() == [2, 2, 1]
    assert recent.fresh(fresh) is fresh
    recent.arrived(fresh)
    recent.arrived(found)
    assert recent.fresh(found).num_rows == 0
    better = recent.fresh(links((2, 1), (1, 1)))
    assert better["url"].to_pylist() == ["https://example.org/2"]


@pytest.mark.slow
@given(st.lists(LINKS, max_size=6))
def test_every_link_arrives_at_its_best_depth(batches):
    recent, arrived, best = Recent(1000), {}, {}
    for found in batches:
        batch = links(*((n, depth + 1) for n, depth in found))
        fresh = recent.fresh(batch)
        recent.arrived(fresh)
        for into, rows in ((best, batch), (arrived, fresh)):
            for key, depth in zip(rows["key"].to_pylist(), rows["depth"].to_pylist(), strict=True):
                into[key] = min(depth, into.get(key, depth))
    assert arrived == best
