"""Which links a row gives: the one rule that the parse path and the replay of the journal share.

So the frontier is a function of the rows. It knows a link as the row keeps it, `(url, rel)`, and must not know pages,
bytes or files.
"""

from collections.abc import Collection, Iterable
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from crawler.config import Config
from crawler.dataset.found import FOUND, LinkColumns, Source, counter
from crawler.dataset.recent import Recent
from crawler.dataset.vouching import NAMED, Speaker, Verdict
from crawler.outcomes import ANSWERED, Kind
from crawler.url import sitemaps
from crawler.url.admit import Admission
from crawler.url.scope import Reason

# Kinds of link that are told by where they stand rather than by a `rel` of their own.
_KINDS = frozenset({"area", "canonical", "feed", "frame", "iframe", "refresh", "sitemap", "srcset"})
_NOT_ENDORSED = frozenset({"nofollow", "sponsored", "ugc"})
_ANSWERED = frozenset(kind.value for kind in ANSWERED)


class Dropped(StrEnum):
    """Why a link of a row is not sent on.

    Besides the reasons of its URL (`crawler.url.scope.Reason`) and of sitemaps (`crawler.dataset.vouching.Refused`).
    """

    NOFOLLOW_PAGE = "nofollow_page"
    NOFOLLOW = "nofollow"
    DUPLICATE_PAGE = "duplicate_page"
    SAME_PAGE = "same_page"
    FORWARDED = "forwarded"
    REDIRECT_LOOP = "redirect_loop"


def relation(rel: str, via: str) -> str:
    """What a row keeps of how a link was found: the attribute, or, where there is none, the kind of link.

    A page's `<a rel=sitemap>` is said to be a link: the limits of traps do not bind what a sitemap lists.
    """
    if via != "sitemap" and via_of(rel) == "sitemap":
        return f"{rel} link"
    return rel or ("" if via == "link" else via)


@lru_cache(maxsize=4096)
def via_of(rel: str) -> str:
    """How a link was found, told from what its row keeps."""
    words = rel.split()
    return "link" if words[-1:] == ["link"] else next(filter(_KINDS.__contains__, words), "link")


@lru_cache(maxsize=4096)
def _endorsed(rel: str) -> bool:
    # HTML wants spaces between the words; Google reads commas too, and tells people so.
    return _NOT_ENDORSED.isdisjoint(rel.replace(",", " ").split())


_FORWARDED = counter(Dropped.FORWARDED)
_NEVER = 1 << 31


class Given(NamedTuple):
    """What a row says besides where it stands. `links`: its outlinks, (wire URL, rel as the row keeps it)."""

    kind: str
    links: Collection[tuple[str, str]] = ()
    redirect_to: str | None = None
    error: str | None = None


class Selector:
    """The rule itself. The same row gives the same links, wherever and whenever it is asked.

    `recent` is the one exception, for whoever makes sure that a link once given arrives (see `Recent`).
    """

    def __init__(self, admission: Admission, config: Config, recent: Recent | None = None) -> None:
        self._admission = admission
        self._follow_nofollow = config.scope.follow_nofollow
        self._follow_duplicates = config.scope.follow_duplicates
        self._discover = config.sitemaps.discover
        self._recent = recent

    def compares(self, url: str) -> bool:
        """Whether what lies at a URL is compared with other contents: see `crawler.fetch.columns.contents`."""
        return not (self._discover and sitemaps.is_probe(url))

    def give(self, source: Source, given: Given, into: LinkColumns) -> str | None:
        """Add to `into` everything that a row gives. Returns the row's error: a redirect's may be new."""
        error = given.error
        if self._discover and given.kind in _ANSWERED:
            self._probe(source, into)
        if given.kind == Kind.REDIRECT:
            named = (source.url, NAMED) in given.links
            error = self.redirect(source, given.redirect_to, error, into, named=named)
        if given.kind == Kind.FETCHED:
            self.select(source, given.links, into)
        elif given.links:
            self.listed(source, given.links, into)
        return error

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
        self,
        source: Source,
        target: str | None,
        error: str | None,
        into: LinkColumns,
        *,
        named: bool = False,
    ) -> str | None:
        """Add to `into` what a redirect gives. Returns the row's error: why the target is not followed, if so.

        `named`: its host's robots.txt says that it is a sitemap.

        A row does not keep how many redirects led to it, so the limit is applied once, here, and kept as the error.
        """
        if target is None:
            return error
        into.counts[FOUND] += 1
        if error is not None:
            limit = error == Reason.REDIRECT_LIMIT
            into.count(Reason.REDIRECT_LIMIT if limit else Dropped.REDIRECT_LOOP, 1)
            return error
        since, hops, via = len(into), source.hops + 1, "redirect"
        if sitemaps.is_file(source.url, source.via, discover=self._discover):
            via = source.via if source.via in sitemaps.FILES else sitemaps.PROBE
            admitted = Speaker(source, self._admission).redirected(target, hops, named=named)
        else:
            admitted = self._admission.admit(target, source.depth, hops)
        if isinstance(admitted, Reason):
            into.count(admitted, 1)
            return admitted.value if admitted is Reason.REDIRECT_LIMIT else None
        into.add(admitted, self._admission.priority(target, source.depth, via), via)
        into.placed(source, source.depth, hops, since)
        return None

    def listed(self, source: Source, links: Iterable[tuple[str, str]], into: LinkColumns) -> None:
        """Add to `into` what a sitemap lists, and what robots.txt names where the usual sitemap is looked for."""
        speaker, seen, found = Speaker(source, self._admission), set[str](), 0
        since, depth, recent = len(into), source.depth + 1, self._recent
        for url, rel in links:
            found += 1
            if url in seen:
                into.count(Dropped.SAME_PAGE, 1)
                continue
            seen.add(url)
            if recent is not None and recent.holds(url, depth):
                into.count(Dropped.FORWARDED, 1)
                continue
            verdict = speaker.judge(url, rel, depth)
            if not isinstance(verdict, Verdict):
                into.count(verdict, 1)
                continue
            if recent is not None:
                recent.note(url, depth)
            priority = self._admission.priority(url, depth, verdict.via)
            into.add(verdict.link, priority, verdict.via)
        into.counts[FOUND] += found
        into.placed(source, depth, 0, since)

    def _probe(self, source: Source, into: LinkColumns) -> None:
        """Where an origin answers, its sitemap is looked for: one more link of the row, at the row's own depth."""
        url, depth, recent = source.url, source.depth, self._recent
        if sitemaps.is_probe(url):
            return
        origin = url[: url.index("/", 8)]
        if recent is not None and into.probed.get(origin, _NEVER) <= depth:
            # Nearly all rows end here: another one of this batch has given the link.
            into.counts[FOUND] += 1
            into.counts[_FORWARDED] += 1
            return
        probe = sitemaps.probe_of(url)
        into.counts[FOUND] += 1
        admitted = self._admission.admit_sitemap(probe, depth)
        if isinstance(admitted, Reason):
            into.count(admitted, 1)
            return
        into.probed[origin] = depth
        if recent is not None:
            if recent.holds(probe, depth):
                into.count(Dropped.FORWARDED, 1)
                return
            recent.note(probe, depth)
        since = len(into)
        into.add(admitted, self._admission.priority(probe, depth, sitemaps.PROBE), sitemaps.PROBE)
        into.placed(source, depth, 0, since)

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
