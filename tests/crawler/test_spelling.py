"""Names and addresses in a configuration: one spelling each, and one clear line for what is none."""

import pytest

from crawler.errors import ConfigError
from crawler.loading import load


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("10.0.0.53", "10.0.0.53:53"),
        ("10.0.0.53:5353", "10.0.0.53:5353"),
        ("::1", "[::1]:53"),
        ("[::1]", "[::1]:53"),
        ("[::1]:5353", "[::1]:5353"),
        ("fe80::1%lo", "[fe80::1%lo]:53"),
    ],
)
def test_name_servers(given, kept):
    assert load(None, {"dns.nameservers": [given]}).dns.nameservers == (kept,)


def test_overrides():
    given = {"A.Example.": "::1", "b.example": ["192.0.2.1", "192.0.2.2"]}
    kept = {"a.example": ("::1",), "b.example": ("192.0.2.1", "192.0.2.2")}
    assert load(None, {"dns.overrides": given}).dns.overrides == kept


def test_networks():
    given = ["10.1.2.3/8", "::1", "fd00::/8"]
    kept = ("10.0.0.0/8", "::1/128", "fd00::/8")
    assert load(None, {"fetch.allow_networks": given}).fetch.allow_networks == kept


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"dns.nameservers": ["ns.example"]}, "dns.nameservers.0: 'ns.example' does not appear to be an IPv4 or IPv6"),
        ({"dns.nameservers": ["10.0.0.53:0"]}, "dns.nameservers.0: '0' is not a port (found '10.0.0.53:0')"),
        ({"dns.nameservers": ["10.0.0.53:65536"]}, "'65536' is not a port"),
        ({"dns.nameservers": ["[::1]x"]}, "'x' is not a port"),
        ({"dns.nameservers": [""]}, "dns.nameservers.0: '' does not appear to be"),
        ({"dns.overrides": {"a": "1.2.3"}}, "dns.overrides.a: '1.2.3' does not appear to be"),
        ({"dns.overrides": {"a": []}}, "dns.overrides.a: not an address, nor a list of addresses (found [])"),
        ({"dns.overrides": {"a": [7]}}, "dns.overrides.a: '7' does not appear to be"),
        ({"dns.overrides": {"bücher.example": "::1"}}, "not a host name as it stands in URLs"),
        ({"dns.overrides": {".": "::1"}}, "not a host name as it stands in URLs"),
        ({"dns.min_ttl": 7200}, "dns.max_ttl: less than dns.min_ttl (found 3600.0)"),
        ({"dns.timeout": 0}, "dns.timeout: Input should be greater than 0 (found 0)"),
        ({"dns.concurrency": 0}, "dns.concurrency: Input should be greater than or equal to 1"),
        ({"fetch.allow_networks": ["10.0.0.0/99"]}, "fetch.allow_networks.0: '10.0.0.0/99' does not appear to be"),
    ],
)  # fmt: skip
def test_what_is_none_is_told_in_one_line(options, told):
    with pytest.raises(ConfigError) as refused:
        load(None, options)
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


def test_they_survive_their_own_text():
    options = {
        "dns.nameservers": ["::1"],
        "dns.overrides": {"A.": ["::1"]},
        "fetch.allow_networks": ["::1"],
    }
    config = load(None, options)
    assert type(config).model_validate_json(config.model_dump_json()) == config
