"""Half a megabyte of anything: no exception, and time that grows no faster than the text.

Time is processor time, and the bounds are a good ten times what was measured: they catch a square, not a slow machine.
"""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.robots.directives import read_directives
from crawler.robots.rules import MAX_BYTES, Rules, parse
from tests.shared import figure

PATHS = [
    "/" + "a" * 2047,
    "/" + "ab" * 1023,
    "/?" + "/" * 2046,
    "/%41" * 512,
    "/%" * 1024,
    "/\u00e9" * 700,
]


def repeat(line):
    return b"User-agent: *\n" + line * (MAX_BYTES // len(line))


def count(line):
    """The line with a number in it, as often as there is room."""
    lines = (line.replace(b"#", b"%x" % number) for number in range(MAX_BYTES // len(line)))
    return (b"User-agent: *\n" + b"".join(lines))[:MAX_BYTES]


FILES = {
    "rules": count(b"Disallow: /#\n"),
    "wild rules": count(b"Disallow: /*#\n"),
    "wild rules that nearly match": count(b"Disallow: /*ab#\n"),
    "wild ends": count(b"Disallow: /*a#*b$\n"),
    "rules in queries": count(b"Disallow: /*?#/\n"),
    "allows": count(b"Allow: *#\n"),
    "storms": count(b"Disallow: /" + b"*a" * 1000 + b"#*b$\n"),
    "one storm": b"User-agent: *\nDisallow: /" + b"*a" * (MAX_BYTES // 2 - 40) + b"\n",
    "stars": b"User-agent: *\nDisallow: /" + b"*" * (MAX_BYTES - 40) + b"\n",
    "groups": count(b"User-agent: a#\nDisallow: /\n"),
    "our groups": repeat(b"User-agent: *\nDisallow: /x\n"),
    "agents": count(b"User-agent: a#\n"),
    "paces": count(b"User-agent: a#\nCrawl-delay: 1\n"),
    "nested": b"User-agent: *\n" + b"".join(b"Disallow: /" + b"a" * n + b"\n" for n in range(1000)),
    "escapes": repeat(b"Disallow: /%41%2f%ff\n"),
    "half escapes": repeat(b"Disallow: /%%%\n"),
    "digits": b"User-agent: *\nCrawl-delay: " + b"9" * (MAX_BYTES - 40) + b"\n",
    "sitemaps": count(b"Sitemap: http://a/#\n"),
    "html": repeat(b"<p>Not: found</p>\n"),
    "utf-16": b"\xff\xfe" + "User-agent: *\nDisallow: /\n".encode("utf-16-le") * 9000,
} | {
    f"{octet!r}": octet * MAX_BYTES
    for octet in (b"\n", b"\r\n", b":", b"#", b" ", b"\0", b"a", b"\xff", b"%")
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_time_is_bounded(name):
    began = time.process_time()
    rules = parse(FILES[name], "raycrawl")
    read = time.process_time()
    packed = rules.pack()
    assert Rules.unpack(packed) == rules
    kept = time.process_time()
    rules.allows("/")
    compiled = time.process_time()
    for path in PATHS:
        rules.allows(path)
    asked = (time.process_time() - compiled) / len(PATHS)
    figure(
        "robots.txt of 512 KiB",
        name,
        parse_ms=round(1e3 * (read - began)),
        compile_ms=round(1e3 * (compiled - kept)),
        path_ms=round(1e3 * asked, 2),
    )
    assert read - began < 3.0
    assert kept - read < 1.0
    assert compiled - kept < 3.0
    assert asked < 0.25
    assert len(packed) <= 2 * MAX_BYTES


LINES = st.builds(
    b"%b%b%b%b".__mod__,
    st.tuples(
        st.sampled_from(
            [b"User-agent", b"allow", b"DISALLOW", b"crawl-delay", b"sitemap", b"x", b""]
        ),
        st.sampled_from([b":", b" ", b"", b": "]),
        st.binary(max_size=12) | st.text("*$/%?=ab2F", max_size=12).map(str.encode),
        st.sampled_from([b"\n", b"\r", b"\r\n", b""]),
    ),
)


@given(
    st.binary(max_size=300) | st.lists(LINES, max_size=20).map(b"".join),
    st.text(max_size=30).map("http://a.example/{}".format),
    st.sampled_from([b"", b"\xff\xfe", b"\xef\xbb\xbf"]),
    st.integers(1, 400),
)
def test_no_file_and_no_url_make_it_fail_or_differ_after_packing(text, url, mark, max_bytes):
    rules = parse(mark + text, "raycrawl", max_bytes=max_bytes)
    again = Rules.unpack(rules.pack())
    assert again == rules
    assert again.allows(url) is rules.allows(url)
    assert rules.allows("http://a.example/robots.txt")


HEADERS = [
    ",", ";", " ", ":", "unavailable_after,", "unavailable_after: 25 Jun,", "unavailable_after: Thu, ", "noindex ",
    "a: ", "unavailable_after: 1 Jun 2020 +", "(", "-1", "\u00e9", "1",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("piece", HEADERS)
@pytest.mark.parametrize("start", ["", "unavailable_after: "])
def test_directives_take_bounded_time(piece, start):
    value = start + piece * (MAX_BYTES // len(piece))
    began = time.process_time()
    said = read_directives([("robots", value)], [value], "raycrawl", 0.0)
    assert time.process_time() - began < 1.0
    assert sum(map(len, said.names)) < 40_000
