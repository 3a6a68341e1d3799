"""Inputs that others wrote, and the account of how this project fares with them.

A test whose inputs are missing skips and says so. What a conformance suite compared is one row of the table that
`--tally` prints (`tests/conftest.py`).
"""

import os
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

_ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("RAYCRAWL_SHARED", _ROOT.parent / "shared"))
CONFORMANCE = SHARED / "conformance"


def need(name: str) -> Path:
    """The path of one conformance file; skips the calling test (or module, at import) where it is missing."""
    path = CONFORMANCE / name
    if not path.exists():
        pytest.skip(f"no {name} beside the project (set RAYCRAWL_SHARED)", allow_module_level=True)
    return path


class Tally(NamedTuple):
    """How many cases of one suite were compared and agreed; the others by the reason of their difference."""

    cases: int
    passed: int
    explained: Counter[str]


TALLIES: dict[str, Tally] = {}


def tally(suite: str, cases: int, passed: int, explained: Mapping[str, int] | None = None) -> None:
    """Adds to the suite's row of the table. A case has passed, or its difference has a reason; there is no third."""
    reasons = Counter(explained or {})
    assert passed + reasons.total() == cases, f"{suite}: {passed} + {dict(reasons)} of {cases}"
    before = TALLIES.get(suite, Tally(0, 0, Counter()))
    TALLIES[suite] = Tally(before.cases + cases, before.passed + passed, before.explained + reasons)


def check(
    suite: str,
    judged: Iterable[tuple[Hashable, object, object]],
    explained: Mapping[Hashable, str] | None = None,
    at_least: int = 1,
) -> list[tuple[Hashable, object, object]]:
    """Every case agrees or is explained, every explained name differs; tallies them and returns those that differ.

    `judged`: (name, got, expected), where cases may share a name. `explained`: the reason by name. `at_least`: so
    many cases must be there, lest an empty file pass.
    """
    judged, explained = list(judged), explained or {}
    differing = [(name, got, expected) for name, got, expected in judged if got != expected]
    names = {name for name, _, _ in differing}
    unexplained = [case for case in differing if case[0] not in explained]
    assert not unexplained, f"{suite}: {len(unexplained)} (case, got, expected): {unexplained[:20]}"
    passing = explained.keys() - names
    assert not passing, f"{suite}: explained, but it passes: {passing}"
    assert len(judged) >= at_least, f"{suite}: {len(judged)} cases, not {at_least}"
    agreed = sum(got == expected for _, got, expected in judged)
    tally(suite, len(judged), agreed, Counter(explained[name] for name, _, _ in differing))
    return differing


FIGURES: dict[str, dict[str, dict[str, object]]] = {}


def figure(table: str, name: str, **values: object) -> None:
    """One line, `name` and its values, of a table that `--tally` prints: what was measured and bounded by a test."""
    FIGURES.setdefault(table, {})[name] = values


def forget_peak() -> None:
    """From now on `peak_mib` is the most that is used from now on."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak_mib() -> int:
    """The most memory that this process has used."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


def reasons(*groups: tuple[str, Iterable[Hashable]]) -> dict[Hashable, str]:
    """`{name: reason}` from (reason, names) groups."""
    return {name: reason for reason, names in groups for name in names}
