"""The address guard against everything that could lead past it: a table of tries, and what was connected to.

Those through proxies are in `test_guard_proxies.py`.
"""

import pytest

from crawler.url.sitemaps import PROBE, ROBOTS
from tests.crawler.fetch.guarded import (
    BLOCKED,
    CLOSED,
    ERRAND,
    FETCHED,
    NO_ROBOTS,
    NO_URL,
    PUBLIC,
    THEN_BLOCKED,
    Try,
    a,
    aaaa,
    attempt,
    public,
    rebinding,
    redirecting,
    robots_to,
)
from tests.dns_server import Reply

UNREACHABLE = "robots.txt: connect_error"

TRIES = [
    # The way it should be.
    Try("http://public.test:P/", FETCHED),
    Try(f"http://{PUBLIC}:P/", FETCHED),
    Try("http://2135752705:P/", FETCHED),
    Try(f"http://[::ffff:{PUBLIC}]:P/", FETCHED),
    # One address in all spellings.
    Try("http://127.0.0.1:P/"),
    Try("http://127.0.0.1.:P/"),
    Try("http://2130706433:P/"),
    Try("http://0x7f000001:P/"),
    Try("http://0X7F.0x0.0x0.0x1:P/"),
    Try("http://017700000001:P/"),
    Try("http://0177.0.0.01:P/"),
    Try("http://127.1:P/"),
    Try("http://127.0.1:P/"),
    Try("http://0x7f.1:P/"),
    Try("http://0177.0x1:P/"),
    Try("http://127.0x000000000001:P/"),
    Try("http://%31%32%37.0.0.1:P/"),
    Try("http://127%2E0%2e0%2E1:P/"),
    Try("http://１２７.０.０.１:P/"),  # noqa: RUF001
    Try("http://127。0。0。1:P/"),
    Try("http://①②⑦.⓪.⓪.①:P/"),
    Try("http://127.0.0.1\t:P/"),
    Try("http:\\\\127.0.0.1:P\\"),
    Try("http:127.0.0.1:P/"),
    Try("http://public.test:P@127.0.0.1:P/"),
    Try("http://127.0.0.1:P\\@public.test/"),
    Try("http://127.0.0.1:P#@public.test/"),
    Try("http://127.0.0.1.1:P/", NO_URL),
    Try("http://4294967296:P/", NO_URL),
    Try("http://127.0.0.0x100:P/", NO_URL),
    # Other addresses that are not public.
    Try("http://127.0.0.2:P/"),
    Try("http://127.255.255.254:P/"),
    Try("http://0:P/"),
    Try("http://0.0.0.0:P/"),
    Try("http://10.0.0.1/"),
    Try("http://172.16.0.1:8080/"),
    Try("http://192.168.1.1/"),
    Try("http://100.64.0.1/"),
    Try("http://169.254.169.254/latest/meta-data/"),
    Try("http://0xA9FEA9FE/latest/meta-data/"),
    Try("http://2852039166:80/latest/meta-data/"),
    Try("http://192.0.0.192/"),
    Try("http://198.18.0.1/"),
    Try("http://224.0.0.1/"),
    Try("http://255.255.255.255/"),
    Try("https://127.0.0.1:P/"),
    Try("http://127.0.0.1:22/"),
    Try("http://127.0.0.1:6379/"),
    # IPv6.
    Try("http://[::1]:P/"),
    Try("http://[0:0:0:0:0:0:0:1]:P/"),
    Try("http://[::]:P/"),
    Try("http://[::ffff:127.0.0.1]:P/"),
    Try("http://[::ffff:7f00:1]:P/"),
    Try("http://[::127.0.0.1]:P/"),
    Try("http://[::ffff:0:127.0.0.1]:P/"),
    Try("http://[64:ff9b::127.0.0.1]:P/"),
    Try("http://[64:ff9b:1::7f00:1]:P/"),
    Try("http://[2002:7f00:1::1]:P/"),
    Try("http://[2001:0:7f00:1:0:0:80ff:fffe]:P/"),
    Try("http://[2606:4700::5efe:127.0.0.1]:P/"),
    Try("http://[fe80::1]:P/"),
    Try("http://[fe80::1%25lo]:P/", NO_URL),
    Try("http://[fc00::1]:P/"),
    Try("http://[fd00:ec2::254]/latest/meta-data/"),
    Try("http://[fec0::1]:P/"),
    Try("http://[ff02::1]:P/"),
    # Names.
    Try("http://localhost:P/"),
    Try("http://LOCALHOST.:P/", BLOCKED, {"localhost": a("127.0.0.1")}),
    Try("http://a.localhost:P/"),
    Try("http://private.test:P/", BLOCKED, {"private.test": a("127.0.0.1")}),
    Try("http://private.test.:P/", BLOCKED, {"private.test": a("127.0.0.1")}),
    Try("http://metadata.test/", BLOCKED, {"metadata.test": a("169.254.169.254")}),
    Try("http://zero.test:P/", BLOCKED, {"zero.test": a("0.0.0.0")}),
    Try("http://six.test:P/", BLOCKED, {"six.test": aaaa("::1")}),
    Try("http://mapped.test:P/", BLOCKED, {"mapped.test": aaaa("::ffff:127.0.0.1")}),
    Try("http://nat64.test:P/", BLOCKED, {"nat64.test": aaaa("64:ff9b::7f00:1")}),
    Try("http://alias.test:P/", BLOCKED, {"alias.test": (Reply(cname="deep.test"),),
                                          "deep.test": (Reply(cname="private.test"),),
                                          "private.test": a("127.0.0.1")}),
    Try("http://inward.test:P/", "dns_error", {"inward.test": (Reply(cname="localhost"),)}),
    Try("http://many.test:P/", BLOCKED, {"many.test": a("127.0.0.1", "10.0.0.1", "127.0.0.2")}),
    Try("http://mixed.test:P/", FETCHED, {"mixed.test": a("127.0.0.1", PUBLIC, "127.0.0.2")}),
    Try("http://both.test:P/", FETCHED, {"both.test": (Reply(a=[PUBLIC], aaaa=["::1"]),)}),
    Try("http://half.test:P/", UNREACHABLE, {"half.test": a("127.0.0.1", CLOSED)}),
    Try("http://other.test:P/", UNREACHABLE, {"other.test": a(CLOSED, "127.0.0.1")}),
    # Redirects of pages.
    redirecting("http://127.0.0.1:P/"),
    redirecting("//0x7f.1:P/"),
    redirecting("http://[::1]:P/"),
    redirecting("http://169.254.169.254/latest/meta-data/"),
    redirecting("http://private.test:P/", **{"private.test": a("127.0.0.1")}),
    redirecting("http://localhost:P/"),
    Try("http://public.test:P/go", f"redirect, {THEN_BLOCKED}", {},
        {"/go": "http://public.test:P/on", "/on": "http://127.1:P/"}),
    Try("http://public.test:P/go", "http_error", {}, {"/go": "file:///etc/passwd"}),
    Try("http://public.test:P/go", "http_error", {}, {"/go": "gopher://127.0.0.1:P/"}),
    # Redirects of robots.txt.
    robots_to("http://127.0.0.1:P/robots.txt"),
    robots_to("http://2130706433:P/robots.txt"),
    robots_to("http://[::ffff:7f00:1]:P/robots.txt"),
    robots_to("http://private.test:P/robots.txt", **{"private.test": a("127.0.0.1")}),
    robots_to("http://169.254.169.254/robots.txt"),
    # A robots.txt asked for on behalf of other hosts.
    Try("http://127.0.0.1:P/robots.txt", NO_ROBOTS, found_via=ERRAND),
    Try("http://[::1]:P/robots.txt", NO_ROBOTS, found_via=ERRAND),
    Try("http://private.test:P/robots.txt", NO_ROBOTS, {"private.test": a("127.0.0.1")}, found_via=ERRAND),
    Try("http://rebind.test:P/robots.txt", NO_ROBOTS, {"rebind.test": rebinding(1)}, found_via=ERRAND),
    Try("http://public.test:P/robots.txt", "robots.txt: heard", found_via=ERRAND),
    # Sitemaps: looked for, or named in a robots.txt; their redirects.
    Try("http://public.test:P/sitemap.xml", FETCHED, found_via=PROBE),
    Try("http://127.0.0.1:P/sitemap.xml", found_via=PROBE),
    Try("http://private.test:P/sitemap.xml", BLOCKED, {"private.test": a("127.0.0.1")}, found_via=PROBE),
    Try("http://2130706433:P/news.xml", found_via=ROBOTS),
    Try("http://[::ffff:127.0.0.1]:P/news.xml", found_via=ROBOTS),
    Try("http://169.254.169.254/latest/meta-data/", found_via=ROBOTS),
    Try("http://rebind.test:P/news.xml", BLOCKED, {"rebind.test": rebinding(1)}, found_via=ROBOTS),
    redirecting("http://127.0.0.1:P/sitemap.xml")._replace(found_via=ROBOTS),
    # A name that is public when it is looked up and private when it is connected to; then after the robots.txt;
    # then behind an alias.
    Try("http://rebind.test:P/", BLOCKED, {"rebind.test": rebinding(1)}),
    Try("http://later.test:P/", BLOCKED, {"later.test": rebinding(2)}),
    Try("http://behind.test:P/", BLOCKED, {"behind.test": (Reply(cname="rebind.test", ttl=0),),
                                           "rebind.test": rebinding(1)}),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("tried", TRIES, ids=lambda tried: tried.title)
async def test_nothing_but_the_public_internet_is_connected_to(tried):
    seen = await attempt(tried)
    assert all(map(public, seen.connects)), seen.connects
    assert seen.connects or not seen.heard, "the list is not kept"
    assert all(public(ip) for ip, _ in seen.heard), seen.heard
    assert seen.ends == tried.ends


def test_there_are_enough_tries():
    assert len({tried.title for tried in TRIES}) == len(TRIES) >= 110
