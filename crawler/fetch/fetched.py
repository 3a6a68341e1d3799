"""The columns in which final outcomes leave a fetch task, raw: what is parsed is parsed elsewhere."""

import pyarrow as pa

HEADERS = pa.list_(pa.struct([("name", pa.string()), ("value", pa.string())]))

FETCHED = pa.schema(
    [
        ("key", pa.int64()),
        ("slot", pa.uint16()),
        ("host", pa.string()),
        ("site", pa.string()),
        ("url", pa.string()),
        ("visit", pa.int32()),
        ("attempt", pa.int32()),
        ("depth", pa.int32()),
        ("hops", pa.int32()),
        ("priority", pa.int32()),
        ("found_on", pa.string()),
        ("found_via", pa.string()),
        ("kind", pa.string()),
        ("http_status", pa.int16()),
        ("redirect_to", pa.string()),
        ("fetched_at", pa.float64()),
        ("elapsed_ms", pa.int32()),
        ("ip", pa.string()),
        ("tls_verified", pa.bool_()),
        ("content_type", pa.string()),
        ("etag", pa.string()),
        ("last_modified", pa.string()),
        ("wire_bytes", pa.int64()),
        ("truncated", pa.bool_()),
        ("headers", HEADERS),
        ("body", pa.binary()),
        ("content_digest", pa.binary()),
        ("error", pa.string()),
        # What robots.txt names, as written, in rows where a sitemap is looked for; null in all others.
        ("sitemaps", pa.list_(pa.string())),
    ]
)
