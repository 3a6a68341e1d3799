"""Whose a URL is and under which number it is known: key, host, origin, site and slot.

Every function here is a plain function of its text; the numbers are stored and must never change.
"""

from functools import cache, lru_cache

import mmh3
from tldextract import TLDExtract

SLOTS = 1024

# Hosts whose site is remembered: a worker meets far fewer at a time; about 200 bytes each.
_SITES = 16_384


def url_key(normal: str) -> int:
    """The signed 64-bit key of a normal form: the first half of MurmurHash3 x64 128."""
    return mmh3.hash64(normal)[0]


def slot_of(site: str) -> int:
    """The slot of a site, 0..1023."""
    return mmh3.hash(site) % SLOTS


def host_of(url: str) -> str:
    """The host of a wire URL, without the port and the root's dot; an IPv6 address keeps its brackets."""
    return without_root(_without_port(_authority(url).rpartition("@")[2]))


def without_root(host: str) -> str:
    """A hostname without the dot of the DNS root: `example.com.` is the same host (RFC 1034 §3.1).

    Whoever links to both must not have two queues and two clocks.
    """
    # Before another dot it is no root's: such a name is nobody's, and without both may be an IP address.
    return host[:-1] if host.endswith(".") and host[-2:-1] not in ("", ".") else host


def origin_of(url: str) -> str:
    """The origin of a wire URL as WHATWG serialises it: `https://example.org`, `http://example.org:8080`.

    The default port is not written, so the origin with a path behind it is a wire URL again.
    """
    return f"{url[: url.index('://')]}://{_authority(url).rpartition('@')[2]}"


@lru_cache(maxsize=_SITES)
def site_of(host: str) -> str:
    """The site of a host: its registrable domain by the Public Suffix List.

    The private section counts, so `alice.github.io` is a site. A host without such a domain is its
    own site: an IP address, a single label (`localhost`), a public suffix (`github.io`).
    """
    name = host.rstrip(".")
    if not name or host.startswith("["):
        return host
    return _extract()(name).top_domain_under_public_suffix or name


@cache
def _extract() -> TLDExtract:
    # The packaged list only: a host must have the same site on every machine, and no crawl starts
    # by asking publicsuffix.org or by writing a cache directory.
    return TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)


def _authority(url: str) -> str:
    rest = url[url.index("://") + 3 :]
    for delimiter in "/?#":
        rest = rest.partition(delimiter)[0]
    return rest


def _without_port(authority: str) -> str:
    if authority.startswith("["):
        return authority[: authority.index("]") + 1]
    return authority.partition(":")[0]
