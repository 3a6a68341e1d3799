"""Seeds from the command line and from files. A seed that cannot be used stops the start."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from crawler.errors import InputError
from crawler.url.wire import wire


def read_seeds(urls: Iterable[str], file: Path | None) -> tuple[str, ...]:
    """Wire URLs, sorted, each once. A file has one URL a line; blank lines and lines that begin with `#` are skipped.

    Raises `InputError`: which seed, where it stands, what to write instead.
    """
    named = [(url, "argument") for url in urls]
    if file is not None:
        named += _lines(file)
    return tuple(sorted({_seed(text, place) for text, place in named}))


def _lines(file: Path) -> Iterator[tuple[str, str]]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        message = f"{file}: cannot read the seeds: {error.strerror}"
        raise InputError(message) from None
    except UnicodeDecodeError:
        message = f"{file}: the seeds are not UTF-8 text"
        raise InputError(message) from None
    for number, line in enumerate(text.splitlines(), start=1):
        if (stripped := line.strip()) and not stripped.startswith("#"):
            yield stripped, f"{file}:{number}"


def _seed(text: str, place: str) -> str:
    url = wire(text)
    if url is not None:
        return url
    hint = (
        f"; did you mean https://{text}?" if "://" not in text and wire(f"https://{text}") else ""
    )
    message = f"{place}: not an http or https URL: {text!r}{hint}"
    raise InputError(message)
