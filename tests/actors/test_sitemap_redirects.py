"""A crawl of a site whose sitemap has moved to a host that is not its own, as those in object stores have."""

import pytest

from crawler.config import Config
from tests.actors.inprocess import local_crawl, rows_of
from tests.crawler.dataset.samples import listing
from tests.crawler.fetch.raw_server import reply, serving

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("place", "named", "mode", "read"), [
    ("/sitemap.xml", True, "site", True),
    ("/sitemap.xml.gz", True, "site", True),
    ("/sitemap.xml", True, "any", True),
    ("/sitemap.xml", False, "any", True),
    # Parked domains send all that they are asked for to one host, which has no part in the crawl.
    ("/sitemap.xml", False, "site", False),
])  # fmt: skip
async def test_what_is_listed_there_is_found(tmp_path, place, named, mode, read):
    def web(target):
        if target == place:
            return reply(
                status="301 Moved", headers=(f"Location: {server.url('/map', 'store.test')}",)
            )
        if target == "/robots.txt" and named:
            return reply(f"Sitemap: {server.url(place, 'a.test')}".encode())
        if target == "/map":
            urls = [
                server.url(f"/{page}", host) for page in "bc" for host in ("a.test", "other.test")
            ]
            return reply(listing("urlset", urls))
        return reply(target.encode())

    config = Config.model_validate({
        "fetch": {"allow_private": True}, "politeness": {"delay": 0}, "scope": {"mode": mode},
        "dns": {"overrides": dict.fromkeys(("a.test", "store.test", "other.test"), "127.0.0.1")},
        "runtime": {"batch_seconds": 0.01},
    })  # fmt: skip
    async with (
        serving(web) as server,
        local_crawl(config, [server.url("/", "a.test")], tmp_path) as crawl,
    ):
        totals = await crawl.finish()
    pages = {
        (url, via)
        for url, kind, via in rows_of(tmp_path, "url", "kind", "found_via")
        if kind == "fetched"
    }
    assert pages == {(server.url("/", "a.test"), "seed"),
                     *((server.url(f"/{page}", "a.test"), "sitemap") for page in "bc" if read)}  # fmt: skip
    assert ("/map" in server.targets) == read
    assert totals.found == totals.accounted
