"""One exchange with a loopback server, for tests of the client."""

import time

from crawler.config import Config, Fetch
from crawler.fetch import exchange
from crawler.fetch.client import Client


def configured(**fetch):
    return Config(user_agent="testbot/1.0", fetch=Fetch(**{"allow_private": True, **fetch}))


async def ask(url, config=None, limits=None, **validators):
    config = config or configured()
    async with Client(config, time.time) as client:
        return await client.get(url, limits or exchange.page_limits(config), **validators)
