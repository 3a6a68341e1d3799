"""What a crawl does to have its output for itself, before it starts."""

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from crawler.config import Config
from crawler.dataset.journal import Journal
from crawler.dataset.output import Output
from crawler.dataset.wal import leftovers
from crawler.errors import OutputError


@contextmanager
def alone(output: Output) -> Iterator[None]:
    """No second crawl on the same output. The lock goes with the process, however that ends."""
    try:
        output.state.mkdir(parents=True, exist_ok=True)
        file = (output.state / "lock").open("a")
    except OSError as error:
        message = f"{output.state}: cannot be written: {error.strerror}"
        raise OutputError(message) from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            message = f"{output.root}: another process crawls into it; wait for it, or stop it"
            raise OutputError(message) from None
        yield


def leave_other_layouts(output: Output, config: Config, now: float) -> None:
    """Takes over from a crawl with another number of shards.

    What its writers left open becomes segments. Its state is a cache: it is removed, and rebuilt from the rows. Raises
    `OutputError`.
    """
    shards = config.runtime.shards
    for number in sorted({name.shard for name, _ in leftovers(output.wal) if name.shard >= shards}):
        journal = Journal(output, number, config.dataset)
        journal.open(journal.floor() + 1, now)
        journal.close(now)
    for path in output.state.glob("shard-*-of-*"):
        if not path.name.endswith(f"-of-{shards}"):
            try:
                shutil.rmtree(path)
            except OSError as error:
                message = f"{path}: cannot be removed: {error.strerror}"
                raise OutputError(message) from None
