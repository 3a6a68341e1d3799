import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from crawler.frontier.schedule import Schedule


def drain(schedule, now, seed=1):
    schedule.mature(now)
    rng = random.Random(seed)
    names = []
    while (name := schedule.draw(rng)) is not None:
        names.append(name)
    return names


def test_a_host_is_drawn_when_its_moment_has_come_and_not_before():
    schedule = Schedule()
    schedule.put("b", 2.0, 0)
    schedule.put("a", 1.0, 0)
    assert repr(schedule) == "<Schedule 0 ready, 2 waiting>"
    assert schedule.next_moment() == 1.0
    assert drain(schedule, 0.9) == []
    assert drain(schedule, 1.0) == ["a"]
    assert schedule.next_moment() == 2.0
    assert drain(schedule, 5.0) == ["b"]
    assert schedule.next_moment() is None


def test_within_a_class_who_has_been_ready_longest_comes_first():
    schedule = Schedule()
    for name, moment in [("c", 3.0), ("a", 1.0), ("b", 2.0)]:
        schedule.put(name, moment, 100)
    assert drain(schedule, 9.0) == ["a", "b", "c"]


def test_a_host_is_moved_not_doubled():
    schedule = Schedule()
    schedule.put("a", 5.0, 0)
    schedule.put("a", 1.0, 0)
    schedule.put("a", 1.0, 0)
    assert schedule.waiting == 1
    assert drain(schedule, 9.0) == ["a"]
    schedule.put("a", 1.0, 0)
    schedule.put("a", 5.0, 0)
    assert schedule.next_moment() == 5.0
    assert drain(schedule, 4.0) == []
    schedule.put("b", 6.0, 0)
    schedule.put("b", 9.0, 0)
    assert drain(schedule, 7.0) == ["a"]
    assert drain(schedule, 9.0) == ["b"]


def test_of_those_whose_moment_is_the_same_the_turn_decides():
    schedule = Schedule()
    for name, turn in [("a", 2), ("b", 1), ("c", 3)]:
        schedule.put(name, 1.0, 0, turn)
    assert drain(schedule, 1.0) == ["b", "a", "c"]


def test_a_ready_host_keeps_its_turn_or_rises_but_waits_again_if_its_moment_is_put_off():
    schedule = Schedule()
    for name in "ab":
        schedule.put(name, 1.0, 200)
    schedule.mature(2.0)
    schedule.put("a", 1.5, 255)
    schedule.put("b", 1.0, 0)
    assert (schedule.ready, schedule.waiting) == (2, 0)
    assert drain(schedule, 2.0, seed=1) == ["b", "a"]
    schedule.put("a", 1.0, 200)
    schedule.mature(2.0)
    schedule.put("a", 3.0, 200)
    assert (schedule.ready, schedule.waiting) == (0, 1)


def test_removed_hosts_are_gone():
    schedule = Schedule()
    schedule.put("waiting", 5.0, 0)
    schedule.put("ready", 1.0, 0)
    schedule.mature(1.0)
    assert "waiting" in schedule
    assert "ready" in schedule
    for name in ("waiting", "ready", "never"):
        schedule.remove(name)
    assert "waiting" not in schedule
    assert drain(schedule, 9.0) == []


def test_better_classes_are_drawn_more_often_and_none_starves():
    schedule = Schedule()
    rng = random.Random(7)
    drawn = Counter()
    for priority in (0, 32, 64):
        schedule.put(f"{priority}", 0.0, priority)
    for _ in range(7000):
        schedule.mature(0.0)
        name = schedule.draw(rng)
        drawn[name] += 1
        schedule.put(name, 0.0, int(name))
    assert 3700 < drawn["0"] < 4300
    assert 1700 < drawn["32"] < 2300
    assert 700 < drawn["64"] < 1300


def test_the_heap_does_not_grow_with_the_number_of_moves():
    schedule = Schedule()
    for moment in range(10_000):
        schedule.put("a", float(moment), 0)
        schedule.put("b", float(moment), 0)
    assert len(schedule._heap) < 100
    assert sorted(drain(schedule, 1e9)) == ["a", "b"]


@given(
    st.lists(
        st.one_of(
            st.tuples(
                st.just("put"), st.sampled_from("abcd"), st.integers(0, 9), st.integers(0, 255)
            ),
            st.tuples(st.just("remove"), st.sampled_from("abcd")),
            st.tuples(st.just("mature"), st.integers(0, 9)),
            st.tuples(st.just("draw")),
        )
    )
)
def test_a_host_that_is_put_is_drawn_once_and_never_early(steps):
    schedule, model, now = Schedule(), {}, -1
    for operation, *arguments in steps:
        if operation == "put":
            name, moment, priority = arguments
            schedule.put(name, moment, priority)
            model[name] = moment
        elif operation == "remove":
            schedule.remove(*arguments)
            model.pop(*arguments, None)
        elif operation == "mature":
            now = max(now, *arguments)
            schedule.mature(now)
        elif (name := schedule.draw(random.Random(1))) is not None:
            assert model.pop(name) <= now
        assert schedule.ready + schedule.waiting == len(model)
        assert all(name in schedule for name in model)
        waiting = schedule.next_moment()
        assert waiting is None or waiting in model.values()
    assert sorted(drain(schedule, 10)) == sorted(model)
