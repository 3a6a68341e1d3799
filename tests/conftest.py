"""`--tally`: what the conformance suites of this run compared and what its tests measured, as tables.

`--hypothesis-profile=fuzz`: twenty times the examples of every property test.
"""

import gc
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.shared import FIGURES, TALLIES

# How long an example takes says how busy the machine is.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fuzz", settings.get_profile("untimed"), max_examples=2000)
settings.load_profile("untimed")


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    """Leaves the garbage collector as it was: a crawl's tasks tune it, and the next test may measure memory."""
    before = gc.get_threshold()
    yield
    if gc.get_threshold() != before:
        gc.set_threshold(*before)
        gc.unfreeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--tally", action="store_true", help="print tables of what this run compared and measured"
    )


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if not config.getoption("--tally"):
        return
    if TALLIES:
        _conformance(terminalreporter)
    for table, lines in sorted(FIGURES.items()):
        _figures(terminalreporter, table, lines)


def _conformance(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.section("conformance")
    width = max(map(len, TALLIES))
    terminalreporter.write_line(f"{'suite':{width}}   cases  passed  explained")
    for suite, (cases, passed, explained) in sorted(TALLIES.items()):
        terminalreporter.write_line(
            f"{suite:{width}}  {cases:6,}  {passed:6,}  {explained.total():9,}"
        )
        for reason, count in explained.most_common():
            terminalreporter.write_line(f"    {count:3}  {reason}")
    cases, passed = (sum(row[n] for row in TALLIES.values()) for n in (0, 1))
    terminalreporter.write_line(f"{'all':{width}}  {cases:6,}  {passed:6,}  {cases - passed:9,}")


def _figures(
    terminalreporter: pytest.TerminalReporter, table: str, lines: dict[str, dict[str, object]]
) -> None:
    terminalreporter.section(table)
    names = list(dict.fromkeys(name for values in lines.values() for name in values))
    rows = [["", *names]]
    rows += [[what, *(_cell(values.get(name)) for name in names)] for what, values in lines.items()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for what, *cells in rows:
        padded = [f"{cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True)]
        terminalreporter.write_line("  ".join([f"{what:{widths[0]}}", *padded]))


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
