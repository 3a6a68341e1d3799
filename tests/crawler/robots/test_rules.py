"""Rules end to end: parse, ask, pack."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.errors import StateError
from crawler.robots.rules import ALLOW_ALL, Rules, parse, path_of


def rules(*lines):
    return parse("\n".join(["User-agent: *", *lines]).encode(), "raycrawl")


@pytest.mark.parametrize(
    ("lines", "allowed", "denied"),
    [
        (["Disallow: /a", "Disallow: /ab1"], ["/b", "/"], ["/a", "/ab2", "/ab1"]),
        (["Disallow: /", "Allow: /p"], ["/p", "/page"], ["/q", "/"]),
        (["Disallow: /folder", "Allow: /folder"], ["/folder/page"], []),
        (["Disallow: /*.htm", "Allow: /page"], ["/x"], ["/page.htm"]),
        (["Disallow: /*.php$"], ["/a.php5", "/a.php?x"], ["/a.php", "/b/a.php"]),
        (["Disallow: /", "Allow: /$"], ["/"], ["/x"]),
        (["Disallow: /", "Allow: /a/index.html"], ["/a/", "/a/index.html"], ["/a", "/a/b"]),
        (["Disallow: /", "Allow: /a/b.html"], ["/a/b.html"], ["/a/"]),
        (["Disallow: /a/index.html"], ["/a/", "/a/index.htm"], ["/a/index.html"]),
        (["Disallow: /a%2Fb"], ["/a/b"], ["/a%2fb", "/a%2Fb"]),
        (["Disallow: /x%2Ax", "Disallow: /y%24"], ["/xax", "/y"], ["/x*x", "/x%2ax", "/y$", "/y%24z"]),
        (["Disallow: /x$/y"], ["/x"], ["/x$/y", "/x%24/yz"]),
        (["Disallow: /*?q='x"], ["/?q=x"], ["/?q=%27x", "/a?q='x"]),
        (["Disallow: /go?u=https://a.b"], ["/go?u=https"], ["/go?u=https%3A%2F%2Fa.b", "/go?u=https://a.b"]),
        (["Disallow: /go?u=%2f"], ["/go%2F"], ["/go?u=/x", "/go?u=%2Fx"]),
        (["Disallow: /go?u=/", "Allow: /go"], ["/go"], ["/go?u=%2F"]),
        (["Disallow: /wiki/Käyttäjä:"], ["/wiki/K"], ["/wiki/K%C3%A4ytt%C3%A4j%C3%A4:", "/wiki/Käyttäjä:x"]),
        (["Disallow:", "Disallow: private", "Disallow: http://h/"], ["/private", "/", "/http://h/"], []),
        (["Disallow: *"], [], ["/", "/a"]),
    ],
)  # fmt: skip
def test_what_is_allowed(lines, allowed, denied):
    read = rules(*lines)
    assert [path for path in allowed if not read.allows(path)] == []
    assert [path for path in denied if read.allows(path)] == []
    origin = "https://example.com:8080"
    assert all(read.allows(origin + path) for path in allowed)
    assert not any(read.allows(origin + path + "#top") for path in denied)


def test_robots_txt_itself_is_always_allowed():
    nothing = rules("Disallow: /")
    assert not nothing.allows("https://example.com")
    assert nothing.allows("https://example.com/robots.txt")
    assert not nothing.allows("https://example.com/robots.txt?x")
    assert not nothing.allows("https://example.com/a/robots.txt")


def test_what_says_nothing_allows_everything():
    assert ALLOW_ALL == parse(b"", "raycrawl") == parse(b"<html>Not found: /</html>", "raycrawl")
    assert ALLOW_ALL.allows("https://example.com/a?b")


def test_what_else_a_file_says():
    read = parse(
        b"Sitemap: /s.xml\nUser-agent: raycrawl\nCrawl-delay: 2.5\nDisallow: /x", "raycrawl"
    )
    assert read == Rules((), ("/x",), 2.5, ("/s.xml",))


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://example.com?a#b", "/?a"),
        ("https://example.com#b", "/"),
        ("https://example.com/a?u=http://b/c", "/a?u=http://b/c"),
        ("https://u:p@[::1]:8080//a", "//a"),
        ("/a?u=http://b/c", "/a?u=http://b/c"),
    ],
)
def test_the_path_of_a_url(url, path):
    assert path_of(url) == path


def test_half_a_mebibyte_and_more_is_cut_not_refused():
    text = b"User-agent: *\nDisallow: /first\n" + b"# filler\n" * 100_000 + b"Disallow: /last\n"
    read = parse(text, "raycrawl")
    assert not read.allows("/first")
    assert read.allows("/last")
    assert not parse(text, "raycrawl", max_bytes=len(text) + 1).allows("/last")


LINES = st.lists(
    st.builds(
        "{}: {}".format,
        st.sampled_from(["User-agent", "Allow", "Disallow", "Crawl-delay", "Sitemap", "Host"]),
        st.sampled_from(["*", "raycrawl", "other", "1.5"]) | st.text("/ab*$?%2F:é", max_size=6),
    ),
    max_size=20,
)
TEXTS = LINES.map(lambda lines: "\n".join(lines).encode())
URLS = st.builds("/{}".format, st.text("/ab?%2F:é", max_size=6))


@given(st.binary() | TEXTS, st.text())
def test_no_octets_and_no_url_make_it_fail(text, url):
    read = parse(text, "raycrawl")
    assert read.allows(url) in (True, False)
    assert Rules.unpack(read.pack()) == read


@given(TEXTS, URLS)
def test_packed_rules_answer_the_same(text, url):
    read = parse(text, "raycrawl")
    again = Rules.unpack(read.pack())
    assert again == read
    assert again.allows(url) is read.allows(url)


@given(
    TEXTS,
    URLS,
    st.lists(st.sampled_from(["Allow: /", "Disallow: /", "Crawl-delay: 9"]), min_size=1),
)
def test_what_is_said_to_others_changes_nothing(text, url, said):
    ours = b"User-agent: raycrawl\nAllow: /aa\n" + text + b"\nAllow: /aa"
    others = "\n".join(["", "User-agent: stranger", *said, "Disallow: /", ""]).encode()
    alone = parse(ours, "raycrawl")
    after = parse(ours + others, "raycrawl")
    before = parse(others + ours, "raycrawl")
    assert alone == after == before
    assert alone.allows(url) is after.allows(url)


@given(TEXTS, URLS)
def test_repeating_a_file_changes_no_answer(text, url):
    ours = b"User-agent: raycrawl\nAllow: /aa\n" + text + b"\n"
    assert parse(ours * 2, "raycrawl").allows(url) is parse(ours, "raycrawl").allows(url)


def test_a_large_pack_is_deflated():
    read = rules(*(f"Disallow: /directory/number/{number}" for number in range(100)))
    packed = read.pack()
    assert len(packed) < 500
    assert Rules.unpack(packed) == read


@pytest.mark.parametrize("packed", [b"", b"0", b"1x", b"2x", b"1\nq", b"1\n\xff", b"1\n"])
def test_damaged_rules_are_told_from_rules(packed):
    with pytest.raises(StateError, match="damaged"):
        Rules.unpack(packed)
