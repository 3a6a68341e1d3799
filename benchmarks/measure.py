"""CPU time and peak memory of a whole process tree, by what its processes were doing.

Orphans stay in the tree (this process adopts them), and every process is looked at several times a second: what it used
after the last look is lost, at most `INTERVAL` seconds a process.
"""

import ctypes
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

INTERVAL = 0.2
_PR_SET_CHILD_SUBREAPER = 36


@dataclass(slots=True)
class Usage:
    """What a command used, by role: `cpu` in seconds, the rest in bytes of the largest process at its worst moment.

    `peak_rss` counts what a process shares with others too (the object store, libraries); `peak_private` does not.
    `peak_total`: the sum of what all processes had for themselves at one moment.
    """

    wall: float = 0.0
    code: int | None = None
    cpu: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    peak_rss: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    peak_private: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    peak_total: int = 0
    started: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    @property
    def cpu_seconds(self) -> float:
        """All CPU seconds of the tree."""
        return sum(self.cpu.values())


def role(process: psutil.Process) -> str:
    """What a process of a crawl does: Ray's workers say it in their titles."""
    words = process.cmdline()
    title = " ".join(words)
    if title.startswith("ray::"):
        return title.split("(")[0].split()[0].removeprefix("ray::")
    for name in (
        "gcs_server",
        "raylet",
        "log_monitor",
        "runtime_env",
        "dashboard",
        "default_worker",
    ):
        if name in title:
            return f"ray {name}"
    return "driver" if "crawl" in title else Path(words[0]).name if words else "?"


def run(
    command: Sequence[str],
    *,
    timeout: float,
    name: Callable[[psutil.Process], str] = role,
    output: Path | None = None,
    env: dict[str, str] | None = None,
) -> Usage:
    """Runs a command to its end, or for `timeout` seconds and then ends it; `output` gets what it prints."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    me = psutil.Process()
    before = set(me.children(recursive=True))
    usage, seen = Usage(), dict[psutil.Process, float]()
    began = time.monotonic()
    with (output or Path("/dev/null")).open("wb") as file:
        child = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, env=env)
        while child.poll() is None:
            _look(usage, seen, set(me.children(recursive=True)) - before, name)
            if time.monotonic() - began > timeout:
                child.terminate()
                child.wait(timeout=60)
            time.sleep(INTERVAL)
    usage.wall, usage.code = time.monotonic() - began, child.returncode
    _end(set(me.children(recursive=True)) - before)
    return usage


def _look(
    usage: Usage,
    seen: dict[psutil.Process, float],
    processes: set[psutil.Process],
    name: Callable[[psutil.Process], str],
) -> None:
    total = 0
    for process in processes:
        try:
            with process.oneshot():
                times, memory, what = process.cpu_times(), process.memory_info(), name(process)
        except psutil.Error:
            continue
        used = times.user + times.system
        if process not in seen:
            usage.started[what] += 1
        usage.cpu[what] += used - seen.get(process, 0.0)
        seen[process] = used
        private = memory.rss - memory.shared
        usage.peak_rss[what] = max(usage.peak_rss[what], memory.rss)
        usage.peak_private[what] = max(usage.peak_private[what], private)
        total += private
    usage.peak_total = max(usage.peak_total, total)


def _end(left: set[psutil.Process]) -> None:
    """Ends what the command left running: all of it was started by it."""
    for process in left:
        process.kill()
    psutil.wait_procs(left, timeout=10)


def table(usage: Usage, pages: int) -> str:
    """Where the CPU time went, a line a role."""
    lines = [f"{'role':28}{'CPU s':>9}{'ms/page':>9}{'RSS MB':>9}{'own MB':>9}{'starts':>8}"]
    for what, seconds in sorted(usage.cpu.items(), key=lambda pair: -pair[1]):
        lines.append(
            f"{what:28}{seconds:9.1f}{1000 * seconds / max(pages, 1):9.2f}"
            f"{usage.peak_rss[what] / 1e6:9.0f}{usage.peak_private[what] / 1e6:9.0f}{usage.started[what]:8}"
        )
    lines.append(
        f"{'all':28}{usage.cpu_seconds:9.1f}{1000 * usage.cpu_seconds / max(pages, 1):9.2f}"
        f"{'':9}{usage.peak_total / 1e6:9.0f}"
    )
    return "\n".join(lines)
