"""The normal form: the one spelling that stands for all spellings of a URL; hashed, never fetched.

It is a list of named steps (the idea is urlcanon's). A step takes and returns the parts of a URL,
and gives back the very same object when it has nothing to do, which is the usual case. Together
they are idempotent, and that fixes the order: decoding may make dot segments and tracking names,
and the removal of a `;jsessionid=` may make dot segments.

Paths and queries are never lower-cased; `+`, `%2F`, `%26`, `%25` keep their meaning (RFC 3986
§6.2.2). Slashes are never merged: `//` is another path to many servers.
"""

import re
from collections.abc import Callable, Iterable

from crawler.config import Url
from crawler.url.keys import without_root
from crawler.url.parts import Parts, join, split
from crawler.url.tokens import is_token

Step = Callable[[Parts], Parts]

_DEFAULT_PORTS = {"http": "80", "https": "443"}

_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

# Every escape, and every character that RFC 3986 allows in no path or query but that WHATWG leaves
# there unescaped (`a[]=1` and `a%5B%5D=1` ask for the same). A `%` that begins no escape is a
# literal one; left bare it could begin one once its neighbours are decoded.
_ODD = re.compile(r'[%\x00-\x20"<>\[\\\]^`{|}\x7f](?:(?<=%)[0-9A-Fa-f]{2})?')
_HEX = "0123456789ABCDEFabcdef"

# Where ASP.NET keeps its session id without cookies; A and F are its kin for anonymous users and forms.
_COOKIELESS = re.compile(r"/\((?:[ASFX]\([0-9A-Za-z_-]*\))+\)(?=/|\Z)")


def _spelling(octet: int) -> str:
    return chr(octet) if chr(octet) in _UNRESERVED else f"%{octet:02X}"


_SPELLINGS: dict[str, str] = {
    **{f"%{high}{low}": _spelling(int(high + low, 16)) for high in _HEX for low in _HEX},
    **{chr(octet): f"%{octet:02X}" for octet in range(0x80) if chr(octet) not in _UNRESERVED},
}


def case(parts: Parts) -> Parts:
    """Lower-case the scheme and the host (RFC 3986 §6.2.2.1)."""
    scheme, host = parts.scheme.lower(), parts.host.lower()
    if scheme == parts.scheme and host == parts.host:
        return parts
    return parts._replace(scheme=scheme, host=host)


def root_dot(parts: Parts) -> Parts:
    """Drop the dot of the DNS root: see `crawler.url.keys.without_root`."""
    host = without_root(parts.host)
    return parts if host == parts.host else parts._replace(host=host)


def percent_encoding(parts: Parts) -> Parts:
    """Decode the escapes of unreserved characters, write the others in upper case.

    RFC 3986 §6.2.2.1 and §6.2.2.2.
    """
    path, query = _ODD.sub(_respell, parts.path), _ODD.sub(_respell, parts.query)
    if path == parts.path and query == parts.query:
        return parts
    return parts._replace(path=path, query=query)


def _respell(match: re.Match[str]) -> str:
    return _SPELLINGS[match[0]]


def dot_segments(parts: Parts) -> Parts:
    """Resolve `.` and `..` in the path (RFC 3986 §5.2.4)."""
    path = parts.path
    if "/." not in path:
        return parts
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    resolved = "/" + "/".join(kept)
    return parts if resolved == path else parts._replace(path=resolved)


def default_port(parts: Parts) -> Parts:
    """Drop the port that the scheme implies (RFC 3986 §6.2.3)."""
    if parts.port and parts.port == _DEFAULT_PORTS.get(parts.scheme):
        return parts._replace(port="")
    return parts


def empty_path(parts: Parts) -> Parts:
    """An empty path is `/` (RFC 3986 §6.2.3)."""
    return parts if parts.path else parts._replace(path="/")


def fragment(parts: Parts) -> Parts:
    """Drop the fragment: the server never sees it."""
    return parts._replace(fragment="") if parts.fragment else parts


def tracking_parameters(names: Iterable[str]) -> Step:
    """A step that drops query and path parameters of these names.

    Names are compared without regard to case; `*` stands for any text (`utm_*`). Of a query, empty
    parameters (`&&`) go as well.
    """
    listed = {name.lower() for name in names}
    starred = [re.escape(name).replace(r"\*", ".*") for name in listed if "*" in name]
    plain = frozenset(name for name in listed if "*" not in name)
    starred_name = re.compile("|".join(starred)) if starred else None

    def keeps(parameter: str) -> bool:
        name = _name(parameter).lower()
        return not (name in plain or (starred_name and starred_name.fullmatch(name)))

    return _named(tracking_parameters.__name__, _dropping(keeps))


def session_ids(names: Iterable[str]) -> Step:
    """A step that drops query and path parameters of these names if their value is a random token,
    and ASP.NET's session ids in the path: `/(S(lit3py55t21z5v55vlm25s55))/page.aspx`.

    So `sid=5`, which may name a page, stays.
    """
    listed = frozenset(name.lower() for name in names)

    def keeps(parameter: str) -> bool:
        name, _, value = parameter.partition("=")
        return not (is_token(value) and name.lower() in listed)

    dropped = _dropping(keeps)

    def step(parts: Parts) -> Parts:
        parts = dropped(
            parts
        )  # the parameters first: without its own a segment may be a session id
        if "/(" in parts.path:
            path = _COOKIELESS.sub("", parts.path)
            if path != parts.path:
                parts = parts._replace(path=path)
        return parts

    return _named(session_ids.__name__, step)


def _named(name: str, step: Step) -> Step:
    step.__name__ = name
    return step


def _dropping(keeps: Callable[[str], bool]) -> Step:
    def in_segment(segment: str) -> str:
        first, *parameters = segment.split(";")
        return ";".join([first, *filter(keeps, parameters)])

    def step(parts: Parts) -> Parts:
        path, query = parts.path, parts.query
        if ";" in path:
            path = "/".join(map(in_segment, path.split("/")))
        if query:
            query = "&".join(filter(keeps, filter(None, query.split("&"))))
        if path == parts.path and query == parts.query:
            return parts
        return parts._replace(path=path, query=query)

    return step


def query_order(parts: Parts) -> Parts:
    """Sort the query's parameters by name; those of equal name keep their order: it may matter."""
    if "&" not in parts.query:
        return parts
    query = "&".join(sorted(parts.query.split("&"), key=_name))
    return parts if query == parts.query else parts._replace(query=query)


def _name(parameter: str) -> str:
    return parameter.partition("=")[0]


def trailing_slash(parts: Parts) -> Parts:
    """Drop the slashes at the end of a path other than `/`. Not safe in general, hence a choice."""
    if parts.path.endswith("/") and parts.path != "/":
        return parts._replace(path=parts.path.rstrip("/") or "/")
    return parts


def steps(url: Url) -> list[Step]:
    """The steps that a configuration asks for, in the order in which they are taken."""
    chosen: list[Step] = [
        case,
        root_dot,
        percent_encoding,
        tracking_parameters(url.tracking_parameters),
        session_ids(url.session_parameters),
        dot_segments,
        default_port,
        empty_path,
        fragment,
    ]
    if url.sort_query:
        chosen.append(query_order)
    if url.strip_trailing_slash:
        chosen.append(trailing_slash)
    return chosen


def normaliser(url: Url) -> Callable[[str], str]:
    """The function from wire URL to normal form. Other text is its own normal form."""
    taken = steps(url)

    def normal(text: str) -> str:
        parts = split(text)
        return join(apply(taken, parts)) if parts else text

    return normal


def apply(taken: list[Step], parts: Parts) -> Parts:
    """The parts after all steps."""
    for step in taken:
        parts = step(parts)
    return parts
