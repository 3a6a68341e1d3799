"""For whom a sitemap speaks."""

import pytest

from crawler.config import Config
from crawler.dataset.found import Source
from crawler.dataset.vouching import Speaker, Verdict
from crawler.url.admit import Admission

SEEDS = ("https://www.example.org/",)


def judged(url, rel, sitemap="https://www.example.org/maps/1.xml", scope=None, **source):
    config = Config.model_validate({"scope": scope or {"mode": "any"}})
    speaker = Speaker(Source(sitemap, 1, **source), Admission(config, SEEDS))
    verdict = speaker.judge(url, rel, 2)
    return verdict.via if isinstance(verdict, Verdict) else f"no: {verdict}"


@pytest.mark.parametrize(("url", "rel", "source", "says"), [
    # Its own site, above its directory too, and on the site's other hosts.
    ("https://www.example.org/maps/a", "sitemap", {}, "sitemap"),
    ("https://www.example.org/a", "sitemap", {}, "sitemap"),
    ("http://example.org/a", "alternate", {}, "sitemap"),
    ("https://www.example.org/a", "feed", {}, "feed"),
    ("https://other.example/a", "sitemap", {}, "no: sitemap_location"),
    ("https://other.example/a", "alternate", {}, "no: sitemap_location"),
    # The site whose robots.txt named it; nobody else's.
    ("https://other.example/a", "sitemap",
     {"via": "robots", "found_on": "https://other.example/sitemap.xml"}, "sitemap"),
    ("https://other.example/a", "sitemap",
     {"via": "probe", "found_on": "https://other.example/sitemap.xml"}, "sitemap"),
    ("https://third.example/a", "sitemap",
     {"via": "robots", "found_on": "https://other.example/sitemap.xml"}, "no: sitemap_location"),
    ("https://other.example/a", "sitemap",
     {"via": "index", "found_on": "https://other.example/sitemap.xml"}, "no: sitemap_location"),
    # A seed: all.
    ("https://other.example/a", "sitemap", {"via": "sitemap_seed"}, "sitemap"),
    # Sitemaps in an index: two levels.
    ("https://www.example.org/2.xml", "index", {"via": "probe"}, "index"),
    ("https://www.example.org/2.xml", "index", {"via": "link"}, "index"),
    ("https://www.example.org/2.xml", "index", {"via": "index"}, "nested_index"),
    ("https://www.example.org/2.xml", "index", {"via": "nested_index"}, "no: sitemap_depth"),
    ("https://other.example/2.xml", "index", {"via": "probe"}, "no: sitemap_location"),
    # What robots.txt names may be anywhere.
    ("https://other.example/2.xml.gz", "robots", {"via": "probe"}, "robots"),
])  # fmt: skip
def test_whose_word_counts(url, rel, source, says):
    assert judged(url, rel, **source) == says


SITE = {"mode": "site", "include": ["/wanted/"], "exclude": ["/private/"]}
FOREIGN = "https://cdn.example/maps/index.xml"


@pytest.mark.parametrize(("url", "rel", "sitemap", "says"), [
    ("https://example.org/wanted/1", "sitemap", SEEDS[0], "sitemap"),
    ("https://example.org/other/1", "sitemap", SEEDS[0], "no: not_included"),
    ("https://other.example/wanted/1", "sitemap", SEEDS[0], "no: out_of_scope"),
    # `include` is about pages.
    ("https://example.org/maps/2.xml", "index", SEEDS[0], "index"),
    ("https://example.org/private/2.xml", "index", SEEDS[0], "no: excluded"),
    # In from outside by the word of a robots.txt: so are its neighbours, and what it lists need only be in the scope.
    (FOREIGN, "robots", SEEDS[0], "robots"),
    ("https://cdn.example/private/1.xml", "robots", SEEDS[0], "no: excluded"),
    ("https://cdn.example/maps/2.xml", "index", FOREIGN, "index"),
    ("https://third.example/maps/2.xml", "index", FOREIGN, "no: out_of_scope"),
    ("https://example.org/maps/2.xml", "index", FOREIGN, "index"),
    ("https://example.org/wanted/2", "sitemap", FOREIGN, "sitemap"),
    ("https://cdn.example/wanted/2", "sitemap", FOREIGN, "no: out_of_scope"),
])  # fmt: skip
def test_what_the_scope_says(url, rel, sitemap, says):
    assert judged(url, rel, sitemap, SITE) == says


@pytest.mark.parametrize(("target", "sitemap", "via", "named", "says"), [
    ("https://example.org/other/1.xml", SEEDS[0], "probe", False, "https://example.org/other/1.xml"),
    ("https://login.example/", SEEDS[0], "probe", False, "out_of_scope"),
    ("https://login.example/", SEEDS[0], "link", False, "out_of_scope"),
    ("https://cdn.example/2.xml", FOREIGN, "link", False, "https://cdn.example/2.xml"),
    # Named sitemaps may be anywhere.
    ("https://store.example/1.xml", SEEDS[0], "probe", True, "https://store.example/1.xml"),
    ("https://store.example/1.xml", SEEDS[0], "robots", False, "https://store.example/1.xml"),
    ("https://store.example/1.xml", FOREIGN, "index", False, "https://store.example/1.xml"),
    ("https://store.example/private/1.xml", FOREIGN, "robots", False, "excluded"),
])  # fmt: skip
def test_how_far_a_redirect_leads(target, sitemap, via, named, says):
    admission = Admission(Config.model_validate({"scope": SITE}), SEEDS)
    verdict = Speaker(Source(sitemap, 1, via=via), admission).redirected(target, 1, named=named)
    assert getattr(verdict, "url", verdict) == says
