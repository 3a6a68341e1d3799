"""Many regular expressions searched at once, in time linear in the text: RE2, and an index of the literals in them.

A thousand patterns cost about as much as four (8 µs a URL; joined by `|` a thousand like `^https?://[^/]*name/`
cost a millisecond, because RE2's automaton outgrows its memory).
"""

from collections.abc import Sequence
from typing import Any

import re2

from crawler.errors import ConfigError

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False  # RE2 would write to stderr what is handled here
_OPTIONS.never_capture = True

# No URL holds it. An index too large for RE2's memory finds nothing, silently: one that finds this is none of those.
_CANARY = "\x01 \x02"


class Patterns:
    """Patterns that RE2 knows, in an order; they may be pickled."""

    def __init__(self, patterns: Sequence[str]) -> None:
        """Compiles: 30 µs a pattern. Raises `ConfigError` for one that is too large."""
        self._patterns = tuple(patterns)
        self._filters = list(_filters(self._patterns, 0)) if patterns else []

    def __reduce__(self) -> tuple[type["Patterns"], tuple[tuple[str, ...]]]:
        """RE2 cannot pickle what it compiled."""
        return Patterns, (self._patterns,)

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def match(self, text: str) -> bool:
        """Whether any of them is found anywhere in the text."""
        return any(index.Match(text) for _, index in self._filters)

    def first(self, text: str) -> int | None:
        """The number of the first one, in their order, that is found in the text."""
        for start, index in self._filters:
            if found := index.Match(text):
                return int(start + min(found))
        return None


def _filters(patterns: tuple[str, ...], start: int) -> list[tuple[int, Any]]:
    """Indexes over slices of the patterns, each with the number of its first: as few as RE2's memory allows."""
    index = re2.Filter()
    try:
        for pattern in (*patterns, _CANARY):
            index.Add(pattern, _OPTIONS)
        index.Compile()
        whole = bool(index.Match(_CANARY))
    except re2.error:
        whole = False
    if whole:
        return [(start, index)]
    if len(patterns) == 1:
        message = f"too large for RE2: {patterns[0][:200]!r}"
        raise ConfigError(message)
    half = len(patterns) // 2
    return [*_filters(patterns[:half], start), *_filters(patterns[half:], start + half)]
