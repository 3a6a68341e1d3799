"""Names and addresses as people write them in a configuration, made one spelling. Bad ones raise `ValueError`."""

from ipaddress import ip_address, ip_network
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator


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
    if not name or not name.isascii():
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


# `IP:port` or `[IPv6]:port`.
NameServer = Annotated[str, AfterValidator(_nameserver)]

# A name in lower case, without a dot at its end.
Name = Annotated[str, AfterValidator(_name)]

Addresses = Annotated[tuple[str, ...], BeforeValidator(_addresses)]

# `IP/bits`; the bits of the host do not matter.
Network = Annotated[str, AfterValidator(_network)]
