"""What pages say to robots: meta tags and X-Robots-Tag, as Google documents them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.robots.directives import NOTHING_SAID, Directives, read_directives

NOON = datetime(2020, 6, 25, 12, tzinfo=UTC).timestamp()


def read(meta=(), headers=(), now=NOON):
    return read_directives(meta, headers, "raycrawl", now)


@pytest.mark.parametrize(
    ("content", "names", "noindex", "nofollow"),
    [
        ("noindex", ("noindex",), True, False),
        ("NOINDEX, NoFollow", ("nofollow", "noindex"), True, True),
        ("none", ("none",), True, True),
        ("index, follow", ("follow", "index"), False, False),
        ("noindex nofollow", ("nofollow", "noindex"), True, True),
        ("noindex;nofollow;", ("nofollow", "noindex"), True, True),
        ("max-snippet: -1, max-image-preview:large", ("max-image-preview:large", "max-snippet:-1"), False, False),
        ("no index", ("no index",), False, False),
        (",, ,", (), False, False),
    ],
)  # fmt: skip
def test_a_meta_tag(content, names, noindex, nofollow):
    assert read([("Robots", content)]) == Directives(names, noindex, nofollow)


def test_only_tags_for_everyone_and_for_us_count():
    meta = [
        ("robots", "noarchive"),
        (" RayCrawl ", "nofollow"),
        ("googlebot", "noindex"),
        ("viewport", "none"),
    ]
    assert read(meta) == Directives(("noarchive", "nofollow"), noindex=False, nofollow=True)


def test_whoever_forbids_wins():
    assert read([("robots", "noindex"), ("raycrawl", "index")]).noindex
    assert read([("robots", "follow")], ["raycrawl: nofollow"]).nofollow


def test_nothing_said():
    assert read() is read([("viewport", "noindex")], ["googlebot: none"]) is NOTHING_SAID


def test_an_agent_without_a_token_is_named_by_nothing():
    assert read_directives([("", "noindex")], [": noindex"], "", NOON) is NOTHING_SAID


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("noindex, nofollow", ("nofollow", "noindex")),
        ("raycrawl: noindex, nofollow", ("nofollow", "noindex")),
        ("RAYCRAWL:noindex", ("noindex",)),
        ("raycrawl: noindex nofollow", ("nofollow", "noindex")),
        ("googlebot: noindex nofollow", ()),
        ("googlebot: noindex, nofollow", ()),
        ("noarchive, googlebot: noindex, raycrawl: nofollow", ("noarchive", "nofollow")),
        ("googlebot: nofollow, *: noarchive", ("noarchive",)),
        ("max-snippet: 20, noindex", ("max-snippet:20", "noindex")),
        ("raycrawl: max-snippet:20", ("max-snippet:20",)),
        ("raycrawl:, noindex", ("noindex",)),
    ],
)
def test_a_header(value, names):
    assert read(headers=[value]).names == names


def test_each_header_begins_for_everyone():
    assert read(headers=["googlebot: noindex", "nofollow"]).names == ("nofollow",)


DATES = [
    "25 Jun 2020 11:00:00 GMT",
    "25 Jun 2020 03:00:00 PST",
    "Thu, 25 Jun 2020 11:00:00 GMT",
    "Thursday, 25-Jun-20 11:00:00 GMT",
    "25-Jun-2020 07:00:00 EDT",
    "2020-06-25T11:00:00Z",
    "2020-06-25T13:00:00+02:00",
    "2020-06-25 11:00:00",
    "2020-06-25",
    "25 Jun 2020",
    "Thu, 25 Jun 2020 11:00:00 -0000",
]


@pytest.mark.parametrize("date", DATES)
@pytest.mark.parametrize(
    "form", ["unavailable_after: {}", "Unavailable_After:{}, noarchive", "a, unavailable_after: {}"]
)
def test_a_page_expires(date, form):
    content = form.format(date)
    for said in (read([("robots", content)]), read(headers=["raycrawl: " + content])):
        assert said.noindex
        assert not said.nofollow
        assert f"unavailable_after:{date}" in said.names
    later = read([("robots", content)], now=NOON - 86400)
    assert not later.noindex
    assert later.names == said.names


def test_what_stands_behind_all_that_may_be_said_is_not_read():
    assert read([("robots", f"index{',' * 8187}nofollow")]).names == ("index",)
    assert read([("robots", f"index{',' * 8179}nofollow")]).names == ("index", "nofollow")


def test_the_moment_itself_has_passed():
    meta = [("robots", "unavailable_after: 2020-06-25T12:00:00Z")]
    assert read(meta).noindex
    assert not read(meta, now=NOON - 0.001).noindex


@pytest.mark.parametrize(
    "date", ["never", "", "99 Foo 2020", "2020-99-99", "25 Jun 99999 11:00:00 GMT", "a, b"]
)
def test_a_date_that_cannot_be_read_is_recorded_and_hides_nothing_after_it(date):
    said = read([("robots", f"unavailable_after: {date}, nofollow")])
    assert not said.noindex
    assert said.nofollow
    assert any(name.startswith("unavailable_after") for name in said.names)


@given(
    st.lists(st.tuples(st.sampled_from(["robots", "raycrawl", "x"]), st.text())),
    st.lists(st.text()),
)
def test_no_text_makes_it_fail(meta, headers):
    said = read(meta, headers)
    assert list(said.names) == sorted(set(said.names))


@given(st.text("0123456789 :-+,TZGMJunFriE", max_size=40))
def test_no_date_makes_it_fail(date):
    assert read([("robots", "unavailable_after:" + date)]).names
