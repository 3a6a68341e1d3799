"""A batch that does not become rows: the outcome at fault is set aside, and all the others become what they were.

Readers of pages are guarded one by one (`reading`). This is for what follows them: a fault of ours there would end the
crawl, and end it again at the same page whenever it is resumed.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

import pyarrow as pa

from crawler.dataset.reading import LONGEST_ERROR
from crawler.errors import ApartError
from crawler.outcomes import Kind


class Parsed(NamedTuple):
    """What came of one batch of FETCHED.

    `counters`: `rows.<kind>`, `bytes.wire`, `bytes.body`, `links.found` and `links.<reason>`, where found is
    `links.num_rows` and all reasons together.
    """

    rows: pa.RecordBatch
    settled: pa.RecordBatch
    links: pa.RecordBatch
    counters: dict[str, int]


Build = Callable[[pa.RecordBatch, Mapping[int, str]], Parsed]


def build_each(
    build: Build, fetched: pa.RecordBatch, duplicates: Mapping[int, str], forget: Callable[[], None]
) -> Parsed:
    """Builds the outcomes one by one; of one that raises a row that is `parse_failed`, with its body and no links.

    `forget`: the links that the last attempt noted as sent on will not be sent. Raises `ApartError`, and what even such
    a row raises.
    """
    forget()
    parts = []
    for at in range(fetched.num_rows):
        one = fetched.slice(at, 1)
        known = {0: duplicates[at]} if at in duplicates else {}
        try:
            parts.append(build(one, known))
        except ApartError:
            raise
        except Exception as error:  # noqa: BLE001  whatever it was, the others are not to pay for it
            forget()
            parts.append(build(_set_aside(one, error), known))
    counters = sum((Counter(part.counters) for part in parts), Counter[str]())
    rows, settled, links = (
        pa.concat_batches(column) for column in list(zip(*parts, strict=True))[:3]
    )
    return Parsed(rows, settled, links, dict(counters))


def _set_aside(one: pa.RecordBatch, error: Exception) -> pa.RecordBatch:
    text = f"{type(error).__name__}: {error}"[:LONGEST_ERROR]
    values = {"kind": Kind.PARSE_FAILED.value, "error": text, "redirect_to": None, "sitemaps": None}
    for name, value in values.items():
        field = one.schema.field(name)
        one = one.set_column(one.schema.get_field_index(name), field, pa.array([value], field.type))
    return one
