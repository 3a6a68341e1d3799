"""One shard's RocksDB: its column families, its keys, its write batches. Values are octets without a meaning here.

==========  ==================================  =========================================
family      key (all begin with the slot)       value
==========  ==================================  =========================================
`urls`      slot host 0 key                     URL record
`queue`     slot host 0 priority sequence       entry
`due`       slot host 0 moment key              entry that waits for its retry
`hosts`     slot host 0                         host record
`hosts`     slot host 0 origin                  robots record
`sites`     slot site                           admitted URLs
`sites`     slot site 0                         hosts
`shapes`    slot host 0 shape                   URLs that were let in, or choices (1 each)
`digests`   slot digest                         key and URL that had this digest first
`meta`      name (no slot: the shard's own)     epoch, mark, counters
==========  ==================================  =========================================

The write-ahead log is on and is not synced: a killed process loses nothing, a machine that loses power is rebuilt from
the rows.
"""

import struct
from collections.abc import Iterator
from pathlib import Path

from rocksdict import (
    BlockBasedIndexType,
    BlockBasedOptions,
    Cache,
    ColumnFamily,
    DBCompressionType,
    Options,
    Rdict,
    RdictIter,
    WriteBatch,
)

from crawler.errors import StateError
from crawler.url.keys import SLOTS

FAMILIES = ("urls", "queue", "due", "hosts", "sites", "shapes", "digests", "meta")
_SLOT = struct.Struct(">H")
_KEY = struct.Struct(">q")
_QUEUE = struct.Struct(">BQ")
_DUE = struct.Struct(">Qq")

# A disk that takes no more, as the system words it. Nothing is wrong with the state then.
_REFUSALS = (
    "No space left on device",
    "Disk quota exceeded",
    "File too large",
    "Read-only file system",
    "Permission denied",
)

pack_key = _KEY.pack
Batch = WriteBatch


def host_prefix(slot: int, host: str) -> bytes:
    """What all keys of one host begin with. A host name has no NUL, so no host's keys lie among another's."""
    return _SLOT.pack(slot) + host.encode() + b"\0"


def read_prefix(prefix: bytes) -> tuple[int, str]:
    """The slot and host of a key that begins with `host_prefix`."""
    return _SLOT.unpack_from(prefix)[0], prefix[2 : prefix.index(b"\0", 2)].decode()


def site_key(slot: int, site: str) -> bytes:
    """The key of a site's counter."""
    return _SLOT.pack(slot) + site.encode()


def site_hosts_key(slot: int, site: str) -> bytes:
    """The key of the count of a site's hosts."""
    return site_key(slot, site) + b"\0"


def slot_of_digest(digest: bytes) -> int:
    """The slot of a content digest is in its own first octets, so that any shard knows whose it is."""
    return int.from_bytes(digest[:2], "big") % SLOTS


def digest_key(digest: bytes) -> bytes:
    """The key of a content digest."""
    return _SLOT.pack(slot_of_digest(digest)) + digest


def queue_key(prefix: bytes, priority: int, sequence: int) -> bytes:
    """The key of a queue entry: a host's entries sort by priority, then by age."""
    return prefix + _QUEUE.pack(priority, sequence)


def due_key(prefix: bytes, micros: int, key: int) -> bytes:
    """The key of an entry that waits until `micros` (microseconds since the epoch)."""
    return prefix + _DUE.pack(micros, key)


def read_due(row: bytes) -> int:
    """The microseconds in a `due` key."""
    return int.from_bytes(row[-16:-8], "big")


def read_sequence(row: bytes) -> int:
    """The sequence in a `queue` key."""
    return int.from_bytes(row[-8:], "big")


class Family:
    """One column family, read: `handle` names it in a write batch."""

    __slots__ = ("_table", "handle")

    def __init__(self, database: Rdict, name: str) -> None:
        self._table = database.get_column_family(name)
        self.handle: ColumnFamily = database.get_column_family_handle(name)

    def get(self, key: bytes) -> bytes | None:
        """The value of a key; `StateError` where damaged."""
        try:
            return self._table.get(key)
        except Exception as error:  # noqa: BLE001 (rocksdict raises nothing narrower)
            raise StateError(_one_line(self._table.path(), error)) from None

    def get_many(self, keys: list[bytes]) -> list[bytes | None]:
        """The values of many keys, in one call; `StateError` where damaged."""
        if not keys:
            return []
        try:
            return self._table.get(keys)  # type: ignore[arg-type, return-value]
        except Exception as error:  # noqa: BLE001 (rocksdict raises nothing narrower)
            raise StateError(_one_line(self._table.path(), error)) from None

    def scan(self, prefix: bytes, start: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """Keys and values under `prefix`, in order, from `start` (which need not exist); `StateError` where damaged."""
        cursor = self._table.iter()
        cursor.seek(start or prefix)
        while cursor.valid():
            key: bytes = cursor.key()
            if not key.startswith(prefix):
                return
            yield key, cursor.value()
            cursor.next()
        failure = self._failure(cursor)
        del cursor  # an error's traceback would keep it, and it would keep the database's lock
        if failure:
            raise failure

    def rows(self) -> Iterator[bytes]:
        """All keys in order; `StateError` where damaged."""
        cursor = self._table.iter()
        cursor.seek_to_first()
        while cursor.valid():
            yield cursor.key()
            cursor.next()
        failure = self._failure(cursor)
        del cursor  # an error's traceback would keep it, and it would keep the database's lock
        if failure:
            raise failure

    @property
    def empty(self) -> bool:
        """There is no key at all."""
        return next(self.rows(), None) is None

    def estimate(self) -> int:
        """About how many keys there are."""
        return self._table.property_int_value("rocksdb.estimate-num-keys") or 0

    def _failure(self, cursor: RdictIter) -> StateError | None:
        """A cursor stops at a damaged block as it does at the end (and so do rocksdict's own iterators, in silence)."""
        try:
            cursor.status()
        except Exception as error:  # noqa: BLE001 (rocksdict raises nothing narrower)
            return StateError(_one_line(self._table.path(), error))
        return None

    def close(self) -> None:
        """Lets go of the database: a handle or an iterator that lives on would keep its lock."""
        del self.handle
        self._table.close()


class Store:
    """The only owner of its directory. Everything that belongs together goes into one batch, and is there or not."""

    def __init__(self, path: Path, *, block_cache: int, write_buffer: int) -> None:
        """Opens or creates; raises `StateError` where the directory is damaged or another process holds it."""
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._database = _open(path, block_cache, write_buffer)
        except Exception as error:  # noqa: BLE001 (rocksdict raises nothing narrower)
            raise StateError(_one_line(path, error)) from None
        families = [Family(self._database, name) for name in FAMILIES]
        self.urls, self.queue, self.due, self.hosts, self.sites = families[:5]
        self.shapes, self.digests, self.meta = families[5:]
        self._families = families

    def batch(self) -> WriteBatch:
        """An empty batch: `put(key, value, family.handle)`, `delete(key, family.handle)`."""
        return WriteBatch(raw_mode=True)

    def write(self, batch: WriteBatch) -> None:
        """All of a batch, or nothing of it; `StateError` where the disk refuses."""
        if batch.is_empty():
            return
        try:
            self._database.write(batch)
        except Exception as error:  # noqa: BLE001 (rocksdict raises nothing narrower)
            raise StateError(_one_line(self.path, error)) from None

    def close(self) -> None:
        """Closes the database; the store cannot be used afterwards."""
        for family in self._families:
            family.close()
        self._database.close()


def _one_line(path: Path | str, error: Exception) -> str:
    text = " ".join(str(error).split())
    if any(refusal in text for refusal in _REFUSALS):
        return f"{path}: the shard's state cannot be written ({text})"
    if "/LOCK:" in text:
        return f"{path}: the shard's state is in use by another process ({text})"
    return f"{path}: the shard's state is damaged; delete it, it is rebuilt from the rows ({text})"


def _open(path: Path, block_cache: int, write_buffer: int) -> Rdict:
    cache = Cache(block_cache)
    whole = _options(cache, point_lookups=False)
    whole.create_if_missing(True)
    whole.create_missing_column_families(True)
    whole.set_db_write_buffer_size(write_buffer)
    whole.set_max_total_wal_size(4 * write_buffer)
    whole.set_max_background_jobs(2)
    whole.set_max_open_files(256)
    whole.set_keep_log_file_num(1)
    whole.set_stats_dump_period_sec(0)
    by_name = {
        name: _options(cache, point_lookups=name in {"urls", "hosts", "shapes", "digests"})
        for name in FAMILIES
    }
    # A queue is eaten from the front: files that are mostly tombstones are worth compacting early.
    by_name["queue"].add_compact_on_deletion_collector_factory(10_000, 5_000, 0.5)
    return Rdict(str(path), whole, column_families=by_name)


def _options(cache: Cache, *, point_lookups: bool) -> Options:
    table = BlockBasedOptions()
    table.set_block_cache(cache)
    table.set_format_version(5)
    # Indexes and filters grow with the frontier; in the cache they are bounded with the rest. They must be in
    # partitions: a whole one does not fit into a shard of the cache and is read again for each seek (0.9 ms at 1 M).
    table.set_cache_index_and_filter_blocks(True)
    table.set_pin_l0_filter_and_index_blocks_in_cache(True)
    table.set_index_type(BlockBasedIndexType.two_level_index_search())
    table.set_partition_filters(point_lookups)
    table.set_metadata_block_size(4096)
    table.set_pin_top_level_index_and_filter(True)
    if point_lookups:
        table.set_bloom_filter(10, False)
    options = Options(raw_mode=True)
    options.set_block_based_table_factory(table)
    options.set_compression_type(DBCompressionType.lz4())
    options.set_level_compaction_dynamic_level_bytes(True)
    return options
