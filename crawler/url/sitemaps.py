"""Which URLs are asked for as sitemaps: those found as one, and `/sitemap.xml` of every origin.

Pure: a URL and how it was found. It must not know what a sitemap looks like, nor whether one is there.
"""

from typing import Final

from crawler.url.keys import origin_of

PROBE: Final = "probe"
ROBOTS: Final = "robots"
INDEX: Final = "index"
NESTED: Final = "nested_index"
SEED: Final = "sitemap_seed"

# How sitemaps are found: `PROBE` by looking at the usual place, `ROBOTS` in a robots.txt, `INDEX` in an index, `NESTED`
# in an index that stands in an index, `SEED` by the user. What a redirect of one leads to is found the same way.
FILES: Final = frozenset({PROBE, ROBOTS, INDEX, NESTED, SEED})

_PLACE = "/sitemap.xml"


def probe_of(url: str) -> str:
    """The usual place of a sitemap of a wire URL's origin."""
    origin = url[: url.index("/", 8)]  # a wire URL has a path; this runs once a row
    return (origin_of(url) if "@" in origin else origin) + _PLACE


def is_probe(url: str) -> bool:
    """Whether a wire URL is the usual place of its origin's sitemap, however it was found."""
    return url.endswith(_PLACE) and url.count("/") == 3


def is_file(url: str, via: str, *, discover: bool) -> bool:
    """Whether a wire URL is asked for as a sitemap. `discover`: sitemaps are looked for (`sitemaps.discover`)."""
    return via in FILES or (discover and is_probe(url))


def via_in_index(via: str) -> str | None:
    """How the sitemaps in an index are found that itself was found this way; `None`: they are too deep."""
    return None if via == NESTED else NESTED if via == INDEX else INDEX
