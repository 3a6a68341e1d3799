"""The shapes of URLs that may never end, so that their number can be limited. Pure; how many is for the frontier.

==============  ============================================  =====================================================
trap            what is counted together, of one host         what is never counted
==============  ============================================  =====================================================
`calendar`      all dates in the same surroundings            a date beside a title: every title is its own
`tokens`        what begins alike and goes on at random       long numbers; titles that end at random
`parameters`    the choices in the query of one path: words,  ids: `showthread.php?t=5&lang=en` is one choice of
                page numbers, which parameters there are      `lang`, for a million threads
==============  ============================================  =====================================================

What has none of these is not counted: a forum may have a million topics, and no rule on form can tell an endless row
of ids or of titles from it. There `budget.pages_per_host` is the end.
"""

import re
from enum import StrEnum
from typing import NamedTuple

from crawler.url import dates
from crawler.url.keys import url_key
from crawler.url.tokens import SHORTEST, is_token


class Trap(StrEnum):
    """Why a new URL is one too many of its shape. The names are what the counters are called."""

    CALENDAR = "calendar"
    TOKENS = "tokens"
    PARAMETERS = "parameters"


class Shape(NamedTuple):
    """`template`: hash of what URLs of a shape have in common. `choice`: hash of what is counted once however many
    URLs have it; `None`: every URL counts. `a_year`: dates a year (calendars only).
    """

    trap: Trap
    template: int
    choice: int | None = None
    a_year: int = 0


# As `str.partition` gives them: name, "=", value.
_Field = tuple[str, str, str]

_DIGITS = re.compile("[0-9]+")
_LONG = re.compile(r"/[0-9A-Za-z-]{16}")
# A number under these names counts a list's pages, which may go on for ever; under others it may name something.
_PAGING = frozenset(
    {
        "page", "pages", "paged", "pg", "pn", "pagenum", "pagenumber", "page_no", "pageno", "page_num", "currentpage",
        "offset", "start", "limit", "limitstart", "from", "skip", "per_page", "perpage", "pagesize", "page_size",
        "seite", "pagina",
    }
)  # fmt: skip


def shape_of(url: str) -> Shape | None:
    """The shape of a wire URL, if there may be any number of URLs of it."""
    path, _, query = url[url.index("/", 8) :].partition("?")
    if query:
        texts = query.replace(";", "&").split("&")
        fields = sorted([text.partition("=") for text in texts if text])
        return _calendar(path, fields) or _tokens(path, fields) or _parameters(path, fields)
    if not _DIGITS.search(path):
        return None
    return _calendar(path, []) or _tokens(path, [])


def _calendar(path: str, fields: list[_Field]) -> Shape | None:
    in_path, in_fields = dates.in_path(path), dates.in_fields(fields) if fields else None
    if in_path is None and in_fields is None:
        return None
    fixed = in_path.text if in_path else path
    asked = in_fields.text if in_fields else str(fields)
    a_year = max(masked.a_year for masked in (in_path, in_fields) if masked)
    return Shape(Trap.CALENDAR, url_key(f"{fixed}?{asked}"), None, a_year)


def _tokens(path: str, fields: list[_Field]) -> Shape | None:
    # What comes after a token does not count: a session id before all pages of a site would have a counter for each.
    if _LONG.search(path):
        segments = path.split("/")
        for place, segment in enumerate(segments):
            if is_token(segment.partition(".")[0]):
                return Shape(Trap.TOKENS, url_key(_numberless("/".join(segments[:place])) + "/*"))
    for _, _, value in fields:
        if len(value) >= SHORTEST and is_token(value):
            names = "&".join([name for name, _, _ in fields])
            return Shape(Trap.TOKENS, url_key(f"{_numberless(path)}?{names}"))
    return None


def _parameters(path: str, fields: list[_Field]) -> Shape | None:
    # One parameter with a word is a page's name: `index.php?title=Main_Page`.
    if len(fields) == 1 and fields[0][0].lower() not in _PAGING:
        return None
    # `id=45:a-title` is an id too; of an id only the name is part of the choice.
    words = 0
    choices = []
    for name, equals, value in fields:
        if value[:1].isdecimal() and name.lower() not in _PAGING:
            choices.append(name)
        else:
            choices.append(name + equals + value)
            words += 1
    if not words:
        return None
    template = f"{_numberless(path)}?"
    return Shape(Trap.PARAMETERS, url_key(template), url_key(template + "&".join(choices)))


def _numberless(path: str) -> str:
    return _DIGITS.sub("0", path)
