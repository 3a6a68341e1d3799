"""What a frontier needs of rows to take their URLs as done, on the parse path and in the replay alike."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crawler.frontier.links import SETTLED
from crawler.url.keys import slot_of

# Where a column of SETTLED comes from in ROWS, if its name is another there.
_SOURCES = {"key": "url_key"}

# The columns of ROWS that are read.
COLUMNS = tuple(_SOURCES.get(name, name) for name in SETTLED.names if name != "slot")


def settled_of(rows: pa.RecordBatch, slots: pa.Array) -> pa.RecordBatch:
    """Rows as SETTLED; `slots`: the slot (uint16) of each row."""
    # Whole microseconds, as the row keeps them, so that both ways give the same number.
    moments = pc.divide(rows["fetched_at"].cast(pa.int64()).cast(pa.float64()), 1e6)
    computed = {"slot": slots, "fetched_at": moments}
    return pa.RecordBatch.from_arrays(
        [
            computed[name] if name in computed else rows[_SOURCES.get(name, name)]
            for name in SETTLED.names
        ],
        schema=SETTLED,
    )


def slots_of(sites: pa.Array) -> pa.Array:
    """The slot (uint16) of each site; each distinct site is hashed once."""
    encoded = sites.dictionary_encode()
    slots = np.array([slot_of(site) for site in encoded.dictionary.to_pylist()], dtype=np.uint16)
    return pa.array(slots[encoded.indices.to_numpy()])


def filtered(batch: pa.RecordBatch, wanted: frozenset[int] | None) -> pa.RecordBatch:
    """The rows of a batch with a `slot` column that are in the wanted slots; `None`: all."""
    return (
        batch
        if wanted is None
        else batch.filter(pc.is_in(batch["slot"], pa.array(sorted(wanted), pa.uint16())))
    )


def totals_of(rows: pa.RecordBatch) -> Counter[str]:
    """The counters of rows: how many by kind, and their bytes."""
    counts = Counter({f"rows.{kind}": n for kind, n in Counter(rows["kind"].to_pylist()).items()})
    if duplicates := len(rows) - rows["duplicate_of"].null_count:
        counts["rows.duplicate"] = duplicates
    counts["bytes.wire"] = pc.sum(rows["wire_bytes"]).as_py() or 0
    counts["bytes.body"] = pc.sum(rows["body_bytes"]).as_py() or 0
    return counts
