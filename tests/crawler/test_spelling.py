"""Names and addresses in a configuration: one spelling each, and one clear line for what is none."""

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@pytest.mark.parametrize("table", ["politeness.hosts", "fetch.hosts", "dns.overrides"])
@pytest.mark.parametrize(
    "name", ["https://a.example", "a.example:80", "*.a.example", "bücher.example", ""]
)
def test_a_name_that_no_host_has_is_refused(table, name):
    value = "::1" if table == "dns.overrides" else {}
    with pytest.raises(ConfigError, match="as it stands in URLs"):
        load(None, {table: {name: value}})


@pytest.mark.parametrize("table", ["politeness.hosts", "fetch.hosts"])
def test_no_host_ends_with_the_dot_of_the_root(table):
    with pytest.raises(ConfigError, match="as it stands in URLs"):
        load(None, {table: {"a.example.": {}}})


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
        ({"politeness.hosts": {"A.example": {}}}, "politeness.hosts.A.example.[key]: expected a lower-case hostname"),
        ({"politeness.hosts": {"a.example:80": {}}}, "politeness.hosts.a.example:80.[key]: expected a lower-case"),
        ({"politeness.hosts": {".a.example": {}}}, "expected the name of one host (found '.a.example')"),
        ({"politeness.hosts": {"bücher.example": {}}}, "expected a lower-case hostname"),
        ({"fetch.hosts": {"bücher.example": {}}}, "expected a lower-case hostname"),
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


ADDRESSES = st.one_of(
    st.text("0123456789abcdef:.[]/% x\n\u0661", max_size=20),
    st.text(max_size=12),
    st.ip_addresses().map(str),
    st.tuples(st.ip_addresses(v=6), st.integers(0, 70_000)).map("[{0[0]}]:{0[1]}".format),
)


def loaded(key, value):
    """What is made of it, or `None` if it is refused, in one line."""
    try:
        return load(None, {key: value})
    except ConfigError as error:
        refused = str(error)
    assert "\n" not in refused
    return None


@given(ADDRESSES)
def test_any_text_is_an_address_in_one_spelling_or_refused(text):
    if config := loaded("dns.nameservers", [text]):
        (kept,) = config.dns.nameservers
        ip, _, port = kept.rpartition(":")
        ip_address(ip.strip("[]"))
        assert 0 < int(port) < 1 << 16
        assert loaded("dns.nameservers", [kept]) == config
    if config := loaded("fetch.allow_networks", [text]):
        (kept,) = config.fetch.allow_networks
        assert str(ip_network(kept)) == kept
    if config := loaded("dns.overrides", {text: text}):
        ((name, kept),) = config.dns.overrides.items()
        assert loaded("dns.overrides", {name: kept}) == config
