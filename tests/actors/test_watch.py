"""The end of a crawl: budgets at once, completion only when two equal rounds leave no doubt."""

from dataclasses import replace

import pytest

from actors.spec import ShardStats
from actors.watch import Ending, Totals, Watch, total
from crawler.config import Budget
from crawler.frontier.stats import FrontierStats

IDLE = ShardStats(0, epoch=1, ready=True, idle=True, sent=4, received=4)
OTHER = replace(IDLE, number=1)
FRONTIER = FrontierStats(
    queued=1, leased=2, due=3, hosts_ready=4, hosts_waiting=5, hosts_parked=3, hosts_leased=6, hosts_given_up=7,
    urls_known=8, bloom_bits=9, bloom_fill=0.5, bloom_measured_fp_rate=0.25, counters={},
)  # fmt: skip


def verdicts(*rounds, budget=None, seconds=1.0):
    watch = Watch(budget or Budget(), began=100.0, last_wait=60.0)
    return [watch.verdict(stats, 100.0 + n * seconds) for n, stats in enumerate(rounds)]


def test_complete_after_two_equal_rounds():
    rounds = [IDLE, OTHER]
    assert verdicts(rounds, rounds) == [None, Ending.COMPLETE]


@pytest.mark.parametrize("change", [{"sent": 5}, {"received": 5}, {"epoch": 2}])
def test_a_message_or_a_new_incarnation_between_two_rounds_begins_again(change):
    changed = [replace(IDLE, **change), OTHER]
    assert verdicts([IDLE, OTHER], changed, changed) == [None, None, Ending.COMPLETE]


@pytest.mark.parametrize("change", [{"idle": False}, {"ready": False}])
def test_a_busy_round_between_two_idle_ones_begins_again(change):
    idle, busy = [IDLE, OTHER], [IDLE, replace(OTHER, **change)]
    assert verdicts(idle, busy, idle, idle) == [None, None, None, Ending.COMPLETE]


STALLED = [IDLE, replace(OTHER, idle=False, stalled=True, next_ready=161.0)]


def calls(*rounds):
    """What each round makes of the last call: the moment, and whether it is news."""
    watch, made = Watch(Budget(), began=0.0, last_wait=60.0), []
    for number, stats in enumerate(rounds):
        assert watch.verdict(stats, 100.0 + number) is None
        made.append((watch.last_call, watch.news))
    return made


def test_two_equal_rounds_of_nothing_but_waiting_make_the_last_call_once():
    assert calls(STALLED, STALLED, STALLED) == [(None, False), (161.0, True), (161.0, False)]


def test_after_the_last_call_nobody_waits_for_a_lease_either():
    watch = Watch(Budget(), began=0.0, last_wait=60.0)
    made = []
    for now in (100.0, 101.0, 162.0, 162.1, 163.0):
        watch.verdict(STALLED, now)
        made.append((watch.last_call, watch.news))
    assert made[1:] == [(161.0, True), (161.0, False), (0.0, True), (0.0, False)]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, (0.0, True)),
        ({"next_ready": None}, (0.0, True)),
        ({"leases": 1}, (161.0, False)),
        ({"batches": 1}, (161.0, False)),
        ({"stalled": False}, (161.0, False)),
    ],
)
def test_who_cannot_be_asked_before_the_last_call_is_not_waited_for(change, told):
    late = [IDLE, replace(STALLED[1], **{"next_ready": 161.5, **change})]
    assert calls(STALLED, STALLED, late)[-1] == told
    assert calls(STALLED, STALLED, [replace(IDLE, next_ready=120.0), late[1]])[-1][0] == 161.0


def test_a_busy_round_makes_no_last_call():
    busy = [IDLE, replace(OTHER, idle=False)]
    assert calls(STALLED, busy, STALLED) == [(None, False)] * 3


def test_a_host_that_fails_again_does_not_move_the_last_call():
    trying = [IDLE, replace(OTHER, idle=False, leases=1)]
    assert calls(STALLED, STALLED, trying, STALLED)[-2:] == [(161.0, False)] * 2


@pytest.mark.parametrize(
    "change", [{"answers": 1}, {"sent": 5}, {"received": 5}, {"epoch": 2, "stalled": False}]
)
def test_an_answer_a_message_or_a_restart_calls_it_off(change):
    changed = [IDLE, replace(STALLED[1], **change)]
    made = calls(STALLED, STALLED, changed, STALLED, STALLED)
    assert made[2] == (None, True)
    assert made[-1] == (164.0, True)


def test_what_has_just_stopped_waiting_is_complete_only_after_two_rounds():
    idle = [IDLE, OTHER]
    assert verdicts(STALLED, STALLED, idle, idle) == [None, None, None, Ending.COMPLETE]


def counted(**counters):
    named = {name.replace("__", "."): count for name, count in counters.items()}
    return [replace(IDLE, idle=False, counters=named), replace(OTHER, idle=False)]


def test_pages_are_what_had_a_body():
    few = counted(rows__fetched=2, rows__parse_failed=1, rows__redirect=50)
    enough = counted(rows__fetched=3, rows__parse_failed=1)
    budget = Budget(max_pages=4)
    assert verdicts(few, enough, budget=budget) == [None, Ending.MAX_PAGES]


def test_bytes_are_those_on_the_wire():
    few, enough = counted(bytes__wire=99, bytes__body=1000), counted(bytes__wire=100)
    assert verdicts(few, enough, budget=Budget(max_bytes=100)) == [None, Ending.MAX_BYTES]


def test_seconds_are_those_since_the_start():
    budget = Budget(max_seconds=1.0)
    assert verdicts(counted(), counted(), budget=budget) == [None, Ending.MAX_SECONDS]


def test_a_budget_that_is_met_wins_over_completion():
    stats = [replace(IDLE, counters={"rows.fetched": 1})]
    assert verdicts(stats, stats, budget=Budget(max_pages=1)) == [Ending.MAX_PAGES] * 2


def test_totals_add_up():
    counters = {
        "rows.fetched": 5, "rows.redirect": 2, "rows.duplicate": 1, "bytes.wire": 70, "bytes.body": 60,
        "requests": 7, "robots_fetched": 2, "links.found": 9, "links.new": 4, "links.scope": 3, "links.known": 2,
    }  # fmt: skip
    first = replace(IDLE, counters=counters, leases=2, leases_lost=1, frontier=FRONTIER)
    second = replace(
        OTHER,
        counters={"rows.fetched": 1, "links.found": 1, "links.known": 1},
        leases=1,
        frontier=replace(FRONTIER, bloom_measured_fp_rate=0.125),
    )
    totals = total([first, second, ShardStats(2)])
    assert totals == Totals(
        pages=6, rows=8, wire_bytes=70, body_bytes=60, queued=8, leased=4, hosts_ready=8, hosts_waiting=10,
        hosts_parked=6, hosts_given_up=14, urls_known=16, requests=9, duplicates=1, leases=3, leases_lost=1,
        bloom_false_positive_rate=0.25, kinds={"fetched": 6, "redirect": 2}, found=10,
        links={"known": 3, "new": 4, "scope": 3},
    )  # fmt: skip
    assert totals.accounted == totals.found


def test_no_shard_has_told_anything_yet():
    assert total([ShardStats(0)]) == Totals()
