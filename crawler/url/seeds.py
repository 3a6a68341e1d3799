"""The text of one seed: a URL, or `Sitemap: URL`, as robots.txt has it, for a sitemap whose entries are wanted.

Pure. It is the form in which seeds travel, and in which the record of a crawl keeps them.
"""

import re
from typing import NamedTuple

_SITEMAP = re.compile(r"sitemap[ \t]*:[ \t]*", re.IGNORECASE)


class Seed(NamedTuple):
    """One seed. As text from outside `url` is as written; in a crawl it is a wire URL."""

    url: str
    sitemap: bool = False

    def __str__(self) -> str:
        """The text that `read` reads."""
        return f"Sitemap: {self.url}" if self.sitemap else self.url


def read(text: str) -> Seed:
    """The seed in a text without blanks around it.

    >>> read("sitemap:https://example.org/map.gz")
    Seed(url='https://example.org/map.gz', sitemap=True)
    """
    match = _SITEMAP.match(text)
    return Seed(text[match.end() :], sitemap=True) if match else Seed(text)
