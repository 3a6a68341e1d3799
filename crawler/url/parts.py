"""A URL taken apart, so that the normal form's steps and the scope's rules need not parse again.

Splitting is not validating: it is for wire URLs, which the WHATWG parser has already accepted.
"""

import re
from typing import NamedTuple

_SPLIT = re.compile(
    r"([A-Za-z][A-Za-z0-9+.-]*)://(?:([^/?#@]*)@)?(\[[^\]/?#]*\]|[^:/?#@\[\]]*)(?::([0-9]*))?"
    r"(?=[/?#]|\Z)([^?#]*)(?:\?([^#]*))?(?:#(.*))?\Z",
    re.DOTALL,
)


class Parts(NamedTuple):
    """The parts of an absolute URL, each as written; what is absent is the empty string.

    So an empty query (`/?`), userinfo, port or fragment is the same as none.
    """

    scheme: str
    userinfo: str
    host: str
    port: str
    path: str
    query: str
    fragment: str


def split(url: str) -> Parts | None:
    """The parts of an absolute URL with an authority (RFC 3986 §3); `None` for any other text."""
    match = _SPLIT.match(url)
    return Parts._make(match.groups("")) if match else None


def join(parts: Parts) -> str:
    """The URL of the parts: `split` undone, except that empty parts leave no delimiter behind."""
    scheme, userinfo, host, port, path, query, fragment = parts
    url = f"{scheme}://{userinfo}@{host}" if userinfo else f"{scheme}://{host}"
    if port:
        url = f"{url}:{port}"
    url = f"{url}{path}?{query}" if query else url + path
    return f"{url}#{fragment}" if fragment else url
