"""A guard before the parser: markup that nests without end makes HTML's tree construction quadratic.

Measured with Lexbor: a million nested `<div>` take minutes. Worse, each of 20,000 repetitions of `<p><b id=N>` opens
again every `<b>` before it (HTML section 13.2.4.3): 200 KB that take all memory. Browsers cap their trees; so do we.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

# Elements that one formatting element left open may cause to be made again, in all: a second and 500 MB at worst.
_REOPENED = 4_000_000
# Up to so many tags, nesting as deep as can be costs two seconds at worst: not looked at.
_TAGS = 50_000
# Open elements at once. Browsers stop at 512; honest pages stay under 100, but for tags somebody forgot to close.
_DEEPEST = 2000

# The first letter is spelt in both cases: under IGNORECASE the search is five times slower.
_FORMATTING = "[bcefinstuBCEFINSTU](?i:|ig|ode|m|ont|obr|mall|trike|trong|t)"
# An opening tag up to its ">" if its attributes are such that it surely ends there; else only up to its first blank.
_OPENING = re.compile(
    rf"<{_FORMATTING}"
    r"(?:(?:\s+[\w-]+(?:=(?:\"[^\"<>]*\"|'[^'<>]*'|[\w.#-]+(?=[\s>])))?)*\s*>|[\s/])"
)
_FORMATTING_NAME = re.compile(rf"<(/?{_FORMATTING})[\s/>]")
_FORMATTING_NAMES = frozenset({"b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike",
                               "strong", "tt", "u"})  # fmt: skip
_NAME = re.compile(r"<(/?[a-zA-Z][a-zA-Z0-9]*)")
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)([^<>]*)")

# Elements that end by themselves or by the next of their kind, or never open: they do not nest, however many there are.
_FLAT = frozenset({"a", "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param",
                   "source", "track", "wbr", "p", "li", "dd", "dt", "tr", "td", "th", "thead", "tbody", "tfoot",
                   "colgroup", "caption", "option", "optgroup", "rb", "rt", "rtc", "rp", "html", "head",
                   "body"})  # fmt: skip


def bounded(html: str) -> str:
    """The markup, cut where it would open more than 2,000 elements at once or make millions again."""
    tags = html.count("<")
    # Nothing is made again without a formatting element that is open and a tag after it: three bounds on that, each
    # dearer than the one before.
    if (
        tags * tags <= 4 * _REOPENED
        or tags * _most_kept(html) <= _REOPENED
        or tags * _most_open(_FORMATTING_NAME.findall(html)) <= _REOPENED
    ) and (tags <= _TAGS or _most_open(_nesting(html)) <= _DEEPEST):
        return html
    open_tags = _OpenTags()
    for tag in _TAG.finditer(html):
        closing, name, attributes = tag.groups()
        open_tags.take(closing, name.lower(), attributes)
        if open_tags.too_many():
            return html[: tag.start()]
    return html


def _most_kept(html: str) -> int:
    """How many formatting elements a parser keeps to open again, at most, though none were closed: three alike."""
    openings = Counter(_OPENING.findall(html))
    return sum(min(count, 3) if tag[-1] == ">" else count for tag, count in openings.items())


def _nesting(html: str) -> Iterator[str]:
    return (name for name in _NAME.findall(html) if name not in _FLAT)


def _most_open(names: Iterable[str]) -> int:
    """How many elements are open at once, at most, told from the names of tags in order, `/b` for a closing one."""
    open_now: dict[str, int] = {}
    total = most = 0
    for name in names:
        if name[0] != "/":
            open_now[name] = open_now.get(name, 0) + 1
            total += 1
            most = max(most, total)
        elif open_now.get(name[1:]):
            open_now[name[1:]] -= 1
            total -= 1
    return most


class _OpenTags:
    """What is open, as far as names tell. An over-estimate for honest markup, but for what a browser ignores.

    Invariant: `depth` is the sum of the open counts; `formats` counts at most three alike of the open formatting
    elements, as the standard's "Noah's Ark clause" does.
    """

    __slots__ = ("_alike", "_open", "depth", "formats", "reopened")

    def __init__(self) -> None:
        self._open: dict[str, list[str]] = {}
        self._alike: dict[tuple[str, str], int] = {}
        self.depth = self.formats = self.reopened = 0

    def take(self, closing: str, name: str, attributes: str) -> None:
        """One tag, in order."""
        self.reopened += self.formats
        if name in _FLAT:
            return
        opened = self._open.setdefault(name, [])
        if not closing:
            opened.append(attributes)
            self.depth += 1
            self._count(name, attributes, 1)
        elif opened:
            self.depth -= 1
            self._count(name, opened.pop(), -1)

    def too_many(self) -> bool:
        """Whether the parser must not see more."""
        return self.depth > _DEEPEST or self.reopened > _REOPENED

    def _count(self, name: str, attributes: str, change: int) -> None:
        if name not in _FORMATTING_NAMES:
            return
        before = self._alike.get((name, attributes), 0)
        after = self._alike[name, attributes] = before + change
        self.formats += min(after, 3) - min(before, 3)
