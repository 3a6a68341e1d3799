"""The guard against markup that makes tree construction explode."""

import random
from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crawler.page import nesting
from crawler.page.facts import Source
from crawler.page.html import read_html
from crawler.page.text import BREAKS


def bounded(html):
    return nesting.bounded(html, BREAKS)


def numbered(markup, count):
    return "".join(markup.replace("#", str(number)) for number in range(count))


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<p>" * 60_000,
        "<div><span>x</span></div>" * 20_000,
        "<font color=red>" * 1500 + "<p>x" * 1500,
        "</div>" * 60_000,
        "<p><b>x</b></p>" * 2000,
        "<STRONG>x</STRONG>" * 3000,
        "<div>" * 1990 + "x" + "</div>" * 1990,
        "<p><code class='a b'>x" * 3000,
        '<p><i lang=de title="a b">x' * 3000,
        "<ul><li>a<li><a href=x>y</a></ul>" * 20_000,
        "<table><tr><td>a<td><b>b<tr><td>c</table>" * 10_000,
        "<dl><dt>a<dd>b<p>c<dt>d</dl>" * 10_000,
        "<div><script>if (a) b()</script><!-- x --><svg><title>t</title><path d='M0'/></svg></div>" * 7000,
        "<select><option>a<option>b</select>" * 20_000,
    ],
)  # fmt: skip
def test_honest_and_forgetful_pages_stay_whole(html):
    assert bounded(html) == html


def test_a_tree_that_is_too_deep_is_made_flat_and_keeps_text_and_links():
    html = "<html lang=de><title>t</title>" + "<div>a <a href=x>b</a><span>c</span>" * 30_000
    page = read_html(Source(html, "text/html", "utf-8", "http://h.test/", 100_000))
    assert (page.language, page.title) == ("de", "t")
    assert page.links.urls == ["http://h.test/x"] * 30_000
    assert page.text == " ".join(["a bc"] * 30_000)


@pytest.mark.parametrize(
    "part",
    [
        "<p><b id=#>",
        "<p><b id=#><!--</b>-->",
        '<p><b id=">#">',
        "<p><b title='>#'>",
        '<p><b a=b"c title=">#">',
        "<p><b id=#><table></b></table>",
        "<p><b id=#><object></b></object>",
        "<p><b id=# title='</b>'>",
    ],
)
def test_formatting_that_would_be_opened_again_and_again_loses_its_name(part):
    html = numbered(part, 6000)
    assert "<b" not in bounded(html)
    assert bounded(html).count("<wbr") == 6000


DEEP = [
    "<div>",
    "<li><dd>",
    "<rt>",
    "<x>",
    "<b>",
    "<div><!--</div>-->",
    "<div></x>",
    "<div title='</div>'>",
    "<div><object></div></object>",
    "<span><p></span></p>",
    "<div><form><div></form></div>",
    "<form><span></form>",
    "<div><svg><style><!--</style></svg></div>--></style></svg>",
    "<svg><a></a><a><td>",
    "<svg><title><title>",
    "<select><style><div></style></select>",
    "<script><!--<div></script>",
    "<math><mi><br></math>",
    "<html x>",
]


@pytest.mark.parametrize("part", DEEP)
def test_depth_is_seen_however_it_is_hidden(part):
    html = part * (60_000 // part.count("<"))
    assert bounded(html) != html


PIECES = [
    "<div>", "</div>", "<p>", "</p>", "<b>", "</b>", "<li>", "<dd>", "</li>", "<table>", "</table>", "<tr>", "<td>",
    "</td>", "<svg>", "</svg>", "<title>", "</title>", "<style>", "</style>", "<script>", "</script>", "<!--", "-->",
    "<select>", "</select>", "<option>", "<object>", "</object>", "<template>", "</template>", "<form>", "</form>",
    "<span>", "</span>", "<a href=x>", "</a>", "<foreignObject>", "<math>", "<mi>", "</math>", "<ruby>", "<rt>",
    "<button>", "</button>", "<x title='", '<x title="', "'>", '">', "<![CDATA[", "]]>", "<textarea>", "</textarea>",
    "<frameset>", "<caption>", "</caption>", "<h1>", "<h2>", "</h1>", "<path/>", "<br>", "<dd a=b/>", "<p/>", "x",
    "<", ">", "<x<div>", "<noscript>", "</noscript>", "<ul>", "</ul>", "<body>", "<html>",
    "</frameset>", "</tr>", "<tbody>", "</tbody>",
]  # fmt: skip


def depth(html):
    deepest, nodes = 0, [(LexborHTMLParser(html).root, 1)]
    while nodes:
        node, level = nodes.pop()
        while node is not None:
            deepest = max(deepest, level)
            if node.child is not None:
                nodes.append((node.child, level + 1))
            node = node.next
    return deepest


@example("<table><td>", "")
@example("<td><table><div>", "")
@example("<object><a href=x>", "")
@example("<td><span></td>", "")
@example("<td><span></td>", "<svg>")
@example("<td><span></td>", "<table><div></table>")
@example("<td><span></td>", "<template><table></template>")
@example("<td><span></td>", "<select><table></select>")
@example("<svg><span></svg>", "")
@example("<svg><p></svg>", "")
@example("<frameset><span></frameset>", "")
@example("<x<div><ruby></div>", "")
@example("<x title='" + 9 * "<div>" + "'>" + 9 * "<span></div>", "")
@given(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=12).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=4).map("".join),
)
def test_what_counts_as_shallow_is_shallow(part, start):
    """Of any markup, repeated: if the guard lets it pass, the parser's tree is not much deeper than it believes.

    But for what it says that it does not count: the body and the row of a table, and links.
    """
    html = start + part * 60
    again = nesting._PLAIN  # formatting elements, opened again in every block
    unsaid = 2 * html.count("<table>") + html.count("<a href=x>")
    assert depth(html) <= nesting._depth(html, 10**9) + unsaid + again + 10


def test_attributes_without_number_become_text():
    html = f"<a href=x {' '.join(f'a{number}=y' for number in range(10_000))}>b</a>"
    page = read_html(Source(html, "text/html", "utf-8", "http://h.test/", 10))
    assert page.links.urls == ["http://h.test/x"]
    assert len(page.text.split()) > 8000
    long = f"<p style='{'a b=c ' * 5000}'>{'word ' * 5000}<script>{'if (a<b) c;' * 300}</script>"
    assert bounded(long) == long


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_no_markup_takes_long(seed):
    """200 kB of any few pieces, repeated, take seconds at worst (of CPU, so neighbours do not count), most a tenth."""
    rng = random.Random(seed)
    for _ in range(8):
        part = "".join(rng.choices(PIECES, k=rng.randint(1, 8)))
        if rng.random() < 0.5:
            part += "<b id=#>"
        html = numbered(part, 200_000 // len(part))
        started = process_time()
        read_html(Source(html, "text/html", "utf-8", "http://h.test/", 100_000))
        assert process_time() - started < 10, part


@pytest.mark.slow
@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 300_000,
        "<div></x>" * 300_000,
        numbered("<p><b id=#>", 20_000),
        numbered("<b id=#>", 900) + "<p>x" * 500_000,
    ],
)
def test_what_is_left_parses_at_once(html):
    """The test's own time limit is the assertion: unguarded, each takes minutes or all memory."""
    assert LexborHTMLParser(bounded(html)).body is not None
