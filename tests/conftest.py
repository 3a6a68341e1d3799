"""`--tally`: what the conformance suites of this run compared, as a table."""

import pytest

from tests.shared import TALLIES


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--tally", action="store_true", help="print a table of the conformance suites that ran"
    )


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if not config.getoption("--tally") or not TALLIES:
        return
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
