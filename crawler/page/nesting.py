"""A guard before the parser: markup that nests without end makes HTML's tree construction quadratic.

Measured with Lexbor: 100,000 nested `<div>` take half a minute, a million take hours. Worse, each of 20,000
repetitions of `<p><b id=N>` opens again every `<b>` before it (HTML section 13.2.4.3): 200 KB that take all memory.
Browsers cap their trees. Here the tags of such a page are renamed, so that its text and its links stay.

Both tests over-estimate: markup whose closing tags may be hidden (in comments, in values of attributes, in scripts of
foreign content), or may be passed over by a parser (badly nested ones), counts as if they were not there. Not
counted are what is open unsaid (`<table><td>` has a body and a row too) and links that do not end the one before
(`<object><a><object><a>`): so a tree may be two or three times as deep as it is said to be, and no more.
"""

import re
from collections import Counter

# Elements that formatting elements left open may cause to be made again, in all: a second and 500 MB at worst.
_REOPENED = 4_000_000
# Each tag may look at all elements that are open. So many looks cost two or three seconds: not worth finding out.
_LOOKS = 1_250_000_000
# Open elements at once. Browsers stop at 512; honest pages stay under 100, but for tags somebody forgot to close.
_DEEPEST = 2000
# Attributes of one element: each is compared with all before it. The pages of the web stay under 100.
_ATTRIBUTES = 1000
# Elements of many attributes are looked for where so many characters follow each other without ">".
_WINDOW = 2048
_SPACE = r"[\t\n\f\r ]"
_MANY_ATTRIBUTES = re.compile(
    r"<[a-zA-Z][^\t\n\f\r />]*+"
    rf"(?:[\t\n\f\r /]*+(?:=[^\t\n\f\r />=]*+|[^\t\n\f\r />=]++)"
    rf"(?:{_SPACE}*+={_SPACE}*+(?:\"[^\"]*+\"|'[^']*+'|[^\t\n\f\r >\"'][^\t\n\f\r >]*+)?+)?+)"
    rf"{{{_ATTRIBUTES}}}"
)

_NAMES = (
    "b",
    "big",
    "code",
    "em",
    "font",
    "i",
    "nobr",
    "s",
    "small",
    "strike",
    "strong",
    "tt",
    "u",
)
# Of elements that are alike the parser keeps three ("Noah's Ark clause"), so of those without attributes:
_PLAIN = 3 * len(_NAMES)
# The first letter is spelt in both cases: under IGNORECASE the search is five times slower.
_FORMATTING = "[bcefinstuBCEFINSTU](?i:|ig|ode|m|ont|obr|mall|trike|trong|t)"
# An opening tag with attributes, up to its ">" if they are such that it surely ends there; else only its beginning.
_ATTRIBUTED = re.compile(
    rf"<{_FORMATTING}[\s/]"
    r"(?:\s*(?:[\w-]+(?:=(?:\"[^\"<>]*\"|'[^'<>]*'|[\w.#-]+(?=[\s>])))?(?:\s+|(?=>)))*>)?"
)
_OPENING = re.compile(r"<([a-zA-Z][^\t\n\f\r />]*)")

# The attributes of a tag as the standard wants it, and without "<": then it surely ends at the ">" that follows.
_ATTRIBUTE = (
    rf"{_SPACE}++[^\t\n\f\r \"'<>/=]++"
    rf"(?:{_SPACE}*+={_SPACE}*+(?:\"[^\"<]*\"|'[^'<]*'|[^\t\n\f\r \"'=<>`]++))?+"
)
# A comment without "<", or a "<" that is text, or such a tag, or what any other "<" is before.
_TOKEN = re.compile(
    r"<(?:!--(?!-?>)[^<]*?-->|![a-zA-Z][^<>]*>|(?=[^a-zA-Z/!?])"
    rf"|(/?)([a-zA-Z][\w:.-]*)(?:{_ATTRIBUTE})*+{_SPACE}*+/?(>)"
    r"|(.))",
    re.DOTALL,
)
# An element in which there is only text: however a parser comes upon it, it leaves nothing open.
_CLOSED = re.compile(rf"<(?!html|body)([a-z][a-z0-9]*)(?:{_ATTRIBUTE})*+{_SPACE}*+>[^<]*</\1>")

_ROUNDS = 6  # how often they are taken out: so many levels are not counted

_VOID = frozenset({"area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "image", "img",
                   "input", "keygen", "link", "meta", "param", "source", "track", "wbr"})  # fmt: skip
# Those that close the one before, whatever is between.
_SINGLE = frozenset({"a", "body", "head", "html"})
_RAW = frozenset({"iframe", "noembed", "noframes", "plaintext", "script", "style", "textarea", "title",
                  "xmp"})  # fmt: skip
_FOREIGN = frozenset({"math", "svg"})
_CELL = frozenset({"td", "th"})
_ROW = _CELL | {"tr"}
_ROWS = _ROW | {"tbody", "tfoot", "thead"}
_ITEM = frozenset({"dd", "dt"})
_OPTION = frozenset({"option"})
# What an opening tag closes if it is the innermost; what a closing tag closes with its own element.
_REPLACED = {"p": frozenset({"p"}), "li": frozenset({"li"}), "dd": _ITEM, "dt": _ITEM, "td": _CELL, "th": _CELL,
             "tr": _ROW, "tbody": _ROWS, "thead": _ROWS, "tfoot": _ROWS,
             "option": _OPTION, "optgroup": _OPTION}  # fmt: skip
_ENDED = {"table": _ROWS | {"caption", "colgroup"}, "tr": _CELL, "tbody": _ROW, "thead": _ROW, "tfoot": _ROW,
          "ul": _REPLACED["li"], "ol": _REPLACED["li"], "dl": _ITEM, "select": _OPTION | {"optgroup"},
          "optgroup": _OPTION}  # fmt: skip
# Parts of a table are elements right inside of these only: elsewhere their tags are passed over.
_BODIES = frozenset({"table", "tbody", "tfoot", "thead"})
_WITHIN = {**dict.fromkeys(_CELL, _BODIES | {"tr"}), "tr": _BODIES,
           **dict.fromkeys((*(_ROWS - _ROW), "caption", "colgroup"), frozenset({"table"}))}  # fmt: skip
_NONE = frozenset[str]()
# A closing tag closes what else is open inside its element if that is a matter of phrasing, as these are.
_PHRASING = frozenset({*_NAMES, "abbr", "bdi", "bdo", "cite", "data", "del", "dfn", "g", "ins", "kbd", "label",
                       "map", "mark", "path", "q", "rp", "rt", "ruby", "samp", "span", "sub", "sup", "time", "use",
                       "var"})  # fmt: skip

# Those whose opening tags do not end foreign content.
_DRAWN = frozenset({"g", "path", "use"})
# These close whatever is open in their element.
_SURE = frozenset({"select", "template"})

# Tags that keep their names where a tree is made flat: none of them nests, and links and titles are in them.
_KEPT = _SINGLE | _RAW | {"area", "base", "br", "frame", "img", "link", "meta", "p"}
# The attributes of every further one are added to the first.
_ONCE = frozenset({"html", "body"})


def bounded(html: str, breaks: frozenset[str]) -> str:
    """The markup, its tags renamed where it would open more than 2,000 elements at once or make millions again.

    `breaks`: the names of elements that separate words; what stands for them does so too.
    """
    html = _few_attributes(html)
    tags = html.count("<")
    if (
        tags * tags > _LOOKS
        and tags * _not_closed(html, tags) > _LOOKS
        and _depth(html, _DEEPEST) > _DEEPEST
    ):
        return _flat(html, breaks)
    # Nothing is made again without a formatting element that is open and a tag after it.
    if tags * tags > 4 * _REOPENED and tags * (_PLAIN + _most_kept(html)) > _REOPENED:
        return _OPENING.sub(lambda tag: "<wbr" if tag[1].lower() in _NAMES else tag[0], html)
    return html


def _few_attributes(html: str) -> str:
    """The markup; what is more than 1,000 attributes of an element becomes text, where they stand close together."""
    parts: list[str] = []
    done = 0
    for start in range(0, len(html), _WINDOW):
        if html.find(">", start, start + _WINDOW) >= 0:
            continue
        # A tag that begins before the last window was looked at then.
        opening = html.rfind("<", max(done, start - _WINDOW), start)
        if opening >= 0 and (many := _MANY_ATTRIBUTES.match(html, opening)):
            parts += (html[done : many.end()], ">")
            done = many.end()
    return "".join([*parts, html[done:]]) if parts else html


def _flat(html: str, breaks: frozenset[str]) -> str:
    seen: set[str] = set()

    def renamed(tag: re.Match[str]) -> str:
        name = tag[1].lower()
        if name in _KEPT and name not in seen:
            if name in _ONCE:
                seen.add(name)
            return tag[0]
        return "<hr" if name in breaks else "<wbr"

    return _OPENING.sub(renamed, html)


def _not_closed(html: str, tags: int) -> int:
    """How many tags are left without closed elements, and those around such, as far as it needs to be known.

    Honest pages of this size are indexes: a list item around a link around a word.
    """
    left = tags
    for _ in range(_ROUNDS):
        # A dot, so that nothing grows together that was apart.
        html, closed = _CLOSED.subn(".", html)
        left -= 2 * closed
        if not closed or tags * left <= _LOOKS:
            break
    return left


def _most_kept(html: str) -> int:
    """How many formatting elements with attributes a parser keeps to open again, at most, though none were closed."""
    openings = Counter(_ATTRIBUTED.findall(html))
    return sum(min(count, 3) if tag[-1] == ">" else count for tag, count in openings.items())


def _depth(html: str, enough: int) -> int:
    """How many elements may be open at once, at most; counted until there are more than `enough`."""
    return _OpenTags().deepest(html, enough)


class _OpenTags:
    """What may be open, told from tags alone.

    Invariant: if the parser has seen the opening tag of an element of `_stack`, it sees every tag after it as this
    class does. Whatever it may have opened besides is in `_lost`: it counts as open for ever.
    """

    __slots__ = ("_doubted", "_foreign", "_lost", "_raw", "_stack")

    def __init__(self) -> None:
        self._stack: list[str] = []
        self._lost = 0
        self._doubted = False
        self._raw = ""
        self._foreign = False

    def deepest(self, html: str, enough: int) -> int:
        """How many elements may be open at once in markup, at most; counted until there are more than `enough`."""
        stack, deepest = self._stack, 0
        for token in _TOKEN.finditer(html):
            closing, name, whole, other = token.groups()
            if whole:
                self.take(closing, name.lower())
            elif other:
                self.doubt(other not in "/!?")
            depth = self._lost + len(stack)
            if depth > deepest:
                deepest = depth
                if deepest > enough:
                    break
        return deepest

    def doubt(self, opened: int) -> None:
        """Something that may hide tags; it may have `opened` so many elements itself."""
        self._lost += len(self._stack) + opened
        self._doubted = True
        self._stack.clear()

    def take(self, closing: str, name: str) -> None:
        """One tag, in order."""
        if self._raw:
            # Text without a tag is text to every reader; a tag in it is markup to one in foreign content.
            if not closing or name != self._raw:
                self.doubt(1)
            self._raw = ""
        if closing:
            self._close(name)
        elif name in _RAW:
            self._raw = name
        elif name in _ONCE or name == "frameset":
            self._lost += 1
        elif name in _WITHIN:
            self._open_part(name)
        else:
            self._open(name)

    def _open(self, name: str) -> None:
        if name in _FOREIGN:
            self._foreign = True
        elif not self._foreign:  # for there everything nests
            if name in _VOID or name in _SINGLE:
                return
            if self._stack and self._stack[-1] in _REPLACED.get(name, _NONE):
                self._stack.pop()
        self._stack.append(name)

    def _open_part(self, name: str) -> None:
        """A part of a table ends the part that is open, and all that is in it; outside of a table it is no element."""
        stack, replaced = self._stack, _REPLACED.get(name, _NONE)
        at = len(stack)
        while at and (stack[at - 1] in replaced or stack[at - 1] in _PHRASING):
            at -= 1
        if at and stack[at - 1] in _WITHIN[name]:
            self._end(at)
            stack.append(name)
        else:
            self._lost += 1

    def _end(self, at: int) -> None:
        """Takes off what is open from here on; what hid from a parser where it is in may not have hidden it."""
        self._lost += self._doubted * (len(self._stack) - at)
        del self._stack[at:]

    def _close(self, name: str) -> None:
        """Takes an element off if a parser does so too: what else is open in it must be of the kind that ends with it.

        The end of a form takes nothing with it.
        """
        stack = self._stack
        if stack and stack[-1] == name:  # so it is nearly always
            stack.pop()
            if self._foreign and name in _FOREIGN:
                self._foreign = not _FOREIGN.isdisjoint(stack)
            return
        ended = _ENDED.get(name, _NONE)
        phrasing = _DRAWN if name in _FOREIGN else _PHRASING
        at = len(stack) - 1
        while at >= 0 and stack[at] != name and name != "form":
            inner = stack[at]
            if not (
                inner in phrasing
                or (inner == "p" and phrasing is _PHRASING and name not in _PHRASING)
                or inner in ended
            ):
                if name in _SURE:
                    self.doubt(0)
                return
            at -= 1
        if at >= 0 and stack[at] == name:
            self._end(at + 1)
            del stack[at:]
            self._foreign = self._foreign and not (name in _FOREIGN and _FOREIGN.isdisjoint(stack))
