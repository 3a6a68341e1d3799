"""The links that stand in the trees which html5lib's tests expect of broken markup, in document order."""

import json

import pytest

from crawler.page.page import read_page
from crawler.url.wire import resolve
from tests.shared import check, need

URL = "http://example.org/dir/page"


@pytest.mark.conformance
def test_the_links_of_expected_trees():
    cases = json.loads(need("html/html5lib-tests/links_from_expected_trees.json").read_text())
    judged = []
    for number, case in enumerate(cases["cases"]):
        page = read_page(case["data"].encode(), "text/html; charset=utf-8", URL, 1000)
        expected = [resolve(href, URL) for tag, _, href in case["links"] if tag == "a"]
        judged.append((number, page.links.urls, expected))
    check("pages: links of html5lib's expected trees", judged, at_least=10)
