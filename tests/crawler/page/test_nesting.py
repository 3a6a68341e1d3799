"""The guard against markup that makes tree construction explode."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from crawler.page.nesting import bounded


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<p>" * 60_000,
        "<div><span>x</span></div>" * 20_000,
        "<font color=red>" * 1500 + "<p>x" * 1500,
        "</div>" * 60_000,
        "<p><b>x</b></p>" * 2000,
        "<p><b>x</b></i>y</p>" * 2000,
        "<STRONG>x</STRONG>" * 3000,
        "<div>" * 2000 + "x" + "</div>" * 2000,
        "<p><code class='a b'>x" * 3000,
        '<p><i lang=de title="a b">x' * 3000,
        "<div><p>x</div></section>" * 20_000,
    ],
)
def test_honest_and_forgetful_pages_stay_whole(html):
    assert bounded(html) == html


def test_depth_is_cut():
    assert bounded("<div>" * 60_000) == "<div>" * 2000


def test_formatting_that_would_be_opened_again_and_again_is_cut():
    html = "".join(f"<p><b id={number}>" for number in range(20_000))
    kept = bounded(html)
    assert html.startswith(kept)
    assert 1000 < kept.count("<b") <= 2000


def test_few_that_stay_open_before_many_paragraphs_are_cut_too():
    opened = "".join(f"<b id={number}>" for number in range(1500))
    kept = bounded(opened + "<p>x" * 20_000)
    assert kept.startswith(opened)
    assert 1000 < kept.count("<p>") < 4000


@pytest.mark.parametrize("attributes", ["title='>{}'", 'a=b"c title=">{}"', "a='\">{}'"])
def test_what_differs_beyond_a_bracket_does_not_count_as_alike(attributes):
    html = "".join(f"<p><b {attributes.format(number)}>" for number in range(6000))
    assert bounded(html).count("<b") <= 2000


def test_closed_formatting_does_not_count():
    html = "".join(f"<p><b id={number}>x</b>" for number in range(20_000))
    assert bounded(html) == html


@pytest.mark.slow
@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 300_000,
        "<div></x>" * 300_000,
        "".join(f"<p><b id={number}>" for number in range(20_000)),
        "".join(f"<b id={number}>" for number in range(900)) + "<p>x" * 500_000,
    ],
)
def test_what_is_left_parses_at_once(html):
    """The test's own time limit is the assertion: unguarded, each takes minutes or all memory."""
    assert LexborHTMLParser(bounded(html)).body is not None
