"""Decisions about one exchange."""

import math
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from crawler.config import Config
from crawler.fetch import exchange
from crawler.fetch.exchange import Head, drains, head_verdict, retry_after, too_slow
from crawler.outcomes import Kind

PAGE = exchange.page_limits(Config())
URL = "http://a.example/dir/page"


def verdict(status, limits=PAGE, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return head_verdict(URL, status, CIMultiDict(named), limits)


def test_not_modified_is_an_answer_only_to_who_has_a_version():
    assert head_verdict(URL, 304, CIMultiDict(), PAGE, conditional=True) == Head(Kind.NOT_MODIFIED)
    assert head_verdict(URL, 200, CIMultiDict(), PAGE, conditional=True).kind is Kind.FETCHED


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (200, Kind.FETCHED),
        (203, Kind.FETCHED),
        (206, Kind.FETCHED),
        (300, Kind.HTTP_ERROR),
        (304, Kind.HTTP_ERROR),
        (305, Kind.HTTP_ERROR),
        (306, Kind.HTTP_ERROR),
        (404, Kind.HTTP_ERROR),
        (429, Kind.HTTP_ERROR),
        (503, Kind.HTTP_ERROR),
        (999, Kind.HTTP_ERROR),
    ],
)
def test_a_status_has_a_kind_and_only_a_page_is_read(status, kind):
    head = verdict(status, location="/x", content_type="text/html")
    assert head.kind is kind
    assert head.read is (kind is Kind.FETCHED)


@pytest.mark.parametrize(
    ("content_type", "wanted"),
    [
        ("text/html", True),
        ("TEXT/HTML; charset=utf-8", True),
        ("application/xhtml+xml;x", True),
        ("", True),
        ("; charset=utf-8", True),
        ("text/html charset=utf-8", True),
        ("text/html, text/html", True),
        ("html", True),
        ("image/png", False),
        ("text/htmlx", False),
        ("application/pdf", True),
        ("application/zip", False),
    ],
)
def test_a_media_type_outside_the_list_is_excluded_unread(content_type, wanted):
    head = verdict(200, content_type=content_type)
    assert head.kind is (Kind.FETCHED if wanted else Kind.EXCLUDED_TYPE)
    assert head.read is wanted


def test_a_missing_media_type_is_read():
    assert verdict(200).read


def test_a_robots_txt_may_have_any_media_type():
    assert verdict(200, exchange.robots_limits(Config()), content_type="image/png").read


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_names_its_target_as_a_wire_url(status):
    head = verdict(status, location="../other?q=1#part")
    assert head.kind is Kind.REDIRECT
    assert head.redirect_to == "http://a.example/other?q=1"
    assert not head.read


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/caf\udcc3\udca9", "http://a.example/caf%C3%A9"),
        ("/caf\udce9", "http://a.example/caf%E9"),
        ("/café", "http://a.example/caf%C3%A9"),
        ("//b.example", "http://b.example/"),
        ("  https://b.example/x  ", "https://b.example/x"),
        ("", URL),
    ],
)
def test_the_octets_of_a_location_are_kept(location, target):
    assert verdict(302, location=location).redirect_to == target


@pytest.mark.parametrize("location", ["ftp://a.example/", "http://[bad/", "javascript:void(0)"])
def test_a_redirect_out_of_the_web_is_an_error(location):
    head = verdict(302, location=location)
    assert head.kind is Kind.HTTP_ERROR
    assert location in head.error


def test_a_redirect_without_a_location_is_an_error():
    head = verdict(301)
    assert (head.kind, head.error) == (Kind.HTTP_ERROR, "redirect without a Location")


@pytest.mark.parametrize(
    ("kind", "length", "worth"),
    [
        (Kind.HTTP_ERROR, "100", True),
        (Kind.EXCLUDED_TYPE, "100", True),
        (Kind.HTTP_ERROR, str(exchange.DRAIN + 1), False),
        (Kind.HTTP_ERROR, None, True),
        (Kind.EXCLUDED_TYPE, None, False),
        (Kind.REDIRECT, "many", True),
    ],
)
def test_a_short_body_is_read_for_the_sake_of_the_connection(kind, length, worth):
    assert drains(kind, length) is worth


def test_a_body_is_judged_by_its_rate_after_the_grace():
    assert not too_slow(0, exchange.SPEED_GRACE, 64)
    assert too_slow(639, 10.0, 64)
    assert not too_slow(640, 10.0, 64)
    assert not too_slow(0, 10.0, 0)


NOW = 784111777.0  # Sun, 06 Nov 1994 08:49:37 GMT, the RFC's own example


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("Sun, 06 Nov 1994 08:50:37 GMT", 60.0),
        ("Sunday, 06-Nov-94 08:50:37 GMT", 60.0),
        ("Sun Nov  6 08:50:37 1994", 60.0),
        ("Sun, 06 Nov 1994 09:50:37 +0100", 60.0),
        ("Sat, 05 Nov 1994 08:49:37 GMT", 0.0),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("", None),
        ("٣", None),
        ("99999999999999999999", 1e20),
        ("9" * 400, math.inf),
        ("Sun, 99 Nov 1994 08:50:37 GMT", None),
        (None, None),
    ],
)
def test_retry_after_in_seconds_or_as_a_date(value, seconds):
    assert retry_after(value, NOW) == seconds


@given(st.text(alphabet=st.sampled_from(string.printable + "é\udce9"), max_size=60))
def test_retry_after_never_fails_and_is_never_negative(value):
    seconds = retry_after(value, NOW)
    assert seconds is None or seconds >= 0


VALUES = st.one_of(
    st.none(),
    st.binary(max_size=60).map(lambda octets: octets.decode("utf-8", "surrogateescape")),
    st.text("htps:/.?#@[]%\\ a\t\udcff;=,*", max_size=30),
)


@given(st.integers(-1, 1000), VALUES, VALUES)
def test_any_head_has_a_verdict_and_only_a_web_page_is_a_target(status, location, content_type):
    named = {"Location": location, "Content-Type": content_type}
    headers = CIMultiDict({name: value for name, value in named.items() if value is not None})
    head = head_verdict(URL, status, headers, PAGE)
    assert head.read is (head.kind is Kind.FETCHED)
    assert (head.redirect_to is not None) is (head.kind is Kind.REDIRECT)
    assert head.redirect_to is None or head.redirect_to.isascii()
    assert (head.error or "").isascii()
    assert drains(head.kind, location) in (True, False)
