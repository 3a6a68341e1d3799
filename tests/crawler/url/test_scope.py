import pickle
import random
import time

import pytest

from crawler import config
from crawler.url.keys import site_of
from crawler.url.parts import split
from crawler.url.scope import Reason, Scope, unresolved

SEEDS = ["https://www.example.org/start", "http://localhost:8080/"]


def judge(scope, url):
    parts = split(url)
    return scope.refuses(url, parts, site_of(parts.host))


def seconds(function):
    """Processor time, the best of three."""

    def once():
        began = time.process_time()
        function()
        return time.process_time() - began

    return min(once() for _ in range(3))


def scope(seeds=SEEDS, **rules):
    return Scope(config.Scope(**rules), seeds)


@pytest.mark.parametrize(
    ("mode", "url", "expected"),
    [
        ("host", "https://www.example.org/a", None),
        ("host", "http://www.example.org:81/a", None),
        ("host", "https://example.org/a", Reason.OUT_OF_SCOPE),
        ("host", "https://www.example.org./a", Reason.OUT_OF_SCOPE),
        ("site", "https://example.org/a", None),
        ("site", "https://deep.down.example.org/a", None),
        ("site", "http://localhost/", None),
        ("site", "https://notexample.org/a", Reason.OUT_OF_SCOPE),
        ("any", "https://elsewhere.example/a", None),
    ],
)
def test_mode(mode, url, expected):
    assert judge(scope(mode=mode), url) is expected


def test_no_seeds_no_scope():
    assert judge(scope(seeds=[]), "http://a.example/") is Reason.OUT_OF_SCOPE


def test_seeds_may_be_any_iterable():
    assert judge(scope(seeds=iter(SEEDS), include=("/never/",)), SEEDS[0]) is None


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/a/b/c/d", None),
        ("/a/b/c/d/", Reason.TOO_MANY_SEGMENTS),
        ("/a/a/b/c", None),
        ("/a/a/a/b", Reason.REPEATED_SEGMENTS),
        ("/a/b/a/b", None),
        ("/a/A/a/A", None),
        ("/", None),
    ],
)
def test_traps(path, expected):
    rules = scope(max_path_segments=4, max_repeated_segments=2)
    assert judge(rules, f"https://www.example.org{path}") is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/x/a/b/a/b/a/b/", None),
        ("/a/b/a/b/a/b/a/b/", Reason.REPEATED_SEGMENTS),
        ("/a/b/c/b/d/b/e/b", Reason.REPEATED_SEGMENTS),
        ("/a/a/b/b/c/c/d/d", None),
        ("/a//b//c//d", None),
        ("/a/////b", Reason.REPEATED_SEGMENTS),
    ],
)
def test_repeated_groups_are_found_by_counting(path, expected):
    assert judge(scope(), f"https://www.example.org{path}") is expected


def test_patterns_are_searched_and_exclude_wins():
    rules = scope(include=("/docs/", r"(?i)\.html$"), exclude=(r"\.pdf$", "private|secret"))
    at = "https://www.example.org"
    assert judge(rules, f"{at}/docs/a") is None
    assert judge(rules, f"{at}/A.HTML") is None
    assert judge(rules, f"{at}/DOCS/a") is Reason.NOT_INCLUDED
    assert judge(rules, f"{at}/docs/a.pdf") is Reason.EXCLUDED
    assert judge(rules, f"{at}/docs/secret") is Reason.EXCLUDED


@pytest.mark.parametrize("exclude", [(r"(?P<x>\.pdf)", r"(?P<x>\.doc)"), (".pdf", r"\Q.doc")])
def test_patterns_that_cannot_be_joined_work_as_well(exclude, capfd):
    rules = scope(exclude=exclude)
    assert judge(rules, "https://www.example.org/a.pdf") is Reason.EXCLUDED
    assert judge(rules, "https://www.example.org/a.doc") is Reason.EXCLUDED
    assert judge(rules, "https://www.example.org/a.html") is None
    assert capfd.readouterr() == ("", "")


def test_include_does_not_bind_a_seed_but_exclude_does():
    assert judge(scope(include=("/docs/",)), SEEDS[0]) is None
    assert judge(scope(exclude=("start",)), SEEDS[0]) is Reason.EXCLUDED


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/a/a/a/a/a", Reason.REPEATED_SEGMENTS),
        ("/" + "/".join(map(str, range(40))), Reason.TOO_MANY_SEGMENTS),
        ("/?" + "&".join(map(str, range(21))), Reason.TOO_MANY_PARAMETERS),
        ("/" + "x" * 2048, Reason.TOO_LONG),
    ],
)
def test_no_rule_against_traps_binds_a_seed(path, reason):
    url = f"https://www.example.org{path}"
    for seeds, expected in ((SEEDS, reason), ([*SEEDS, url], None)):
        rules = scope(seeds=seeds)
        assert (rules.past_limits(url, 0, 0) or judge(rules, url)) is expected
        assert (rules.past_limits(url + "/", 0, 0) or judge(rules, url + "/")) is reason
    far = scope(seeds=[url], max_depth=1, exclude=("org",))
    assert far.past_limits(url, 2, 0) is Reason.TOO_DEEP
    assert judge(far, url) is Reason.EXCLUDED


def test_parameters_are_counted():
    rules = scope(max_parameters=3)
    assert judge(rules, "https://www.example.org/?a=1&b=2&c=3") is None
    assert judge(rules, "https://www.example.org/?a=1&b=2&c=3&d") is Reason.TOO_MANY_PARAMETERS
    assert judge(rules, "https://www.example.org/a&b&c&d") is None


@pytest.mark.parametrize(
    "pattern", ["(a+)+$b", "(a|aa)+b$|(a*)*b$", "(.*a){20}b", "^(([a-z])+.)+[A-Z]([a-z])+$"]
)
def test_no_pattern_is_catastrophic(pattern):
    """Backtracking engines take longer than the universe is old; RE2 was seen to take 0.1 ms."""
    rules = scope(exclude=(pattern,))
    url = "https://www.example.org/" + "a" * 2000
    assert judge(rules, url) is None
    assert seconds(lambda: judge(rules, url)) < 0.02


def test_a_thousand_patterns_cost_little_more_than_ten():
    """8 µs a URL were seen for a thousand; 1,000 µs where RE2 searches them joined."""
    rng = random.Random(1)
    names = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=12)) for _ in range(1000)]
    rules = scope(
        exclude=tuple(rf"^https?://(?:[^/]+\.)?{name}\.example/" for name in names), mode="any"
    )
    urls = [f"https://www.{name[::-1]}.example/{name}/{n}.html" for n, name in enumerate(names)]
    assert judge(rules, f"https://{names[-1]}.example/") is Reason.EXCLUDED
    assert {judge(rules, url) for url in urls} == {None}
    assert seconds(lambda: [judge(rules, url) for url in urls]) < 0.1


def test_limits():
    near = scope(max_depth=2, max_redirects=1, max_url_length=30)
    url = "https://www.example.org/123456"
    assert near.past_limits(url, 2, 1) is None
    assert near.past_limits(url + "7", 2, 1) is Reason.TOO_LONG
    assert near.past_limits(url, 3, 0) is Reason.TOO_DEEP
    assert near.past_limits(url, 0, 2) is Reason.REDIRECT_LIMIT
    assert scope().past_limits(url, 10**6, 10) is None


def test_a_pickled_scope_judges_alike_and_carries_no_needless_seeds():
    seeds = [f"https://www.example.org/{number}" for number in range(1000)]
    rules = scope(seeds=seeds, exclude=("private",), mode="host")
    sent = pickle.dumps(rules)
    assert len(sent) < 2000
    again = pickle.loads(sent)
    for path in ("/private", "/a", "/a/a/a/a"):
        url = f"https://www.example.org{path}"
        assert judge(again, url) is judge(rules, url)


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("mailto:a@example.org", Reason.NOT_HTTP),
        (" FTP://a/", Reason.NOT_HTTP),
        ("httpx://a/", Reason.NOT_HTTP),
        ("http://[", Reason.INVALID_URL),
        ("HTTPS://", Reason.INVALID_URL),
        ("//a b/", Reason.INVALID_URL),
        ("", Reason.INVALID_URL),
    ],
)
def test_why_a_link_has_no_wire_url(href, expected):
    assert unresolved(href) is expected
