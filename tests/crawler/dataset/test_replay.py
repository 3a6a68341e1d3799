import tempfile
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.config import Config, Dataset
from crawler.dataset import replay as module
from crawler.dataset.journal import Journal
from crawler.dataset.output import Output
from crawler.dataset.replay import replay
from crawler.dataset.rows import RowBuilder
from crawler.dataset.selection import Selector
from crawler.errors import OutputError
from crawler.frontier.store import slot_of_digest
from crawler.url.admit import Admission
from crawler.url.keys import slot_of
from crawler.url.sitemaps import FILES
from tests.crawler.dataset.samples import PLAIN, START, fetched, listing, outcome, page, pages

SYNC = Dataset(sync=False)
SEEDS = ("https://example.org/", "https://example.net/")
CONFIG = Config()
ADMISSION = Admission(CONFIG, SEEDS)
# Of rows whose links are all in them: where sitemaps are not looked for.
SELECTOR = Selector(ADMISSION, PLAIN)
EAGER = Selector(ADMISSION, CONFIG)

TAGS = st.sampled_from([
    "<a href='/a'>a</a>", "<a href='/a'>again</a>", "<a href='/b?x=1&utm_source=y' rel='nofollow'>b</a>",
    "<a href='https://example.net/c'>c</a>", "<a href='https://elsewhere.example/'>d</a>", "<a href='/d#e'>d</a>",
    "<a href='mailto:x@example.org'>m</a>", "<iframe src='/frame'></iframe>", "<area href='/area' alt='x'>",
    "<a href='/e/e/e/e/e'>e</a>", "<a href='http://['>bad</a>", "<a rel='sitemap' href='/map'>map</a>",
])  # fmt: skip
HEADS = st.sampled_from([
    "", "", "<meta name=robots content='none'>", "<meta name=raycrawl content='nofollow'>",
    "<link rel=canonical href='/canonical'><meta http-equiv=refresh content='0; url=/refreshed'>",
    "<base href='https://example.net/base/'>",
])  # fmt: skip
PLACES = st.sampled_from(
    ["https://example.org/", "https://www.example.org/x", "https://example.net/y"]
)
PAGES = st.builds(
    lambda url, tags, head, depth: outcome(url, body=page(*tags, head=head), depth=depth),
    PLACES, st.lists(TAGS, max_size=8), HEADS, st.integers(0, 5),
)  # fmt: skip
REDIRECTS = st.builds(
    lambda url, target, hops, error: outcome(
        url, kind="redirect", redirect_to=target, hops=hops, body=None, error=error,
        found_via="redirect" if hops else "link",
    ),
    PLACES, st.sampled_from([None, "https://example.org/new", "https://elsewhere.example/"]),
    st.sampled_from([0, 1, 10]), st.sampled_from([None, None, "redirect loop"]),
)  # fmt: skip
OTHERS = st.builds(
    lambda url, kind: outcome(url, kind=kind, body=None),
    PLACES,
    st.sampled_from(["timeout", "http_error"]),
)
LISTED = st.lists(st.sampled_from([
    "https://example.org/a", "https://example.org/a", "https://www.example.org/b", "https://example.net/c",
    "https://elsewhere.example/d", "https://example.org/maps/1.xml", "mailto:x@example.org", "http://[",
]), max_size=6)  # fmt: skip
SITEMAPS = st.builds(
    lambda url, via, found_on, root, listed, named, status: outcome(
        url, found_via=via, found_on=found_on, content_type="text/xml", depth=2,
        body=listing(root, listed) if status == 200 else None,
        kind="fetched" if status == 200 else "redirect" if status == 301 else "http_error", http_status=status,
        redirect_to="https://example.org/maps/2.xml" if status == 301 else None,
        sitemaps=named if url.endswith("/sitemap.xml") else None,
    ),
    st.sampled_from(["https://example.org/sitemap.xml", "https://example.net/sitemap.xml",
                     "https://example.org/maps/0.xml", "https://elsewhere.example/maps/0.xml"]),
    st.sampled_from([*sorted(FILES), "link", "seed"]), st.sampled_from([None, "https://example.net/sitemap.xml"]),
    st.sampled_from(["urlset", "sitemapindex", "rss", "html"]), LISTED, LISTED, st.sampled_from([200, 200, 301, 404]),
)  # fmt: skip
OUTCOMES = st.lists(
    st.one_of(PAGES, PAGES, REDIRECTS, OTHERS, SITEMAPS, SITEMAPS), min_size=1, max_size=8
)
# Links of a page that are no URLs are in no row, so a replay cannot count them.
UNKEPT = {"links.not_http", "links.invalid_url", "links.link_limit", "links.no_location"}


def rows_of(batches):
    return [row for batch in batches for row in batch.to_pylist()]


def kept(counters):
    counts = Counter(counters)
    counts["links.found"] -= sum(counts.pop(name, 0) for name in UNKEPT)
    return {name: n for name, n in counts.items() if n}


@pytest.mark.slow
@given(st.lists(OUTCOMES, min_size=1, max_size=3), st.data())
def test_the_rows_give_what_the_parse_path_gave(batches, data):
    builder, links, settled, counters = RowBuilder(CONFIG, ADMISSION, "raycrawl"), [], [], Counter()
    with tempfile.TemporaryDirectory() as folder:
        output = Output.open(folder)
        journal = Journal(output, 0, SYNC)
        journal.open(1, 0.0)
        for n, outcomes in enumerate(batches):
            duplicates = data.draw(st.sets(st.integers(0, len(outcomes) - 1)))
            firsts = dict.fromkeys(duplicates, "https://example.org/first")
            parsed = builder.build(fetched(outcomes), firsts)
            journal.append(1, n, parsed.rows, START)
            links.append(parsed.links)
            counters.update(parsed.counters)
            settled.append(parsed.settled)
        journal.close(START)
        found = list(replay(output, EAGER))

    assert rows_of(part.settled for part in found) == rows_of(settled)
    # Hops beyond the second are not kept in rows; everything else is.
    wanted = [row | {"hops": min(row["hops"], 2)} for row in rows_of(links)]
    assert rows_of(part.links for part in found) == wanted
    total = Counter()
    for part in found:
        total.update(part.counters)
    assert kept(total) == kept(counters)
    assert sum(part.rows for part in found) == sum(map(len, batches))


@pytest.fixture
def output(tmp_path):
    """Two shards' segments: 0 has three, 1 has one."""
    output = Output.open(str(tmp_path))
    for shard, segments in ((0, 3), (1, 1)):
        journal = Journal(output, shard, SYNC)
        journal.open(1, 0.0)
        for n in range(segments):
            journal.append(1, n, pages(100 * shard + 10 * n, 2), START)
            journal.seal(START)
        journal.close(START)
    return output


def seen(output, **which):
    return [(part.shard, part.sequence, part.rows) for part in replay(output, SELECTOR, **which)]


def test_all_segments_or_those_of_a_shard_after_a_mark(output):
    assert seen(output) == [(0, 1, 2), (0, 2, 2), (0, 3, 2), (1, 1, 2)]
    assert seen(output, shard=0, after=1) == [(0, 2, 2), (0, 3, 2)]
    assert seen(output, shard=1, after=1) == []
    assert seen(output, shard=2) == []


def test_only_the_wanted_slots(output):
    slot = slot_of("example.org")
    (here, *_) = replay(output, SELECTOR, slots=frozenset({slot}))
    assert (here.settled.num_rows, here.links.num_rows) == (2, 2)
    (elsewhere, *_) = replay(output, SELECTOR, slots=frozenset({slot ^ 1}))
    assert (elsewhere.settled.num_rows, elsewhere.links.num_rows) == (0, 0)
    assert here.counters["rows.fetched"] == here.rows == 2
    assert (elsewhere.counters, elsewhere.rows) == ({"bytes.wire": 0, "bytes.body": 0}, 0)
    (none, *_) = replay(output, SELECTOR, slots=frozenset())
    assert none.settled.num_rows == 0


@pytest.mark.slow
@given(OUTCOMES, st.lists(st.booleans(), min_size=3, max_size=3))
def test_shards_that_replay_the_same_rows_add_up(outcomes, owned):
    places = [slot_of(site) for site in ("example.org", "example.net", "elsewhere.example")]
    mine = frozenset(slot for slot, own in zip(places, owned, strict=True) if own)
    with tempfile.TemporaryDirectory() as folder:
        output = Output.open(folder)
        journal = Journal(output, 0, SYNC)
        journal.open(1, 0.0)
        rows = RowBuilder(CONFIG, ADMISSION, "raycrawl").build(fetched(outcomes)).rows
        journal.append(1, 1, rows, START)
        journal.close(START)
        (whole,) = replay(output, EAGER)
        shards = (mine, frozenset(places) - mine)
        halves = [next(replay(output, EAGER, slots=shard)) for shard in shards]
    for column in ("settled", "links"):
        together = rows_of(getattr(half, column) for half in halves)
        assert sorted(map(repr, together)) == sorted(map(repr, getattr(whole, column).to_pylist()))
    total = Counter()
    for half in halves:
        total.update(half.counters)
    assert +total == +Counter(whole.counters)
    assert sum(half.rows for half in halves) == whole.rows


def test_an_open_segment_is_not_seen(output):
    journal = Journal(output, 2, SYNC)
    journal.open(1, 0.0)
    journal.append(1, 1, pages(1, 1), START)
    assert seen(output, shard=2) == []
    journal.seal(START)
    assert seen(output, shard=2) == [(2, 1, 1)]


def test_many_rows_come_in_parts(output, monkeypatch):
    monkeypatch.setattr(module, "_ROWS", 1)
    assert seen(output, shard=1) == [(1, 1, 1), (1, 1, 1)]


def test_bodies_and_text_are_not_read(output, monkeypatch):
    read = set()
    iter_batches = pq.ParquetFile.iter_batches

    def noting(self, *arguments, **options):
        for batch in iter_batches(self, *arguments, **options):
            read.update(batch.schema.names)
            assert batch.schema.field("outlinks").type.value_type.names == ["url", "rel"]
            yield batch

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", noting)
    assert len(seen(output)) == 4
    assert not read & {"body", "text", "title", "headers"}
    assert "outlinks" in read


@pytest.mark.parametrize(
    "damage", [lambda path: path.unlink(), lambda path: path.write_bytes(b"PAR1")]
)
def test_a_damaged_segment_is_told(output, damage):
    damage(next(Path(output.root, "pages").rglob("*.parquet")))
    with pytest.raises(OutputError, match="cannot be read"):
        seen(output)


def test_a_replayed_batch_is_a_record_batch(output):
    part = next(replay(output, SELECTOR))
    assert isinstance(part.settled, pa.RecordBatch)
    assert isinstance(part.links, pa.RecordBatch)


def test_settled_rows_are_passed_over_with_all_they_give(output):
    asked = []

    def every_second(settled):
        asked.extend(settled["key"].to_pylist())
        return [n % 2 == 1 for n in range(settled.num_rows)]

    everything = list(replay(output, SELECTOR, shard=0))
    found = list(replay(output, SELECTOR, shard=0, pending=every_second))
    assert asked == [row["key"] for row in rows_of(part.settled for part in everything)]
    assert [part.rows for part in found] == [1, 1, 1]
    assert [part.settled.num_rows for part in found] == [1, 1, 1]
    assert [part.links.num_rows for part in found] == [1, 1, 1]
    for all_, half in zip(everything, found, strict=True):
        assert half.counters["rows.fetched"] == half.counters["links.found"] == 1
        assert half.links.to_pylist() == all_.links.to_pylist()[1:]
        assert half.counters["bytes.body"] < all_.counters["bytes.body"]
        assert half.contents == all_.contents


def test_where_everything_is_settled_nothing_comes(output):
    for part in replay(output, SELECTOR, pending=lambda rows: [False] * rows.num_rows):
        assert (part.rows, part.settled.num_rows, part.links.num_rows) == (0, 0, 0)
        assert not any(part.counters.values())


def test_contents_are_the_bodies_that_a_row_was_the_first_to_have(tmp_path):
    output = Output.open(str(tmp_path))
    bodies = [b"<p>one", b"<p>one", b"<p>two", None]
    outcomes = [
        outcome(f"https://example.org/{n}", body=body, kind="fetched" if body else "timeout",
                content_digest=sha256(body).digest() if body else None)
        for n, body in enumerate(bodies)
    ]  # fmt: skip
    built = RowBuilder(CONFIG, ADMISSION, "raycrawl").build(
        fetched(outcomes), {1: "https://example.org/0"}
    )
    journal = Journal(output, 0, SYNC)
    journal.open(1, 0.0)
    journal.append(1, 1, built.rows, START)
    journal.close(START)
    (part,) = replay(output, SELECTOR)
    digests = [sha256(body).digest() for body in (b"<p>one", b"<p>two")]
    assert [(one.digest, one.url) for one in part.contents] == [
        (digests[0], "https://example.org/0"), (digests[1], "https://example.org/2"),
    ]  # fmt: skip
    assert [one.key for one in part.contents] == [outcomes[0]["key"], outcomes[2]["key"]]
    # The slot of a content is that of its digest, not of its page.
    mine = frozenset({slot_of_digest(digests[1])})
    (part,) = replay(output, SELECTOR, slots=mine)
    assert [one.digest for one in part.contents] == [digests[1]]


def one_segment(folder, outcomes):
    output = Output.open(str(folder))
    journal = Journal(output, 0, SYNC)
    journal.open(1, 0.0)
    rows = RowBuilder(CONFIG, ADMISSION, "raycrawl").build(fetched(outcomes)).rows
    journal.append(1, 1, rows, START)
    journal.close(START)
    return output


def test_what_lies_where_a_sitemap_is_looked_for_is_nobodys_original(tmp_path):
    urls = ["https://example.org/sitemap.xml", "https://example.org/home"]
    output = one_segment(tmp_path, [outcome(url) for url in urls])
    (part,) = replay(output, EAGER)
    assert [content.url for content in part.contents] == urls[1:]
    (part,) = replay(output, SELECTOR)
    assert len(part.contents) == 2


def test_rows_with_many_links_come_few_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_LINKS", 200)
    listed = listing("urlset", ["https://example.org/a"] * 100)
    urls = [f"https://example.org/maps/{n}.xml" for n in range(8)]
    outcomes = [outcome(url, body=listed, found_via="index") for url in urls]
    parts = [part.rows for part in replay(one_segment(tmp_path, outcomes), EAGER)]
    assert parts == [2, 2, 2, 2]
