"""Links found in rows, on their way into one batch, and the count of everything found.

It must not know which links count.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crawler.frontier.links import LINKS
from crawler.url.admit import Admitted

FOUND = "links.found"
_PREFIX = "links."


class Source(NamedTuple):
    """The row whose links are looked at.

    `hops`: redirects that led to it; `duplicate`: its content was known; `via`, `found_on`: how and where it was found.
    """

    url: str
    depth: int
    hops: int = 0
    nofollow: bool = False
    duplicate: bool = False
    via: str = "link"
    found_on: str | None = None


def counter(reason: str) -> str:
    """The name under which links dropped for a reason are counted."""
    return _PREFIX + reason


class LinkColumns:
    """The links of many rows on their way into one batch, and the count of everything found.

    Invariant: `counts[FOUND]` is the number of links here plus the counts of all reasons.
    `probed`: the origins whose sitemap is among the links, and from which depth.
    """

    __slots__ = ("_found_at", "_links", "_priorities", "_vias", "counts", "probed")

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        # Three lists rather than one of tuples: hundreds of thousands of tuples would keep the collector busy.
        self._links: list[Admitted] = []
        self._priorities: list[int] = []
        self._vias: list[str] = []
        self._found_at: list[_Place] = []
        self.probed: dict[str, int] = {}

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
