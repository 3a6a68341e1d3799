"""The limits that end traps, at a frontier: which URL is one too many, and that each is counted once."""

import random

import pytest

from crawler.frontier.frontier import Frontier
from tests.crawler.frontier.builders import config, fates, link, links, row, settled

NOW = 1_000_000.0
LIMITS = {"calendar_years": 1, "token_urls": 3, "parameter_choices": 3, "hosts_per_site": 2}


@pytest.fixture
def opened(tmp_path):
    """Opens the same state again and again; what was open is closed before."""
    frontiers = []

    def again(**budget):
        for frontier in frontiers:
            frontier.close()
        rules = config(budget=LIMITS | budget)
        frontiers[:] = [Frontier(tmp_path, rules, rng=random.Random(0), now=NOW)]
        return frontiers[0]

    yield again
    for frontier in frontiers:
        frontier.check()
        frontier.close()


def found(pattern, numbers, via="link", host="a.example"):
    """A link for each number; the key tells the URL."""
    return [
        link(host, hash((pattern, number, host)) % 2**40, path=pattern.format(number))
        | {"found_via": via}
        for number in numbers
    ]


MONTHS = "cal/2{0:03}-11"
TOKENS = "{0:016x}a/page"
CHOICES = "shop?colour=c{0}&id=7"


@pytest.mark.parametrize(
    ("pattern", "limit", "reason"),
    [
        (MONTHS, 12, "calendar"),
        (TOKENS, 3, "tokens"),
        (CHOICES, 3, "parameters"),
        ("list?page={0}", 3, "parameters"),
    ],
)
def test_a_trap_ends_and_what_is_let_in_stays(opened, pattern, limit, reason):
    frontier = opened()
    rows = found(pattern, range(20))
    some, others = rows[: limit - 1], rows[limit - 1 :]
    assert frontier.discover(links(*some), NOW) == fates(new=limit - 1)
    frontier = opened()
    assert frontier.discover(links(*others), NOW) == fates(new=1, **{reason: 20 - limit})
    frontier = opened()
    assert frontier.discover(links(*rows), NOW) == fates(known=limit, **{reason: 20 - limit})
    elsewhere = found(pattern, range(limit), host="b.example")
    assert frontier.discover(links(*elsewhere), NOW) == fates(new=limit)
    assert frontier.discover(links(*found("plain/{0}", range(50))), NOW) == fates(new=50)


def test_a_choice_counts_once(opened):
    frontier = opened()
    rows = found("view.php?id={0}&lang=en", range(1000))
    assert frontier.discover(links(*rows), NOW) == fates(new=1000)
    frontier = opened()
    for lang, new in (("de", 10), ("fr", 10), ("es", 0), ("de", 0)):
        rows = found(f"view.php?id={{0}}&lang={lang}", range(10))
        counts = frontier.discover(links(*rows), NOW)
        assert counts["new"] == new
    assert counts == fates(known=10)


def test_who_names_a_url_gets_it(opened):
    frontier = opened()
    assert frontier.discover(links(*found(TOKENS, range(9))), NOW) == fates(new=3, tokens=6)
    for numbers, via, expected in (
        ((3,), "redirect", fates(tokens=1)),
        ((4,), "seed", fates(new=1)),
        ((5,), "sitemap", fates(new=1)),
    ):
        assert frontier.discover(links(*found(TOKENS, numbers, via)), NOW) == expected


def test_names_without_end(opened):
    frontier = opened()
    rows = [link(f"w{number}.site.example", number, site="site.example") for number in range(9)]
    assert frontier.discover(links(*rows, *rows[:2]), NOW) == fates(
        new=2, known=2, hosts_per_site=7
    )
    frontier = opened()
    assert frontier.discover(links(rows[7] | {"found_via": "sitemap"}), NOW) == fates(
        hosts_per_site=1
    )
    assert frontier.discover(links(rows[8] | {"found_via": "seed"}), NOW) == fates(new=1)
    again = link("w8.site.example", 80, site="site.example")
    assert frontier.discover(links(again), NOW) == fates(new=1)
    assert frontier.discover(links(link("w.other.example", 99)), NOW) == fates(new=1)


def test_hosts_that_only_the_journal_knows_count(opened):
    frontier = opened()
    lent = frontier.discover(links(link("a.s.example", 1, site="s.example")), NOW)
    assert lent == fates(new=1)
    (host,) = frontier.lease(NOW, deadline=NOW + 9, max_hosts=1, max_urls=1).hosts
    other = row(host, host.urls[0]) | {"host": "b.s.example", "key": 2}
    frontier.restore(settled(other), NOW, counters={}, mark=1)
    assert frontier.discover(links(link("c.s.example", 3, site="s.example")), NOW) == fates(
        hosts_per_site=1
    )
    assert frontier.discover(links(link("b.s.example", 4, site="s.example")), NOW) == fates(new=1)


def test_without_limits_nothing_is_counted(opened):
    frontier = opened(**dict.fromkeys(LIMITS))
    for pattern in (MONTHS, TOKENS, CHOICES):
        assert frontier.discover(links(*found(pattern, range(50))), NOW) == fates(new=50)
    assert frontier._store.shapes.empty
