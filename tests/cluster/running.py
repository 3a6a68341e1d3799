"""Crawls by the real command, each a process tree of its own: started, watched, killed, read back, judged.

Processes that lose their parent stay below this one (it adopts them), so a tree can be ended whole, and by pid.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pyarrow as pa
import pyarrow.dataset as pads

from benchmarks.simweb import judge
from benchmarks.simweb import log as logs
from benchmarks.simweb.running import RunningWeb
from benchmarks.simweb.truth import truth

ROOT = Path(__file__).resolve().parents[2]
# Bounds one run of the command; a crawl of these tests takes 10 to 60 seconds on two cores.
SECONDS = 150.0
# Between two looks at something that is waited for.
LOOK_SECONDS = 0.05
_PR_SET_CHILD_SUBREAPER = 36


class Completed(NamedTuple):
    """How a run of the command ended. `summary`: the JSON that it printed; empty where it printed none."""

    code: int
    summary: dict[str, Any]
    errors: str

    @property
    def accounted(self) -> int:
        """Links for which there is a reason; `summary["found"]` is how many there were."""
        return sum(self.summary["links"].values())


class Running:
    """A command under way, and every process that has come of it."""

    def __init__(self, command: "Command", before: set[psutil.Process]) -> None:
        self._before = before
        self._printed = command.folder / "printed.txt"
        self._errors = command.folder / "errors.txt"
        with self._printed.open("wb") as printed, self._errors.open("wb") as errors:
            self.process = subprocess.Popen(
                command.words, cwd=ROOT, env=environment(), stdout=printed, stderr=errors,
                start_new_session=True,
            )  # fmt: skip

    def tree(self) -> list[psutil.Process]:
        """The processes of the command that live now."""
        return sorted(descendants() - self._before, key=lambda process: process.pid)

    def titled(self, title: str) -> list[psutil.Process]:
        """The processes of the tree whose title begins so (Ray's workers say there what they do)."""
        return [process for process in self.tree() if title_of(process).startswith(title)]

    def until(self, condition: Callable[[], Any], seconds: float = SECONDS) -> Any:
        """Waits until something holds, and returns it; the command must not end before."""
        deadline = time.monotonic() + seconds
        while not (held := condition()):
            assert self.process.poll() is None, f"the command has ended:\n{self.errors}"
            assert time.monotonic() < deadline, f"still waiting:\n{self.errors}"
            time.sleep(LOOK_SECONDS)
        return held

    def interrupt(self) -> None:
        """What Ctrl-C on a terminal does: SIGINT to the whole process group."""
        os.killpg(self.process.pid, signal.SIGINT)

    def kill(self) -> None:
        """SIGKILL for every process there is of it, until none is left."""
        while left := self.tree():
            end(left)
        self.process.wait()

    def wait(self, seconds: float = SECONDS) -> Completed:
        """The command's end."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            message = f"the command did not end:\n{self.errors}"
            raise AssertionError(message) from None
        return Completed(code, summary(self._printed.read_text()), self.errors)

    @property
    def errors(self) -> str:
        """The last of what it wrote on standard error."""
        return self._errors.read_text()[-4000:]


@dataclass(frozen=True, slots=True)
class Command:
    """One crawl as a command; run again it resumes. `folder` gets what it prints, `out` the crawl."""

    folder: Path
    out: Path
    arguments: tuple[str, ...] = field(default=())

    @property
    def words(self) -> list[str]:
        """The command line."""
        command = [sys.executable, "-m", "jobs.main", "crawl"]
        return [*command, *self.arguments, "--out", str(self.out), "--json"]

    @contextmanager
    def running(self) -> Iterator[Running]:
        """The command while the block runs; nothing of it lives on."""
        adopt_orphans()
        running = Running(self, descendants())
        try:
            yield running
        finally:
            running.kill()

    def run(self) -> Completed:
        """The command from its start to its end."""
        with self.running() as running:
            return running.wait()

    def rows(self, *columns: str) -> pa.Table:
        """The dataset; all its rows are final."""
        return pads.dataset(str(self.out / "pages"), partitioning="hive").to_table(columns=list(columns))  # fmt: skip


def crawl_of(
    web: RunningWeb, folder: Path, *options: str, delay: float, config: str = "", shards: int = 1
) -> Command:
    """The command for a crawl of a simulated web. `config`: more TOML tables."""
    file = web.config_toml(folder, delay)
    file.write_text(file.read_text() + config)
    seeds = web.seeds_file(folder)
    arguments = ("--seeds", str(seeds), "--config", str(file), "--shards", str(shards), *options)
    return Command(folder, folder / "out", arguments)


@contextmanager
def served(root: Path | str, start: str, log: Path | None = None) -> Iterator[str]:
    """A directory on loopback while the block runs; gives the URL of its start page. `log`: written at the end."""
    words = ["--root", str(root), "--index", start, "--child", *([f"--log={log}"] if log else [])]
    child = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.simweb.tree", *words], cwd=ROOT, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )  # fmt: skip
    assert child.stdout
    try:
        yield json.loads(child.stdout.readline())["seeds"][0]
    finally:
        child.terminate()
        child.communicate()


def faults(web: RunningWeb, command: Command, delay: float) -> list[str]:
    """What is wrong with a finished crawl, a line each, by its rows and by the server's log; none for a right one."""
    rows = command.rows("url", "kind", "url_key").to_pylist()
    doubles = Counter(row["url_key"] for row in rows)
    log = web.log()
    return [
        *judge.differences(web.world, truth(web.world), [(row["url"], row["kind"]) for row in rows]),
        *(f"{count} rows: key {key}" for key, count in doubles.items() if count > 1),
        *judge.disobeyed(web.world, log),
        *(f"too soon: {violation}" for violation in logs.violations(log, judge.patience(web.world, delay))),
    ]  # fmt: skip


def answered(web: RunningWeb, share: float) -> Callable[[], bool]:
    """Whether the server has answered, from now on, that share of what a whole crawl asks it."""
    goal = len(web.log()) + share * len(truth(web.world))
    return lambda: len(web.log()) >= goal


def environment() -> dict[str, str]:
    """A cluster of one test is alone on loopback."""
    return {**os.environ, "RAY_AUTH_MODE": "disabled", "COLUMNS": "200"}


def summary(printed: str) -> dict[str, Any]:
    """The JSON that is all there is on standard output; nothing of a crawl that was killed."""
    tree: dict[str, Any] = json.loads(printed) if printed else {}
    return tree


def adopt_orphans() -> None:
    """Makes this process the parent of what its descendants leave behind."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants() -> set[psutil.Process]:
    """Every process below this one."""
    return set(psutil.Process().children(recursive=True))


def end(processes: Iterable[psutil.Process]) -> None:
    """SIGKILL for these, and waits until they are gone."""
    processes = list(processes)
    for process in processes:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    psutil.wait_procs(processes, timeout=10)


def survivors(processes: list[psutil.Process], seconds: float) -> list[psutil.Process]:
    """Those that have not ended by themselves within so many seconds. The dead are not reaped: they have no title."""
    deadline = time.monotonic() + seconds
    while (left := list(filter(title_of, processes))) and time.monotonic() < deadline:
        time.sleep(LOOK_SECONDS)
    return left


def title_of(process: psutil.Process) -> str:
    """What a process calls itself; nothing once it is gone."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""
