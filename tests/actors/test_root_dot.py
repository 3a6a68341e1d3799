"""A crawl of a host whose pages link to it with and without the dot of the DNS root."""

from collections import Counter
from itertools import pairwise

import pytest

from crawler.config import Config
from tests.actors.inprocess import local_crawl, rows_of
from tests.crawler.fetch.raw_server import reply, serving

pytestmark = pytest.mark.slow

DELAY = 0.02
PAGES = ("", *"abcd")


@pytest.mark.parametrize("mode", ["site", "host"])
async def test_a_host_with_and_without_its_last_dot_is_one(tmp_path, mode):
    """As two, it was asked twice at a time; the home page was leased under both names, and the crawl never ended."""

    def web(target):
        links = [server.url(f"/{page}", host) for page in PAGES for host in ("a.test.", "a.test")]
        links.append(server.url("/dotted", "a.test."))
        return reply(
            "".join(f"<a href={url}>x</a>" for url in [*links, *links]).encode() + target.encode()
        )

    config = Config.model_validate({
        "fetch": {"allow_private": True}, "dns": {"overrides": {"a.test": "127.0.0.1"}},
        "scope": {"mode": mode}, "politeness": {"delay": DELAY}, "sitemaps": {"discover": False},
        "runtime": {"batch_seconds": 0.01},
    })  # fmt: skip
    async with (
        serving(web) as server,
        local_crawl(config, [server.url("/", "a.test")], tmp_path) as crawl,
    ):
        await crawl.finish()
        log = sorted(server.asked, key=lambda asked: asked.began)
    rows = rows_of(tmp_path, "url_key", "host")
    assert Counter(host for _, host in rows) == {"a.test": 6}
    assert len(set(rows)) == 6
    pages = Counter(asked.target for asked in log if asked.target != "/robots.txt")
    assert pages == {f"/{page}": 1 for page in (*PAGES, "dotted")}
    assert min(after.began - before.ended for before, after in pairwise(log)) >= DELAY
