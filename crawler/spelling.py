"""Names, addresses and patterns as people write them in a configuration. Bad ones raise `ValueError`.

Of a name or an address one spelling is kept, whichever was written.
"""

import re
from ipaddress import ip_address, ip_network
from typing import Annotated, Any

import re2
from pydantic import AfterValidator, BeforeValidator

# RE2 would write its own line about a bad pattern; the user gets one from us.
_QUIET = re2.Options()
_QUIET.log_errors = False

# Its first word is the product token of RFC 9309 §2.2.1.
_USER_AGENT = re.compile(r"[A-Za-z_-]+[\x20-\x7e]*")


def _nameserver(text: str) -> str:
    ip, port = text, "53"
    if text.startswith("["):
        ip, _, rest = text[1:].partition("]")
        port = rest.removeprefix(":") if rest else port
    elif text.count(":") == 1:
        ip, port = text.split(":")
    ip_address(ip)
    if not (port.isascii() and port.isdecimal() and 0 < int(port) < 1 << 16):
        message = f"{port!r} is not a port"
        raise ValueError(message)
    return f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}"


def _name(text: str) -> str:
    name = text.rstrip(".").lower()
    if name.startswith(".") or not _is_host(name):
        message = "not a host name as it stands in URLs"
        raise ValueError(message)
    return name


def _addresses(value: Any) -> Any:
    """One address or several."""
    given = (value,) if isinstance(value, str) else value
    if not isinstance(given, (list, tuple)) or not given:
        message = "not an address, nor a list of addresses"
        raise ValueError(message)
    return tuple(str(ip_address(str(ip))) for ip in given)


def _network(text: str) -> str:
    return str(ip_network(text, strict=False))


def _compiles(pattern: str) -> str:
    try:
        re2.compile(pattern, _QUIET)
    except re2.error as error:
        message = f"not a regular expression RE2 knows: {error.args[0].decode(errors='replace')}"
        raise ValueError(message) from None
    return pattern


def _user_agent(text: str) -> str:
    if not _USER_AGENT.fullmatch(text):
        message = "expected ASCII in one line that begins with the crawler's name (letters, - or _), as mybot/1.0"
        raise ValueError(message)
    return text


def _hostname(name: str) -> str:
    bare = name.removeprefix(".")
    if bare != bare.lower() or not _is_host(bare):
        message = "expected a lower-case hostname as it stands in URLs"
        raise ValueError(message)
    return name


def _one_hostname(name: str) -> str:
    if name.startswith("."):
        message = "expected the name of one host"
        raise ValueError(message)
    return _hostname(name)


def _is_host(name: str) -> bool:
    """Whether a URL can have it as its host: what is no such name fits nothing, and its setting is for nobody."""
    foreign = "/@ *?" if name.startswith("[") else "/@ *?:"
    return name.isascii() and name[-1:] not in ("", ".") and set(name).isdisjoint(foreign)


# What a header can hold, and robots.txt can name.
UserAgent = Annotated[str, AfterValidator(_user_agent)]

# `IP:port` or `[IPv6]:port`.
NameServer = Annotated[str, AfterValidator(_nameserver)]

# A name in lower case, without a dot at its end.
Name = Annotated[str, AfterValidator(_name)]

Addresses = Annotated[tuple[str, ...], BeforeValidator(_addresses)]

# `IP/bits`; the bits of the host do not matter.
Network = Annotated[str, AfterValidator(_network)]

# Searched anywhere in a text, in linear time.
Pattern = Annotated[str, AfterValidator(_compiles)]

# A host as it stands in URLs.
Hostname = Annotated[str, AfterValidator(_one_hostname)]

# The same; with a dot before it, also all below it.
HostPattern = Annotated[str, AfterValidator(_hostname)]
