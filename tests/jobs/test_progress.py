"""What a crawl shows: lines, a panel, a table, JSON."""

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from actors.watch import Ending, Totals
from jobs.progress import (
    LINE_SECONDS,
    WINDOW_SECONDS,
    Progress,
    last_call,
    outage,
    size,
    summary,
    write_summary,
)

TOTALS = Totals(
    pages=1200, rows=1300, wire_bytes=2_500_000, queued=12_345, leased=7, hosts_ready=3, hosts_waiting=4,
    hosts_parked=2, hosts_given_up=1, urls_known=5000, kinds={"fetched": 1200, "redirect": 100},
    found=90, links={"new": 60, "known": 30},
)  # fmt: skip


def console(**options):
    return Console(file=io.StringIO(), width=100, **options)


def printed(console):
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1_550_000, "1.6 MB"), (2e9, "2.0 GB"),
        (3.2e12, "3.2 TB"), (4e15, "4000.0 TB"),
    ],
)  # fmt: skip
def test_sizes(count, text):
    assert size(count) == text


def test_plain_lines_now_and_then():
    out = console()
    with Progress(out, began=100.0) as progress:
        for moment in (100.0, 101.0, 100.0 + LINE_SECONDS):
            progress.show(TOTALS, moment)
        progress.say("max_pages: no new requests")
    first, second, said = printed(out).splitlines()
    assert first == (
        "0s pages=1200 (0.0/s) bytes=2.5 MB queued=12345 leased=7 hosts ready=3 waiting=4 parked=2 given up=1"
        " new=0.0/s | fetched=1200 redirect=100"
    )
    assert second.startswith("5s pages=1200")
    assert said == "max_pages: no new requests"


def test_a_crawl_that_waits_says_for_how_long():
    out, panel = console(), console(force_terminal=True)
    waiting = replace(TOTALS, leased=0)
    for one in (out, panel):
        with Progress(one, began=100.0) as progress:
            progress.show(waiting, 100.0, 143.0)
            progress.show(waiting, 105.0, 105.0)  # somebody's turn has come
            progress.show(TOTALS, 110.0, 143.0)  # somebody is being asked
    first, second, third = printed(out).splitlines()
    assert "hosts ready=3 waiting=4 (next in 43 s) parked=2" in first
    assert "waiting=4 parked=2" in second
    assert "waiting=4 parked=2" in third
    assert "4 (next in 43 s)" in printed(panel)


def test_rates_are_those_of_the_last_seconds():
    out = console()
    progress = Progress(out, began=0.0)
    with progress:
        progress.show(Totals(pages=1_000_000), 0.0)
        progress.show(Totals(pages=1_000_000), 5.0)
        later = 5.0 + WINDOW_SECONDS
        progress.show(Totals(pages=1_000_020, urls_known=30), later)
    assert "pages=1000020 (2.0/s)" in printed(out).splitlines()[-1]
    assert "new=3.0/s" in printed(out).splitlines()[-1]


def test_a_panel_on_a_terminal():
    out = console(force_terminal=True)
    with Progress(out, began=0.0) as progress:
        progress.show(TOTALS, 1.0)
    text = printed(out)
    for part in (
        "1,200 (0.0/s)",
        "12,345",
        "2.5 MB (0 B/s)",
        "redirect",
        "hosts waiting",
        "hosts parked",
    ):
        assert part in text


def test_the_panel_goes_when_the_crawl_fails():
    out = console(force_terminal=True)
    with pytest.raises(RuntimeError), Progress(out, began=0.0):
        raise RuntimeError
    assert printed(out).rfind("\x1b[?25h") > printed(out).rfind("\x1b[?25l")  # the cursor is back


def test_the_summary_as_json():
    out = console()
    tree = summary(TOTALS, Ending.COMPLETE, 60.0, "/out")
    write_summary(tree, out, as_json=True)
    (line,) = printed(out).splitlines()
    read = json.loads(line)
    assert read == tree
    assert (read["ending"], read["out"], read["seconds"], read["pages_per_second"]) == (
        "complete", "/out", 60.0, 20.0,
    )  # fmt: skip
    assert sum(read["links"].values()) == read["found"]


def test_the_rate_of_a_run_leaves_out_the_pages_of_earlier_ones():
    assert summary(TOTALS, Ending.COMPLETE, 60.0, "/out", 1140)["pages_per_second"] == 1.0


def test_the_summary_as_a_table():
    out = console()
    write_summary(summary(TOTALS, Ending.MAX_PAGES, 60.0, "/out"), out, as_json=False)
    text = printed(out)
    lines = [" ".join(line.strip("│┃ ").split()) for line in text.splitlines()]
    assert "crawl max_pages: /out" in text
    assert "kinds: fetched │ 1,200" in lines
    assert "links: known │ 30" in lines
    assert "urls known │ 5,000" in lines


@pytest.mark.parametrize("path", ["/a[/b]c", "/a[bold]c"])
def test_brackets_in_a_path_are_brackets(path):
    out = console()
    write_summary(summary(TOTALS, Ending.COMPLETE, 60.0, path), out, as_json=False)
    assert f"crawl complete: {path}" in printed(out)


def test_a_crawl_that_took_no_time_has_a_rate():
    assert summary(Totals(), Ending.STOPPED, 0.0, "/out")["pages_per_second"] == 0.0


def test_the_end_says_what_it_waits_for():
    assert [last_call(until, 1000.0).partition(";")[0] for until in (1060.0, None, 0.0)] == [
        "nothing is left but failing hosts and retries",
        "there is work again",
        "failing hosts are waited for no longer",
    ]
    assert last_call(1060.0, 1000.0).endswith("they have 60 s more")


def test_an_outage_and_its_end_are_told():
    told = outage(1000.0, 600.0, 1060.0)
    assert told.startswith("no host answers any more")
    assert "if it lasts for 540 s more, the crawl ends" in told
    assert outage(0.0, 600.0, 1060.0) == "hosts answer again"
