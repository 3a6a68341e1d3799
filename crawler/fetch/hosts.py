"""What is sent to one host and how it is reached: the configuration's per-host settings, looked up.

Pure. A setting belongs to the host it is written for and to no other.
"""

from base64 import b64encode
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from pydantic import SecretStr

from crawler.config import Fetch, HostFetch


class Proxy:
    """One proxy, ready for use. Its text shows no credentials."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.scheme = parts.scheme
        self.host = parts.hostname or ""
        ports = {"http": 80, "https": 443}
        self.port = parts.port or ports.get(self.scheme, 1080)
        self.user = unquote(parts.username) if parts.username is not None else None
        self.password = unquote(parts.password or "")

    def __repr__(self) -> str:
        return f"<Proxy {self.url}>"

    @cached_property
    def socks(self) -> bool:
        """Whether it speaks SOCKS, not HTTP."""
        return self.scheme.startswith("socks")

    @cached_property
    def url(self) -> str:
        """Where it is, without credentials."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @cached_property
    def headers(self) -> dict[str, str]:
        """What an HTTP proxy is told besides the request."""
        if self.user is None:
            return {}
        return {"Proxy-Authorization": _basic(f"{self.user}:{self.password}")}


class Settings(NamedTuple):
    """How requests to one host are made."""

    headers: Mapping[str, str]
    proxy: Proxy | None
    verify: bool


class Hosts:
    """The settings of every host."""

    def __init__(self, fetch: Fetch) -> None:
        self._proxy = _proxy(fetch.proxy)
        self._default = Settings({}, self._proxy, verify=True)
        self._named = {name: self._settings(host) for name, host in fetch.hosts.items()}

    def of(self, hostname: str) -> Settings:
        """The settings of the longest name that fits `hostname`, else those of all."""
        if not self._named:
            return self._default
        found = self._named.get(hostname)
        below = f".{hostname}"
        while found is None and below:
            found = self._named.get(below)
            dot = below.find(".", 1)
            below = below[dot:] if dot > 0 else ""
        return found or self._default

    def _settings(self, host: HostFetch) -> Settings:
        headers = {name: value.get_secret_value() for name, value in host.headers.items()}
        if host.auth is not None:
            headers["Authorization"] = _basic(host.auth.get_secret_value())
        if host.cookies:
            cookies = host.cookies.items()
            headers["Cookie"] = "; ".join(f"{n}={value.get_secret_value()}" for n, value in cookies)
        return Settings(headers, _proxy(host.proxy) or self._proxy, host.verify_tls)


def _proxy(url: SecretStr | None) -> Proxy | None:
    return None if url is None else Proxy(url.get_secret_value())


def authorized(headers: Mapping[str, str], user: str, password: str) -> dict[str, str]:
    """`headers` for a request whose URL has credentials (as they stand in it): these go before the settings'."""
    others = {name: value for name, value in headers.items() if name.lower() != "authorization"}
    return {**others, "Authorization": _basic(unquote_to_bytes(f"{user}:{password}"))}


def _basic(credentials: str | bytes) -> str:
    if isinstance(credentials, str):
        credentials = credentials.encode()
    return f"Basic {b64encode(credentials).decode('ascii')}"
