"""A simulated web in a child process, for tests and benchmarks: started, asked for its log, ended by its pid."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from http.client import HTTPConnection
from pathlib import Path

from benchmarks.simweb.log import Request, parse
from benchmarks.simweb.options import Options
from benchmarks.simweb.server import CONTROL
from benchmarks.simweb.settings import config_toml
from benchmarks.simweb.world import World

_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class RunningWeb:
    """A served world. `world` is the same world again, in this process."""

    port: int
    pid: int
    world: World

    @property
    def seeds(self) -> list[str]:
        """Where a crawl begins."""
        return self.world.seeds

    @property
    def overrides(self) -> dict[str, str]:
        """Every name → its address."""
        return self.world.overrides

    def config_toml(self, directory: Path, delay: float = 0.05) -> Path:
        """Writes `simweb.toml` for a crawler; `delay` is its politeness delay in seconds."""
        path = directory / "simweb.toml"
        text = config_toml(self.overrides, delay, sitemaps=self.world.options.sitemaps)
        path.write_text(text, encoding="utf-8")
        return path

    def seeds_file(self, directory: Path) -> Path:
        """Writes `seeds.txt`, one seed a line."""
        path = directory / "seeds.txt"
        path.write_text("".join(f"{seed}\n" for seed in self.seeds), encoding="utf-8")
        return path

    def log(self) -> list[Request]:
        """Every request that has ended so far, ordered by start."""
        connection = HTTPConnection(CONTROL, self.port, timeout=30)
        try:
            connection.request("GET", "/__log")
            return parse(connection.getresponse().read().decode())
        finally:
            connection.close()


@contextmanager
def running(
    options: Options | None = None, *, log: Path | None = None, port: int = 0
) -> Iterator[RunningWeb]:
    """Serves a world while the block runs. `log`: where the log is written at the end.

    Raises: `RuntimeError` where the server does not come up.
    """
    options = options or Options()
    arguments = [f"--port={port}", "--child", *([f"--log={log}"] if log else []), *_flags(options)]
    child = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.simweb", *arguments],
        cwd=_ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdin
    assert child.stdout
    try:
        line = child.stdout.readline()
        if not line:
            message = f"the simulated web did not start (exit code {child.wait()})"
            raise RuntimeError(message)
        port = json.loads(line)["port"]
        yield RunningWeb(port, child.pid, World(options, port))
    finally:
        child.terminate()
        child.wait()
        child.stdin.close()
        child.stdout.close()


def _flags(options: Options) -> Iterator[str]:
    for option in fields(options):
        value, flag = getattr(options, option.name), option.name.replace("_", "-")
        if isinstance(value, bool):
            yield f"--{flag}" if value else f"--no-{flag}"
        else:
            yield f"--{flag}={value}"
