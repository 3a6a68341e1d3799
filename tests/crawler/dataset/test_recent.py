from hypothesis import given
from hypothesis import strategies as st

from crawler.dataset.recent import Recent

STEPS = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 4), st.integers(0, 2), st.booleans()), max_size=80
)


def arrived(recent):
    """The same sender's next batch: everything before has arrived."""
    recent.begin(0, 2, arrived=1)
    return recent


def test_a_link_is_held_from_its_depth_on():
    recent = Recent(10)
    recent.begin(0, 1, arrived=0)
    assert not recent.holds("a", 3)
    recent.note("a", 3)
    arrived(recent)
    assert recent.holds("a", 3)
    assert recent.holds("a", 4)
    assert not recent.holds("a", 2)
    recent.forget()
    assert not recent.holds("a", 3)


def test_what_has_not_arrived_is_not_held():
    recent = Recent(10)
    recent.begin(7, 1, arrived=0)
    recent.note("a", 1)
    assert recent.holds("a", 1)  # it goes with the same batch
    recent.begin(7, 2, arrived=0)
    assert not recent.holds("a", 1)
    recent.note("a", 1)  # sent once more; the first batch arrives sooner and is the one that counts
    recent.begin(3, 1, arrived=9)
    assert not recent.holds("a", 1)
    recent.begin(7, 3, arrived=1)
    assert recent.holds("a", 1)


def test_a_better_depth_is_noted_anew():
    recent = Recent(10)
    recent.begin(0, 1, arrived=0)
    recent.note("a", 5)
    recent.begin(0, 2, arrived=1)
    recent.note("a", 2)
    recent.begin(0, 3, arrived=1)
    assert not recent.holds("a", 5)
    recent.begin(0, 4, arrived=2)
    assert recent.holds("a", 2)


@given(STEPS, st.integers(1, 8))
def test_what_is_held_has_arrived_at_that_depth_or_a_better(steps, capacity):
    recent = Recent(capacity)
    batches, there = dict.fromkeys(range(3), 0), dict.fromkeys(range(3), 0)
    notes = []
    for link, depth, sender, arrives in steps:
        if arrives:
            there[sender] = batches[sender]
        batches[sender] += 1
        recent.begin(sender, batches[sender], there[sender])
        if recent.holds(link, depth):
            assert any(
                noted == link
                and at <= depth
                and (batch <= there[who] or (who, batch) == (sender, batches[sender]))
                for noted, at, who, batch in notes
            )
        else:
            recent.note(link, depth)
            notes.append((link, depth, sender, batches[sender]))
        assert len(recent) <= max(2, capacity)


def test_what_is_used_stays():
    recent = Recent(20)
    recent.begin(0, 1, arrived=0)
    recent.note("menu", 1)
    arrived(recent)
    for n in range(1000):
        recent.note(n, 1)
        assert recent.holds("menu", 1)
    recent.begin(0, 3, arrived=2)
    assert not recent.holds(0, 1)
