"""Small sites with a server and a log each, on loopback addresses that two shards share."""

from contextlib import AsyncExitStack
from itertools import pairwise

from actors.ring import Ring
from crawler.url.keys import site_of, slot_of
from tests.crawler.fetch.raw_server import reply, serving

RULES = b"User-agent: *\nDisallow: /secret\n"
SHARDS = 2
OWNERS = Ring(SHARDS).owners


def hosts_of(shard, count):
    """Loopback addresses that belong to a shard."""
    names = (f"127.0.0.{number}" for number in range(2, 200))
    return [name for name in names if OWNERS[slot_of(site_of(name))] == shard][:count]


class Site:
    """One host: its pages, and what it says for robots.txt and other special targets."""

    def __init__(self, name, pages=1):
        self.name, self.pages = name, pages
        self.special = {"/robots.txt": reply(RULES)}

    def answer(self, target):
        if target in self.special:
            return self.special[target]
        links = "".join(f'<a href="/{page}">x</a>' for page in range(self.pages))
        return reply(f"{self.name}{target} <a href=/secret>s</a>{links}".encode())

    def moves(self, url, target="/robots.txt"):
        self.special[target] = reply(status="301 Moved", headers=(f"Location: {url}",))

    @property
    def log(self):
        return sorted(self.server.asked, key=lambda asked: asked.began)

    @property
    def targets(self):
        return [asked.target for asked in self.log]

    @property
    def smallest_gap(self):
        return min(after.began - before.ended for before, after in pairwise(self.log))


class Web(AsyncExitStack):
    """Sites with a server each."""

    async def site(self, name, pages=1):
        site = Site(name, pages)
        site.server = await self.enter_async_context(serving(site.answer))
        site.url = f"http://{name}:{site.server.port}"
        return site
