"""Crawl: seeds in, Parquet out. The same command on the same output resumes.

Exit codes: 0 the crawl is complete, or a budget ended it; 2 bad options, configuration, seeds or output (nothing was
touched); 130 and 143 stopped by SIGINT or SIGTERM, resumable; 1 it could not go on (a full disk, say), also resumable.
"""

import logging
import os
import signal
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer
from rich.console import Console

from actors.clock import RunClock
from actors.crawl import Crawl, engine
from actors.spec import ShardStats
from actors.watch import Ending, Watch, next_ready, total
from crawler.config import Config, ScopeMode
from crawler.dataset.output import Output
from crawler.errors import CrawlError, InputError
from crawler.loading import load
from jobs.claiming import alone, leave_other_layouts
from jobs.progress import Progress, last_call, outage, summary, write_summary
from jobs.seeds import read_seeds

FAILED, BAD_INPUT = 1, 2
# How often the shards are asked how they are.
POLL_SECONDS = 0.5


def crawl(  # noqa: PLR0913, PLR0917  the options of the command
    out: Annotated[
        str, typer.Option(metavar="DIR", help="Where the crawl lies; resumes what is there.")
    ],
    urls: Annotated[
        list[str] | None, typer.Argument(metavar="URL", help="Seeds.", show_default=False)
    ] = None,
    seeds: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A file of seeds or a sitemap (gzip too), or an earlier output."
        ),
    ] = None,
    sitemap: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="A sitemap whose entries are wanted.", show_default=False),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A TOML file; options below overrule it.")
    ] = None,
    scope: Annotated[
        ScopeMode | None, typer.Option(help="How far from the seeds to go. (default: site)")
    ] = None,
    max_pages: Annotated[
        int | None, typer.Option(metavar="N", help="Stop after so many pages.")
    ] = None,
    max_depth: Annotated[
        int | None, typer.Option(metavar="N", help="Follow so many links from a seed.")
    ] = None,
    delay: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Between two requests to a host. (default: 1)"),
    ] = None,
    shards: Annotated[
        int | None, typer.Option(metavar="N", help="Frontier shards. (default: 1)")
    ] = None,
    user_agent: Annotated[
        str | None,
        typer.Option(metavar="UA", help="Who asks; robots.txt is read for its first word."),
    ] = None,
    allow_private: Annotated[
        bool,
        typer.Option("--allow-private", help="Also fetch from private and loopback addresses."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="The summary as one line of JSON.")
    ] = False,
) -> None:
    """Crawls from the seeds until nothing is left, a budget is reached, or it is told to stop."""
    options = {
        "scope.mode": scope and scope.value,
        "budget.max_pages": max_pages,
        "scope.max_depth": max_depth,
        "politeness.delay": delay,
        "runtime.shards": shards,
        "user_agent": user_agent,
        "fetch.allow_private": allow_private or None,
    }
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    try:
        _assert_text(out, seeds, config, *(urls or ()), *(sitemap or ()))
        tree = load(config, {name: value for name, value in options.items() if value is not None})
        code = run(tree, read_seeds(urls or (), seeds, sitemap or ()), out, as_json=as_json)
    except CrawlError as error:
        typer.echo(f"raycrawl: {error}", err=True)
        raise typer.Exit(BAD_INPUT) from None
    raise typer.Exit(code)


def _assert_text(*arguments: str | Path | None) -> None:
    """Bytes of a command line that are no UTF-8 are refused here: neither URLs nor Ray can have them."""
    for text in map(str, arguments):
        if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
            message = f"not UTF-8 text: {text!r}"
            raise InputError(message)


def run(config: Config, seeds: tuple[str, ...], out: str, *, as_json: bool) -> int:
    """One run of a crawl, new or resumed; returns the exit code. Raises `CrawlError` where nothing was touched."""
    output = Output.open(out, config.runtime.state)
    there = output.read_crawl()
    if not seeds and there is not None:
        seeds = there.seeds
    if not seeds:
        message = "no seeds: give at least one URL, or --seeds FILE"
        raise InputError(message)
    # Judged before the lock, which makes a file; claimed behind it.
    record = output.judge(
        seeds, config, crawl_id=uuid.uuid4().hex, version=version("raycrawl"), now=time.time()
    )
    with alone(output):
        output.claim(record)
        try:
            leave_other_layouts(output, config, time.time())
            return _drive(config, seeds, output, as_json=as_json)
        except CrawlError as error:
            typer.echo(f"raycrawl: {error}; the same command resumes", err=True)
            return FAILED
        except (KeyboardInterrupt, SystemExit) as error:
            # While Ray starts, its own handlers are in force: they raise, as ours do until the crawl has started.
            number = signal.SIGINT if isinstance(error, KeyboardInterrupt) else signal.SIGTERM
            typer.echo("raycrawl: stopped while starting; the same command resumes", err=True)
            return 128 + number


def _drive(config: Config, seeds: tuple[str, ...], output: Output, *, as_json: bool) -> int:
    clock = RunClock.begin()
    now = clock.here()
    began = now()
    output.clear_success()
    watch, progress = Watch(config, began), Progress(Console(stderr=True), began)
    # For ten seconds, on a busy machine for a minute, there is nothing else to see.
    progress.say("starting Ray and the shards")
    # Standard output is for the summary alone: Ray writes its warnings there. It also installs signal handlers when it
    # starts; ours come after.
    with redirect_stdout(sys.stderr), ExitStack() as running, progress:
        running.enter_context(engine(config))
        graph = Crawl(config, seeds, output, clock)
        with _handled_by(_interrupt):
            graph.start()
        with _signals() as signals:
            ending = _until_over(graph, watch, progress, signals, now)
            if ending is not Ending.COMPLETE:
                progress.say(f"{ending.value}: no new requests; waiting for the open ones")
            graph.stop()
            while not _stopped(stats := graph.stats()):
                progress.show(total(stats), now())
                time.sleep(POLL_SECONDS)
                graph.stop()
            graph.close()
            tree = summary(total(stats), ending, now() - began, output.root, watch.pages_before)
            if ending not in {Ending.STOPPED, Ending.CUT_OFF}:
                output.mark_success(tree)
            # Under our handlers too: it takes a second, and who presses Ctrl-C in it has a finished crawl.
            running.close()
    write_summary(tree, Console(), as_json=as_json)
    if ending is Ending.CUT_OFF:
        message = (
            "no host can be reached any more; nothing was given up (politeness.outage_wait = 0 "
            "gives up who does not answer)"
        )
        raise CrawlError(message)
    return 128 + signals[0] if ending is Ending.STOPPED else 0


def _until_over(
    graph: Crawl,
    watch: Watch,
    progress: Progress,
    signals: Sequence[int],
    clock: Callable[[], float],
) -> Ending:
    """Watches until the crawl has to end; tells the shards and the operator what changes meanwhile."""
    while not signals:
        stats = graph.stats()
        now = clock()
        progress.show(total(stats), now, next_ready(stats))
        ending = watch.verdict(stats, now)
        if ending is not None:
            return ending
        if watch.news:
            graph.last_call(watch.last_call)
            progress.say(last_call(watch.last_call, now))
        if watch.cut_off_news:
            graph.cut_off(watch.cut_off)
            progress.say(outage(watch.cut_off, watch.outage_wait, now))
        time.sleep(POLL_SECONDS)
    return Ending.STOPPED


def _stopped(stats: Sequence[ShardStats]) -> bool:
    return all(shard.stopped for shard in stats)


@contextmanager
def _signals() -> Iterator[list[int]]:
    """The stop signals that came, in order. The second one ends the process at once: nothing is lost by it either."""
    came: list[int] = []

    def take(number: int, _frame: FrameType | None) -> None:
        if came:
            os._exit(128 + number)
        came.append(number)

    with _handled_by(take):
        yield came


def _interrupt(number: int, _frame: FrameType | None) -> None:
    """Ends a start: a restore may take long, and nothing is lost if it is not waited for."""
    raise KeyboardInterrupt if number == signal.SIGINT else SystemExit


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    before: dict[int, Any] = {
        number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler_before in before.items():
            signal.signal(number, handler_before)


if __name__ == "__main__":
    typer.run(crawl)
