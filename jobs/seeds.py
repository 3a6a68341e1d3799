"""Seeds from the command line, from files and from earlier crawls. A seed that cannot be used stops the start."""

import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from crawler.dataset.earlier import pages_of
from crawler.dataset.output import Output
from crawler.errors import InputError
from crawler.page.listing import root_of
from crawler.page.sitemap import SitemapKind, SitemapLimits, read_sitemap
from crawler.url.seeds import Seed, read
from crawler.url.wire import wire

_GZIP: Final = b"\x1f\x8b"
_HEAD: Final = 64 * 1024
_BLANK: Final = re.compile(r"\s")
# Characters of a bad seed that are shown: a file of something else may be one line.
_SHOWN: Final = 200
# The protocol's limits are for strangers' files.
_OWN_FILE: Final = SitemapLimits(max_bytes=1 << 40, max_urls=1 << 40)


def read_seeds(
    urls: Iterable[str], source: Path | None, sitemaps: Iterable[str] = ()
) -> tuple[str, ...]:
    """Seeds as `crawler.url.seeds` writes them, sorted, each once.

    `source`: a file with one seed a line (blank lines and lines that begin with `#` are skipped), or a sitemap or a
    feed, zipped or not; or the output of an earlier crawl, whose pages are seeds. `sitemaps`: URLs of sitemaps.
    Raises `InputError`: which seed, where it stands, what to write instead.
    """
    named = {_checked(Seed(url), "argument") for url in urls}
    named |= {_checked(Seed(url, sitemap=True), "--sitemap") for url in sitemaps}
    if source is not None:
        named.update(_earlier(source) if source.is_dir() else _file(source))
    return tuple(sorted(named))


def _earlier(folder: Path) -> Iterator[str]:
    output, empty = Output.open(str(folder)), True
    if output.read_crawl() is None:
        message = (
            f"{folder}: neither a file of seeds nor the output of a crawl (it has no crawl.json)"
        )
        raise InputError(message)
    for url in pages_of(output):
        empty = False
        yield url
    if empty:
        message = f"{folder}: this crawl has no pages yet; let it go on, or give other seeds"
        raise InputError(message)


def _file(file: Path) -> Iterator[str]:
    with _opened(file) as stream:
        head = stream.read(_HEAD)
        if root_of(head.decode("utf-8", "replace")):
            yield from _listed(file, head + stream.read())
        else:
            yield from _lines(file, head, stream)


def _listed(file: Path, body: bytes) -> Iterator[str]:
    found = read_sitemap(body, None, "file:///", _OWN_FILE)
    if found.dropped:
        count, reason = sum(found.dropped.values()), next(iter(found.dropped))
        message = f"{file}: {count} entries are no http or https URLs (the first: {reason})"
        raise InputError(message)
    if not found.entries:
        message = f"{file}: a sitemap without entries"
        raise InputError(message)
    for entry in found.entries:
        yield str(Seed(entry.url, sitemap=found.kind is SitemapKind.INDEX))


def _lines(file: Path, head: bytes, rest: BinaryIO) -> Iterator[str]:
    whole_line = head + rest.readline()
    try:
        for lines in (io.BytesIO(whole_line), rest):
            before = whole_line.count(b"\n") if lines is rest else 0
            for number, line in enumerate(lines, start=before + 1):
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
                if text and not text.startswith("#"):
                    yield _checked(read(text), f"{file}:{number}")
    except UnicodeDecodeError:
        message = f"{file}: the seeds are not UTF-8 text"
        raise InputError(message) from None


@contextmanager
def _opened(file: Path) -> Iterator[BinaryIO]:
    """A file, unzipped if it shows that it is zipped."""
    try:
        with file.open("rb") as raw:
            if raw.peek(2)[:2] != _GZIP:
                yield raw
                return
            with gzip.open(raw) as unzipped:
                yield unzipped  # type: ignore[misc]
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        message = f"{file}: begins as gzip and cannot be unzipped: {error}"
        raise InputError(message) from None
    except OSError as error:
        message = f"{file}: cannot read the seeds: {error.strerror}"
        raise InputError(message) from None


def _checked(seed: Seed, place: str) -> str:
    """The text of a seed in its wire form."""
    text = seed.url
    # The URL parser takes tabs and ends of lines out and what follows in: a second column, a remark, a second URL.
    if _BLANK.search(text):
        message = f"{place}: a blank in a URL, or more than a URL: {_shown(text)} (blanks of a URL are written %20)"
        raise InputError(message)
    url = wire(text)
    if url is not None:
        return str(seed._replace(url=url))
    guessed = "://" not in text and len(text) <= _SHOWN and wire(f"https://{text}")
    hint = f"; did you mean https://{text}?" if guessed else ""
    message = f"{place}: not an http or https URL: {_shown(text)}{hint}"
    raise InputError(message)


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
