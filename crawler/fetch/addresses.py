"""Which addresses a crawler may connect to: public ones, unless the configuration opens more.

Pure. It judges an address alone; that every connect passes here is the client's business.
"""

from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

from crawler.config import Fetch

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# The IANA special-purpose registries, written out: `ipaddress.is_global` changed its mind between
# patch releases.
_REFUSED_4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network; 0.0.0.0 reaches the machine itself
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT, and where some clouds keep their metadata
        "127.0.0.0/8",
        "169.254.0.0/16",  # link-local, cloud metadata
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
# The only unicast space that IANA has given out. Outside lie ::, ::1, IPv4-compatible and -translated addresses,
# the local-use NAT64 prefix, discard-only, SRv6, unique local, link-local, site-local and multicast ones.
_GLOBAL_6 = IPv6Network("2000::/3")
_REFUSED_6 = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments: Teredo, ORCHID, benchmarking …
        "2001:db8::/32",
        "2620:4f:8000::/48",  # AS112
        "3ffe::/16",  # the 6bone, given back (RFC 3701)
        "3fff::/20",
    )
)
_NAT64 = IPv6Network("64:ff9b::/96")
# The upper half of an interface identifier that names an IPv4 address (ISATAP, RFC 5214 §6.1).
_ISATAP = frozenset({0x00005EFE, 0x02005EFE})
_32_BITS = 0xFFFFFFFF


def allowed(ip: str, fetch: Fetch) -> bool:
    """Whether a connection to `ip` (a literal, perhaps with a zone) may be made."""
    if fetch.allow_private:
        return True
    address = ip_address(ip.partition("%")[0])
    inner = _embedded(address)
    networks = _opened(fetch.allow_networks)
    if any(address in network or inner in network for network in networks):
        return True
    return _public(inner) and not _tunnels_inward(address)


@lru_cache(maxsize=16)
def _opened(networks: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(ip_network(text) for text in networks)


def _public(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _REFUSED_4)
    return address in _GLOBAL_6 and not any(address in network for network in _REFUSED_6)


def _tunnels_inward(address: Address) -> bool:
    """Whether a router that speaks ISATAP would send it on to an IPv4 address that is not public."""
    number = int(address)
    if isinstance(address, IPv4Address) or number >> 32 & _32_BITS not in _ISATAP:
        return False
    return not _public(IPv4Address(number & _32_BITS))


def _embedded(address: Address) -> Address:
    """Where an IPv6 address leads: mapped (RFC 4291 §2.5.5.2), 6to4 (3056), NAT64 (6052)."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & _32_BITS)
    return address.ipv4_mapped or address.sixtofour or address
