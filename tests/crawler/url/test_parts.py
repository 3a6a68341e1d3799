import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.url.parts import Parts, join, split
from crawler.url.wire import wire


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("http://a", Parts("http", "", "a", "", "", "", "")),
        ("http://a/b?c#d", Parts("http", "", "a", "", "/b", "c", "d")),
        ("http://u:p@a:81/?c?d", Parts("http", "u:p", "a", "81", "/", "c?d", "")),
        ("http://[::1]:81/", Parts("http", "", "[::1]", "81", "/", "", "")),
        ("http://a?b@c:d/e", Parts("http", "", "a", "", "", "b@c:d/e", "")),
        ("X+y.z-1://a/", Parts("X+y.z-1", "", "a", "", "/", "", "")),
    ],
)
def test_split(url, parts):
    assert split(url) == parts
    assert join(parts) == url


@pytest.mark.parametrize("text", ["", "a/b", "mailto:a@b", "http:/a", "http://a:b/", "http://[::1"])
def test_other_text_has_no_parts(text):
    assert split(text) is None


def test_empty_parts_leave_no_delimiter():
    assert join(split("http://@a:/?#")) == "http://a/"


@given(st.text())
def test_every_wire_url_has_parts_and_keeps_them(text):
    for url in filter(None, (wire(f"http://{text}"), wire(f"https://u@a/{text}"))):
        parts = split(url)
        assert parts.host
        assert parts.path
        assert split(join(parts)) == parts
