from hypothesis import given
from hypothesis import strategies as st

from crawler.dataset.recent import Recent

LINKS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), max_size=60)


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
