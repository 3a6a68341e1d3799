"""From raw outcomes to rows: one batch in, one batch of rows out, with the links that the rows give.

It lays out columns; what a page says is `reading`, which links count is `selection`. It must not know where batches
come from or go.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from crawler.config import Config
from crawler.dataset.found import LinkColumns, Source
from crawler.dataset.quarantine import Parsed, build_each
from crawler.dataset.reading import Columns, Outlinks, RawPage, essence, read
from crawler.dataset.recent import Recent
from crawler.dataset.schema import OUTLINKS, ROWS
from crawler.dataset.selection import Given, Selector
from crawler.dataset.settled import settled_of, totals_of
from crawler.dataset.sitemaps import SitemapReader, with_named
from crawler.errors import ApartError
from crawler.outcomes import Kind
from crawler.page.apart import Apart
from crawler.page.facts import Extra
from crawler.page.header import LinkHeaders
from crawler.url.admit import Admission

log = logging.getLogger(__name__)

_NONE = Outlinks([], [], [], nofollow=False, unresolved={})


class RowBuilder:
    """Makes rows. A row follows from its outcome, the configuration and the seeds, whatever else is in its batch."""

    def __init__(
        self,
        config: Config,
        admission: Admission,
        token: str,
        recent: Recent | None = None,
        elsewhere: Apart | None = None,
    ) -> None:
        """`elsewhere`: where pages are read that are not to be read here; without it, all are read here."""
        self._page = config.page
        self._token = token
        self._elsewhere = elsewhere
        self._forget: Callable[[], None] = (lambda: None) if recent is None else recent.forget
        self._selector = Selector(admission, config, recent)
        self._sitemaps = SitemapReader(config, admission, token)

    def build(
        self,
        fetched: pa.RecordBatch,
        duplicates: Mapping[int, str] = MappingProxyType({}),
        *,
        apart: bool = False,
    ) -> Parsed:
        """Rows (ROWS), what a frontier needs of them (SETTLED), and their links (LINKS), of outcomes (FETCHED).

        `duplicates`: rows whose content another URL had first, and that URL. `apart`: every page is read
        elsewhere, which gives the same rows. What cannot become a row is set aside (`quarantine`).
        """
        build = partial(self._build, apart=apart)
        try:
            return build(fetched, duplicates)
        except ApartError:
            raise
        except Exception:
            log.exception(
                "%d outcomes do not become rows together, each is tried alone", len(fetched)
            )
            return build_each(build, fetched, duplicates, self._forget)

    def _build(
        self, fetched: pa.RecordBatch, duplicates: Mapping[int, str], *, apart: bool
    ) -> Parsed:
        columns, outlinks = self._read(fetched, apart=apart)
        into = LinkColumns()
        errors = self._select(fetched, columns, outlinks, duplicates, into)
        facts: dict[str, Sequence[Any]] = (
            dict(zip(Columns._fields, zip(*columns, strict=True), strict=True))
            if columns
            else {name: [] for name in Columns._fields}
        )
        facts["error"] = errors
        rows = self._rows(fetched, facts, outlinks, duplicates)
        into.counts.update(totals_of(rows))
        settled = settled_of(rows, fetched["slot"])
        return Parsed(rows, settled, into.batch(), dict(into.counts))

    def _read(
        self, fetched: pa.RecordBatch, *, apart: bool
    ) -> tuple[list[Columns], list[Outlinks | None]]:
        columns, outlinks = list[Columns](), list[Outlinks | None]()
        robots, links, refreshes = _headers(fetched, "x-robots-tag", "link", "refresh")
        bodies, moments = fetched["body"], fetched["fetched_at"].to_pylist()
        names = ("kind", "url", "content_type", "error", "found_via", "sitemaps")
        for row, (kind, url, content_type, error, via, named) in enumerate(
            zip(*(fetched[name].to_pylist() for name in names), strict=True)
        ):
            found: Outlinks | None = None
            if kind != Kind.FETCHED:
                values = Columns(kind, essence(content_type), error)
            else:
                body = bodies[row].as_py() or b""
                headers = LinkHeaders(links.get(row, ()), refreshes.get(row, ()))
                raw = RawPage(url, body, content_type, robots.get(row, []), moments[row], headers)
                listed = self._sitemaps.read(raw, via)
                values, found = listed or read(
                    raw, self._token, self._page, self._elsewhere, apart=apart
                )
                if values.kind == Kind.PARSE_FAILED:
                    found = None
                elif error is not None:  # the page is what could be decoded of its body
                    values = values._replace(error=error)
            columns.append(values)
            outlinks.append(with_named(found, url, named) if named else found)
        return columns, outlinks

    def _select(
        self,
        fetched: pa.RecordBatch,
        columns: list[Columns],
        outlinks: list[Outlinks | None],
        duplicates: Mapping[int, str],
        into: LinkColumns,
    ) -> list[str | None]:
        """Selects every row's links; gives the rows' errors, with those of redirects that are not followed."""
        errors: list[str | None] = []
        names = ("url", "depth", "hops", "found_via", "found_on", "redirect_to")
        for row, (url, depth, hops, via, found_on, target) in enumerate(
            zip(*(fetched[name].to_pylist() for name in names), strict=True)
        ):
            found, values = outlinks[row] or _NONE, columns[row]
            source = Source(url, depth, hops, found.nofollow, row in duplicates, via, found_on)
            links = list(zip(found.urls, found.rels, strict=True))
            given = Given(values.kind, links, target, values.error)
            errors.append(self._selector.give(source, given, into))
            for reason, count in found.unresolved.items():
                into.none_sent(reason, count)
        return errors

    def _rows(
        self,
        fetched: pa.RecordBatch,
        facts: dict[str, Sequence[Any]],
        outlinks: list[Outlinks | None],
        duplicates: Mapping[int, str],
    ) -> pa.RecordBatch:
        body = fetched["body"]
        computed: dict[str, pa.Array] = {
            "url_key": fetched["key"],
            "fetched_at": _timestamps(fetched["fetched_at"]),
            "body_bytes": pc.binary_length(body).cast(pa.int64()),
            "body": body if self._page.store_body else _failed_only(body, facts["kind"]),
            "duplicate_of": pa.array(map(duplicates.get, range(fetched.num_rows)), pa.string()),
            "near_duplicate_of": pa.nulls(fetched.num_rows, pa.string()),
            "outlinks": _outlinks(outlinks),
        }
        for name, values in facts.items():
            computed[name] = _array(values, ROWS.field(name).type)
        return pa.RecordBatch.from_arrays(
            [computed[name] if name in computed else fetched[name] for name in ROWS.names],
            schema=ROWS,
        )


def _timestamps(seconds: pa.Array) -> pa.Array:
    return pc.round(pc.multiply(seconds, 1e6)).cast(pa.int64()).cast(ROWS.field("fetched_at").type)


def _failed_only(body: pa.Array, kinds: Sequence[str]) -> pa.Array:
    """Bodies of pages that could not be read are kept even where bodies are not: they show why."""
    failed = pa.array([kind == Kind.PARSE_FAILED for kind in kinds], pa.bool_())
    return pc.if_else(failed, body, pa.scalar(None, body.type))


def _headers(fetched: pa.RecordBatch, *names: str) -> list[dict[int, list[str]]]:
    """The values of each of some headers by row; for those that few rows have."""
    headers = fetched["headers"]
    flat = headers.flatten()
    lowered = pc.ascii_lower(flat.field("name"))
    return [_values(headers, flat.field("value"), pc.equal(lowered, name)) for name in names]


def _values(headers: pa.Array, flat: pa.Array, found: pa.Array) -> dict[int, list[str]]:
    values: dict[int, list[str]] = {}
    if pc.any(found).as_py():
        parents = pc.list_parent_indices(headers).filter(found).to_pylist()
        for row, value in zip(parents, flat.filter(found).to_pylist(), strict=True):
            values.setdefault(row, []).append(value or "")
    return values


def _outlinks(outlinks: list[Outlinks | None]) -> pa.Array:
    """The `outlinks` column, from flat lists; null where no page was read."""
    urls, rels, texts, offsets = list[str](), list[str](), list[str](), [0]
    extras: dict[int, Extra] = {}
    for found in outlinks:
        if found is not None:
            extras.update({len(urls) + at: extra for at, extra in found.extras.items()})
            urls += found.urls
            rels += found.rels
            texts += found.texts
        offsets.append(len(urls))
    struct = OUTLINKS.value_type
    values = pa.StructArray.from_arrays(
        [
            *(_array(column, pa.string()) for column in (urls, rels, texts)),
            *_extras(extras, len(urls)),
        ],
        fields=list(struct),
    )
    missing = pa.array([found is None for found in outlinks], pa.bool_())
    return pa.ListArray.from_arrays(
        pa.array(offsets, pa.int32()), values, type=OUTLINKS, mask=missing
    )


def _extras(extras: Mapping[int, Extra], links: int) -> list[pa.Array]:
    """The fields of `Extra`, each for all links: most are null, and usually all."""
    arrays = []
    for at, name in enumerate(Extra._fields):
        kind = OUTLINKS.value_type.field(name).type
        if not extras:
            arrays.append(pa.nulls(links, kind))
            continue
        values: list[Any] = [None] * links
        for position, extra in extras.items():
            values[position] = extra[at]
        if name == "lastmod":
            arrays.append(_timestamps(pa.array(values, pa.float64())))
        else:
            arrays.append(_array(values, kind))
    return arrays


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    try:
        return pa.array(values, kind)
    except UnicodeEncodeError:
        # Half of a surrogate pair, from an escape in a page: it has no UTF-8 form.
        return pa.array([_encodable(value) for value in values], kind)


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return tuple(map(_encodable, value)) if isinstance(value, tuple) else value
