"""The normal form keeps what a server is asked for: beside a reading of URLs that shares no code with its steps.

So URLs with one key are one resource, but for what the configuration says counts for nothing.
"""

import gzip
import json
import re
from fnmatch import fnmatchcase
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from crawler.config import Url
from crawler.url.normal import normaliser
from crawler.url.tokens import is_token
from crawler.url.wire import wire
from tests.crawler.url import pieces
from tests.shared import need, tally

pytestmark = pytest.mark.conformance

CONFIG = Url()
normal = normaliser(CONFIG)
everything = normaliser(Url(strip_trailing_slash=True))
TOKEN = "0123456789abcdef"


def counts(parameter):
    """Whether a parameter of a query or a path segment may name something."""
    name, _, value = (
        unquote_to_bytes(part).decode("ascii", "replace") for part in parameter.partition("=")
    )
    tracking = any(fnmatchcase(name.lower(), known) for known in CONFIG.tracking_parameters)
    return not tracking and not (name.lower() in CONFIG.session_parameters and is_token(value))


def segments(path):
    """What the segments of a path say, without those that say nothing."""
    said = []
    for segment in path.split("/")[1:]:
        first, *parameters = segment.split(";")
        text = ";".join([first, *filter(counts, parameters)])
        if not (text.startswith("(") and re.fullmatch(r"\(([ASFX]\([\w-]*\))+\)", text, re.ASCII)):
            said.append(unquote_to_bytes(text))
    kept = []
    for segment in said or [b""]:
        if segment == b"..":
            del kept[-1:]
        elif segment != b".":
            kept.append(segment)
    return [*kept, b""] if said and said[-1] in (b".", b"..") else kept


def resource(url):
    """What a server is asked for by a wire URL, in octets; the parameters of a query by their names."""
    scheme, rest = url.split("://", 1)
    rest, _, query = rest.partition("?")
    authority, slash, path = rest.partition("/")
    user, at, host = authority.rpartition("@")
    host = user + at + re.sub(r"(?<=[^.])\.(?=:|\Z)", "", host)
    parameters = [text.partition("=") for text in query.split("&") if text and counts(text)]
    pairs = [
        (unquote_to_bytes(name), sign, unquote_to_bytes(value)) for name, sign, value in parameters
    ]
    return scheme, host, segments(slash + path), sorted(pairs, key=lambda pair: pair[0])


def check(url):
    once = normal(url)
    assert normal(once) == once
    assert everything(everything(url)) == everything(url)
    # Of a normal form the parser would only write an apostrophe in a query otherwise.
    assert wire(once).replace("%27", "'") == once.replace("%27", "'")
    assert resource(once) == resource(url)


@given(pieces.urls, pieces.references)
@example("http://foo.09../", "")
@example(f"http://a/(S({TOKEN}));sid={TOKEN}/", "")
@example("http://a/?b=1&a=2&b=0&a=1", "")
@example("http://a/b/c/..;jsessionid=1", "")
@example("http://a/b/..;jsessionid=1/%2e%2E;gclid/c", "")
def test_any_url_and_its_normal_form_are_one_resource(url, tail):
    found = [wire(text) for text in (url, f"http://a/{tail}", f"http://a/?{tail}")]
    assume(any(found))
    for text in filter(None, found):
        check(text)


def listed():
    """All web addresses in the real pages, sitemaps and robots.txt files, and in the cases of others."""
    links = json.loads(gzip.decompress(need("pages/real_pages_links.json.gz").read_bytes()))
    yield from (link[2] for page in links["pages"] for link in page["links"])
    sitemaps = need("sitemaps/crawler_commons_sitemap_cases.json").read_text("utf-8")
    yield from re.findall(r'"(https?://[^"\\]+)"', sitemaps)
    with gzip.open(need("robots/real_robots_verdicts.jsonl.gz"), "rt") as verdicts:
        yield from (json.loads(line)["url"] for line in verdicts)
    yield from pieces.URLS


def test_all_real_urls_and_their_normal_forms_are_one_resource():
    found = {wire(text) for text in listed() if text} - {None}
    assert len(found) > 5_000
    for url in found:
        check(url)
    tally("urls: real ones and those of web-platform-tests, normal form", len(found), len(found))


_NAMES = [name.replace("*", "x") for name in CONFIG.tracking_parameters]


@st.composite
def noise(draw):
    """A tracking parameter or a session id, its name in any case and spelling."""
    name = draw(st.sampled_from([*_NAMES, *CONFIG.session_parameters]))
    value = TOKEN if name in CONFIG.session_parameters else draw(st.sampled_from(["", "1", "%26"]))
    letters = [draw(st.sampled_from([c, c.upper(), f"%{ord(c):02x}"])) for c in name]
    return f"{''.join(letters)}={value}"


@given(pieces.urls, st.data())
def test_what_counts_for_nothing_changes_no_key_wherever_it_stands(text, data):
    url = wire(text)
    assume(url is not None)
    before, _, query = url.partition("?")
    parameters = query.split("&")
    for extra in data.draw(st.lists(noise(), max_size=3)):
        parameters.insert(data.draw(st.integers(0, len(parameters))), extra)
    cut = data.draw(
        st.sampled_from([at.start() for at in re.finditer("/|\\Z", before)][3:] or [None])
    )
    path = "".join(f";{extra}" for extra in data.draw(st.lists(noise(), max_size=2)))
    spelt = before if cut is None else before[:cut] + path + before[cut:]
    assert normal(wire(f"{spelt}?{'&'.join(parameters)}")) == normal(url)
