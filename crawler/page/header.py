"""The headers that hold links; `Link` by RFC 8288, parsed as its appendix B.2 says, forgiving what that forgives.

Knows header values; knows nothing of URLs and of what a relation means.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import unquote

_BETWEEN = re.compile(r"[\s,]*")
_TARGET = re.compile(r"<([^>]*)>")
# A parameter: its name, and its value in quotes or without.
_PARAMETER = re.compile(
    r"\s*;\s*([^\s=;,\"<>]*)\s*(?:=\s*(?:\"((?:[^\"\\]|\\.)*+)\"?|([^\s;,\"]*)))?", re.DOTALL
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_NEXT = re.compile(r"[^,\"]*(?:\"(?:[^\"\\]|\\.)*+\"?[^,\"]*)*+,", re.DOTALL)


class LinkHeaders(NamedTuple):
    """The values of an answer's `Link` headers, and of its `Refresh` headers (HTML section 4.2.5.3 reads one)."""

    links: Sequence[str] = ()
    refreshes: Sequence[str] = ()


NO_HEADERS = LinkHeaders()


class HeaderLink(NamedTuple):
    """One link, as written. `rel` in lower case; what is not said is empty, but a missing `anchor` is `None`."""

    href: str
    rel: str
    anchor: str | None
    hreflang: str
    media: str
    title: str


def parse_links(values: Iterable[str]) -> Iterator[HeaderLink]:
    """The links of all `Link` headers of an answer, in order. What is no link is passed over, up to the next comma."""
    for value in values:
        at = 0
        while between := _BETWEEN.match(value, at):
            at = between.end()
            # No target ends here: looked for at each of 64 kB of commas, that took ten seconds.
            if value.find(">", at) < 0:
                break
            if target := _TARGET.match(value, at):
                said, at = _parameters(value, target.end())
                yield HeaderLink(
                    target[1].strip(),
                    " ".join(said.get("rel", "").lower().split()),
                    said.get("anchor"),
                    said.get("hreflang", "").strip(),
                    said.get("type", ""),
                    _decoded(said.get("title*", "")) or said.get("title", ""),
                )
            following = _NEXT.match(value, at)
            at = following.end() if following else len(value)


def _parameters(value: str, at: int) -> tuple[dict[str, str], int]:
    """The parameters that begin here, of several with a name the first; and where they end."""
    said: dict[str, str] = {}
    while parameter := _PARAMETER.match(value, at):
        name, quoted, token = parameter.groups()
        text = token or "" if quoted is None else _ESCAPED.sub(r"\1", quoted)
        said.setdefault(name.lower(), text)
        at = parameter.end()
    return said, at


def _decoded(text: str) -> str:
    """An extended value (RFC 8187): `UTF-8'en'%e2%82%ac`."""
    charset, _, rest = text.partition("'")
    _, quote, encoded = rest.partition("'")
    return unquote(encoded, errors="replace") if quote and charset.lower() == "utf-8" else ""
