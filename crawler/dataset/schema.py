"""The contract with whoever reads the Parquet: one row per outcome. Names and types here are what others build on.

Keys and fingerprints are signed 64-bit integers: every reader has that type, and bit operations work on it.
"""

import pyarrow as pa

VERSION = 2

# What follows `text` is null for all but a few links.
OUTLINKS = pa.list_(
    pa.struct(
        [
            ("url", pa.string()),
            ("rel", pa.string()),
            ("text", pa.string()),
            ("hreflang", pa.string()),
            ("lastmod", pa.timestamp("us", tz="UTC")),
            ("changefreq", pa.string()),
            ("priority", pa.float32()),
        ]
    )
)
HEADERS = pa.list_(pa.struct([("name", pa.string()), ("value", pa.string())]))

ROWS = pa.schema(
    [
        ("url", pa.string()),
        ("url_key", pa.int64()),
        ("host", pa.string()),
        ("site", pa.string()),
        ("kind", pa.string()),
        ("http_status", pa.int16()),
        ("redirect_to", pa.string()),
        ("fetched_at", pa.timestamp("us", tz="UTC")),
        ("elapsed_ms", pa.int32()),
        ("visit", pa.int32()),
        ("attempt", pa.int32()),
        ("depth", pa.int32()),
        ("priority", pa.int32()),
        ("found_on", pa.string()),
        ("found_via", pa.string()),
        ("ip", pa.string()),
        ("tls_verified", pa.bool_()),
        ("content_type", pa.string()),
        ("charset", pa.string()),
        ("language", pa.string()),
        ("wire_bytes", pa.int64()),
        ("body_bytes", pa.int64()),
        ("truncated", pa.bool_()),
        ("etag", pa.string()),
        ("last_modified", pa.string()),
        ("headers", HEADERS),
        ("body", pa.binary()),
        ("title", pa.string()),
        ("text", pa.string()),
        ("canonical", pa.string()),
        ("robots_directives", pa.list_(pa.string())),
        ("content_digest", pa.binary()),
        ("text_digest", pa.binary()),
        ("simhash", pa.int64()),
        ("simhash_tokens", pa.int32()),
        ("duplicate_of", pa.string()),
        ("near_duplicate_of", pa.string()),
        ("outlinks", OUTLINKS),
        ("error", pa.string()),
    ],
    metadata={"raycrawl.schema": str(VERSION)},
)
