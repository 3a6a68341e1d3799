"""What `crawl.json` says about an output, and whether another start may go on with it.

Pure: it compares values and words the refusals. It must not know files.
"""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from pydantic import ValidationError

from crawler.config import Config, Scope, Sitemaps, Url
from crawler.dataset.schema import VERSION
from crawler.errors import OutputError


class CrawlRecord(NamedTuple):
    """One crawl's identity. `created`: seconds; `version`: of the program; `schema`: of the rows."""

    crawl_id: str
    created: float
    version: str
    schema: int
    seeds: tuple[str, ...]
    config: dict[str, Any]

    def encode(self) -> bytes:
        """The text of `crawl.json`."""
        return json.dumps(self._asdict(), indent=2, ensure_ascii=False).encode() + b"\n"

    @classmethod
    def decode(cls, text: bytes, where: str) -> "CrawlRecord":
        """Read `crawl.json`; raises `OutputError` where it is not one."""
        try:
            tree = json.loads(text)
            there = cls(**{**tree, "seeds": tuple(tree["seeds"])})
        except (ValueError, TypeError, KeyError):
            there = None
        if (
            there is None
            or not isinstance(there.schema, int)
            or not isinstance(there.config, dict)
            or not all(isinstance(seed, str) for seed in there.seeds)
        ):
            message = f"{where}: not the record of a crawl; choose another output"
            raise OutputError(message)
        return there


def begin(
    seeds: Iterable[str], config: Config, *, crawl_id: str, version: str, now: float
) -> CrawlRecord:
    """The record of a crawl that starts at `now`."""
    return CrawlRecord(
        crawl_id, now, version, VERSION, tuple(seeds), config.model_dump(mode="json")
    )


def resume(there: CrawlRecord, here: CrawlRecord, where: str) -> CrawlRecord:
    """The record with which `here` goes on in the output of `there`.

    Seeds, `scope`, `url` and `sitemaps` say which URLs exist, so they must be equal; the other settings may change
    between two starts, and the record then tells the newest.
    Raises `OutputError`: one line that names the first difference.
    """
    if there.schema != VERSION:
        age = "a newer" if there.schema > VERSION else "an older"
        message = f"{where}: written by {age} version (schema {there.schema}, this is {VERSION}); choose another output"
        raise OutputError(message)
    difference = _difference(there, here)
    if difference:
        message = f"{where}: belongs to another crawl ({difference}); choose another output"
        raise OutputError(message)
    return here._replace(crawl_id=there.crawl_id, created=there.created, seeds=there.seeds)


def _difference(there: CrawlRecord, here: CrawlRecord) -> str | None:
    theirs, ours = set(there.seeds), set(here.seeds)
    if theirs != ours:
        seed = min(theirs ^ ours)
        return f"seed {seed} is only in {'that' if seed in theirs else 'this'} one"
    for section, model in (("scope", Scope), ("url", Url), ("sitemaps", Sitemaps)):
        # Through the model, so that a key that is younger than the output counts as its default.
        try:
            old = model.model_validate(there.config.get(section, {})).model_dump(mode="json")
        except ValidationError:
            return f"its {section} settings are not of this version"
        new = here.config[section]
        for name in new:
            if old[name] != new[name]:
                return f"{section}.{name} is {old[name]!r} there and {new[name]!r} here"
    return None
