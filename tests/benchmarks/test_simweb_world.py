from collections import Counter
from html import unescape
from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.simweb.answers import Answers
from benchmarks.simweb.hosts import Manner, Role
from benchmarks.simweb.html import page_bytes
from benchmarks.simweb.identity import identity, normal_target
from benchmarks.simweb.links import page_links
from benchmarks.simweb.options import Options
from benchmarks.simweb.population import SPECIALS
from benchmarks.simweb.rules import HAVE_RULES, Area, RobotsAnswer
from benchmarks.simweb.traps import TRAPS
from benchmarks.simweb.truth import Limits, truth
from benchmarks.simweb.world import World
from tests.benchmarks.simweb_naive import ANCHOR, ATTRIBUTE, robots_allow

SMALL = Options(hosts=25, pages=250, links=10, page_bytes=1500)


@pytest.fixture(scope="module")
def world():
    return World(SMALL, 8080)


def pages(world):
    return [page for host in world.hosts for page in host.pages]


def with_html(world):
    roles = (Role.CONTENT, Role.DUPLICATE, Role.NEAR, Role.BURST)
    return [page for page in pages(world) if page.role in roles]


def bodies(world):
    return [page_bytes(world, page) for page in with_html(world)]


def test_the_seed_decides_everything(world):
    again = World(SMALL, 8080)
    assert again.hosts == world.hosts
    assert bodies(again) == bodies(world)
    assert truth(again) == truth(world)
    assert (
        World(Options(hosts=25, pages=250, links=10, page_bytes=1500, seed=2), 8080).hosts
        != world.hosts
    )


def test_hosts_have_sizes_by_zipf_and_every_one_has_a_page():
    world = World(Options(hosts=50, pages=2000, troubles=False), 80)
    sizes = [len(host.pages) for host in world.hosts]
    assert sum(sizes) == 2000
    assert sizes == sorted(sizes, reverse=True)
    assert min(sizes) >= 1
    assert 1.5 < sizes[0] / sizes[1] < 2.5


def test_addresses_and_names_are_each_hosts_own_and_sites_have_several_hosts(world):
    assert (
        len({host.address for host in world.hosts})
        == 25
        == len({host.name for host in world.hosts})
    )
    assert all(host.address.startswith("127.") for host in world.hosts)
    assert set(Counter(host.site for host in world.hosts).values()) == {1, 2, 3}


def test_every_trouble_occurs_and_no_seed_is_troubled(world):
    assert {(host.manner, host.robots.answer) for host in world.hosts} >= set(SPECIALS)
    assert all(host.manner is Manner.PLAIN for host in world.hosts[: SMALL.seeds])


def test_every_role_and_area_occurs(world):
    assert {page.role for page in pages(world)} == set(Role)
    assert {page.area for page in pages(world)} == set(Area)


@pytest.mark.parametrize(
    "wrong",
    [
        {"hosts": 0},
        {"hosts": 5, "pages": 4},
        {"hosts": 2, "seeds": 3},
        {"hosts": 10**8, "pages": 10**8},
        {"links": 0},
        {"page_bytes": 0},
    ],
)
def test_an_impossible_world_is_refused(wrong):
    with pytest.raises(ValueError, match="world"):
        Options(**wrong)


@pytest.mark.parametrize(
    ("spelled", "plain"),
    [
        ("HTTP://H1.S0.Home.Arpa:80/%70/1#x", "http://h1.s0.home.arpa/p/1"),
        ("http://a:8080/x/../p/./1?utm_source=x", "http://a:8080/p/1"),
        ("http://a:8080/p?b=1&UTM_x=2&a=2&gclid=7", "http://a:8080/p?a=2&b=1"),
        ("http://a:8080/p/1;jsessionid=AB?PHPSESSID=1", "http://a:8080/p/1"),
        ("http://a:8080/%c3%bc%2f", "http://a:8080/%C3%BC%2F"),
        ("http://a:8080/p?sid=1", "http://a:8080/p?sid=1"),
        ("http://a:8080?x=1", "http://a:8080/?x=1"),
        ("http://a:8080/x/..", "http://a:8080/"),
        ("http://a:8080", "http://a:8080/"),
    ],
)
def test_identity(spelled, plain):
    assert identity(spelled) == plain


@given(st.text("/.;?&=#%aA0gclid_", max_size=30))
def test_identity_is_idempotent_and_never_fails(tail):
    once = normal_target("/" + tail)
    assert normal_target(once) == once


def test_what_is_written_leads_to_what_truth_believes(world):
    """Every anchor of every page, resolved by the standard library, against the links of the plan."""
    spellings = 0
    for page in with_html(world):
        text = page_bytes(world, page).decode(
            "cp1252" if page.charset == "windows-1252" else "utf-8"
        )
        anchors = [dict(ATTRIBUTE.findall(found)) for found in ANCHOR.findall(text)]
        base = world.url(world.hosts[page.host]) if page.base else world.url_of(page)
        resolved = [urljoin(base, unescape(anchor["href"])) for anchor in anchors]
        believed = [link.url for link in page_links(world, page)]
        assert Counter(
            identity(url) for url in resolved if url.lower().startswith("http:")
        ) == Counter(url for url in believed if url)
        spellings += sum(url not in believed for url in resolved)
    assert spellings > 100


def test_plain_spellings_are_identities(world):
    assert all(identity(world.url_of(page)) == world.url_of(page) for page in pages(world))


def test_copies_are_the_same_bytes_and_near_copies_almost(world):
    for page in pages(world):
        if page.role is Role.DUPLICATE:
            assert page_bytes(world, page) == page_bytes(world, world.at(page.goal))
        if page.role is Role.NEAR:
            more = f"<p>Revised as number {page.number}.</p>\n".encode()
            assert page_bytes(world, page).replace(more, b"", 1) == page_bytes(
                world, world.at(page.goal)
            )
    distinct = [page for page in with_html(world) if page.role is not Role.DUPLICATE]
    assert len({page_bytes(world, page) for page in distinct}) == len(distinct)


def test_every_page_with_links_surely_leads_to_itself(world):
    for page in with_html(world):
        own = page if page.goal is None else world.at(page.goal)
        assert any(
            link.url == world.url_of(own) and link.followed for link in page_links(world, page)
        )


def test_rules_as_text_shut_the_same_pages_as_the_rules_themselves():
    world = World(Options(hosts=60, pages=2000, crawl_delay=0.5), 8080)
    denied = 0
    for host in world.hosts:
        for page in host.pages if host.robots.answer in HAVE_RULES else ():
            for agent in ("raycrawl", "badbot", "other"):
                expected = host.robots.denies(page.area, agent)
                assert robots_allow(host.robots.text(), agent, page.target) != expected, (
                    host,
                    page,
                    agent,
                )
                denied += expected
    assert denied > 100
    assert any("Crawl-delay: 0.5" in host.robots.text() for host in world.hosts)


def test_sizes_and_links_come_out_as_wished():
    world = World(Options(hosts=20, pages=300, page_bytes=40_000, links=40, troubles=False), 8080)
    sizes = [len(body) for body in bodies(world)]
    counts = sorted(len(page_links(world, page)) for page in with_html(world))
    assert 33_000 < sum(sizes) / len(sizes) < 47_000
    assert 35 < counts[len(counts) // 2] < 55
    assert counts[-1] > 3 * counts[len(counts) // 2]


def test_most_of_a_world_can_be_reached(world):
    calm = World(Options(hosts=30, pages=300, troubles=False), 8080)
    assert len(truth(calm)) >= 0.97 * 300
    assert len(truth(world)) >= 0.9 * 250


def test_truth_by_scope(world):
    everything = truth(world)
    first = world.hosts[0]
    site = truth(world, world.seeds[:1], Limits(scope="site"))
    host = truth(world, world.seeds[:1], Limits(scope="host"))
    assert set(host) < set(site) < set(everything)
    assert {world.find(url).host.site for url in site} == {first.site}
    assert {world.find(url).host.name for url in host} == {first.name}


def test_truth_by_agent_and_nofollow(world):
    assert "robots_denied" in {kind for kinds in truth(world).values() for kind in kinds}
    other = truth(world, limits=Limits(agent="badbot"))
    assert sum(kinds == {"robots_denied"} for kinds in other.values()) > sum(
        kinds == {"robots_denied"} for kinds in truth(world).values()
    )
    assert set(truth(world, limits=Limits(follow_nofollow=True))) >= set(truth(world))


def test_a_target_that_is_not_there_is_an_error(world):
    assert truth(world, [world.seeds[0] + "nowhere"]) == {
        world.seeds[0] + "nowhere": {"http_error"}
    }


def test_redirects_are_short_chains_or_loops():
    world = World(Options(hosts=10, pages=2000), 8080)
    ends = Counter()
    for page in pages(world):
        hops, goal = 0, page
        while goal.role is Role.REDIRECT and hops < 10:
            hops, goal = hops + 1, world.at(goal.goal)
        ends["loop" if goal.role is Role.REDIRECT else hops] += 1
    assert set(ends) == {0, 1, 2, 3, 4, 5, "loop"}


def test_a_name_out_of_the_world_is_a_row_only_where_scope_allows():
    world = World(Options(outside=True), 8080)
    assert truth(world)["http://outside.invalid/"] == {"dns_error", "gave_up", "robots_unreachable"}
    assert "http://outside.invalid/" not in truth(world, limits=Limits(scope="site"))
    assert world.find("http://outside.invalid/") is None
    assert not world.is_endless("http://outside.invalid/")


def trapped(world):
    return [url for url in truth(world) if world.is_trap(url)]


def test_traps_of_shape_end_by_the_rules_on_shape():
    found = trapped(World(Options(traps="shape"), 8080))
    kinds = Counter(url.split("/trap-")[1].partition("/")[0] for url in found)
    # 31 segments behind the first one; lengths grow by 150 up to 2048.
    assert kinds == {"loop": 3, "repeat": 3, "deep": 31, "long": 13}
    assert trapped(World(Options(), 8080)) == []


def test_endless_traps_are_left_out_of_the_truth_and_told_apart():
    world = World(Options(traps="all"), 8080)
    assert len(trapped(world)) == len(trapped(World(Options(traps="shape"), 8080)))
    assert not any(world.is_endless(url) for url in truth(world))
    assert world.is_endless(world.url(world.hosts[0], TRAPS["sid"].entry))
    wild = next(name for name in world.overrides if name.startswith("w7.wild."))
    assert world.is_endless(f"http://{wild}:8080/")


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_goes_on_and_never_repeats_itself(name):
    seen, target = set(), TRAPS[name].entry
    for _ in range(60):
        assert target not in seen
        seen.add(target)
        target = TRAPS[name].step(target)[0]


def test_first_answers_that_differ(world):
    answers = Answers(world, 1 << 20)
    recovering = next(host for host in world.hosts if host.robots.answer is RobotsAnswer.RECOVERING)
    name = f"{recovering.name}:8080"
    assert [answers.get(name, "/robots.txt", gzip=False).status for _ in range(3)] == [
        500,
        200,
        200,
    ]
    burst = next(page for page in pages(world) if page.role is Role.BURST and page.status == 503)
    name = f"{world.hosts[burst.host].name}:8080"
    assert [answers.get(name, burst.target, gzip=False).status for _ in range(3)] == [503, 200, 200]


def test_what_is_kept_is_bounded(world):
    none, some = Answers(world, 0), Answers(world, 1 << 24)
    some.warm(gzip=False)
    some.warm(gzip=False)
    name = f"{world.hosts[0].name}:8080"
    assert none.get(name, "/", gzip=False) == some.get(name, "/", gzip=False)
    assert none.get(name, "/", gzip=False) is not none.get(name, "/", gzip=False)
    assert some.get(name, "/", gzip=False) is some.get(name, "/", gzip=False)


def test_a_page_is_made_once_whatever_a_client_accepts():
    world = World(Options(hosts=2, pages=6, seeds=1), port=80)
    answers = Answers(world, cache_bytes=1 << 20)
    answers.warm(gzip=False)
    page = world.hosts[0].pages[0]
    name = f"{world.hosts[0].name}:80"
    plain = answers.get(name, page.target, gzip=False)
    assert answers.get(name, page.target, gzip=True) is plain
