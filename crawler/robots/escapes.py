"""One spelling for the octets of a path and query, so that two spellings of one thing are equal.

Used on both sides of every comparison (RFC 9309 §2.2.2). Reserved characters stay as written: `%2F`
is not `/`. It must not know of patterns: to it, `*` and `$` are octets like others.
"""

import re
from itertools import product

_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

# Reserved, without the three that are always escaped here: `*` and `$`, so that a literal one can
# never be taken for an operator, and `'`, which the WHATWG serialisation escapes in every query,
# whatever the page wrote.
_KEPT = _UNRESERVED | frozenset(":/?#[]@!&()+,;=")

_CLEAN = re.compile(f"[{re.escape(''.join(sorted(_KEPT)))}]*")
_UNCLEAN = re.compile(f"%[0-9A-Fa-f]{{2}}|[^{re.escape(''.join(sorted(_KEPT)))}]", re.DOTALL)


def _spelling(octet: int) -> str:
    character = chr(octet)
    return character if character in _UNRESERVED else f"%{octet:02X}"


def _spellings() -> dict[str, str]:
    """Every escape in every case of its digits, and every bare octet: to the one spelling."""
    table = {chr(octet): f"%{octet:02X}" for octet in range(256) if chr(octet) not in _KEPT}
    for high, low in product("0123456789abcdefABCDEF", repeat=2):
        table[f"%{high}{low}"] = _spelling(int(high + low, 16))
    return table


_SPELLINGS = _spellings()

# In a query these four delimit nothing (RFC 3986 §3.4), and RFC 9309 §2.2.2 shows them equal to
# their escapes there.
_QUERY_ESCAPES = {"%3A": ":", "%2F": "/", "%3F": "?", "%40": "@"}
_QUERY_ESCAPE = re.compile("|".join(_QUERY_ESCAPES))


def normalise(text: str) -> str:
    """The one spelling of `text`, pure ASCII; idempotent. A `%` that begins no escape is `%25`."""
    if _CLEAN.fullmatch(text):
        return text
    if not text.isascii():
        text = text.encode("utf-8", "surrogatepass").decode("latin-1")
    return _UNCLEAN.sub(lambda match: _SPELLINGS[match[0]], text)


def normalise_octets(octets: bytes) -> str:
    """As `normalise`, for octets of any encoding."""
    return _UNCLEAN.sub(lambda match: _SPELLINGS[match[0]], octets.decode("latin-1"))


def open_query(normalised: str) -> str:
    """A normalised path and query, with the escapes undone that mean nothing in a query."""
    path, mark, query = normalised.partition("?")
    if "%" not in query:
        return normalised
    return path + mark + _QUERY_ESCAPE.sub(lambda match: _QUERY_ESCAPES[match[0]], query)
