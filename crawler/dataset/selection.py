"""Which links a row gives: the one rule that the parse path and the replay of the journal share.

So the frontier is a function of the rows. It knows a link as the row keeps it, `(url, rel)`, and must not know pages,
bytes or files.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crawler.config import Config
from crawler.dataset.recent import Recent
from crawler.frontier.links import LINKS
from crawler.url.admit import Admission, Admitted
from crawler.url.scope import Reason

FOUND = "links.found"
_PREFIX = "links."

# Kinds of link that are told by where they stand rather than by a `rel` of their own.
_KINDS = frozenset({"area", "canonical", "feed", "frame", "iframe", "refresh", "sitemap", "srcset"})
_NOT_ENDORSED = frozenset({"nofollow", "sponsored", "ugc"})


class Dropped(StrEnum):
    """Why a link of a row is not sent on, besides the reasons of its URL (`crawler.url.scope.Reason`)."""

    NOFOLLOW_PAGE = "nofollow_page"
    NOFOLLOW = "nofollow"
    DUPLICATE_PAGE = "duplicate_page"
    SAME_PAGE = "same_page"
    FORWARDED = "forwarded"
    REDIRECT_LOOP = "redirect_loop"


class Source(NamedTuple):
    """The row whose links are looked at. `hops`: redirects that led to it; `duplicate`: its content was known."""

    url: str
    depth: int
    hops: int = 0
    nofollow: bool = False
    duplicate: bool = False


def counter(reason: str) -> str:
    """The name under which links dropped for a reason are counted."""
    return _PREFIX + reason


def relation(rel: str, via: str) -> str:
    """What a row keeps of how a link was found: the attribute, or, where there is none, the kind of link."""
    return rel or ("" if via == "link" else via)


@lru_cache(maxsize=4096)
def via_of(rel: str) -> str:
    """How a link was found, told from what its row keeps."""
    return next((word for word in rel.split() if word in _KINDS), "link")


@lru_cache(maxsize=4096)
def _endorsed(rel: str) -> bool:
    return _NOT_ENDORSED.isdisjoint(rel.split())


class LinkColumns:
    """The links of many rows on their way into one batch, and the count of everything found.

    Invariant: `counts[FOUND]` is the number of links here plus the counts of all reasons.
    """

    __slots__ = ("_found_at", "_links", "_priorities", "_vias", "counts")

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        # Three lists rather than one of tuples: hundreds of thousands of tuples would keep the collector busy.
        self._links: list[Admitted] = []
        self._priorities: list[int] = []
        self._vias: list[str] = []
        self._found_at: list[_Place] = []

    def __len__(self) -> int:
        return len(self._links)

    def add(self, link: Admitted, priority: int, via: str) -> None:
        """Take one link in; `placed` says afterwards where it was found."""
        self._links.append(link)
        self._priorities.append(priority)
        self._vias.append(via)

    def placed(self, source: Source, depth: int, hops: int, since: int) -> None:
        """The links from the `since`-th on were found here, and have this depth and these hops."""
        count = len(self._links) - since
        if count:
            self._found_at.append(_Place(source.url, depth, hops, count))

    def count(self, reason: str, links: int) -> None:
        """Note links that are not sent on."""
        if links:
            self.counts[counter(reason)] += links

    def none_sent(self, reason: str, links: int) -> None:
        """Note links of a page that are all dropped for one reason: the page asked for it, or they never were URLs."""
        self.counts[FOUND] += links
        self.count(reason, links)

    def batch(self) -> pa.RecordBatch:
        """The links (schema LINKS), in the order in which they were found."""
        urls, keys, hosts, sites, slots = (
            zip(*self._links, strict=True) if self._links else [()] * 5
        )
        places = self._found_at
        index = self._spread(range(len(places)))
        columns = {
            "slot": slots,
            "host": hosts,
            "site": sites,
            "key": keys,
            "url": urls,
            "depth": self._spread([place.depth for place in places]),
            "hops": self._spread([place.hops for place in places]),
            "priority": self._priorities,
            "found_on": pa.array([place.url for place in places], pa.string()).take(
                pa.array(index)
            ),
            "found_via": self._vias,
        }
        arrays = [
            values if isinstance(values, pa.Array) else pa.array(values, LINKS.field(name).type)
            for name, values in columns.items()
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=LINKS)

    def _spread(self, values: Sequence[int]) -> npt.NDArray[np.int32]:
        counts = [place.links for place in self._found_at]
        return np.repeat(np.asarray(values, dtype=np.int32), counts)


class _Place(NamedTuple):
    url: str
    depth: int
    hops: int
    links: int


class Selector:
    """The rule itself. The same row gives the same links, wherever and whenever it is asked.

    `recent` is the one exception, for whoever makes sure that a link once given arrives (see `Recent`).
    """

    def __init__(self, admission: Admission, config: Config, recent: Recent | None = None) -> None:
        self._admission = admission
        self._follow_nofollow = config.scope.follow_nofollow
        self._follow_duplicates = config.scope.follow_duplicates
        self._recent = recent

    def select(self, source: Source, links: Iterable[tuple[str, str]], into: LinkColumns) -> None:
        """Add to `into` what a page's links give. `links`: (wire URL, rel as the row keeps it), as found."""
        if source.nofollow and not self._follow_nofollow:
            into.none_sent(Dropped.NOFOLLOW_PAGE, sum(1 for _ in links))
            return
        if source.duplicate and not self._follow_duplicates:
            into.none_sent(Dropped.DUPLICATE_PAGE, sum(1 for _ in links))
            return
        since, depth = len(into), source.depth + 1
        into.counts[FOUND] += self._sift(links, depth, into)
        into.placed(source, depth, 0, since)

    def redirect(
        self, source: Source, target: str | None, error: str | None, into: LinkColumns
    ) -> str | None:
        """Add to `into` what a redirect gives. Returns the row's error: why the target is not followed, if so.

        A row does not keep how many redirects led to it, so the limit is applied once, here, and kept as the error.
        """
        if target is None:
            return error
        into.counts[FOUND] += 1
        if error is not None:
            limit = error == Reason.REDIRECT_LIMIT
            into.count(Reason.REDIRECT_LIMIT if limit else Dropped.REDIRECT_LOOP, 1)
            return error
        since, hops = len(into), source.hops + 1
        admitted = self._admission.admit(target, source.depth, hops)
        if isinstance(admitted, Reason):
            into.count(admitted, 1)
            return admitted.value if admitted is Reason.REDIRECT_LIMIT else None
        into.add(admitted, self._admission.priority(target, source.depth, "redirect"), "redirect")
        into.placed(source, source.depth, hops, since)
        return None

    def _sift(self, links: Iterable[tuple[str, str]], depth: int, into: LinkColumns) -> int:
        """How many there were; what of them counts is in `into`."""
        # Nine links of ten are repeats, so the order is that of the cheapest test: a set, a dictionary, then the URL.
        seen = set[str]()
        same = unendorsed = forwarded = 0
        admit, priority, recent = self._admission.admit, self._admission.priority, self._recent
        for url, rel in links:
            if url in seen:
                same += 1
                continue
            if rel and not self._follow_nofollow and not _endorsed(rel):
                unendorsed += 1
                continue
            seen.add(url)
            if recent is not None and recent.holds(url, depth):
                forwarded += 1
                continue
            admitted = admit(url, depth)
            if isinstance(admitted, Reason):
                into.counts[counter(admitted)] += 1
                continue
            if recent is not None:
                recent.note(url, depth)
            via = via_of(rel)
            into.add(admitted, priority(url, depth, via), via)
        into.count(Dropped.SAME_PAGE, same)
        into.count(Dropped.NOFOLLOW, unendorsed)
        into.count(Dropped.FORWARDED, forwarded)
        return same + unendorsed + len(seen)


def forbids_following(directives: Iterable[str]) -> bool:
    """Whether a page asks that its links are not followed, told from what its row keeps."""
    return not {"none", "nofollow"}.isdisjoint(directives)
