import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.errors import StateError
from crawler.frontier.store import (
    Store,
    due_key,
    host_prefix,
    pack_key,
    queue_key,
    read_due,
    read_prefix,
    read_sequence,
)

HOSTS = st.text(st.characters(codec="ascii", exclude_characters="\0"), min_size=1, max_size=20)
SLOTS = st.integers(0, 1023)


def opened(path):
    return Store(path, block_cache=1 << 20, write_buffer=1 << 20)


@given(SLOTS, HOSTS)
def test_prefixes_are_read_back_from_any_key_of_the_host(slot, host):
    prefix = host_prefix(slot, host)
    assert read_prefix(prefix) == (slot, host)
    assert read_prefix(queue_key(prefix, 0, 0)) == (slot, host)


@given(st.tuples(SLOTS, HOSTS), st.tuples(SLOTS, HOSTS))
def test_no_hosts_keys_lie_among_anothers(one, other):
    if one != other:
        assert not host_prefix(*one).startswith(host_prefix(*other))


@given(
    st.tuples(st.integers(0, 255), st.integers(0, 2**63)),
    st.tuples(st.integers(0, 255), st.integers(0, 2**63)),
)
def test_queue_keys_sort_by_priority_then_by_age(one, other):
    prefix = host_prefix(1, "a")
    assert (queue_key(prefix, *one) < queue_key(prefix, *other)) == (one < other)
    assert read_sequence(queue_key(prefix, *one)) == one[1]


@given(st.integers(0, 2**63), st.integers(0, 2**63), st.integers(-(2**63), 2**63 - 1))
def test_due_keys_sort_by_moment(one, other, key):
    prefix = host_prefix(1, "a")
    if one != other:
        assert (due_key(prefix, one, key) < due_key(prefix, other, -1)) == (one < other)
    assert read_due(due_key(prefix, one, key)) == one


def test_a_batch_is_there_after_reopening(tmp_path):
    store = opened(tmp_path / "new" / "state")
    assert store.urls.empty
    batch = store.batch()
    store.write(batch)
    for number in range(5):
        batch.put(b"a%d" % number, b"v%d" % number, store.urls.handle)
    batch.put(b"b", b"w", store.urls.handle)
    batch.put(b"a1", b"other family", store.queue.handle)
    store.write(batch)
    store.close()
    store = opened(tmp_path / "new" / "state")
    assert not store.urls.empty
    assert store.urls.get(b"a1") == b"v1"
    assert store.urls.get(b"a9") is None
    assert store.urls.get_many([b"b", b"x", b"a0"]) == [b"w", None, b"v0"]
    assert store.urls.get_many([]) == []
    assert [key for key, _ in store.urls.scan(b"a")] == [b"a0", b"a1", b"a2", b"a3", b"a4"]
    assert list(store.urls.scan(b"a", b"a31")) == [(b"a4", b"v4")]
    assert list(store.urls.scan(b"b")) == [(b"b", b"w")]
    assert list(store.urls.rows()) == [b"a0", b"a1", b"a2", b"a3", b"a4", b"b"]
    assert store.queue.get(b"a1") == b"other family"
    assert store.urls.estimate() == 6
    store.close()


@pytest.mark.parametrize("name", ["CURRENT", "MANIFEST-*"])
def test_a_damaged_directory_is_one_clear_line(tmp_path, name):
    opened(tmp_path).close()
    for path in tmp_path.glob(name):
        path.write_bytes(b"\xaa" * path.stat().st_size)
    with pytest.raises(StateError, match="the shard's state is damaged; delete it") as caught:
        opened(tmp_path)
    assert "\n" not in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_a_file_in_the_way_is_one_clear_line(tmp_path):
    (tmp_path / "state").write_text("")
    with pytest.raises(StateError, match="damaged"):
        opened(tmp_path / "state")


@pytest.mark.slow
def test_a_disk_that_takes_no_more_is_not_called_damage(tmp_path):
    """Files that may not grow stand for a full disk; the limit is the process's, so it has one of its own."""
    program = (
        "import os, pathlib, resource, sys; from crawler.errors import StateError\n"
        "from crawler.frontier.store import Store\n"
        "store = Store(pathlib.Path(sys.argv[1]), block_cache=1 << 20, write_buffer=1 << 20)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, resource.RLIM_INFINITY))\n"
        "batch = store.batch()\n"
        "batch.put(b'key', os.urandom(20_000), store.urls.handle)\n"
        "try: store.write(batch)\n"
        "except StateError as error: print(error, flush=True)\n"
        "os._exit(0)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert ran.stdout.startswith(f"{tmp_path}: the shard's state cannot be written (")
    assert ran.stdout.count("\n") == 1


def fill_and_damage(path):
    store = opened(path)
    batch = store.batch()
    for number in range(20_000):
        batch.put(pack_key(number), bytes(40), store.urls.handle)
    store.write(batch)
    store._database.flush(True)
    store.urls._table.flush(True)
    store.close()
    table = max(path.glob("*.sst"), key=lambda file: file.stat().st_size)
    octets = bytearray(table.read_bytes())
    middle = len(octets) // 2
    octets[middle : middle + 64] = b"\xaa" * 64
    table.write_bytes(octets)


def test_a_scan_over_a_damaged_block_fails_and_does_not_just_end(tmp_path):
    fill_and_damage(tmp_path)
    store = opened(tmp_path)
    with pytest.raises(StateError, match="checksum"):
        list(store.urls.rows())
    with pytest.raises(StateError, match="checksum"):
        list(store.urls.scan(b""))
    keys = [pack_key(number) for number in range(20_000)]
    with pytest.raises(StateError, match="checksum"):
        store.urls.get_many(keys)
    with pytest.raises(StateError, match="checksum"):
        [store.urls.get(key) for key in keys]
    store.close()


def test_two_processes_cannot_own_one_directory(tmp_path):
    store = opened(tmp_path)
    with pytest.raises(StateError, match="in use"):
        opened(tmp_path)
    program = (
        "import sys, pathlib; from crawler.frontier.store import Store\n"
        "try: Store(pathlib.Path(sys.argv[1]), block_cache=1 << 20, write_buffer=1 << 20)\n"
        "except Exception as error: print(error)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert "in use by another process" in ran.stdout
    store.close()
    opened(tmp_path).close()
