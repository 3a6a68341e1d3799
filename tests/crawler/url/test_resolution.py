"""Resolution beside an independent implementation of the standard: rust-url, Servo's.

It departs from the standard, too. Every class of difference is listed with the section that decides it; there, and
nowhere else, may the two differ.
"""

import re
from collections import Counter

import pytest
import url as rust
from hypothesis import example, given

from crawler.url.wire import resolve
from tests.crawler.url.pieces import BASES, REFERENCES, bases, references
from tests.shared import tally

pytestmark = pytest.mark.conformance

_SPECIAL = re.compile(r"(?:https?|wss?|ftp|file):", re.IGNORECASE)
_WITH_PUNYCODE = re.compile(r"//(?:[^/?#]*[.@])?xn--", re.IGNORECASE)
_MANY_SLASHES = re.compile(r"[\0-\x20]*(?:[\t\n\r]*[/\\]){3}")
_DRIVE = re.compile(r"/[A-Za-z][:|](?=/|\Z)")
_NO_AUTHORITY = re.compile(r"[\0-\x20]*[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*(?::\\|@(?=[/?#:]|\Z))")


def by_rust(href, base):
    """The wire URL, or the error that rust-url has in its place."""
    try:
        found = str(rust.URL.parse(base).join(href))
    except rust.URLError as error:
        return error
    if not found.startswith(("http://", "https://")):
        return None
    path, mark, query = found.partition("#")[0].partition("?")
    return path + mark + query


def _punycode(href, base, ours, theirs):
    return isinstance(theirs, rust.IdnaError) and any(
        _WITH_PUNYCODE.search(text) for text in (base.replace("\\", "/"), ours)
    )


def _slashes(href, base, ours, theirs):
    return isinstance(theirs, rust.EmptyHost) and _MANY_SLASHES.match(href)


def _caret(href, base, ours, theirs):
    path, mark, query = theirs.partition("?") if isinstance(theirs, str) else ("", "", "")
    return ours == path.replace("^", "%5E") + mark + query


def _drive(href, base, ours, theirs):
    return isinstance(theirs, str) and _DRIVE.search(theirs) and ".." in base + href


def _authority(href, base, ours, theirs):
    return ours is None and not _SPECIAL.match(base) and _NO_AUTHORITY.match(base)


DIFFERENCES = {
    "an ASCII domain is kept as it is, whatever its xn-- labels decode to (URL §3.3, domain to ASCII)": _punycode,
    "of a special URL any number of slashes begins the authority (URL §4.4, special authority ignore slashes state)": (
        _slashes
    ),
    "^ is percent-encoded in a path (URL §1.3, path percent-encode set)": _caret,
    "only file URLs have drive letters, which .. does not shorten away (URL §4.2, shorten a URL's path)": _drive,
    "a backslash does not end the port, nor credentials alone the authority, of a URL that is not special "
    "(URL §4.4, port state and authority state)": _authority,
}


def difference(href, base):
    """Why the two differ, or `None` if they agree; a difference without a reason fails."""
    ours, theirs = resolve(href, base), by_rust(href, base)
    if ours == theirs or (ours is None and isinstance(theirs, rust.URLError)):
        return None
    for reason, explains in DIFFERENCES.items():
        if explains(href, base, ours, theirs):
            return reason
    raise AssertionError((href, base, ours, theirs))


@pytest.mark.slow
def test_every_reference_of_the_platform_tests_against_every_base():
    found = Counter(difference(href, base) for base in BASES for href in REFERENCES)
    cases = len(BASES) * len(REFERENCES)
    assert cases > 400_000
    passed = found.pop(None)
    assert found.total() < cases / 50
    tally("urls: references against bases, beside rust-url", cases, passed, found)


@given(references, bases)
@example("///test", "http://example.org/")
@example("a^b?a^b", "http://example.org/")
@example("/d:/..", "http://example.org/")
@example("", "http://example.org/a/c:/..")
@example("x", "http://xn--/")
@example("http://a/", "foo://h:\\80/")
def test_references_made_of_theirs_against_such_bases(href, base):
    difference(href, base)
