"""Collapsing, and plain text."""

from crawler.page.facts import Source
from crawler.page.text import BREAKS, INNER_BREAKS, collapse, read_plain


def test_any_space_is_one_space():
    assert collapse(" a\u00a0b\n\t c\u3000") == "a b c"


def test_inner_breaks_are_breaks():
    assert INNER_BREAKS < BREAKS


def test_plain_text_has_text_only():
    page = read_plain(Source("a <b>\n c", "text/plain", "utf-8", "http://h.test/x", 10))
    assert (page.text, page.links.urls, page.title, page.base) == (
        "a <b> c",
        [],
        None,
        "http://h.test/x",
    )
