"""The seeds as links for the shards that own their hosts. Pure; knows nothing of Ray."""

import logging
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crawler.frontier.links import LINKS
from crawler.url import sitemaps
from crawler.url.admit import Admission, Admitted
from crawler.url.seeds import read

log = logging.getLogger(__name__)

# Seeds travel in messages of this many rows.
SEED_ROWS = 5_000


class _Sown(NamedTuple):
    link: Admitted
    via: str


def parcels(
    seeds: Sequence[str], admission: Admission, owners: npt.NDArray[np.int64]
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Links (schema LINKS) and the shard they are for. `seeds`: as `crawler.url.seeds` writes them.

    `owners`: the shard of every slot.

    Seeds that the configuration refuses are left out, and the log says so.
    """
    sown: defaultdict[int, list[_Sown]] = defaultdict(list)
    refused = []
    for text in seeds:
        seed = read(text)
        admit = admission.admit_sitemap if seed.sitemap else admission.admit
        link = admit(seed.url, 0)
        if isinstance(link, Admitted):
            via = sitemaps.SEED if seed.sitemap else "seed"
            sown[int(owners[link.slot])].append(_Sown(link, via))
        else:
            refused.append(f"{text} ({link})")
    if refused:
        log.warning(
            "%d seed(s) are outside of the crawl, the first is %s", len(refused), refused[0]
        )
    for owner, links in sown.items():
        for start in range(0, len(links), SEED_ROWS):
            yield owner, _batch(links[start : start + SEED_ROWS], admission)


def _batch(seeds: Sequence[_Sown], admission: Admission) -> pa.RecordBatch:
    count, links = len(seeds), [seed.link for seed in seeds]
    columns = {
        "slot": [link.slot for link in links],
        "host": [link.host for link in links],
        "site": [link.site for link in links],
        "key": [link.key for link in links],
        "url": [link.url for link in links],
        "depth": [0] * count,
        "hops": [0] * count,
        "priority": [admission.priority(link.url, 0, "seed") for link in links],
        "found_on": [None] * count,
        "found_via": [seed.via for seed in seeds],
    }
    return pa.RecordBatch.from_pydict(columns, schema=LINKS)
