import pytest

from benchmarks.simweb.hosts import Manner
from benchmarks.simweb.judge import differences, disobeyed, patience
from benchmarks.simweb.log import Request
from benchmarks.simweb.options import Options
from benchmarks.simweb.rules import RobotsAnswer
from benchmarks.simweb.traps import TRAPS
from benchmarks.simweb.truth import truth
from benchmarks.simweb.world import World


@pytest.fixture(scope="module")
def world():
    return World(Options(hosts=25, pages=250, links=10, page_bytes=1500, traps="all"), 8080)


@pytest.fixture(scope="module")
def rows(world):
    return {url: min(kinds) for url, kinds in truth(world).items()}


def test_a_right_crawl_has_no_difference_and_endless_traps_do_not_count(world, rows):
    trap = world.url(world.hosts[0], TRAPS["sid"].entry)
    assert differences(world, truth(world), [*rows.items(), (trap, "fetched")]) == []


def test_each_kind_of_difference_is_told(world, rows):
    home, other = world.seeds[:2]
    wrong = [(url, kind) for url, kind in rows.items() if url not in (home, other)]
    wrong += [
        (other + "#x", "timeout"),
        (other, "timeout"),
        ("http://elsewhere.invalid/", "dns_error"),
    ]
    assert differences(world, truth(world), wrong) == [
        f"2 rows: {other} (timeout, timeout)",
        f"missing: {home} (fetched)",
        "unexpected: http://elsewhere.invalid/ (dns_error)",
        f"wrong kind: {other} (timeout, not fetched)",
    ]


def log_of(host, *requests):
    return [
        Request(float(n), n + 0.5, status, host.name, target, "raycrawl")
        for n, (target, status) in enumerate(requests)
    ]


def test_a_page_before_robots_txt_is_disobedience(world):
    host = world.hosts[0]
    assert disobeyed(world, log_of(host, ("/robots.txt", 404), ("/", 200))) == []
    assert disobeyed(world, log_of(host, ("/", 200), ("/robots.txt", 404))) == [
        f"before robots.txt: {host.name}/"
    ]
    assert disobeyed(world, log_of(host, ("/robots.txt", 500), ("/", 200))) == [
        f"before robots.txt: {host.name}/"
    ]
    redirected = (("/robots.txt", 301), ("/robots-rules.txt", 200), ("/", 200))
    assert disobeyed(world, log_of(host, *redirected)) == []


def test_a_denied_page_is_disobedience(world):
    host = next(
        host
        for host in world.hosts
        if host.robots.denies("private", "raycrawl") and host.manner is Manner.PLAIN
    )
    asked = log_of(host, ("/robots.txt", 200), *((page.target, 200) for page in host.pages))
    denied = [page.target for page in host.pages if host.robots.denies(page.area, "raycrawl")]
    assert disobeyed(world, asked) == [
        f"against robots.txt: {host.name}{target}" for target in denied
    ]
    assert denied


def test_any_page_of_a_host_whose_robots_txt_fails_is_disobedience(world):
    host = next(host for host in world.hosts if host.robots.answer is RobotsAnswer.FAILING)
    asked = log_of(host, ("/robots.txt", 500), ("/", 200))
    assert disobeyed(world, asked) == [f"before robots.txt: {host.name}/"]


def test_wild_names_and_strangers_are_not_judged_by_rules(world):
    host = next(host for host in world.hosts if host.wild)
    wild = f"w1.wild.{host.site}"
    asked = [Request(0.0, 0.1, 404, wild, "/robots.txt", ""), Request(1.0, 1.1, 200, wild, "/", "")]
    assert disobeyed(world, [*asked, Request(2.0, 2.1, 421, "stranger", "/", "")]) == []


def test_patience_is_the_longest_of_delay_crawl_delay_and_retry_after():
    world = World(Options(hosts=40, pages=100, crawl_delay=0.4), 8080)
    slow = next(
        host
        for host in world.hosts
        if "Crawl-delay: 0.4" in host.robots.text() and host.robots.group("x")
    )
    (answered,) = log_of(slow, ("/", 200))
    (refused,) = log_of(slow, ("/", 503))
    (stranger,) = log_of(world.hosts[0], ("/", 200))
    wait = patience(world, 0.1, "other")
    assert (wait(answered), wait(refused), wait(stranger._replace(host="w0.wild.x"))) == (
        0.4,
        1.0,
        0.1,
    )
    assert patience(world, 2.0)(refused) == 2.0
