"""The shapes of URLs: what is counted together, and what honest sites must never be counted for."""

import gzip
import json
from collections import Counter, defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.config import Budget, Scope, Url
from crawler.url.dates import DAYS, MONTHS, WEEKS
from crawler.url.normal import normaliser
from crawler.url.parts import split
from crawler.url.shape import Trap, shape_of
from crawler.url.wire import wire
from tests.shared import figure, need

AT = "https://www.example.org"
HEX = "0123456789abcdef"


def shape(target):
    return shape_of(AT + target)


def alike(*targets):
    """The one shape that all have, however many choices."""
    shapes = {shape(target)[:2] for target in targets}
    assert len(shapes) == 1, [(target, shape(target)) for target in targets]
    return next(iter(shapes))[0]


@pytest.mark.parametrize(
    ("targets", "a_year"),
    [
        (["/2026/11", "/1999/01", "/2100/12"], MONTHS),
        (["/archive/2026-11.html", "/archive/1999-01.html"], MONTHS),
        (["/2008_06_01_archive.html", "/2014_09_01_archive.html"], DAYS),
        (["/events/2026/11/03/", "/events/2027/1/9/"], DAYS),
        (["/calendar/2026/7", "/calendar/2026/12"], MONTHS),
        (["/calendar/11/03/2026", "/calendar/1.2.2027"], DAYS),
        (["/calendar/20261103", "/calendar/19991231"], DAYS),
        (["/calendar/202611/x", "/calendar/199912/x"], MONTHS),
        (["/plan/2026-W45", "/plan/2027/W01"], WEEKS),
        (["/cal?date=2026-11-03", "/cal?date=11/03/2026", "/cal?date=-5", "/cal?date=1764547200"], DAYS),
        (["/cal?when=2026-11-03", "/cal?when=2027-01-01T10:00"], DAYS),
        (["/cal?tribe-bar-date=2026-11", "/cal?tribe-bar-date=2027-01"], MONTHS),
        (["/cal?month=11&year=2026", "/cal?year=2027&month=jan", "/cal?year=9999&month=1"], MONTHS),
        (["/cal?d=3&m=11&year=2026", "/cal?m=1&d=30&year=2027"], MONTHS),
        (["/cal?week=3&year=2026", "/cal?week=52&year=2025"], WEEKS),
        (["/cal/2026-11?view=list", "/cal/2026-12?view=list"], MONTHS),
    ],
)  # fmt: skip
def test_calendars(targets, a_year):
    assert alike(*targets) is Trap.CALENDAR
    assert {shape(target).a_year for target in targets} == {a_year}
    assert {shape(target).choice for target in targets} == {None}


@pytest.mark.parametrize(
    "target",
    [
        "/",
        "/docs/3.11/library/functions.html",
        "/topic/2005/3",
        "/item/20150823",
        "/thread-1999-1-1.html",
        "/year/2026",
        "/rfc2026/11x",
        "/show?id=2026",
        "/show?update=7",
        "/show?id=7",
        "/show?title=Main_Page",
        "/viewtopic.php?f=2&t=1234",
        "/12345678901234567890",
    ],
)
def test_what_names_a_page_has_no_shape(target):
    assert shape(target) is None


def test_dated_titles_are_each_their_own():
    shapes = {shape(f"/2026/11/03/title-{word}") for word in ("one", "two", "three")}
    shapes |= {shape(f"/2026/11/03/{number}.html") for number in (1_234_567, 1_234_568)}
    assert len(shapes) == 5


@pytest.mark.parametrize(
    "targets",
    [
        [f"/s/{HEX}/page-1", f"/s/{HEX[::-1]}/other?x=1", f"/s/{HEX}"],
        [f"/12/{HEX}.html", f"/7/{HEX[::-1]}"],
        [f"/a.php?sid={HEX}&page=1", f"/a.php?page=7&sid={HEX[::-1]}"],
        [f"/watch?v={HEX}", f"/watch?v={HEX[::-1]}"],
    ],
)
def test_tokens(targets):
    assert alike(*targets) is Trap.TOKENS
    assert {shape(target).choice for target in targets} == {None}


def test_other_prefixes_are_other_shapes():
    assert shape(f"/one/commit/{HEX}").template != shape(f"/two/commit/{HEX}").template


@pytest.mark.parametrize(
    "targets",
    [
        ["/shop?colour=red&size=xl", "/shop?colour=blue&size=s", "/shop?sort=price&size=s"],
        ["/list?page=1", "/list?page=2"],
        ["/list/7?start=10&lang=en", "/list/8?start=20&lang=en"],
        ["/find?q=words&page=1", "/find?q=more;page=1"],
    ],
)
def test_parameters(targets):
    assert alike(*targets) is Trap.PARAMETERS
    assert len({shape(target).choice for target in targets}) == len(targets)


@pytest.mark.parametrize(
    "pattern",
    [
        "/view.php?id={}&lang=en",
        "/viewtopic.php?f={}&t={}&start=20",
        "/index.php?option=com_content&view=article&id={}:a-title-of-{}&Itemid={}",
        "/index.php?route=product/product&path={}_{}&product_id={}",
        "/forum.php?mod=viewthread&tid={}&extra=page%3D1&page=4",
        "/thread/{}?sort=new&page=2",
    ],
)
def test_a_million_ids_are_one_choice(pattern):
    targets = [pattern.format(*[number] * 3) for number in (1, 20, 1_000_000)]
    assert alike(*targets) is Trap.PARAMETERS
    assert len({shape(target).choice for target in targets}) == 1


@given(st.text())
def test_every_wire_url_can_be_asked(text):
    for url in filter(
        None, (wire(f"http://{text}"), wire(f"http://a/{text}"), wire(f"http://a/?{text}"))
    ):
        found = shape_of(url)
        assert found is None or found == shape_of(url)


@pytest.fixture(scope="module")
def real_urls():
    pages = json.loads(gzip.decompress(need("pages/real_pages_links.json.gz").read_bytes()))[
        "pages"
    ]
    resolved = {wire(link[2]) for page in pages for link in page["links"] if link[2]}
    return sorted(url for url in resolved if url and url.startswith("http"))


def test_real_links_are_far_from_all_limits(real_urls):
    """The worst is a blog that lists 152 months (12 years) of its archive."""
    limits, used, choices = Budget(), Counter(), defaultdict(set)
    for url in real_urls:
        found = shape_of(url)
        used[found.trap if found else "uncounted"] += 1
        if found:
            limit = {
                Trap.CALENDAR: limits.calendar_years * found.a_year,
                Trap.TOKENS: limits.token_urls,
                Trap.PARAMETERS: limits.parameter_choices,
            }[found.trap]
            choices[split(url).host, found.template, limit].add(found.choice or url)
    worst = max(len(seen) / limit for (_, _, limit), seen in choices.items())
    parameters = max(split(url).query.count("&") + 1 for url in real_urls)
    assert worst < 0.3
    assert parameters <= Scope().max_parameters / 2
    figure("traps", "links of real pages", urls=len(real_urls), **used, worst=f"{worst:.0%} of a limit",
           most_in_a_query=parameters)  # fmt: skip


def test_no_real_link_carries_what_looks_like_a_session(real_urls):
    plain, full = normaliser(Url(session_parameters=())), normaliser(Url())
    assert [url for url in real_urls if plain(url) != full(url)] == []
