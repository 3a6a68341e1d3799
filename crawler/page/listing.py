"""XML that lists things (sitemaps, their indexes, RSS, Atom) to its entries, streamed and forgiving.

A streaming SAX parse: no tree is built. Nothing before the root element reaches the parser, so no DOCTYPE does, and so
there are no entities to expand and no files to read. Knows nothing of URLs and dates.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from html.entities import html5
from typing import NamedTuple

from lxml import etree  # type: ignore[import-untyped]

# Which elements are entries, by the name of the root. Indexes and sets are mixed up in the wild.
ENTRIES: dict[str, frozenset[str]] = {
    "urlset": frozenset({"url", "sitemap"}),
    "sitemapindex": frozenset({"url", "sitemap"}),
    "rss": frozenset({"item"}),
    "rdf": frozenset({"item"}),
    "feed": frozenset({"entry"}),
}

# Text of one element, in characters. A longer one is no URL and no date; a bit is kept to say so.
LONGEST = 8192
_MOST_FIELDS = 1000
# Where end tags are missing, every entry is inside the one before; a level costs the parser some 50 bytes.
_DEEPEST = 200_000

_ROOT = re.compile(r"<(?:[\w.-]+:)?(urlset|sitemapindex|rss|rdf|feed)(?=[\s>/])", re.IGNORECASE)
_HTML = re.compile(r"<html[\s>]|<!doctype html", re.IGNORECASE)

# The parser closes an element for every end tag without a start tag; so it is given some to spare.
_SPARE = b"<spare>" * 200

_XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_NOTHING: Mapping[str, str] = {}
_NOWHERE = -1

# A reference to a surrogate (behind its "&"), and to the first of a pair: no character is one, and the parser fails at
# it, but some writers make two such of one character. The decimal ones are too many; the others keep their meaning.
_SURROGATE = r"#(?:0{0,2}5[5-7][0-9]{3}|[xX]0{0,2}[dD][89a-fA-F][0-9a-fA-F]{2});"
_FIRST = (
    r"&#(?:0{0,2}5(?:529[6-9]|5[3-9][0-9]{2}|6[0-2][0-9]{2}|63[01][0-9])"
    r"|[xX]0{0,2}[dD][89abAB][0-9a-fA-F]{2});"
)
_NUMBER = re.compile(r"#(?:[xX]([0-9a-fA-F]+)|([0-9]+))")
# A control character (XML 1.0 section 2.2), a mark of CDATA, surrogates, or an ampersand that begins no reference of
# XML's own.
_REPAIRABLE = re.compile(
    r"<!\[CDATA\[|\]\]>|[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]"
    rf"|&(?:({_SURROGATE}(?:&{_SURROGATE})*)"
    r"|(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});)([A-Za-z][A-Za-z0-9]{0,31};)?)"
)
# What may be the beginning of one of them, at the end of a piece.
_UNFINISHED = re.compile(rf"(?:<!?\[?[CDAT]*|\]\]?|(?:{_FIRST})?(?:&#?[A-Za-z0-9]*)?)\Z")
_LONGEST_MARK = 40


class Field(NamedTuple):
    """A child element of an entry: its name in lower case, the text in it (cut after `LONGEST`), its attributes."""

    name: str
    text: str
    attributes: Mapping[str, str]


class Entry(NamedTuple):
    """One thing listed. Text that stands right in it is a field without a name.

    `bases`: the `xml:base` of what it stands in and its own, as written. One with very many fields comes in parts.
    """

    name: str
    attributes: Mapping[str, str]
    fields: list[Field]
    bases: tuple[str, ...]


Take = Callable[[Entry], None]


def root_of(head: str) -> re.Match[str] | None:
    """Where the root of a listing begins in the first piece of a document; `[1]` is its name. `None`: it is none.

    What stands before it (declarations, comments, warnings of the server's software) is passed over, unless it is the
    beginning of a web page.
    """
    root = _ROOT.search(head)
    return root if root and not _HTML.search(head, 0, root.start()) else None


class Listing:
    """The entries of one document, given to `take` as they end.

    Invariant: what is held is one entry and one piece of text. Fields are elements right inside an entry whose names
    are in `wanted`; they are in the entry's namespace, whichever that is, or in any if the name is in `foreign`.
    """

    def __init__(
        self,
        root: str,
        wanted: frozenset[str],
        foreign: frozenset[str],
        take: Take,
        heads: frozenset[str] = frozenset(),
    ) -> None:
        """`root`: the root's name, in lower case, one of `ENTRIES`.

        `heads`: elements that are taken like entries, up to the first entry inside them.
        """
        self._walk = _Walk(ENTRIES[root], wanted, foreign, take, heads)
        self._repair = _Repair()
        # "internal": with `False` the parser gives "&amp;" in an attribute as "&#38;".
        self._parser = etree.XMLParser(
            target=self._walk, encoding="utf-8", recover=True, huge_tree=True,
            resolve_entities="internal", load_dtd=False, no_network=True,
        )  # fmt: skip
        self._parser.feed(_SPARE)

    def feed(self, text: str) -> None:
        """Takes the next piece of the document; the first begins with its root."""
        if self._walk.depth < _DEEPEST:
            self._parser.feed(self._repair.piece(text).encode("utf-8", "replace"))

    def close(self) -> None:
        """The document ends here, perhaps too early: what there is of the last entry counts.

        But not the text that it breaks off in: half a URL is another URL.
        """
        self._parser.feed(self._repair.rest().encode("utf-8", "replace"))
        self._parser.close()
        self._walk.finish(in_tag=self._repair.in_tag)


class _Walk:
    """The SAX target: `start`, `data` and `end` are the parser's names.

    Invariant: `depth` elements are open; if there is an entry, it is the one at `_entry_depth`; if `_name` is not
    empty, a field of that name is open right inside it.
    """

    def __init__(
        self,
        names: frozenset[str],
        wanted: frozenset[str],
        foreign: frozenset[str],
        take: Take,
        heads: frozenset[str],
    ) -> None:
        self.depth = 0
        self._names, self._wanted, self._foreign, self._take = names | heads, wanted, foreign, take
        self._heads = heads
        self._base: tuple[str, ...] = ()
        self._entry: Entry | None = None
        self._entry_depth = _NOWHERE
        self._space = ""
        self._name = ""
        self._attributes = _NOTHING
        self._texts: list[str] = []
        self._room = LONGEST + 1

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.depth += 1
        if self._name:
            return  # whatever stands inside a field, only its text is wanted
        space, name = _split(tag)
        if self._entry is None:
            if name in self._names:
                self._begin(space, name, attributes)
            if _XML_BASE in attributes and (name not in self._names or name in self._heads):
                self._base = (attributes[_XML_BASE],)
        elif name in self._names and space == self._space:
            self._end_entry()  # it was left open: it ends where the next begins
            self._begin(space, name, attributes)
        elif self.depth == self._entry_depth + 1 and self._is_field(space, name):
            self._keep_own_text()
            self._name = name
            self._attributes = dict(attributes) if attributes else _NOTHING

    def data(self, text: str) -> None:
        if self._room <= 0:
            return
        if self._name or (self.depth == self._entry_depth and not text.isspace()):
            self._texts.append(text)
            self._room -= len(text)

    def end(self, tag: str) -> None:  # noqa: ARG002  (the depth says which)
        self.depth -= 1
        if self._name and self.depth == self._entry_depth:
            self._end_field()
        elif self.depth < self._entry_depth:
            self._end_entry()

    def close(self) -> None:
        """The parser asks for it; what it knows of the end is not enough (see `finish`)."""

    def finish(self, *, in_tag: bool) -> None:
        """The document is over; `in_tag`: inside a tag, so the text before it is whole."""
        if not in_tag:
            self._texts.clear()
        if self._name:
            self._end_field()
        self._end_entry()

    def _is_field(self, space: str, name: str) -> bool:
        return name in self._wanted and (space == self._space or name in self._foreign)

    def _begin(self, space: str, name: str, attributes: Mapping[str, str]) -> None:
        own = attributes.get(_XML_BASE)
        self._entry = Entry(name, dict(attributes), [], (*self._base, own) if own else self._base)
        self._entry_depth, self._space = self.depth, space

    def _keep_own_text(self) -> None:
        if self._texts:
            self._add(Field("", self._text(), _NOTHING))

    def _end_field(self) -> None:
        self._add(Field(self._name, self._text(), self._attributes))
        self._name = ""

    def _add(self, field: Field) -> None:
        assert self._entry is not None  # there are no fields elsewhere
        self._entry.fields.append(field)
        if len(self._entry.fields) >= _MOST_FIELDS:
            self._take(self._entry)
            self._entry = self._entry._replace(fields=[])

    def _text(self) -> str:
        text = "".join(self._texts)
        self._texts.clear()
        self._room = LONGEST + 1
        return text

    def _end_entry(self) -> None:
        if self._entry is not None:
            self._keep_own_text()
            self._take(self._entry)
            self._entry, self._entry_depth = None, _NOWHERE


class _Repair:
    """Mends what is often wrong and would cost text: bare ampersands, entities of HTML, control characters.

    Invariant: the pieces given back are those taken, repaired, less what is held: a few characters that the next piece
    may go on with.
    """

    def __init__(self) -> None:
        self.in_tag = False
        self._held = ""
        self._in_cdata = False

    def piece(self, text: str) -> str:
        """The next piece, repaired."""
        text = self._held + text
        unfinished = _UNFINISHED.search(text, max(0, len(text) - _LONGEST_MARK))
        cut = unfinished.start() if unfinished else len(text)
        self._held = text[cut:]
        return self._repaired(text[:cut])

    def rest(self) -> str:
        """What was held, when no piece is to come."""
        return self._repaired(self._held)

    def _repaired(self, text: str) -> str:
        opened, closed = text.rfind("<"), text.rfind(">")
        if opened != closed:  # else there is neither
            self.in_tag = opened > closed
        return _REPAIRABLE.sub(self._right, text)

    def _right(self, match: re.Match[str]) -> str:
        found = match[0]
        if found[0] in "<]":
            self._in_cdata = found[0] == "<"
            return found
        if found[0] != "&":
            return ""
        if self._in_cdata:
            return found
        if match[1]:
            return _numbered(_characters(found))
        if not match[2]:
            return "&amp;"
        # As numbers, so that what they stand for is not markup. Declarations are not read: other names mean nothing.
        return _numbered(html5.get(match[2], ""))


def _characters(references: str) -> str:
    """What references to surrogates stand for: pairs for a character, what is left for U+FFFD, as in HTML."""
    units = [int(hexa, 16) if hexa else int(ten) for hexa, ten in _NUMBER.findall(references)]
    text = "".join(map(chr, units))
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _numbered(text: str) -> str:
    return "".join(f"&#{ord(character)};" for character in text)


@lru_cache(maxsize=256)
def _split(tag: str) -> tuple[str, str]:
    """Namespace and local name, the latter in lower case."""
    space, _, name = tag.rpartition("}")
    return space, name.lower()
