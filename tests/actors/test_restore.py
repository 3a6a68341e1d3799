"""A frontier from the journal: the whole of it, or what is missing, and each row once."""

import random
from collections import Counter
from contextlib import contextmanager
from itertools import pairwise

import pytest

from actors.plan import plan
from actors.restore import restore
from actors.ring import Ring
from actors.spec import ShardSpec
from crawler.config import Config, Dataset
from crawler.dataset.journal import Journal
from crawler.dataset.output import Output
from crawler.dataset.rows import RowBuilder
from crawler.frontier.frontier import Frontier
from crawler.url.admit import Admission
from tests.clock import CLOCK
from tests.crawler.dataset.samples import START, fetched, outcome, page

CONFIG = Config.model_validate({"scope": {"mode": "any"}, "sitemaps": {"discover": False}})
HOSTS = [f"host{n}.example" for n in range(6)]


def rows(first, count):
    """Pages in a chain over some hosts, each with a link to the next."""
    names = [f"https://{HOSTS[n % 6]}/{n}" for n in range(first, first + count + 1)]
    pages = [
        outcome(url, body=page(f"<a href='{onward}'>on</a>", "<a href='mailto:x@x.example'>m</a>"))
        for url, onward in pairwise(names)
    ]
    return RowBuilder(CONFIG, Admission(CONFIG, ()), "raycrawl").build(fetched(pages)).rows


@pytest.fixture
def output(tmp_path):
    """Two segments that one shard has written: ten pages."""
    output = Output.open(str(tmp_path))
    write(output, 0, rows(0, 6), rows(6, 4))
    return output


def write(output, shard, *segments):
    journal = Journal(output, shard, Dataset(sync=False))
    epoch = journal.floor() + 1
    journal.open(epoch, START)
    for number, one in enumerate(segments):
        journal.append(epoch, number, one, START)
        journal.seal(START)
    journal.close(START)


@contextmanager
def opened(output, number=0, shards=1):
    """A shard's frontier, and its restore as a function of nothing."""
    spec = ShardSpec(number, shards, CONFIG, (), output, plan(2, shards), "run", CLOCK)
    frontier = Frontier(spec.state, CONFIG, rng=random.Random(0), now=START)
    slots = Ring(shards).slots_of(number)
    try:
        yield frontier, lambda clock=lambda: START: restore(frontier, spec, slots, clock)
        frontier.check()
    finally:
        frontier.close()


def balance(*counters):
    """Links found, and those accounted for."""
    both = sum((Counter(one) for one in counters), Counter())
    return both["links.found"], sum(
        count for name, count in both.items() if name.startswith("links.") and name != "links.found"
    )


def test_everything_from_the_rows(output):
    with opened(output) as (frontier, again):
        assert again() == 10
        assert frontier.whole
        assert frontier.mark == 2
        assert frontier.counters["rows.fetched"] == 10
        assert (frontier.queued, frontier.stats(START).urls_known) == (1, 11)
        assert balance(frontier.counters) == (10, 10)
        first = rows(0, 1).to_pylist()[0]
        digest, key, url = first["content_digest"], first["url_key"], first["url"]
        assert frontier.first_with([digest, digest], [key, key + 1], [url, "other"]) == [None, url]


def test_nothing_to_restore(tmp_path):
    with opened(Output.open(str(tmp_path))) as (frontier, again):
        assert again() == 0
        assert frontier.whole
        assert frontier.idle


def test_only_what_is_missing(output):
    with opened(output) as (frontier, again):
        again()
    write(output, 0, rows(10, 2))
    for missing in (2, 0):
        with opened(output) as (frontier, again):
            assert again() == missing
            assert frontier.counters["rows.fetched"] == 12
            assert balance(frontier.counters) == (12, 12)
            # Their links are not taken from these rows: the owner had acknowledged them.
            assert frontier.stats(START).urls_known == 12


@pytest.mark.slow
def test_a_catch_up_that_was_cut_off_goes_on(output, monkeypatch):
    with opened(output) as (frontier, again):
        again()
    monkeypatch.setattr("crawler.dataset.replay._ROWS", 1)
    write(output, 0, rows(10, 4))
    moments = iter([START] * 3)
    with opened(output) as (frontier, again), pytest.raises(StopIteration):
        again(lambda: next(moments))
    with opened(output) as (frontier, again):
        assert frontier.counters["rows.fetched"] == 13
        assert again() == 1
        assert frontier.counters["rows.fetched"] == 14
        assert balance(frontier.counters) == (14, 14)


@pytest.mark.slow
def test_shards_share_the_rows_out(output):
    counters, known, taken = [], 0, 0
    for number in range(3):
        with opened(output, number, 3) as (frontier, again):
            taken += again()
            known += frontier.stats(START).urls_known
            counters.append(frontier.counters)
    assert (taken, known) == (10, 11)
    assert balance(*counters) == (10, 10)


@pytest.mark.slow
def test_segments_of_another_number_of_shards_are_not_taken_in_twice(output):
    for _ in range(2):
        taken = 0
        for number in range(3):
            with opened(output, number, 3) as (frontier, again):
                again()
                taken += frontier.counters.get("rows.fetched", 0)
        assert taken == 10
