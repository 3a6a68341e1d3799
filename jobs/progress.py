"""What a running crawl shows: a live panel on a terminal, plain lines elsewhere; a table or JSON at its end."""

import json
from collections import deque
from contextlib import AbstractContextManager
from dataclasses import asdict
from types import TracebackType
from typing import Any, NamedTuple, Self

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from actors.watch import Ending, Totals

# Rates are means over this many seconds.
WINDOW_SECONDS = 10.0
# Elsewhere than on a terminal a line is written this often.
LINE_SECONDS = 5.0


class Rates(NamedTuple):
    """Per second: pages, new URLs, bytes received."""

    pages: float
    discovered: float
    wire_bytes: float


class Progress(AbstractContextManager["Progress"]):
    """Shows totals as they come; all on standard error, which leaves standard output to the summary."""

    def __init__(self, console: Console, began: float) -> None:
        self._console = console
        self._began = began
        self._past: deque[tuple[float, Totals]] = deque()
        self._live = (
            Live(console=console, transient=True, auto_refresh=False)
            if console.is_terminal
            else None
        )
        self._next_line = began

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._live:
            self._live.stop()

    def say(self, text: str) -> None:
        """One line, now."""
        self._console.print(text, highlight=False, soft_wrap=True)

    def show(self, totals: Totals, now: float, ready_at: float | None = None) -> None:
        """The state at `now`. `ready_at`: when somebody can next be asked."""
        self._past.append((now, totals))
        while self._past[0][0] < now - WINDOW_SECONDS:
            self._past.popleft()
        rates = _rates(*self._past[0], now, totals)
        wait = _wait(totals, now, ready_at)
        if self._live:
            self._live.update(_panel(totals, rates, now - self._began, wait), refresh=True)
        elif now >= self._next_line:
            self._next_line = now + LINE_SECONDS
            self.say(_line(totals, rates, now - self._began, wait))


def _rates(then: float, past: Totals, now: float, totals: Totals) -> Rates:
    seconds = max(now - then, 1e-9)
    return Rates(
        (totals.pages - past.pages) / seconds,
        (totals.urls_known - past.urls_known) / seconds,
        (totals.wire_bytes - past.wire_bytes) / seconds,
    )


def _wait(totals: Totals, now: float, ready_at: float | None) -> str:
    """How long it will be until somebody is asked, where nobody is now."""
    if totals.leased or ready_at is None or ready_at <= now:
        return ""
    return f" (next in {ready_at - now:.0f} s)"


def _line(totals: Totals, rates: Rates, seconds: float, wait: str) -> str:
    kinds = " ".join(f"{kind}={count}" for kind, count in totals.kinds.items())
    return (
        f"{seconds:.0f}s pages={totals.pages} ({rates.pages:.1f}/s) bytes={size(totals.wire_bytes)} "
        f"queued={totals.queued} leased={totals.leased} hosts ready={totals.hosts_ready} "
        f"waiting={totals.hosts_waiting}{wait} parked={totals.hosts_parked} given up={totals.hosts_given_up} "
        f"new={rates.discovered:.1f}/s | {kinds}"
    )


def _panel(totals: Totals, rates: Rates, seconds: float, wait: str) -> Table:
    table = Table.grid(padding=(0, 3))
    table.add_row("time", f"{seconds:.0f} s", "queued", f"{totals.queued:,}")
    table.add_row(
        "pages", f"{totals.pages:,} ({rates.pages:.1f}/s)", "leased", f"{totals.leased:,}"
    )
    table.add_row("received", f"{size(totals.wire_bytes)} ({size(rates.wire_bytes)}/s)",
                  "hosts ready", f"{totals.hosts_ready:,}")  # fmt: skip
    table.add_row("URLs known", f"{totals.urls_known:,} ({rates.discovered:.1f}/s new)",
                  "hosts waiting", f"{totals.hosts_waiting:,}{wait}")  # fmt: skip
    table.add_row("hosts given up", f"{totals.hosts_given_up:,}",
                  "hosts parked", f"{totals.hosts_parked:,}")  # fmt: skip
    for kind, count in totals.kinds.items():
        table.add_row(kind, f"{count:,}", "", "")
    return table


def last_call(until: float | None, now: float) -> str:
    """Why a crawl goes on with hardly anything left, or does so no longer (`Watch.last_call`)."""
    if until is None:
        return "there is work again"
    if until <= now:
        return "failing hosts are waited for no longer; what is left of them ends as rows"
    return f"nothing is left but failing hosts and retries; they have {until - now:.0f} s more"


def outage(since: float, wait: float, now: float) -> str:
    """That the crawl has lost its network, or has it again (`Watch.cut_off`)."""
    if not since:
        return "hosts answer again"
    return (
        "no host answers any more, several sites began to fail at once: is there a network? Nothing counts against "
        f"them; if it lasts for {since + wait - now:.0f} s more, the crawl ends, and can be resumed"
    )


def size(count: float) -> str:
    """Bytes for people."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def summary(
    totals: Totals, ending: Ending, seconds: float, out: str, pages_before: int = 0
) -> dict[str, Any]:
    """The end of a crawl as one tree; the table shows the same. `pages_before`: those of earlier runs."""
    return {
        "ending": ending.value,
        "out": out,
        "seconds": round(seconds, 3),
        "pages_per_second": round((totals.pages - pages_before) / max(seconds, 1e-9), 3),
        **asdict(totals),
    }


def write_summary(tree: dict[str, Any], console: Console, *, as_json: bool) -> None:
    """The summary on standard output: as JSON, or as a table for people."""
    if as_json:
        console.file.write(json.dumps(tree) + "\n")
        return
    # Text, for a path may hold what Rich would take for its markup.
    table = Table(title=Text(f"crawl {tree['ending']}: {tree['out']}"), show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for name, value in tree.items():
        if isinstance(value, dict):
            for key, count in value.items():
                table.add_row(f"{name}: {key}", f"{count:,}")
        elif name not in {"ending", "out"}:
            table.add_row(name.replace("_", " "), f"{value:,}")
    console.print(table)
