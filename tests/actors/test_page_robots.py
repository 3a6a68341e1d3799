"""What pages say about themselves, from the bytes on the wire to the links that are followed or counted."""

import shutil

import pytest

from crawler.loading import load
from tests.actors.inprocess import local_crawl, rows_of
from tests.crawler.fetch.raw_server import reply, serving

pytestmark = pytest.mark.slow

PAST, FUTURE = "Thu, 25 Jun 2020 11:00:00 GMT", "2999-01-01"
# Name: what stands in the head, the headers, what the row says, and whether the page's link is followed.
PAGES = {
    "meta": ("<meta name=robots content=' NoFollow '>", (), ["nofollow"], False),
    "agent": ("<META NAME=RayCrawl CONTENT='nofollow'>", (), ["nofollow"], False),
    "none": ("<meta name=robots content=none>", (), ["none"], False),
    "header": ("", ("X-Robots-Tag: nofollow",), ["nofollow"], False),
    "headers": ("", ("X-Robots-Tag: noindex", "x-robots-tag: raycrawl: nofollow"), ["nofollow", "noindex"], False),
    "joined": ("", ("X-Robots-Tag: otherbot: noindex, raycrawl: none",), ["none"], False),
    "both": ("<meta name=robots content=follow>", ("X-Robots-Tag: nofollow",), ["follow", "nofollow"], False),
    "others": ("<meta name=otherbot content=none>", ("X-Robots-Tag: otherbot: none",), [], True),
    "noindex": ("<meta name=robots content=noindex>", (), ["noindex"], True),
    "expired": ("", (f"X-Robots-Tag: unavailable_after: {PAST}",), [f"unavailable_after:{PAST}"], True),
    "lasting": (f"<meta name=robots content='unavailable_after: {FUTURE}'>", (), [f"unavailable_after:{FUTURE}"], True),
    "broken": ("<meta name=robots content=',;:,nofollow'>", ("X-Robots-Tag: \xe9, :, ,",), None, False),
}  # fmt: skip
UNENDORSED = ("nofollow", "UGC", "noopener sponsored")


def web(target):
    name = target.strip("/")
    if target == "/robots.txt":
        return reply(b"")
    if target == "/":
        links = "".join(f"<a href={page}>x</a>" for page in PAGES)
        links += "".join(f"<a href=rel-{n} rel='{rel}'>x</a>" for n, rel in enumerate(UNENDORSED))
        return reply(
            f"<body>{links}<a href=/meta rel=nofollow>again</a><a rel=next href=end>x</a>".encode()
        )
    head, headers, _, _ = PAGES.get(name, ("", (), [], True))
    body = f"<head>{head}</head><body>{name}<a href=/to-{name}>x</a>" if name in PAGES else name
    return reply(body.encode(), headers=("Content-Type: text/html", *headers))


async def test_links_are_followed_as_pages_ask_and_no_row_is_hidden(tmp_path):
    config = load(
        None,
        {
            "fetch.allow_private": True,
            "politeness.delay": 0.0,
            "runtime.batch_seconds": 0.02,
            "sitemaps.discover": False,
        },
    )
    async with serving(web) as server:
        for _ in range(2):  # the second time from the rows alone
            async with local_crawl(config, [server.url("/")], tmp_path) as crawl:
                totals = await crawl.finish()
            shutil.rmtree(tmp_path / "state")
        root = server.url("/")
    asked = server.targets
    rows = {url.removeprefix(root): (kind, said, body) for url, kind, said, body in
            rows_of(tmp_path, "url", "kind", "robots_directives", "body")}  # fmt: skip
    followed = {f"to-{name}" for name, (_, _, _, follows) in PAGES.items() if follows}
    assert set(rows) == {"", "end", *PAGES, *followed}
    assert sorted(target.strip("/") for target in asked if target != "/robots.txt") == sorted(rows)
    assert {kind for kind, _, _ in rows.values()} == {"fetched"}
    assert all(body for _, _, body in rows.values())
    for name, (_, _, said, _) in PAGES.items():
        assert rows[name][1] == said or (said is None and "nofollow" in rows[name][1])
    assert totals.links["nofollow"] == len(UNENDORSED)
    assert totals.links["nofollow_page"] == len(PAGES) - len(followed)
    assert totals.found == totals.accounted
