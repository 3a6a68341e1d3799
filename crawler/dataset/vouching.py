"""For which URLs a sitemap may speak, and which of the sitemaps that it names are followed.

Pure: one row's facts and a link as the row keeps it. The protocol lets a sitemap speak for URLs below its own
directory only, which many sites do not keep to. Here it speaks for its site, whatever the host and directory; for the
site whose robots.txt names it (the protocol's cross submission) or whose usual place redirects to it; and, if it is a
seed or lies outside of the scope (where only what a robots.txt within the scope names can have led), for all that the
scope admits.
"""

from enum import StrEnum
from typing import NamedTuple

from crawler.dataset.found import Source
from crawler.url import sitemaps
from crawler.url.admit import Admission, Admitted
from crawler.url.keys import host_of, site_of
from crawler.url.scope import Reason

# The `rel` of an outlink of a row that is not a page's: how the row keeps what it lists.
ENTRY, FEED_ENTRY, ALTERNATE, INDEXED, NAMED = "sitemap", "feed", "alternate", "index", "robots"
# The page that one of these was found on is of a site that answers for it: its own, or one that named it or redirects.
_ANSWERED_FOR = frozenset({sitemaps.ROBOTS, sitemaps.PROBE})
_ENTRY_VIAS = {ENTRY: "sitemap", FEED_ENTRY: "feed", ALTERNATE: "sitemap"}


class Refused(StrEnum):
    """Why a link of a sitemap is not followed, besides the reasons of its URL."""

    SITEMAP_LOCATION = "sitemap_location"
    SITEMAP_DEPTH = "sitemap_depth"


class Verdict(NamedTuple):
    """A link that is followed, and how it was found."""

    link: Admitted
    via: str


class Speaker:
    """One sitemap (or what lies where one is looked for), and what its word is worth."""

    def __init__(self, source: Source, admission: Admission) -> None:
        self._admission = admission
        self._depth = source.depth
        self._via_indexed = sitemaps.via_in_index(source.via)
        self._site = site_of(host_of(source.url))
        self._sites = {self._site}
        if source.via in _ANSWERED_FOR and source.found_on:
            self._sites.add(site_of(host_of(source.found_on)))
        here = admission.admit_sitemap(source.url, 0)
        self._foreign = here is Reason.OUT_OF_SCOPE
        self._named = source.via in sitemaps.FILES and source.via != sitemaps.PROBE
        self._trusted = self._foreign or source.via == sitemaps.SEED

    def judge(self, url: str, rel: str, depth: int) -> Verdict | Reason | Refused:
        """What becomes of one outlink of the row: a wire URL and its `rel`."""
        via = _ENTRY_VIAS.get(rel)
        if via is not None:
            return self._spoken_for(self._admission.admit(url, depth), via)
        if rel == NAMED:
            admitted = self._admission.admit_sitemap(url, depth, anywhere=True)
            return admitted if isinstance(admitted, Reason) else Verdict(admitted, sitemaps.ROBOTS)
        if self._via_indexed is None:
            return Refused.SITEMAP_DEPTH
        found = self._admission.admit_sitemap(url, depth, anywhere=self._beside(url))
        return self._spoken_for(found, self._via_indexed)

    def redirected(self, url: str, hops: int, *, named: bool) -> Admitted | Reason:
        """What becomes of the target of its redirect. `named`: its own robots.txt names the sitemap.

        One that was named may be anywhere, and so may what it redirects to. That there is one at the usual place is
        only our guess: a parked domain redirects all that it is asked for.
        """
        anywhere = named or self._named or self._beside(url)
        return self._admission.admit_sitemap(url, self._depth, hops, anywhere=anywhere)

    def _beside(self, url: str) -> bool:
        """Whether the sitemap was let in from outside of the scope, and this one lies beside it."""
        return self._foreign and site_of(host_of(url)) == self._site

    def _spoken_for(self, found: Admitted | Reason, via: str) -> Verdict | Reason | Refused:
        if isinstance(found, Reason):
            return found
        if self._trusted or found.site in self._sites:
            return Verdict(found, via)
        return Refused.SITEMAP_LOCATION
