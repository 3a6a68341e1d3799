"""What the store's values mean: the codecs of queue entries, URL records and host records.

Fixed fields are packed by `struct` in big-endian order, so that packed keys sort as their numbers do. Nothing here
knows where a value is kept.
"""

import struct
from typing import NamedTuple

import msgpack  # type: ignore[import-untyped]

from crawler.frontier.politeness import Clock
from crawler.outcomes import Kind

# A priority is one octet of the queue's key; what is out of range is as urgent, or as idle, as can be.
LAST_PRIORITY = 255

_ENTRY = struct.Struct(">qiHBIHII")
_LIVE = struct.Struct(">BBiQI")
_MOMENT = struct.Struct(">d")
_DONE = struct.Struct(">BIdhBHH")

QUEUED, WAITING, DONE = range(3)


class Entry(NamedTuple):
    """One URL in a queue: everything a fetch task is told of it. `found_on` is empty for seeds."""

    key: int
    url: bytes
    depth: int
    hops: int
    priority: int
    visit: int
    attempt: int
    found_on: bytes
    found_via: bytes


class Live(NamedTuple):
    """A URL record that is not done: where its entry is.

    `state` is `QUEUED` (then `place` is the entry's sequence) or `WAITING` (then `place` is the moment it is due, in
    microseconds).
    """

    state: int
    priority: int
    depth: int
    place: int
    visit: int


class Done(NamedTuple):
    """A URL record after its visit: what the next visit would need. Empty octets mean that the server sent none."""

    visit: int
    fetched_at: float
    status: int
    digest: bytes
    etag: bytes
    last_modified: bytes


class HostRecord(NamedTuple):
    """What is kept of a host.

    `admitted` counts its URLs that are pages or may yet become pages; `sitemaps` its URLs that were found as sitemaps.
    `address`: the smallest of its addresses; empty while it is of no interest.
    """

    site: str
    admitted: int
    sitemaps: int
    clock: Clock
    given_up: Kind | None
    address: str = ""


def pack_entry(entry: Entry) -> bytes:
    """The octets of a queue entry."""
    key, url, depth, hops, priority, visit, attempt, found_on, found_via = entry
    head = _ENTRY.pack(key, depth, hops, priority, visit, attempt, len(url), len(found_on))
    return head + url + found_on + found_via


def unpack_entry(value: bytes) -> Entry:
    """The inverse of `pack_entry`."""
    key, depth, hops, priority, visit, attempt, url_size, found_size = _ENTRY.unpack_from(value)
    split = _ENTRY.size + url_size
    end = split + found_size
    return Entry(
        key,
        value[_ENTRY.size : split],
        depth,
        hops,
        priority,
        visit,
        attempt,
        value[split:end],
        value[end:],
    )


def entry_key(value: bytes) -> int:
    """The URL key of a packed entry, without unpacking the rest."""
    return int.from_bytes(value[:8], "big", signed=True)


def pack_live(state: int, priority: int, depth: int, place: int, visit: int) -> bytes:
    """The octets of the record of a URL that is queued or waits for its retry."""
    return _LIVE.pack(state, priority, depth, place, visit)


def pack_done(record: Done) -> bytes:
    """The octets of the record of a URL that is done."""
    visit, fetched_at, status, digest, etag, last_modified = record
    head = _DONE.pack(DONE, visit, fetched_at, status, len(digest), len(etag), len(last_modified))
    return head + digest + etag + last_modified


def is_better(value: bytes, depth: int, priority: int) -> bool:
    """Whether a link with this depth and priority would improve a live URL record (a done one: never)."""
    if value[0] == DONE:
        return False
    _, old_priority, old_depth, _, _ = _LIVE.unpack(value)
    return bool(depth < old_depth or priority < old_priority)


def unpack_live(value: bytes) -> Live:
    """The record of a URL that is not done."""
    return Live._make(_LIVE.unpack(value))


def unpack_url(value: bytes) -> Live | Done:
    """A URL record."""
    if value[0] != DONE:
        return unpack_live(value)
    _, visit, fetched_at, status, digest_size, etag_size, _ = _DONE.unpack_from(value)
    split = _DONE.size + digest_size
    end = split + etag_size
    return Done(visit, fetched_at, status, value[_DONE.size : split], value[split:end], value[end:])


def pack_host(record: HostRecord) -> bytes:
    """The octets of a host record."""
    packed: bytes = msgpack.packb(record)
    return packed


def unpack_host(value: bytes) -> HostRecord:
    """The inverse of `pack_host`."""
    record = HostRecord._make(msgpack.unpackb(value, use_list=False))
    given_up = None if record.given_up is None else Kind(record.given_up)
    return record._replace(clock=Clock._make(record.clock), given_up=given_up)


def pack_robots(rules: bytes, expires_at: float) -> bytes:
    """The octets of an origin's packed rules and the moment until which they may be used."""
    return _MOMENT.pack(expires_at) + rules


def unpack_robots(value: bytes) -> tuple[bytes, float]:
    """The inverse of `pack_robots`."""
    return value[_MOMENT.size :], _MOMENT.unpack_from(value)[0]
