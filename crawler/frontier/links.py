"""The columns in which links travel to the shard that owns their host."""

import pyarrow as pa

LINKS = pa.schema(
    [
        ("slot", pa.uint16()),
        ("host", pa.string()),
        ("site", pa.string()),
        ("key", pa.int64()),
        ("url", pa.string()),
        ("depth", pa.int32()),
        ("hops", pa.int32()),
        ("priority", pa.int32()),
        ("found_on", pa.string()),
        ("found_via", pa.string()),
    ]
)

# What a frontier needs of a row to take its URL as done.
SETTLED = pa.schema(
    [
        ("slot", pa.uint16()),
        ("host", pa.string()),
        ("site", pa.string()),
        ("key", pa.int64()),
        ("kind", pa.string()),
        ("http_status", pa.int16()),
        ("visit", pa.int32()),
        ("fetched_at", pa.float64()),
        ("wire_bytes", pa.int64()),
        ("content_digest", pa.binary()),
        ("etag", pa.string()),
        ("last_modified", pa.string()),
    ]
)
