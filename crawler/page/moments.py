"""From the dates of sitemaps and feeds to seconds since the epoch. Knows one string; knows nothing of documents."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_tz
from functools import lru_cache

# W3C-DTF (the profile of ISO 8601 that sitemaps and Atom name), and what is written for it: a blank for the "T", a
# zone without colon or without minutes.
_W3C = re.compile(
    r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2})"
    r"(?:[Tt ]\s*([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9})[0-9]*)?)?"
    r"\s*(?:[Zz]|UTC|GMT|([+-])([0-9]{2}):?([0-9]{2})?)?)?)?)?",
    re.ASCII,
)
_LONGEST = 64

# The first and the last year are what programs write for "never set", and in a zone they may lie beyond what Python's
# dates, and so most readers of a row, can hold; zones of a million hours lie beyond what a row can.
_FIRST, _END = (datetime(year, 1, 1, tzinfo=UTC).timestamp() for year in (2, 9999))


@lru_cache(maxsize=1024)  # a sitemap's thousands of entries share a few days
def moment(text: str) -> float | None:
    """Epoch seconds of a W3C date of any precision or an RFC 822 date (RSS); `None` for any other text.

    What is left out is the earliest: a year is its first second. A time without a zone counts as UTC. Years: 2 to 9998.
    """
    text = text.strip()[:_LONGEST]
    match = _W3C.fullmatch(text)
    try:
        found = _w3c(match) if match else _rfc822(text)
    except (ValueError, OverflowError):  # the 31st of February, a year of ten digits
        return None
    return found if found is not None and _FIRST <= found < _END else None


def _w3c(match: re.Match[str]) -> float:
    year, month, day, hour, minute, second, fraction, sign, ahead, rest = match.groups()
    found = datetime(int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0),
                     int(second or 0), tzinfo=UTC).timestamp()  # fmt: skip
    if fraction:
        found += float(f"0.{fraction}")
    offset = int(ahead or 0) * 3600 + int(rest or 0) * 60
    return found + offset if sign == "-" else found - offset


def _rfc822(text: str) -> float | None:
    fields = parsedate_tz(text)
    if fields is None:
        return None
    year, month, day, hour, minute, second, *_, offset = fields
    found = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    return found.timestamp() - (offset or 0)
