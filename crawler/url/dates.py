"""Dates in URLs, as calendars and archives write them. Pure; knows no clock: any year from 1900 to 2199 is one.

Without a word that speaks of a calendar only what has a year and a month of two digits is a date, so that
`/topic/2005/3` (the third page of topic 2005) and `/item/20150823` are none.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

_YEAR = r"(?:19|20|21)[0-9]{2}"
_MONTH = r"(?:0[1-9]|1[0-2])"
_DAY = r"(?:0[1-9]|[12][0-9]|3[01])"
_SEPARATOR = r"(?:[-/_.]|%2F)"
_ALONE = r"(?<![0-9A-Za-z]){}(?![0-9A-Za-z])"

# Groups: a week; a day. What has neither is a month.
_PLAIN = rf"{_YEAR}(?:[-/_]?(W[0-5][0-9])|{_SEPARATOR}{_MONTH}(?:{_SEPARATOR}({_DAY}))?)"
# Beside a word that says so: days and months of one digit, the year at the end, no separator.
_SAID = (
    rf"(?:{_YEAR}(?:{_SEPARATOR}[0-3]?[0-9](?:{_SEPARATOR}([0-3]?[0-9]))?|{_MONTH}({_DAY})?)"
    rf"|([0-3]?[0-9]{_SEPARATOR})?[0-3]?[0-9]{_SEPARATOR}{_YEAR})"
)
_NAMES = r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_WORDS = (
    "calendar|kalender|calendrier|calendario|agenda|event|schedule|diary|year|month|week|day|date"
)

# What most paths with digits do not have. The digits come first: so it takes a tenth of the whole pattern's time.
_LIKE_A_YEAR = re.compile(r"(?:19|2[01])(?<![0-9A-Za-z]..)[0-9]{2}")
_IN_PATH = re.compile(_ALONE.format(_PLAIN))
_IN_CALENDAR = re.compile(_ALONE.format(_SAID))
_CALENDAR = re.compile(rf"(?<![a-z])(?:{_WORDS})s?(?![a-z])", re.IGNORECASE)
_FIELD = re.compile(rf"(?:{_WORDS})s?(?![a-z])")
_NOT_DATES = re.compile("(?:up|vali|candi|man)date")
_VALUE = re.compile(rf"{_PLAIN}(?:[T+ ].*)?")
_SAID_VALUE = re.compile(rf"{_SAID}(?:[T+ ].*)?|-?[0-9]{{1,10}}|(?:{_NAMES})[a-z]*", re.IGNORECASE)
_WITH_WEEKS = frozenset({_IN_PATH, _VALUE})
_CENTURIES = frozenset({"19", "20", "21"})
_LETTERS = frozenset("ymdwYMDW")
_MASK = "@"

MONTHS, WEEKS, DAYS = 12, 53, 366


class Masked(NamedTuple):
    """A text without its date, and how many such dates there are in a year."""

    text: str
    a_year: int


def in_path(path: str) -> Masked | None:
    """A path with its dates masked; `None` if it has none."""
    if not _LIKE_A_YEAR.search(path):
        return None
    pattern = _IN_PATH
    found = pattern.search(path)
    if found is None and _CALENDAR.search(path):
        pattern = _IN_CALENDAR
        found = pattern.search(path)
    if found is None:
        return None
    text, dates = pattern.subn(_MASK, path)
    return Masked(text, _rate(found) if dates == 1 else DAYS)


def in_fields(fields: Sequence[tuple[str, str, str]]) -> Masked | None:
    """The parameters (name, "=", value) of a query, joined in order, with the values that are dates masked.

    `None` if none is.
    """
    rates = [
        _value_rate(name, value) if value[:2] in _CENTURIES or _name_rate(name) else 0
        for name, _, value in fields
    ]
    if not any(rates):
        return None
    # One letter is enough beside a date: `?year=2026&m=11`.
    masked = [
        f"{name}={_MASK if rate or (name in _LETTERS and value.isdecimal()) else value}"
        for (name, _, value), rate in zip(fields, rates, strict=True)
    ]
    return Masked("&".join(masked), max(rates))


def _value_rate(name: str, value: str) -> int:
    """Dates a year of this form; 0 if the parameter is no date."""
    found = _VALUE.fullmatch(value)
    if found:
        return _rate(found)
    rate = _name_rate(name)
    return rate if rate and _SAID_VALUE.fullmatch(value) else 0


@lru_cache(maxsize=4096)
def _name_rate(name: str) -> int:
    lower = name.lower()
    if not _FIELD.search(lower) or _NOT_DATES.search(lower):
        return 0
    if "year" in lower or "month" in lower:
        return MONTHS
    return WEEKS if "week" in lower else DAYS


def _rate(date: re.Match[str]) -> int:
    if date.lastindex is None:
        return MONTHS
    return WEEKS if date.re in _WITH_WEEKS and date.lastindex == 1 else DAYS
