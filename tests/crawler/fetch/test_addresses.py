"""Which addresses may be connected to."""

from ipaddress import IPv6Address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.config import Fetch
from crawler.fetch.addresses import allowed

PUBLIC = ["8.8.8.8", "93.184.216.34", "100.63.255.255", "172.15.0.1", "172.32.0.1", "223.255.255.1",
          "2606:4700::1111", "2a00:1450::1", "2001:4860:4860::8888", "::ffff:8.8.8.8",
          "64:ff9b::808:808", "2002:808:808::1", "2606:4700:1:2:0:5efe:808:808"]  # fmt: skip
REFUSED = ["0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1",
           "127.255.255.255", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192",
           "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.7", "203.0.113.9",
           "224.0.0.1", "240.0.0.1", "255.255.255.255",
           "::", "::1", "::7f00:1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1",
           "2001:db8::1", "3fff::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "100::1",
           "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "64:ff9b:1::808:808",
           "2002:7f00:1::1", "2002:a9fe:a9fe::1", "4000::1", "5f00::1",
           "0.0.0.0%1", "::%lo", "192.0.0.9", "192.31.196.1", "192.52.193.1", "192.175.48.1", "233.252.0.1",
           "::ffff:0:127.0.0.1", "::ffff:0.0.0.0", "::ffff:255.255.255.255", "::ffff:224.0.0.1",
           "64:ff9b::", "64:ff9b::e000:1", "64:ff9b::ffff:ffff", "2002::1", "2002:e000:1::1", "2002:ffff:ffff::1",
           "fec0::1", "feff::1", "100:0:0:1::1", "2001:2::1", "2001:10::1", "2001:20::1", "2001:30::1", "2001:1::1",
           "2620:4f:8000::1", "3ffe::1", "ff0e::1", "ff02::1%lo",
           "2606:4700:1:2:0:5efe:7f00:1", "2606:4700:1:2:200:5efe:a00:1",
           "2002:808:808:0:0:5efe:7f00:1"]  # fmt: skip


@pytest.mark.parametrize("ip", PUBLIC)
def test_public_addresses_are_allowed(ip):
    assert allowed(ip, Fetch())


@pytest.mark.parametrize("ip", REFUSED)
def test_all_others_are_refused_unless_opened(ip):
    assert not allowed(ip, Fetch())
    assert allowed(ip, Fetch(allow_private=True))


@pytest.mark.parametrize("ip", ["10.1.2.3", "::ffff:10.1.2.3", "64:ff9b::a01:203", "fd00::7"])
def test_a_network_is_opened_and_nothing_beside_it(ip):
    fetch = Fetch(allow_networks=("10.1.0.0/16", "fd00::/64"))
    assert allowed(ip, fetch)
    assert not allowed("10.2.0.1", fetch)
    assert not allowed("fd00:0:0:1::1", fetch)


@given(st.ip_addresses(v=4))
def test_no_address_gets_in_by_another_spelling(ip):
    number = int(ip)
    spelled = [
        f"::ffff:{ip}",
        str(IPv6Address((0x64FF9B << 96) | number)),
        str(IPv6Address((0x2002 << 112) | (number << 80) | 1)),
    ]
    assert all(allowed(text, Fetch()) is allowed(str(ip), Fetch()) for text in spelled)


@given(st.ip_addresses(v=4))
def test_what_is_allowed_is_global(ip):
    if allowed(str(ip), Fetch()):
        assert ip.is_global
        assert not ip.is_multicast
        assert not ip.is_reserved
        assert ip not in ip_network("100.64.0.0/10")


def test_the_bounds_of_a_network_belong_to_it():
    inside = ["10.0.0.0", "10.255.255.255", "172.31.255.255", "192.168.255.255"]
    outside = ["9.255.255.255", "11.0.0.0", "172.32.0.0", "192.169.0.0"]
    assert not any(allowed(ip, Fetch()) for ip in inside)
    assert all(allowed(ip, Fetch()) for ip in outside)
