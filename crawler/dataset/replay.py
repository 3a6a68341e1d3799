"""From the journal to what a frontier needs: the rows' outcomes and the links they give.

It reads only the columns it needs (never bodies or text), a row group at a time, and must not know what is done with
them.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crawler.dataset import manifest
from crawler.dataset.found import LinkColumns, Source
from crawler.dataset.manifest import Entry
from crawler.dataset.output import Output
from crawler.dataset.selection import Given, Selector, forbids_following
from crawler.dataset.settled import COLUMNS, filtered, settled_of, slots_of, totals_of
from crawler.errors import OutputError
from crawler.frontier.lease import Content
from crawler.frontier.store import slot_of_digest

_FOR_LINKS = (
    "url",
    "depth",
    "redirect_to",
    "found_on",
    "found_via",
    "robots_directives",
    "duplicate_of",
    "error",
)
_COLUMNS = [
    *COLUMNS, *_FOR_LINKS, "body_bytes", "outlinks.list.element.url", "outlinks.list.element.rel",
]  # fmt: skip

# Rows and links taken at once, on an average of their row group: some 50 MB. A sitemap has 50,000 links.
_ROWS = 512
_LINKS = 200_000


class Replayed(NamedTuple):
    """What some rows of one segment say.

    `settled` (SETTLED), `counters` and `rows` (their number): of the rows in the wanted slots, so that shards which
    replay the same segments add up. `links` (LINKS): to the wanted slots, from whatever row.
    """

    settled: pa.RecordBatch
    links: pa.RecordBatch
    contents: list[Content]
    counters: dict[str, int]
    rows: int
    shard: int
    sequence: int


def replay(
    output: Output,
    selector: Selector,
    *,
    shard: int | None = None,
    after: int = 0,
    slots: frozenset[int] | None = None,
    pending: Callable[[pa.RecordBatch], list[bool]] | None = None,
) -> Iterator[Replayed]:
    """The sealed segments of one shard (those past sequence `after`), or of all, in order.

    `pending`: which of some rows (SETTLED) are not settled yet; the others are passed over with all they give.
    `slots`: only outcomes and links of these; `None`: all. An open segment is not seen: its writer seals it first.
    What a row does not keep is not told: links of a page that were no URLs are not counted, and a target's `hops` are
    those that are certain (the row's own redirect, and one more if it was found by one).
    Raises `OutputError`.
    """
    for entry in manifest.entries(output, shard):
        if entry.sequence > after:
            for rows in _read(output, entry):
                yield _replayed(rows, selector, entry, slots, pending)


def _read(output: Output, entry: Entry) -> Iterator[pa.RecordBatch]:
    try:
        with (
            output.filesystem.open_input_file(output.path(entry.file)) as file,
            pq.ParquetFile(file, pre_buffer=False) as parquet,
        ):
            for group in range(parquet.num_row_groups):
                yield from parquet.iter_batches(
                    batch_size=_rows_at_once(parquet.metadata.row_group(group)),
                    row_groups=[group],
                    columns=_COLUMNS,
                    use_threads=False,
                )
    except (OSError, pa.ArrowException) as error:
        message = f"{output.path(entry.file)}: cannot be read: {error}"
        raise OutputError(message) from error


def _rows_at_once(group: pq.RowGroupMetaData) -> int:
    columns = (group.column(number) for number in range(group.num_columns))
    links: int = sum(
        column.num_values
        for column in columns
        if column.path_in_schema == "outlinks.list.element.url"
    )
    rows: int = group.num_rows
    return max(1, min(_ROWS, _LINKS * rows // max(1, links)))


def _replayed(
    rows: pa.RecordBatch,
    selector: Selector,
    entry: Entry,
    slots: frozenset[int] | None,
    pending: Callable[[pa.RecordBatch], list[bool]] | None,
) -> Replayed:
    contents = _contents(rows, selector, slots)
    at = slots_of(rows["site"])
    others = rows.slice(0, 0)
    if slots is not None:
        here = pc.is_in(at, pa.array(sorted(slots), pa.uint16()))
        others, rows, at = rows.filter(pc.invert(here)), rows.filter(here), at.filter(here)
    settled = settled_of(rows, at)
    if pending is not None:
        mask = pa.array(pending(settled), pa.bool_())
        rows, settled = rows.filter(mask), settled.filter(mask)
    own = _links(rows, selector)
    links = pa.concat_batches([own.batch(), _links(others, selector).batch()])
    own.counts.update(totals_of(rows))
    return Replayed(
        settled,
        filtered(links, slots),
        contents,
        dict(own.counts),
        rows.num_rows,
        entry.shard,
        entry.sequence,
    )


def _contents(
    rows: pa.RecordBatch, selector: Selector, slots: frozenset[int] | None
) -> list[Content]:
    """The bodies that a row was the first to have, where their digests are in the wanted slots."""
    first = pc.and_(pc.is_null(rows["duplicate_of"]), pc.is_valid(rows["content_digest"]))
    firsts = rows.filter(first)
    columns = (firsts[name].to_pylist() for name in ("content_digest", "url_key", "url"))
    return [
        Content(*values)
        for values in zip(*columns, strict=True)
        if (slots is None or slot_of_digest(values[0]) in slots) and selector.compares(values[2])
    ]


def _links(rows: pa.RecordBatch, selector: Selector) -> LinkColumns:
    into = LinkColumns()
    outlinks = rows["outlinks"]
    urls = outlinks.flatten().field("url").to_pylist()
    rels = outlinks.flatten().field("rel").to_pylist()
    counts = pc.fill_null(pc.list_value_length(outlinks), 0).to_pylist()
    names = ("kind", *_FOR_LINKS)
    end = 0
    for values, count in zip(
        zip(*(rows[name].to_pylist() for name in names), strict=True), counts, strict=True
    ):
        begin, end = end, end + count
        links = list(zip(urls[begin:end], rels[begin:end], strict=True))
        _select(dict(zip(names, values, strict=True)), links, selector, into)
    return into


def _select(
    values: dict[str, Any],
    links: list[tuple[str, str]],
    selector: Selector,
    into: LinkColumns,
) -> None:
    source = Source(
        values["url"],
        values["depth"],
        hops=1 if values["found_via"] == "redirect" else 0,
        nofollow=forbids_following(values["robots_directives"] or ()),
        duplicate=values["duplicate_of"] is not None,
        via=values["found_via"],
        found_on=values["found_on"],
    )
    given = Given(values["kind"], links, values["redirect_to"], values["error"])
    selector.give(source, given, into)
