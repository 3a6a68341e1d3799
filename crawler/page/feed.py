"""What an entry of a feed leads to: RSS 0.9x, 1.0, 2.0 and Atom.

Knows fields; knows nothing of XML and of the forms of URLs.
"""

from collections.abc import Mapping
from typing import NamedTuple

from crawler.page.listing import Entry
from crawler.page.moments import moment

_DATES = frozenset({"pubdate", "date", "updated", "published", "modified", "issued"})
FIELDS = _DATES | {"link", "guid", "id"}
# Fields that feeds borrow from each other: Atom's links in RSS, Dublin Core's dates everywhere.
FOREIGN = frozenset({"link", "date", "modified", "updated"})

_ABOUT = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}about"
_WEB = ("http://", "https://")


class FeedEntry(NamedTuple):
    """One entry. `href`: as written, `None` if it leads nowhere; `lastmod`: the latest of its dates, epoch seconds.

    `alternates`: (language, reference as written) of its versions in other languages.
    """

    href: str | None
    lastmod: float | None
    alternates: tuple[tuple[str, str], ...]


def read_entry(entry: Entry) -> FeedEntry:
    """The first link to the page of an entry; else its identifier, if that is a web address (RSS 2.0 `guid`).

    Atom (RFC 4287 section 4.2.7): the page is at the link whose `rel` is `alternate` or missing.
    """
    links: list[str] = []
    identifiers = [entry.attributes.get(_ABOUT, "")]
    dates: list[float] = []
    alternates: list[tuple[str, str]] = []
    for name, text, attributes in entry.fields:
        if name == "link":
            href = _reference(text, attributes)
            links.append(href)
            if href and (language := attributes.get("hreflang")):
                alternates.append((language, href))
        elif name in _DATES:
            dates.extend(found for found in [moment(text)] if found is not None)
        else:
            identifiers.append(text.strip())
    named = [text for text in identifiers if text.lower().startswith(_WEB)]
    leads_to = next(filter(None, links + named), None)
    return FeedEntry(leads_to, max(dates, default=None), tuple(alternates))


def _reference(text: str, attributes: Mapping[str, str]) -> str:
    """Where a link leads, if it is the entry's own page; RSS writes it as text, Atom as an attribute."""
    if attributes.get("rel", "alternate").lower() != "alternate":
        return ""
    return text.strip() or attributes.get("href", "").strip()
