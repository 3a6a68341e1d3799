from crawler.frontier.contents import Contents
from crawler.frontier.store import Store, digest_key

A, B = b"\x04\x01" + bytes(14), b"\xff" * 16


def test_the_first_url_with_a_digest_keeps_it(tmp_path):
    store = Store(tmp_path, block_cache=1 << 20, write_buffer=1 << 20)
    contents = Contents(store)
    assert contents.first_with([], [], []) == []
    assert contents.first_with([A, B, A, A], [1, -2, 3, 1], ["u1", "ü2", "u3", "u1"]) == [
        None,
        None,
        "u1",
        None,
    ]
    assert contents.first_with([B, A, B], [-2, 9, 1], ["changed", "u9", "u1"]) == [None, "u1", "ü2"]
    store.close()


def test_a_digests_slot_is_in_its_first_octets():
    assert digest_key(A) == b"\x00\x01" + A
    assert digest_key(B) == b"\x03\xff" + B
