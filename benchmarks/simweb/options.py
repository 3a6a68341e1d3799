"""What a world is told. A world is a function of these values (and of the port its server got)."""

from dataclasses import dataclass
from typing import Literal

Traps = Literal["none", "shape", "all"]


@dataclass(frozen=True, slots=True)
class Options:
    """Every field is also a flag of `python -m benchmarks.simweb`. Seconds and bytes.

    `links` is the median number of links of a page (log-normal, the mean is 1.6 times that), `page_bytes` the mean
    size of a page. `latency` is added to every answer, `slow` to those of slow hosts. `crawl_delay` is what some
    robots.txt ask for (0: none does). `retry_after` is what 429 and 503 answers ask for. `troubles` adds hosts that
    are dead, silent, overloaded or fail on robots.txt. `traps`: "shape" has those that the form of a URL gives away,
    "all" also those that only a budget ends. `outside` adds links to a host that does not exist. `sitemaps`: hosts
    have them (a crawler is told not to look for any otherwise). `domain` must be a public suffix, so that `s3.DOMAIN`
    is a site; home.arpa never leaves a network (RFC 8375).
    """

    seed: int = 1
    hosts: int = 40
    pages: int = 400
    zipf: float = 1.0
    page_bytes: int = 3000
    links: int = 12
    seeds: int = 3
    latency: float = 0.0
    slow: float = 0.2
    crawl_delay: float = 0.0
    retry_after: int = 1
    troubles: bool = True
    traps: Traps = "none"
    wild_names: int = 50
    gzip: bool = False
    outside: bool = False
    sitemaps: bool = False
    domain: str = "home.arpa"

    def __post_init__(self) -> None:
        """Refuses a world that cannot be.

        Raises: `ValueError`.
        """
        if self.hosts < 1 or self.pages < self.hosts or not 1 <= self.seeds <= self.hosts:
            message = "a world needs 1 ≤ seeds ≤ hosts ≤ pages"
            raise ValueError(message)
        if self.links < 1 or self.page_bytes < 1:
            message = "pages of a world have at least one link and one byte"
            raise ValueError(message)
        if self.hosts > MOST_HOSTS:
            message = f"a world has at most {MOST_HOSTS} hosts: each has an address of its own"
            raise ValueError(message)


MOST_HOSTS = 100 * 250 * 250
