import pickle
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.config import Config, Priority, Scope
from crawler.url.admit import Admission, Admitted
from crawler.url.keys import slot_of, url_key
from crawler.url.normal import normaliser
from crawler.url.scope import Reason
from crawler.url.wire import wire

SEED = "https://www.example.org/"
URL = "https://docs.example.org/b/../a?utm_source=x&c=%7e"


def test_admitted_carries_the_wire_url_and_where_it_belongs():
    judge = Admission(Config(), [SEED])
    key = url_key("https://docs.example.org/a?c=~")
    expected = Admitted(URL, key, "docs.example.org", "example.org", slot_of("example.org"))
    assert judge.admit(URL, 3) == expected
    assert judge.admit(URL, 3) is judge.admit(URL, 4), "the second answer is remembered"


def test_refusals_carry_their_reason():
    judge = Admission(Config(scope=Scope(max_depth=2, max_redirects=1, exclude=("bad",))), [SEED])
    assert judge.admit(URL, 2, 1)
    assert judge.admit(URL, 3) is Reason.TOO_DEEP
    assert judge.admit(URL, 2, 2) is Reason.REDIRECT_LIMIT
    assert judge.admit(URL + 2048 * "x", 1) is Reason.TOO_LONG
    assert judge.admit("https://example.com/", 1) is Reason.OUT_OF_SCOPE
    assert judge.admit("https://example.org/bad", 1) is Reason.EXCLUDED


def test_no_long_url_is_remembered():
    judge = Admission(Config(), [SEED])
    tracemalloc.start()
    for number in range(100):
        assert judge.admit(f"{SEED}{number}{10**5 * 'x'}", 1) is Reason.TOO_LONG
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 10**6


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ftp://www.example.org/", Reason.NOT_HTTP),
        ("mailto:a@example.org", Reason.NOT_HTTP),
        ("http:///a", Reason.INVALID_URL),
        ("/a", Reason.INVALID_URL),
        ("", Reason.INVALID_URL),
    ],
)
def test_text_that_is_no_wire_url_is_refused(text, expected):
    assert Admission(Config(), [SEED]).admit(text, 1) is expected


def test_rekey_gives_the_key_of_any_wire_url():
    judge = Admission(Config(), [SEED])
    assert judge.rekey(URL) == judge.admit(URL, 1).key
    assert judge.rekey("http://elsewhere.example/#x") == url_key("http://elsewhere.example/")
    assert judge.rekey("ftp://www.example.org/") is None
    assert judge.rekey("nothing") is None


@pytest.mark.parametrize(
    ("depth", "via", "path", "expected"),
    [
        (0, "seed", "/", 0),
        (5, "seed", "/", 16),
        (3, "sitemap", "/", 32),
        (3, "link", "/", 48),
        (3, "redirect", "/", 48),
        (100, "link", "/", 255),
        (3, "link", "/news/", 8),
        (3, "link", "/news/old/", 8),
        (3, "link", "/old/", 148),
        (0, "link", "/news/", 0),
        (15, "link", "/old/", 255),
    ],
)
def test_priority(depth, via, path, expected):
    patterns = (("/news/", 40), ("/old/", -100))
    judge = Admission(Config(priority=Priority(patterns=patterns)), [SEED])
    assert judge.priority(f"https://www.example.org{path}", depth, via) == expected


def test_the_first_pattern_counts_among_a_thousand():
    patterns = (*((f"/never-{n}/", n % 9) for n in range(1000)), ("/a/", 7), ("/a/b/", 100))
    judge = Admission(Config(priority=Priority(patterns=patterns)), [SEED])
    assert judge.priority("https://www.example.org/a/b/", 1, "link") == 9


def test_priority_without_patterns():
    judge = Admission(Config(priority=Priority(depth_step=10)), [SEED])
    assert judge.priority(URL, 2, "link") == 20


def test_a_pickled_admission_judges_alike_with_empty_caches():
    rules = Config(scope=Scope(exclude=("bad",)), priority=Priority(patterns=(("docs", 5),)))
    judge = Admission(rules, [SEED])
    empty = pickle.dumps(judge)
    urls = [f"https://docs.example.org/{number}" for number in range(200)] + ["http://bad/"]
    answers = [(judge.admit(url, 1), judge.priority(url, 1, "link")) for url in urls]
    assert pickle.dumps(judge) == empty
    again = pickle.loads(empty)
    assert [(again.admit(url, 1), again.priority(url, 1, "link")) for url in urls] == answers


@given(st.text())
def test_every_wire_url_is_judged(text):
    judge = Admission(Config(scope=Scope(mode="any", max_url_length=10**6)), [])
    assert judge.admit(text, 0)
    for url in filter(None, (wire(f"http://{text}"), wire(f"http://a/{text}"))):
        found = judge.admit(url, 0)
        if isinstance(found, Admitted):
            assert found.url == url
            assert found.key == url_key(normaliser(Config().url)(url)) == judge.rekey(url)
        else:
            assert found in {
                Reason.TOO_MANY_SEGMENTS,
                Reason.REPEATED_SEGMENTS,
                Reason.TOO_MANY_PARAMETERS,
            }
