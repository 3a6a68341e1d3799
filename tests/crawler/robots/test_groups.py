"""Who is spoken to: RFC 9309 §2.2.1."""

import pytest

from crawler.robots.groups import collect, said_to
from crawler.robots.syntax import Field, read_fields


def read(text):
    return collect(read_fields(text, 1 << 20))


def patterns(text, token):
    return [value for _, value in said_to(token, read(text).groups).rules]


def test_groups_of_one_agent_are_merged_in_order():
    text = b"user-agent: a\nallow: /1\nuser-agent: b\nallow: /2\nuser-agent: A/2\ndisallow: /3"
    assert said_to("a", read(text).groups).rules == [(Field.ALLOW, b"/1"), (Field.DISALLOW, b"/3")]


def test_everyone_counts_only_where_we_are_not_named():
    text = b"user-agent: *\nallow: /all\nuser-agent: a\nuser-agent: c"
    assert patterns(text, "b") == [b"/all"]
    assert patterns(text, "a") == []
    assert patterns(text, "C") == []


def test_an_agent_line_may_name_us_and_everyone_in_one_group():
    text = b"user-agent: * baz\nuser-agent: a b\nallow: /x"
    assert patterns(text, "a") == [b"/x"]
    assert patterns(text, "other") == [b"/x"]


def test_nobody_is_named_by_an_empty_token():
    text = b"user-agent: 1bot\nallow: /one\nuser-agent: *\nallow: /all"
    assert patterns(text, "") == [b"/all"]


@pytest.mark.parametrize(
    "line", [b"crawl-delay: 5", b"sitemap: /s.xml", b"unknown: x", b"", b"# x"]
)
def test_only_a_rule_ends_a_run_of_agents(line):
    text = b"user-agent: a\n" + line + b"\nuser-agent: b\nallow: /x\nuser-agent: c\nallow: /y"
    assert patterns(text, "a") == patterns(text, "b") == [b"/x"]
    assert patterns(text, "c") == [b"/y"]


def test_rules_before_any_agent_are_said_to_nobody():
    assert patterns(b"allow: /lost\nuser-agent: *\nallow: /x", "a") == [b"/x"]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [(b"5", 5.0), (b"0.5", 0.5), (b".5", 0.5), (b"7.", 7.0), (b"10 s", 10.0), (b"0", 0.0),
     (b"-1", None), (b"soon", None), (b"", None), (b"nan", None), (b"inf", None), (b"9" * 400, None)],
)  # fmt: skip
def test_a_crawl_delay(value, seconds):
    text = b"user-agent: a\ncrawl-delay: " + value + b"\nallow: /"
    assert said_to("a", read(text).groups).crawl_delay == seconds


def test_the_longest_of_our_crawl_delays_counts_and_only_ours():
    text = (
        b"user-agent: a\ncrawl-delay: 2\ncrawl-delay: 1\nallow: /\n"
        b"user-agent: a\ncrawl-delay: 3\nallow: /\nuser-agent: *\ncrawl-delay: 9\nallow: /\n"
        b"user-agent: c\ncrawl-delay: 4\ncrawl-delay: 1\nallow: /"
    )
    assert said_to("a", read(text).groups).crawl_delay == 3.0
    assert said_to("b", read(text).groups).crawl_delay == 9.0
    assert said_to("c", read(text).groups).crawl_delay == 4.0


def test_a_crawl_delay_is_said_to_those_named_before_it():
    text = b"user-agent: a\nuser-agent: b\ncrawl-delay: 60\nuser-agent: c\ncrawl-delay: 2\nuser-agent: *\ndisallow: /x"
    groups = read(text).groups
    assert [said_to(token, groups).crawl_delay for token in "abcd"] == [60.0, 60.0, 2.0, None]
    assert all(patterns(text, token) == [b"/x"] for token in "abcd")


def test_sitemaps_belong_to_the_file():
    text = b"sitemap: /1\nuser-agent: b\nsitemap: /2\ndisallow: /\nsitemap:\nsitemap: /1\nsitemap: /\xff"
    assert list(read(text).sitemaps) == ["/1", "/2", "/\ufffd"]
