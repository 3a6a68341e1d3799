import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.url.keys import SLOTS, _extract, host_of, origin_of, site_of, slot_of, url_key
from crawler.url.wire import wire


def test_keys_and_slots_never_change():
    # They are stored: another number would make every resumed crawl start anew.
    assert url_key("https://example.org/") == 4950731495729397326
    assert slot_of("example.org") == 223


@given(st.text(st.characters(codec="utf-8")))
def test_keys_are_signed_64_bit_and_slots_are_in_range(text):
    assert -(2**63) <= url_key(text) < 2**63
    assert 0 <= slot_of(text) < SLOTS


@pytest.mark.parametrize(
    ("url", "host", "origin"),
    [
        ("http://a.example/", "a.example", "http://a.example"),
        ("https://a.example:8443/b:c@d/", "a.example", "https://a.example:8443"),
        ("http://u:p@a.example:81/?e@f", "a.example", "http://a.example:81"),
        ("http://[2001:db8::1]:81/", "[2001:db8::1]", "http://[2001:db8::1]:81"),
        ("http://[2001:db8::1]/", "[2001:db8::1]", "http://[2001:db8::1]"),
        ("http://127.0.0.1/", "127.0.0.1", "http://127.0.0.1"),
        # The dot of the root is sent, and makes no other host.
        ("http://a.example.:81/", "a.example", "http://a.example.:81"),
        ("http://./", ".", "http://."),
        ("http://a.example../", "a.example..", "http://a.example.."),
    ],
)
def test_host_and_origin(url, host, origin):
    assert wire(url) == url
    assert host_of(url) == host
    assert origin_of(url) == origin
    assert wire(f"{origin_of(url)}/robots.txt") == f"{origin}/robots.txt"


@pytest.mark.parametrize("text", ["", "a/b", "mailto:a@example.org"])
def test_text_without_an_authority_is_refused(text):
    with pytest.raises(ValueError, match="substring not found"):
        host_of(text)
    with pytest.raises(ValueError, match="substring not found"):
        origin_of(text)


@pytest.mark.parametrize(
    ("host", "site"),
    [
        ("example.org", "example.org"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("alice.github.io", "alice.github.io"),
        ("www.alice.github.io", "alice.github.io"),
        ("www.example.org.", "example.org"),
        ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
        # their own sites
        ("localhost", "localhost"),
        ("github.io", "github.io"),
        ("co.uk", "co.uk"),
        ("127.0.0.1", "127.0.0.1"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("server.unknown-suffix", "server.unknown-suffix"),
        (".", "."),
        ("", ""),
    ],
)
def test_site(host, site):
    assert site_of(host) == site
    assert site_of(site) == site


def test_the_public_suffix_list_comes_from_the_package(monkeypatch, tmp_path):
    def no_network(*arguments, **options):
        pytest.fail("a socket was opened")

    monkeypatch.setattr(socket, "socket", no_network)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TLDEXTRACT_CACHE", str(tmp_path))
    _extract.cache_clear()
    site_of.cache_clear()
    assert site_of("a.example.com") == "example.com"
    assert list(tmp_path.iterdir()) == []
