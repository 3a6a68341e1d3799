"""Cases that others wrote. A difference is listed here with its reason, or it is a failure.

The list must be exact: an explained case that begins to pass fails the test as well.
"""

import gzip
import json

import pytest

from crawler.config import Url
from crawler.url.normal import normaliser
from crawler.url.wire import resolve, wire
from tests.shared import check, need, reasons

pytestmark = pytest.mark.conformance

normal = normaliser(Url())


def cases(name):
    found = json.loads(need(f"urls/{name}").read_text(encoding="utf-8"))
    return [case for case in found if not isinstance(case, str)]


def web(case):
    """The wire URL that a WPT case asks for."""
    if case.get("failure") or case["protocol"] not in ("http:", "https:"):
        return None
    return case["href"].partition("#")[0]


def test_wpt_urls():
    judged = [
        (
            (case["input"], case["base"]),
            resolve(case["input"], case["base"]) if case["base"] else wire(case["input"]),
            web(case),
        )
        for case in cases("wpt/urltestdata.json")
    ]
    check("urls: web-platform-tests", judged, at_least=880)


def test_wpt_hosts():
    judged = [
        (
            case["input"],
            wire(f"https://{case['input']}/x"),
            case["output"] and f"https://{case['output']}/x",
        )
        for case in cases("wpt/toascii.json")
    ]
    check("urls: hosts (web-platform-tests)", judged, at_least=80)


PERCENT = reasons(
    ("Python's gb18030 maps U+E5E5 to A3A0; WHATWG leaves it out", [("\ue5e5", "gb18030")]),
    ("Python's iso2022_jp passes shift controls; WHATWG refuses them", [("\x0eA", "iso-2022-jp")]),
)


def test_wpt_queries_of_pages_in_other_charsets():
    judged = [
        (
            (case["input"], charset),
            resolve(f"/?{case['input']}", "http://a/", charset),
            f"http://a/?{expected}",
        )
        for case in cases("wpt/percent-encoding.json")
        for charset, expected in case["output"].items()
    ]
    check("urls: queries in other charsets (web-platform-tests)", judged, PERCENT, at_least=15)


def rfc3986():
    return json.loads(need("urls/rfc3986_examples.json").read_text(encoding="utf-8"))


def test_rfc3986_references():
    examples = rfc3986()
    references = {**examples["normal"], **examples["abnormal"]}
    judged = [
        (href, resolve(href, examples["base"]), target.partition("#")[0])
        for href, target in references.items()
    ]
    explained = reasons(
        ("another scheme has no wire URL", ["g:h"]),
        ("WHATWG serialises the empty path as /", ["//g"]),
    )
    check("urls: references of RFC 3986", judged, explained, at_least=41)
    assert resolve("http:g", examples["base"]) == examples["http_colon_g"]["lax"]


def test_rfc3986_dot_segments():
    judged = [
        (path, normal(f"http://a/{path.removeprefix('/')}"), f"http://a/{out.removeprefix('/')}")
        for path, out in rfc3986()["remove_dot_segments"].items()
    ]
    check("urls: dot segments of RFC 3986", judged)


def test_rfc3986_equivalences():
    pairs = rfc3986()["equivalences"]
    judged = [
        ((pair["a"], pair["b"]), normal(pair["a"]) == normal(pair["b"]), pair["equivalent"])
        for pair in pairs
    ]
    check("urls: equivalences of RFC 3986", judged, at_least=7)


CRAWLER_COMMONS = reasons(
    (
        "slashes are not merged: an empty segment is a segment (RFC 3986 §3.3)",
        [
            "https://www.example.com////disallowed/bar.html",
            "http://foo.com//aa/bb/foo.html",
            "http://foo.com/aa//bb/foo.html",
            "http://foo.com/aa/bb//foo.html",
            "http://foo.com//aa//bb//foo.html",
            "http://foo.com////aa////bb//foo.html",
            "http://foo.com////aa////bb////foo.html",
        ],
    ),
    (
        "only http and https have a wire URL",
        [
            "file:///foo/bar.txt",
            "ftp:/",
            "ftp://foo.com/index.html",
            "file:/path/index.html",
            "file:/var/www/html/////./bar/index.html",
            "file:/var/www/html/foo/../bar/index.html",
        ],
    ),
    ("an http URL without a host is invalid", ["http:////", "http:///////"]),
    ("a missing scheme is not guessed", ["foo.com/index.html"]),
    (
        "`b` and `b=` are not the same to every server",
        ["http://foo.com/index?a=1&b=", "http://foo.com/index?b=&a=1"],
    ),
    (
        "a parameter without a name is still sent to the server",
        ["http://foo.com/index?&=1&a=1", "http://foo.com/index?=1&b=1&a=1"],
    ),
    ("WHATWG writes an IPv4-mapped address in hexadecimal", ["http://[::ffff:127.0.0.1]/"]),
    ("with credentials it is another request", ["http://user:pass@[::1]/x"]),
    (
        "hosts are ASCII; these are options of crawler-commons that are off by default",
        [
            "http://xn--schne-lua.xn--bcher-kva.de/",
            "https://xn--90ax2c.xn--p1ai/",
            "http://schöne.xn--bcher-kva.de/",
        ],
    ),
)


def normal_of(text, charset="utf-8"):
    """The normal form of an absolute URL that stands in a document of that charset."""
    return normal(resolve(text, "http://a/", charset)) if wire(text) else None


def test_crawler_commons_normaliser():
    found = json.loads(need("urls/crawler_commons_normalizer_cases.json").read_text("utf-8"))
    judged = [
        (case["input"], normal_of(case["input"]), case["expected"]) for case in found["cases"]
    ]
    check("urls: normaliser of crawler-commons", judged, CRAWLER_COMMONS, at_least=139)


DO = "http://www.example.com/do?"
RESUME = "http://www.example.com/résumé?"
KEEP = "{'keep_fragments': True}"
BLANK = "{'keep_blank_values': False}"
LATIN = "{'path_encoding': 'latin-1'}"
PAGE = "http://www.example.com/path/to/%23/foo/bar"
TARGET = "http%3A%2F%2Fwww.example.com%2F%2Fpath%2Fto%2F%23%2Fbar%2Ffoo"
LONG = f"http://www.{'éxamplé' * 11}.com/résumé?q=résumé"

CANONICALIZE = reasons(
    ("`;` separates nothing in a query", [(DO + "c=1;b=2;a=3", "{'query_separator': ';'}")]),
    ("parameters of equal name keep their order", [(DO + "c=3&b=5&b=2&a=50", "{}")]),
    ("an empty value is a value", [(DO + "b=&a=2", BLANK), (DO + "b=&c&a=2", BLANK)]),
    ("`c` and `c=` are not the same to every server", [(DO + "b=&c&a=2", "{}")]),
    ("reserved characters stay as written; no `=` is added", [(DO + "1750,4", "{}")]),
    (
        "`+` is not `%20`: it is one in forms only",
        [(DO + "q=a space&a=1", "{}"), (DO + "q=a%20space&a=1", "{}")],
    ),
    (
        "what a page's charset lacks becomes a character reference, as in browsers",
        [
            (RESUME + "currency=€", "{'encoding': 'latin1'}"),
            (RESUME + "country=Россия", "{'encoding': 'latin1'}"),
        ],
    ),
    (
        "`$` and `(` are reserved: they stay as written",
        [("http://はじめよう.みんな/?query=サ&maxResults=5", "{'encoding': 'iso2022jp'}")],
    ),
    ("%2C is reserved: it is not decoded", [("https://example.com/a%23b%2cc#bash", "{}")]),
    (
        "fragments never stay",
        [
            ("http://user:pass@www.example.com/do?a=1#frag", KEEP),
            ("http://[::1]/do?a=1#frag", KEEP),
            (f"{PAGE}#frag", KEEP),
            (f"{PAGE}?url={TARGET}#frag", KEEP),
        ],
    ),
    (
        "only absolute http and https URLs have a wire URL",
        [
            ("a#frag", "{}"),
            ("a#frag", KEEP),
            ("a?b=1#frag", "{}"),
            ("?b=1", "{}"),
            ("sftp://UsEr:PaSsWoRd@www.EXAMPLE.com/", "{}"),
        ],
    ),
    (
        "WHATWG does not check the lengths of labels in a host",
        [("http://.éxamplé.com/résumé?q=résumé", "{}"), (LONG, "{}")],
    ),
)

SAFE = reasons(
    (
        "credentials stay as WHATWG writes them",
        [
            ('https://"%;<=>@^`{|}\x7f:"%;<=>@^`{|}\x7f:@example.com', "{}"),
            ("http://%user:%pass@host", "{}"),
            ("http://%26user:%26pass@host", "{}"),
            ("http://%25%26user:%25%26pass@host", "{}"),
        ],
    ),
    ("WHATWG knows no IPvFuture", [("http://[v6a.ip]", "{}")]),
    (
        "a path is UTF-8 in every document",
        [
            ("http://www.example.com/£", LATIN),
            ("http://www.example.com/£?unit=µ", LATIN),
            (
                "http://www.example.com/£?unit=µ",
                "{'encoding': 'latin-1', 'path_encoding': 'latin-1'}",
            ),
        ],
    ),
)


def w3lib(function):
    """(case, normal form, what w3lib returned or `None` if it raised), where the URL is text."""
    found = json.loads(need("urls/w3lib_cases.json").read_text("utf-8"))
    for case in found["cases"]:
        url, *others = case["args"] if case["fn"] == f"w3lib.url.{function}" else [None]
        if isinstance(url, str):
            options = case.get("kwargs", {})
            charset = options.get("encoding", others[0] if others else "utf-8")
            yield (url, str(options)), normal_of(url, charset), case.get("expected")


def test_w3lib_canonicalize_url():
    check("urls: canonicalize_url of w3lib", w3lib("canonicalize_url"), CANONICALIZE, at_least=78)


def test_w3lib_safe_url_string():
    judged = [
        (case, got, expected and normal_of(expected))
        for case, got, expected in w3lib("safe_url_string")
    ]
    check("urls: safe_url_string of w3lib", judged, SAFE, at_least=280)


def test_links_of_real_pages():
    found = json.loads(gzip.decompress(need("pages/real_pages_links.json.gz").read_bytes()))
    judged = [
        ((href, page["base"]), resolve(href, page["base"]), target and wire(target))
        for page in found["pages"]
        for _, href, target, *_ in page["links"]
    ]
    check("urls: links of real pages, resolved", judged, at_least=10_001)
