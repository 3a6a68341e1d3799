"""The layout of an output, on a local path or any file system that `pyarrow.fs` knows.

::

    OUT/crawl.json                                       the crawl's identity; written first, and last to be doubted
    OUT/pages/day=YYYY-MM-DD/<shard>-<epoch>-<sequence>.parquet
    OUT/manifest/<shard>-<epoch>-<sequence>.json         one immutable entry a segment; it is what makes a segment count
    OUT/tmp/                                             files on their way; renamed into place, never read
    OUT/_SUCCESS                                         the crawl is finished, with its summary
    OUT/wal/, OUT/state/                                 local disk: open segments, the shards' frontiers

It must not know rows.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
from pyarrow import fs as pafs

from crawler.config import Config
from crawler.dataset import record
from crawler.dataset.record import CrawlRecord
from crawler.errors import OutputError

PAGES = "pages"
MANIFEST = "manifest"
TEMPORARY = "tmp"
CRAWL = "crawl.json"
SUCCESS = "_SUCCESS"
# What may be in an output before its crawl is recorded: a start that went no further.
_OURS = frozenset({TEMPORARY, "state"})


@dataclass(frozen=True, slots=True)
class Output:
    """Where a crawl's files lie. A file appears under its name complete or not at all.

    `root`: in the words of `filesystem`. `state`, `wal`: local directories, also where the rows go elsewhere.
    Picklable; opening one touches nothing.
    """

    filesystem: pafs.FileSystem
    root: str
    state: Path
    wal: Path

    @classmethod
    def open(cls, out: str, state: Path | None = None) -> "Output":
        """An output by path or URI; `state`: the local directory that a remote one needs. Raises `OutputError`."""
        if not out:
            message = "no output: an empty path is none (`.` is the directory you are in)"
            raise OutputError(message)
        if "://" not in out:
            filesystem, root = pafs.LocalFileSystem(), _absolute(out)
        else:
            try:
                filesystem, root = pafs.FileSystem.from_uri(out)
            except (pa.ArrowException, OSError, ValueError) as error:
                raise OutputError(_line(out, "cannot be opened", error)) from None
        root = root.rstrip("/")
        if not root:
            message = f"{out}: the root of a file system is no output; choose a directory in it"
            raise OutputError(message)
        if isinstance(filesystem, pafs.LocalFileSystem):
            return cls(filesystem, root, state or Path(root, "state"), Path(root, "wal"))
        if state is None:
            message = (
                f"{out}: an output that is not on local disk needs a local directory for its state"
            )
            raise OutputError(message)
        return cls(filesystem, root, state, state / "wal")

    @property
    def local(self) -> bool:
        """Whether the rows go to a local disk."""
        return isinstance(self.filesystem, pafs.LocalFileSystem)

    def path(self, *parts: str) -> str:
        """A path below the root, in the file system's words."""
        return "/".join((self.root, *parts))

    # --- files -------------------------------------------------------------------------------------------------

    def names(self, *folder: str) -> list[str]:
        """The names in a folder, sorted; a missing folder is empty. Raises `OutputError`."""
        selector = pafs.FileSelector(self.path(*folder), allow_not_found=True)
        with self._told("cannot be listed"):
            try:
                return sorted(entry.base_name for entry in self.filesystem.get_file_info(selector))
            except FileNotFoundError:
                # Arrow asks whether the folder is there after it has failed to list it: another shard just made it.
                return []

    def read(self, *parts: str) -> bytes | None:
        """A file's bytes, `None` if there is none. Raises `OutputError`."""
        with self._told(f"{parts[-1]} cannot be read"):
            try:
                with self.filesystem.open_input_file(self.path(*parts)) as file:
                    content: bytes = file.read()
                    return content
            except FileNotFoundError:
                return None

    def put(self, content: bytes, *parts: str, sync: bool) -> None:
        """Write a small file at once. Raises `OutputError`."""
        temporary = self.temporary(f"{parts[-1]}.{os.getpid()}")
        with self._told(f"{parts[-1]} cannot be written"):
            with self.filesystem.open_output_stream(temporary) as file:
                file.write(content)
            self.publish(temporary, *parts, sync=sync)

    def temporary(self, name: str) -> str:
        """A path from which a file can be published; the name never looks like a row file."""
        with self._told("cannot be written"):
            self.filesystem.create_dir(self.path(TEMPORARY), recursive=True)
        return self.path(TEMPORARY, f"{name}.partial")

    def publish(self, temporary: str, *parts: str, sync: bool) -> None:
        """Move a complete temporary file into its place. `sync`: it is there after a power cut too (local disks)."""
        final = self.path(*parts)
        folder = str(PurePosixPath(final).parent)
        with self._told(f"{parts[-1]} cannot be written"):
            self.filesystem.create_dir(folder, recursive=True)
            if self.local and sync:
                sync_path(temporary)
            self.filesystem.move(temporary, final)
            if self.local and sync:
                sync_path(folder)
                sync_path(str(PurePosixPath(folder).parent))

    def remove(self, *parts: str) -> None:
        """Remove a file; a missing one is no fault. Raises `OutputError`."""
        with self._told(f"{parts[-1]} cannot be removed"):
            try:
                self.filesystem.delete_file(self.path(*parts))
            except FileNotFoundError:
                return

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        try:
            yield
        except (OSError, pa.ArrowException) as error:
            raise OutputError(_line(self.root, what, error)) from error

    # --- the crawl ---------------------------------------------------------------------------------------------

    def read_crawl(self) -> CrawlRecord | None:
        """The record of the crawl that lies here, `None` if none does. Raises `OutputError`."""
        text = self.read(CRAWL)
        return None if text is None else CrawlRecord.decode(text, self.path(CRAWL))

    def write_crawl(self, crawl: CrawlRecord) -> None:
        """Record a crawl as this output's. Raises `OutputError`."""
        self.put(crawl.encode(), CRAWL, sync=True)

    def judge(
        self, seeds: Iterable[str], config: Config, *, crawl_id: str, version: str, now: float
    ) -> CrawlRecord:
        """The record with which a crawl may begin or go on here; a resumed one keeps its id and its date.

        Touches nothing. Raises `OutputError`: the output belongs to another crawl, is of another schema, or is a
        directory with something else in it.
        """
        wanted = record.begin(seeds, config, crawl_id=crawl_id, version=version, now=now)
        there = self.read_crawl()
        if there is None:
            foreign = [name for name in self.names() if name not in _OURS]
            if foreign:
                message = f"{self.root}: not empty and not a crawl's output (found {foreign[0]!r})"
                raise OutputError(message)
        else:
            wanted = record.resume(there, wanted, self.root)
        return wanted

    def claim(self, crawl: CrawlRecord) -> None:
        """Take this output for a crawl that `judge` let in. Raises `OutputError` if another began here meanwhile."""
        there = self.read_crawl()
        if there is not None and there.crawl_id != crawl.crawl_id:
            message = f"{self.root}: another crawl has just begun here; choose another output"
            raise OutputError(message)
        if crawl != there:
            self.write_crawl(crawl)

    def mark_success(self, summary: Mapping[str, Any]) -> None:
        """Say that the crawl is finished. Raises `OutputError`."""
        self.put(json.dumps(summary, indent=2).encode() + b"\n", SUCCESS, sync=True)

    def clear_success(self) -> None:
        """Say that the crawl goes on. Raises `OutputError`."""
        self.remove(SUCCESS)


def _absolute(out: str) -> str:
    try:
        return str(Path(out).expanduser().absolute())
    except RuntimeError:  # `~name`, and there is nobody of this name
        message = f"{out}: cannot be opened: this user has no home directory"
        raise OutputError(message) from None


def sync_path(path: str) -> None:
    """Bring a local file, or a directory's entries, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _line(where: str, what: str, error: Exception) -> str:
    reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
    return f"{where}: {what}: {reason}"
