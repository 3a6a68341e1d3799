import pytest

from crawler.errors import FencedError
from crawler.frontier.meta import Meta
from crawler.frontier.store import Store


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path, block_cache=1 << 20, write_buffer=1 << 20)
    yield store
    store.close()


def test_the_epoch_is_kept_and_never_goes_back(store):
    assert Meta(store).epoch == 0
    Meta(store).set_epoch(3)
    Meta(store).set_epoch(3)
    with pytest.raises(FencedError, match="epoch 2 is over, epoch 3 has taken over"):
        Meta(store).set_epoch(2)
    assert Meta(store).epoch == 3


def test_mark_and_counters_are_kept_as_of_the_last_batch(store):
    meta = Meta(store)
    batch = store.batch()
    meta.advance(batch, 5)
    meta.advance(batch, 4)
    meta.count(batch, {"pages": 2, "denied": 1})
    meta.count(batch, {"pages": 3})
    meta.count(batch, {})
    store.write(batch)
    for kept in (meta, Meta(store)):
        assert kept.mark == 5
        assert kept.counters == {"pages": 5, "denied": 1}
