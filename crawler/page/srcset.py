"""The candidates of a `srcset`: HTML section 4.8.4.2, "parsing a srcset attribute", step by step.

Knows one string; knows nothing of trees and URLs.
"""

import re

_BETWEEN = re.compile(r"[\t\n\f\r ,]*")
_REFERENCE = re.compile(r"[^\t\n\f\r ]+")
# Descriptors end at a comma, but not at one between parentheses.
_DESCRIPTORS = re.compile(r"(?:[^,(]|\((?:[^)]*\)|[^)]*\Z))*+")
_WORD = re.compile(r"(?:[^\t\n\f\r (]|\((?:[^)]*\)|[^)]*\Z))++")
_FLOAT = re.compile(r"-?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def parse_srcset(text: str) -> list[str]:
    """The references, as written, of the candidates whose descriptors are right."""
    found: list[str] = []
    at = 0
    while True:
        between = _BETWEEN.match(text, at)
        reference = _REFERENCE.match(text, between.end() if between else at)
        if reference is None:
            return found
        href, at = reference[0], reference.end()
        if href.endswith(","):
            found.append(href.rstrip(","))
            continue
        descriptors = _DESCRIPTORS.match(text, at)
        assert descriptors is not None  # it may be empty
        at = descriptors.end()
        if _are_right(_WORD.findall(descriptors[0])):
            found.append(href)


def _are_right(descriptors: list[str]) -> bool:
    said: set[str] = set()
    for descriptor in descriptors:
        number, kind = descriptor[:-1], descriptor[-1]
        if kind in said or ("x" in said or (kind == "x" and said)):
            return False
        if kind in "wh":
            right = number.isascii() and number.isdigit() and int(number[:20]) > 0
        else:
            right = (
                kind == "x" and _FLOAT.fullmatch(number) is not None and not _is_negative(number)
            )
        if not right:
            return False
        said.add(kind)
    return said != {"h"}


def _is_negative(number: str) -> bool:
    return number.startswith("-") and float(number) < 0
