"""Scrapy doing the same work: every page of its seeds' hosts, robots.txt obeyed, links, pages and bodies to JSON lines.

`python -m benchmarks.peers.scrapy_crawl SEEDS OUT.jsonl [--overrides FILE] [--pages N]`; one line of JSON at its end.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor
from scrapy.resolver import dnscache


class Pages(scrapy.Spider):
    """Follows every link within the hosts given, and stores what raycrawl stores of a page."""

    name = "pages"
    links = LinkExtractor(deny_extensions=())

    def __init__(self, seeds: list[str], hosts: set[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = seeds
        self.hosts = hosts

    def parse(self, response: Response) -> Iterator[Any]:
        """One page: its row, and requests for its links."""
        if not isinstance(response, HtmlResponse):
            return
        links = self.links.extract_links(response)
        yield {
            "url": response.url,
            "status": response.status,
            "title": response.xpath("//title/text()").get(),
            "body": response.text,
            "outlinks": [(link.url, link.text) for link in links],
        }
        for link in links:
            if urlsplit(link.url).hostname in self.hosts:
                yield response.follow(link, self.parse)


def main() -> None:
    """Runs one crawl in this process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("seeds", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--overrides", type=Path)
    parser.add_argument("--pages", type=int, default=0, help="stop after about so many")
    arguments = parser.parse_args()
    seeds = arguments.seeds.read_text().split()
    hosts = {urlsplit(seed).hostname for seed in seeds}
    process = CrawlerProcess(
        {
            "LOG_LEVEL": "ERROR",
            "USER_AGENT": "scrapy-bench",
            "ROBOTSTXT_OBEY": True,
            "CONCURRENT_REQUESTS": 64,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
            "DOWNLOAD_DELAY": 0,
            "RETRY_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "CLOSESPIDER_ITEMCOUNT": arguments.pages,
            "FEEDS": {str(arguments.out): {"format": "jsonlines", "overwrite": True}},
        }
    )
    if arguments.overrides:
        overrides = json.loads(arguments.overrides.read_text())
        hosts |= overrides.keys()
        dnscache.limit = len(overrides) + 1
        for name, address in overrides.items():
            dnscache[name] = address
    crawler = process.create_crawler(Pages)
    process.crawl(crawler, seeds=seeds, hosts=hosts)
    process.start()
    stats = crawler.stats.get_stats() if crawler.stats else {}
    print(json.dumps({"pages": stats.get("item_scraped_count", 0)}))


if __name__ == "__main__":
    main()
