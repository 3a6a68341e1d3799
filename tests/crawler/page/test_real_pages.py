"""Links of real pages and of Scrapy's test pages, against what others find in them."""

import base64
import codecs
import gzip
import json
import tarfile

import pytest

from crawler.page import links
from crawler.page.page import read_page
from crawler.url.wire import wire
from tests.shared import check, need

pytestmark = pytest.mark.conformance

# Answers of the DOM (jsdom) that this project does not want: it took the pages for windows-1252.
LATE = "`<meta charset>` after 1,024 bytes: a browser parses again (HTML 13.2.3.5), the DOM did not"
LATE_CHARSET = dict.fromkeys([
    "https://www.rp.pl/prawo_dla_ciebie/niepe%C2%B3nosprawni",
    "https://www.cna.com.tw/tag/hysearchws.aspx?q=%C3%A8%C2%BE%C2%B2%C3%A5%C2%A7%E2%80%9D%C3%A6%C5%93%C6%92",
    "https://www.cna.com.tw/tag/hysearchws.aspx?q=%C3%A9%C6%92%C2%AD%C3%A5%EF%BF%BD%C2%B0%C3%A9%C5%A0%CB%9C",
    "https://www.cna.com.tw/tag/hysearchws.aspx?q=%C3%A9%E2%80%9E%C2%AD%C3%A6%E2%80%93%E2%80%A1%C3%A7%E2%80%A1%C2%A6",
], LATE)  # fmt: skip

# The same links in the right encoding, as far as no other link of their page is the same.
RIGHT_CHARSET = {
    "https://www.rp.pl/prawo_dla_ciebie/niepe%C5%82nosprawni",
    "https://www.cna.com.tw/tag/hysearchws.aspx?q=%E8%BE%B2%E5%A7%94%E6%9C%83",
}

# Links of the one page in UTF-16 without a mark.
UNMARKED = 9


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
    monkeypatch.setattr(links, "leads_to_page", lambda rels, media: False)
    judged, more = [], set()
    for page, body in real_pages:
        expected = {wire(resolved) for _, _, resolved, _ in page["links"] if resolved} - {None}
        read = read_page(body, "text/html", page["url"], 10**6)
        found = set(urls(read.links, {"link"}))
        judged += [(url, url in found, True) for url in expected]
        if read.charset == "utf-16le" and not body.startswith(codecs.BOM_UTF16_LE):
            assert not expected  # without a mark, the DOM saw no markup
            assert len(found) == UNMARKED
        else:
            more |= found - expected
    assert len(judged) == 7519
    check("pages: links of real pages, as a DOM finds them", judged, LATE_CHARSET)
    assert more == RIGHT_CHARSET


def test_base_and_title_of_real_pages_are_those_of_a_standard_dom(real_pages):
    read = [(page, read_page(body, "text/html", page["url"], 10**6)) for page, body in real_pages]
    check(
        "pages: bases of real pages",
        [(page["md5"], found.base, page["base"]) for page, found in read],
    )
    check(
        "pages: titles of real pages, where the DOM took the same encoding",
        [
            (page["md5"], found.title or "", " ".join((page["title"] or "").split()))
            for page, found in read
            if found.charset == page["encoding"].lower()
        ],
        at_least=61,
    )


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
    """What Scrapy finds without options of its own is found, and nothing beyond what it leaves out by file type."""
    judged, left_out = [], {}
    for number, case in enumerate(scrapy_cases("extract_links")):
        if not case["options"]["args"] and not case["options"]["kwargs"]:
            expected = {wire(link["url"]) for link in case["expected"]} - {None}
            found = set(urls(scrapy_page(case).links, {"link", "area"}))
            assert expected <= found, case
            if any(url.endswith(".jpg") for url in found - expected):
                assert all(url.endswith(".jpg") for url in found - expected), case
                left_out[number] = "a link to a .jpg, a file type that Scrapy leaves out"
            judged.append((number, found, expected))
    assert len(judged) == 16
    check("pages: links of Scrapy's pages", judged, left_out)


def test_scrapy_bases():
    judged = [
        (number, wire(scrapy_page(case).base), wire(case["expected"]))
        for number, case in enumerate(scrapy_cases("get_base_url"))
    ]
    check("pages: bases of Scrapy's pages", judged)


OPEN_QUOTE = "a quote left open in noscript swallows `<script>`: what it writes is then markup"


def test_scrapy_meta_refreshes():
    judged, explained = [], {}
    for number, case in enumerate(scrapy_cases("get_meta_refresh")):
        target = case["expected"][1]
        if b"checkCookies" in base64.b64decode(case["body_b64"]):
            explained[number] = OPEN_QUOTE
        found = urls(scrapy_page(case).links, {"refresh"})
        judged.append((number, found, [target] if target else []))
    differing = check("meta refresh: Scrapy", judged, explained)
    assert {url for _, found, _ in differing for url in found} == {"http://www.example.com/newpage"}
