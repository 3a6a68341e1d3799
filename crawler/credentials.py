"""Values of the configuration that must not be seen: they are never printed, logged or written down.

Each checks itself; what is said about a bad one does not repeat it. Written to a record they are
masked, or are what remains of them without the secret, and such a record can be read again.
"""

import re
from ipaddress import ip_address
from typing import Annotated
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, PlainSerializer, SecretStr

PROXY_SCHEMES = ("http", "https", "socks5", "socks5h")

# The framing of a request, and whom it is for, are not a setting.
_FRAMING = frozenset({"host", "content-length", "transfer-encoding", "connection"})

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110 §5.6.2
_VALUE = re.compile(r"[\t\x20-\x7e]*")
_COOKIE = re.compile(r"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*")  # RFC 6265 §4.1.1

_MASK = "**********"


def _header_name(name: str) -> str:
    if not _TOKEN.fullmatch(name) or name.lower() in _FRAMING:
        message = "not the name of a header that may be set"
        raise ValueError(message)
    return name


def _cookie_name(name: str) -> str:
    if not _TOKEN.fullmatch(name):
        message = "not the name of a cookie"
        raise ValueError(message)
    return name


def _header_value(value: SecretStr) -> SecretStr:
    if not _VALUE.fullmatch(value.get_secret_value()):
        message = "a header's value is one line of printable ASCII"
        raise ValueError(message)
    return value


def _cookie_value(value: SecretStr) -> SecretStr:
    if not _COOKIE.fullmatch(value.get_secret_value()):
        message = "a cookie's value has no spaces, quotes, commas, semicolons or backslashes"
        raise ValueError(message)
    return value


def _auth(value: SecretStr) -> SecretStr:
    user, colon, _ = value.get_secret_value().partition(":")
    if not colon or not user or not value.get_secret_value().isprintable():
        message = "expected user:password"
        raise ValueError(message)
    return value


def _proxy(value: SecretStr) -> SecretStr:
    try:
        parts = urlsplit(value.get_secret_value())
        usable = parts.scheme in PROXY_SCHEMES and parts.port != 0 and _is_host(parts.hostname)
    except ValueError:
        usable = False
    else:
        usable = usable and parts.path in ("", "/") and not parts.query and not parts.fragment
    if not usable:
        message = "expected http://, https://, socks5:// or socks5h://, then host:port"
        raise ValueError(message)
    return value


def _is_host(name: str | None) -> bool:
    """Whether it is a name or an address; raises `ValueError` for what ends in a number and is none (`127.1`)."""
    if name and (":" in name or name.rpartition(".")[2].isdigit()):
        ip_address(name)
    return bool(name)


def _without_password(value: SecretStr) -> str:
    return f"{value.get_secret_value().partition(':')[0]}:{_MASK}"


def _without_credentials(value: SecretStr) -> str:
    parts: SplitResult = urlsplit(value.get_secret_value())
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


HeaderName = Annotated[str, AfterValidator(_header_name)]
CookieName = Annotated[str, AfterValidator(_cookie_name)]
HeaderValue = Annotated[SecretStr, AfterValidator(_header_value)]
CookieValue = Annotated[SecretStr, AfterValidator(_cookie_value)]
Auth = Annotated[SecretStr, AfterValidator(_auth), PlainSerializer(_without_password)]
Proxy = Annotated[SecretStr, AfterValidator(_proxy), PlainSerializer(_without_credentials)]
