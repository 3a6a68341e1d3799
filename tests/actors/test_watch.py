"""The end of a crawl: budgets at once, completion only when two equal rounds leave no doubt."""

from dataclasses import replace

import pytest

from actors.spec import ShardStats
from actors.watch import Ending, Totals, Watch, next_ready, total
from crawler.config import Budget, Config, Politeness
from crawler.frontier.stats import FrontierStats

IDLE = ShardStats(0, epoch=1, ready=True, idle=True, sent=4, received=4)
OTHER = replace(IDLE, number=1)
FRONTIER = FrontierStats(
    queued=1, leased=2, due=3, hosts_ready=4, hosts_waiting=5, hosts_parked=3, hosts_leased=6, hosts_given_up=7,
    urls_known=8, bloom_bits=9, bloom_fill=0.5, bloom_measured_fp_rate=0.25, counters={},
)  # fmt: skip


def verdicts(*rounds, budget=None, seconds=1.0):
    watch = Watch(Config(budget=budget or Budget()), began=100.0)
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


def test_the_pages_of_earlier_runs_are_those_of_each_shard_when_it_is_ready():
    watch = Watch(Config(), began=0.0)
    fetched = [replace(IDLE, counters={"rows.fetched": pages}) for pages in (5, 6)]
    later = replace(OTHER, counters={"rows.fetched": 7, "rows.redirect": 9})
    for stats in ([fetched[0], replace(OTHER, ready=False)], [fetched[1], later]):
        watch.verdict(stats, 1.0)
    assert watch.pages_before == 5 + 7


def test_the_next_moment_is_the_first_of_all_shards():
    assert next_ready([IDLE, OTHER]) is None
    assert next_ready([IDLE, replace(OTHER, next_ready=7.0), replace(OTHER, next_ready=5.0)]) == 5.0


STALLED = [IDLE, replace(OTHER, idle=False, stalled=True, next_ready=161.0)]


def calls(*rounds):
    """What each round makes of the last call: the moment, and whether it is news."""
    watch, made = Watch(Config(), began=0.0), []
    for number, stats in enumerate(rounds):
        assert watch.verdict(stats, 100.0 + number) is None
        made.append((watch.last_call, watch.news))
    return made


def test_two_equal_rounds_of_nothing_but_waiting_make_the_last_call_once():
    assert calls(STALLED, STALLED, STALLED) == [(None, False), (161.0, True), (161.0, False)]


def test_after_the_last_call_nobody_waits_for_a_lease_either():
    watch = Watch(Config(), began=0.0)
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


CUT_OFF = [
    replace(IDLE, idle=False, answered_at=90.0, struck=(91.0, 95.0)),
    replace(OTHER, idle=False, stalled=True, answered_at=94.0, struck=(92.0, 96.0, 97.0)),
]


def outages(*rounds, wait=600.0):
    """Since when the crawl is cut off after each round, and whether a shard must be told so."""
    watch, made = Watch(Config(politeness=Politeness(outage_wait=wait)), began=0.0), []
    for number, stats in enumerate(rounds):
        ending = watch.verdict(stats, 100.0 + number)
        made.append(ending or (watch.cut_off, watch.cut_off_news))
    return made


def told(moment, stats):
    return [replace(shard, cut_off_at=moment) for shard in stats]


def test_several_sites_that_failed_after_the_last_answer_anywhere_are_an_outage():
    rounds = [CUT_OFF, CUT_OFF, told(100.0, CUT_OFF)]
    assert outages(*rounds) == [(100.0, True), (100.0, True), (100.0, False)]


@pytest.mark.parametrize(
    "change", [{"answered_at": 95.0}, {"struck": (94.0,)}, {"struck": (93.0, 94.0)}]
)
def test_an_answer_since_or_fewer_sites_are_none(change):
    assert outages([replace(CUT_OFF[0], **change), CUT_OFF[1]]) == [(0.0, False)]


def test_an_answer_ends_an_outage():
    shards = told(100.0, CUT_OFF)
    answered = [shards[0], replace(shards[1], answered_at=100.5)]
    assert outages(CUT_OFF, shards, answered, told(0.0, answered)) == [
        (100.0, True), (100.0, False), (0.0, True), (0.0, False),
    ]  # fmt: skip


def test_an_outage_goes_on_after_a_restart():
    [one, other] = told(95.0, [replace(shard, struck=()) for shard in CUT_OFF])
    assert outages([one, other]) == [(100.0, False)]
    assert outages([replace(one, cut_off_at=0.0), other]) == [(100.0, True)]
    assert outages([replace(one, cut_off_at=0.0, ready=False), other]) == [(100.0, False)]
    assert outages([replace(one, answered_at=95.0), other]) == [(0.0, True)]


def test_a_crawl_that_stays_cut_off_ends():
    rounds = [told(90.5, CUT_OFF)] * 4
    assert outages(*rounds, wait=3.0) == [(100.0, False)] * 3 + [Ending.CUT_OFF]
    assert outages(*rounds, wait=0.0) == [(0.0, True)] * 4


def test_there_is_no_last_call_in_an_outage_and_what_was_made_is_called_off():
    watch = Watch(Config(), began=0.0)
    stalled = [replace(one, stalled=True, next_ready=150.0) for one in CUT_OFF]
    well = [replace(one, struck=()) for one in stalled]
    made = []
    for now, stats in enumerate([well, well, stalled, stalled, well, well]):
        watch.verdict(stats, 100.0 + now)
        made.append(watch.last_call)
    assert made == [None, 161.0, None, None, 164.0, 164.0]


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
