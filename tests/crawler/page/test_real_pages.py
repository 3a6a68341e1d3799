"""Links of real pages and of Scrapy's test pages, against what others find in them."""

import base64
import gzip
import json
import tarfile

import pytest

from crawler.page import html, links
from crawler.page.page import read_page
from crawler.url.wire import wire
from tests.shared import need

# Answers of the DOM (jsdom) that this project does not want: it took the pages for windows-1252, because their
# `<meta charset>` comes after the first 1,024 bytes. A browser then parses again; so do we (HTML 13.2.3.5).
LATE_CHARSET = {
    "https://www.rp.pl/prawo_dla_ciebie/niepe%C2%B3nosprawni",
    "https://www.cna.com.tw/tag/hysearchws.aspx?q=%C3%A8%C2%BE%C2%B2%C3%A5%C2%A7%E2%80%9D%C3%A6%C5%93%C6%92",
    "https://www.cna.com.tw/tag/hysearchws.aspx?q=%C3%A9%C6%92%C2%AD%C3%A5%EF%BF%BD%C2%B0%C3%A9%C5%A0%CB%9C",
    "https://www.cna.com.tw/tag/hysearchws.aspx?q=%C3%A9%E2%80%9E%C2%AD%C3%A6%E2%80%93%E2%80%A1%C3%A7%E2%80%A1%C2%A6",
}

# The same links in the right encoding, as far as no other link of their page is the same.
RIGHT_CHARSET = {
    "https://www.rp.pl/prawo_dla_ciebie/niepe%C5%82nosprawni",
    "https://www.cna.com.tw/tag/hysearchws.aspx?q=%E8%BE%B2%E5%A7%94%E6%9C%83",
}


@pytest.fixture(scope="module")
def real_pages():
    with gzip.open(need("pages/real_pages_links.json.gz")) as file:
        pages = json.load(file)["pages"]
    with tarfile.open(need("pages/real_pages.tar.xz")) as tar:
        bodies = {
            name.rsplit("/")[-1]: tar.extractfile(name).read()
            for name in tar.getnames()
            if name.endswith("html")
        }
    return [(page, bodies[f"{page['md5']}.html"]) for page in pages]


def urls(links, vias):
    return [url for url, via in zip(links.urls, links.vias, strict=True) if via in vias]


def test_the_links_of_real_pages_are_those_of_a_standard_dom(real_pages, monkeypatch):
    # The DOM's answers have every query in UTF-8 (a known fault of jsdom), and `<a>` only.
    monkeypatch.setattr(links, "CODECS", {})
    monkeypatch.setattr(html, "leads_to_page", lambda rels, media: False)
    total, missing, more = 0, set(), set()
    for page, body in real_pages:
        expected = {wire(resolved) for _, _, resolved, _ in page["links"] if resolved} - {None}
        found = set(urls(read_page(body, "text/html", page["url"], 10**6).links, {"link"}))
        total += len(expected)
        missing |= expected - found
        more |= found - expected
    assert total == 7519
    assert missing == LATE_CHARSET
    assert more == RIGHT_CHARSET


def test_base_and_title_of_real_pages_are_those_of_a_standard_dom(real_pages):
    titles = 0
    for page, body in real_pages:
        found = read_page(body, "text/html", page["url"], 10**6)
        assert found.base == page["base"]
        if found.charset == page["encoding"].lower():
            titles += 1
            assert (found.title or "") == " ".join((page["title"] or "").split()), page["md5"]
    assert titles > 60


def scrapy_cases(operation):
    cases = json.loads(need("html/scrapy_cases.json").read_text())["cases"]
    found = [case for case in cases if case["op"] == operation]
    assert found
    return found


def scrapy_page(case):
    codec = case.get("encoding", "utf-8").replace("utf8", "utf-8")
    kind = (case.get("content_type") or "text/html").partition(";")[0]
    return read_page(
        base64.b64decode(case["body_b64"]), f"{kind}; charset={codec}", case["url"], 1000
    )


def test_scrapy_links():
    """What Scrapy finds without options of its own is found; what is found beyond is a file type that it leaves out."""
    compared = 0
    for case in scrapy_cases("extract_links"):
        if not case["options"]["args"] and not case["options"]["kwargs"]:
            compared += 1
            expected = {wire(link["url"]) for link in case["expected"]} - {None}
            found = set(urls(scrapy_page(case).links, {"link", "area"}))
            assert expected <= found, case
            assert all(url.endswith(".jpg") for url in found - expected), case
    assert compared == 16


def test_scrapy_bases():
    for case in scrapy_cases("get_base_url"):
        assert wire(scrapy_page(case).base) == wire(case["expected"]), case


def test_scrapy_meta_refreshes():
    for case in scrapy_cases("get_meta_refresh"):
        expected = case["expected"][1]
        if b"checkCookies" in base64.b64decode(case["body_b64"]):
            # A quote left open inside noscript swallows `<script>`: what it writes is then markup with scripting off.
            expected = "http://www.example.com/newpage"
        found = urls(scrapy_page(case).links, {"refresh"})
        assert found == ([expected] if expected else []), case
