import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.config import Config
from crawler.dataset.found import LinkColumns, Source, counter
from crawler.dataset.recent import Recent
from crawler.dataset.selection import (
    Selector,
    forbids_following,
    relation,
    via_of,
)
from crawler.frontier.links import LINKS
from crawler.url.admit import Admission
from tests.crawler.dataset.samples import SEEDS

HERE = Source("https://example.org/here", depth=2)
URLS = st.sampled_from([
    "https://example.org/a", "https://example.org/b", "https://www.example.org/", "https://example.org/c?utm_source=x",
    "https://elsewhere.example/", "https://example.org/" + "x" * 3000, "https://example.org/a/a/a/a/a",
])  # fmt: skip
RELS = st.sampled_from(
    ["", "", "nofollow", "noopener", "external ugc", "sponsored", "canonical", "refresh"]
)
FOUND = st.lists(st.tuples(URLS, RELS), max_size=30)


def selector(tree=None, recent=None):
    config = Config.model_validate(tree or {})
    return Selector(Admission(config, SEEDS), config, recent)


def select(links, source=HERE, tree=None, recent=None):
    into = LinkColumns()
    selector(tree, recent).select(source, links, into)
    return into


def reasons(into):
    return {name.removeprefix("links."): n for name, n in into.counts.items()}


def test_a_link_has_what_a_frontier_needs():
    into = select([("https://www.example.org/x", ""), ("https://example.org/c", "canonical")])
    batch = into.batch()
    assert batch.schema == LINKS
    first, second = batch.to_pylist()
    assert first == first | {
        "host": "www.example.org",
        "site": "example.org",
        "url": "https://www.example.org/x",
        "depth": 3,
        "hops": 0,
        "priority": 48,
        "found_on": HERE.url,
        "found_via": "link",
    }
    assert second["found_via"] == "canonical"
    assert reasons(into) == {"found": 2}


@pytest.mark.parametrize(("links", "counts"), [
    ([("https://example.org/a", "")] * 3, {"found": 3, "same_page": 2}),
    ([("https://example.org/a", "nofollow"), ("https://example.org/a", "")], {"found": 2, "nofollow": 1}),
    ([("https://example.org/a", ""), ("https://example.org/a", "nofollow")], {"found": 2, "same_page": 1}),
    ([("https://other.example/", ""), ("https://other.example/", "")],
     {"found": 2, "out_of_scope": 1, "same_page": 1}),
    ([("https://example.org/a", "noopener ugc"), ("https://example.org/b", "sponsored")], {"found": 2, "nofollow": 2}),
    ([("https://example.org/a", "noopener,nofollow"), ("https://example.org/b", "ugc,x")], {"found": 2, "nofollow": 2}),
])  # fmt: skip
def test_every_drop_has_its_reason(links, counts):
    assert reasons(select(links)) == counts


def test_a_page_may_ask_not_to_be_followed():
    source = HERE._replace(nofollow=True)
    links = [("https://example.org/a", "")] * 3
    assert reasons(select(links, source)) == {"found": 3, "nofollow_page": 3}
    follow = {"scope": {"follow_nofollow": True}}
    assert reasons(select(links, source, follow)) == {"found": 3, "same_page": 2}
    assert reasons(select([("https://example.org/a", "nofollow")], HERE, follow)) == {"found": 1}


def test_a_duplicate_page_gives_no_links():
    links = [
        ("https://example.org/a", ""),
        ("https://example.org/a", ""),
        ("https://other.example/", ""),
    ]
    source = HERE._replace(duplicate=True)
    into = select(links, source)
    assert reasons(into) == {"found": 3, "duplicate_page": 3}
    assert into.batch().num_rows == 0
    assert len(select(links, source, {"scope": {"follow_duplicates": True}})) == 1


def test_depth_is_limited():
    tree = {"scope": {"max_depth": 3}}
    assert reasons(select([("https://example.org/a", "")], HERE, tree)) == {"found": 1}
    assert reasons(select([("https://example.org/a", "")], HERE._replace(depth=3), tree)) == {
        "found": 1,
        "too_deep": 1,
    }


def test_what_was_forwarded_is_not_sent_again_unless_from_nearer():
    recent, links = Recent(100), [("https://example.org/a", ""), ("https://other.example/", "")]
    assert len(select(links, recent=recent)) == 1
    again = select(links, recent=recent)
    assert reasons(again) == {"found": 2, "forwarded": 1, "out_of_scope": 1}
    assert len(select(links, HERE._replace(depth=1), recent=recent)) == 1


def redirect(target, error=None, source=HERE, tree=None):
    into = LinkColumns()
    return selector(tree).redirect(source, target, error, into), into


def test_a_redirects_target_is_a_link_of_the_same_depth():
    error, into = redirect("https://example.org/new")
    (link,) = into.batch().to_pylist()
    assert (error, link["depth"], link["hops"], link["found_via"], link["found_on"]) == (
        None,
        2,
        1,
        "redirect",
        HERE.url,
    )
    assert reasons(into) == {"found": 1}


def test_the_limit_of_redirects_is_kept_as_the_rows_error():
    source, tree = HERE._replace(hops=3), {"scope": {"max_redirects": 3}}
    error, into = redirect("https://example.org/new", None, source, tree)
    assert (error, reasons(into)) == ("redirect_limit", {"found": 1, "redirect_limit": 1})
    again, replayed = redirect("https://example.org/new", error, HERE, tree)
    assert (again, replayed.counts) == (error, into.counts)


@pytest.mark.parametrize(("target", "error", "counts"), [
    ("https://other.example/", None, {"found": 1, "out_of_scope": 1}),
    ("https://example.org/new", "redirect loop", {"found": 1, "redirect_loop": 1}),
    (None, "no Location", {}),
    (None, None, {}),
])  # fmt: skip
def test_a_redirect_that_leads_nowhere_keeps_its_error(target, error, counts):
    kept, into = redirect(target, error)
    assert (kept, reasons(into), len(into)) == (error, counts, 0)


@given(FOUND, st.booleans(), st.booleans(), st.integers(0, 3), st.booleans())
def test_nothing_vanishes(links, nofollow, duplicate, depth, remember):
    tree = {"scope": {"max_depth": 2}}
    into, recent = LinkColumns(), Recent(4) if remember else None
    chooser = selector(tree, recent)
    for _ in range(3):
        chooser.select(Source(HERE.url, depth, 0, nofollow, duplicate), links, into)
    counts = reasons(into)
    assert counts.pop("found") == 3 * len(links) == len(into) + sum(counts.values())
    assert into.batch().num_rows == len(into)


@pytest.mark.slow
@given(st.lists(st.tuples(FOUND, st.integers(0, 5)), max_size=5))
def test_a_rows_links_do_not_depend_on_its_batch(rows):
    chooser, together, alone = selector(), LinkColumns(), []
    for row, (links, depth) in enumerate(rows):
        source = Source(f"https://example.org/{row}", depth)
        chooser.select(source, links, together)
        one = LinkColumns()
        chooser.select(source, links, one)
        alone += one.batch().to_pylist()
    assert together.batch().to_pylist() == alone


def test_no_links_are_a_batch_too():
    assert LinkColumns().batch().schema == LINKS


@pytest.mark.parametrize(("rel", "via", "kept", "told"), [
    ("", "link", "", "link"),
    ("next", "link", "next", "link"),
    ("", "refresh", "refresh", "refresh"),
    ("", "iframe", "iframe", "iframe"),
    ("noopener", "area", "noopener", "link"),
    ("canonical", "canonical", "canonical", "canonical"),
    ("alternate canonical", "canonical", "alternate canonical", "canonical"),
    ("", "sitemap", "sitemap", "sitemap"),
    ("sitemap", "link", "sitemap link", "link"),
    ("nofollow sitemap", "area", "nofollow sitemap link", "link"),
    ("sitemap link", "link", "sitemap link", "link"),
])  # fmt: skip
def test_how_a_link_was_found_is_told_from_its_row(rel, via, kept, told):
    assert relation(rel, via) == kept
    assert via_of(kept) == told


def test_directives():
    assert forbids_following(["noindex", "nofollow"])
    assert forbids_following(("none",))
    assert not forbids_following(["noindex"])
    assert counter("nofollow") == "links.nofollow"
