"""One sitemap, read: the values of its row's columns and what it lists, as the row keeps it.

It must not know batches or Arrow, nor which of the links are followed (`vouching`).
"""

import re
from collections.abc import Sequence

from crawler.config import Config
from crawler.dataset.reading import Columns, Outlinks, RawPage, essence
from crawler.dataset.vouching import ALTERNATE, ENTRY, FEED_ENTRY, INDEXED, NAMED
from crawler.outcomes import Kind
from crawler.page.facts import Extra
from crawler.page.sitemap import Sitemap, SitemapKind, SitemapLimits, read_sitemap
from crawler.robots.directives import read_directives
from crawler.url import sitemaps
from crawler.url.admit import Admission, Admitted
from crawler.url.keys import origin_of
from crawler.url.scope import unresolved
from crawler.url.wire import resolve

_RELS = {SitemapKind.INDEX: INDEXED, SitemapKind.FEED: FEED_ENTRY}
_ROOT = re.compile(rb"<(?:[A-Za-z_][\w.-]*:)?(?:urlset|sitemapindex)[\s>]")
_HEAD = 2048


class SitemapReader:
    """Tells sitemaps from pages. The same URL and body always get the same answer, however the URL was found.

    Except: a list in plain text, a feed and a zipped file are sitemaps only where a sitemap was asked for.
    """

    def __init__(self, config: Config, admission: Admission, token: str) -> None:
        """`token`: the product token that `X-Robots-Tag` is read for."""
        self._limits = SitemapLimits(config.sitemaps.max_bytes, config.sitemaps.max_urls)
        self._discover = config.sitemaps.discover
        self._max_links = config.page.max_links
        self._admission = admission
        self._token = token

    def read(self, raw: RawPage, via: str) -> tuple[Columns, Outlinks] | None:
        """What a body says that was found `via` something; `None`: it is to be read as a page.

        A body that is no sitemap is a page, except at the usual place of a sitemap (many sites answer there with a page
        for people) and at URLs that are in the crawl for what they list only.
        """
        probe = self._discover and sitemaps.is_probe(raw.url)
        if not (probe or via in sitemaps.FILES or (self._discover and _shows(raw))):
            return None
        found = read_sitemap(raw.body, raw.content_type, raw.url, self._limits)
        error = found.truncated
        if found.kind is SitemapKind.NOT_A_SITEMAP:
            if not probe and isinstance(self._admission.admit(raw.url, 0), Admitted):
                return None
            error = "not a sitemap"
        said = read_directives((), raw.robots, self._token, raw.fetched_at)
        columns = Columns(
            Kind.SITEMAP.value, essence(raw.content_type), error, robots_directives=said.names
        )
        return columns, self._outlinks(found)

    def _outlinks(self, found: Sitemap) -> Outlinks:
        """The entries, each followed by its versions in other languages: each of these once, while there is room."""
        rel = _RELS.get(found.kind, ENTRY)
        room = max(0, self._max_links - len(found.entries))
        urls, rels, extras = list[str](), list[str](), dict[int, Extra]()
        unresolved_, known = dict(found.dropped), set[tuple[str, str]]()
        for entry in found.entries:
            extra = Extra(None, entry.lastmod, entry.changefreq, entry.priority)
            if any(value is not None for value in extra):
                extras[len(urls)] = extra
            urls.append(entry.url)
            rels.append(rel)
            for language, url in entry.alternates:
                if (language, url) in known or len(known) >= room:
                    reason = "same_version" if (language, url) in known else "link_limit"
                    unresolved_[reason] = unresolved_.get(reason, 0) + 1
                    continue
                known.add((language, url))
                extras[len(urls)] = Extra(language)
                urls.append(url)
                rels.append(ALTERNATE)
        return Outlinks(urls, rels, [""] * len(urls), False, unresolved_, extras)


def with_named(outlinks: Outlinks | None, url: str, named: Sequence[str]) -> Outlinks:
    """The outlinks of a row where a sitemap is looked for (at `url`), and the sitemaps that robots.txt names."""
    before = outlinks or Outlinks([], [], [], nofollow=False, unresolved={})
    base, urls, missing = f"{origin_of(url)}/robots.txt", list[str](), dict(before.unresolved)
    for text in named:
        target = resolve(text, base)
        if target is None:
            reason = str(unresolved(text))
            missing[reason] = missing.get(reason, 0) + 1
        else:
            urls.append(target)
    return before._replace(
        urls=before.urls + urls,
        rels=before.rels + [NAMED] * len(urls),
        texts=before.texts + [""] * len(urls),
        unresolved=missing,
    )


def _shows(raw: RawPage) -> bool:
    """Whether a page that was asked for as one is a sitemap in XML: many sites link to theirs."""
    return "xml" in (raw.content_type or "") and _ROOT.search(raw.body, 0, _HEAD) is not None
