"""Which URL had some content first: the exact-duplicate index of the digests that this shard owns."""

from collections.abc import Sequence

from crawler.frontier.store import Store, digest_key, pack_key


class Contents:
    """A digest belongs to the URL that came with it first, for good."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def first_with(
        self, digests: Sequence[bytes], keys: Sequence[int], urls: Sequence[str]
    ) -> list[str | None]:
        """For each digest the URL that had it first, or `None` if that is this URL itself, which is now recorded."""
        family = self._store.digests
        rows = [digest_key(digest) for digest in digests]
        owners = dict(zip(rows, family.get_many(rows), strict=True))
        batch = self._store.batch()
        answers: list[str | None] = []
        for row, key, url in zip(rows, keys, urls, strict=True):
            mine = pack_key(key)
            owner = owners[row]
            if owner is None:
                owner = owners[row] = mine + url.encode()
                batch.put(row, owner, family.handle)
            answers.append(None if owner.startswith(mine) else owner[len(mine) :].decode())
        self._store.write(batch)
        return answers
