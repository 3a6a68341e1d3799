"""The command: what it refuses before it starts anything, how it is stopped, and what it ends with."""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from actors.spec import ShardStats
from benchmarks.simweb.judge import differences
from benchmarks.simweb.options import Options
from benchmarks.simweb.running import running
from benchmarks.simweb.truth import truth
from crawler.config import Config
from crawler.dataset.output import Output
from crawler.errors import OutputError, StateError
from crawler.loading import load
from jobs import crawl as module
from jobs.claiming import alone
from jobs.main import app
from tests.actors.inprocess import rows_of

SEED = "https://a.example/"


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.fixture
def command(out):
    """The command in this process, with an output of its own."""

    def run(*arguments):
        return CliRunner().invoke(app, ["crawl", "--out", str(out), *map(str, arguments)])

    return run


@pytest.fixture
def no_ray(monkeypatch):
    """Whoever starts Ray fails."""

    def start(_):
        raise AssertionError

    monkeypatch.setattr(module, "engine", start)


def refused(result, told):
    assert result.exit_code == 2, result.output
    (line,) = result.stderr.splitlines()
    assert line.startswith("raycrawl: ")
    assert told in line


@pytest.mark.usefixtures("no_ray")
def test_bad_configuration_seeds_and_options_touch_nothing(command, out, tmp_path):
    bad = tmp_path / "bad.toml"
    bad.write_text("[politeness]\ndealy = 1\n")
    refused(command(SEED, "--config", bad), "bad.toml: unknown key 'politeness.dealy'")
    refused(command(SEED, "--delay", "-1"), "politeness.delay")
    refused(command("a.example"), "did you mean https://a.example?")
    refused(command("--seeds", tmp_path / "none"), "cannot read the seeds")
    refused(command(), "no seeds")
    refused(command("https://a.example/\udcff"), r"not UTF-8 text: 'https://a.example/\udcff'")
    refused(command(SEED, "--out", "~nobody-of-this-name/x"), "home directory")
    refused(command(SEED, "--out", ""), "no output: an empty path is none")
    assert not out.exists()


@pytest.mark.usefixtures("no_ray")
def test_an_output_that_is_not_ours_is_refused(command, out):
    out.mkdir()
    (out / "thesis.tex").touch()
    refused(command(SEED), "not empty and not a crawl's output (found 'thesis.tex')")
    assert [path.name for path in out.iterdir()] == ["thesis.tex"]


@pytest.mark.usefixtures("no_ray")
def test_a_second_crawl_into_the_same_output_is_refused(command, out):
    claim(out)
    with alone(Output.open(str(out))):
        refused(command(SEED), "another process crawls into it")


@pytest.mark.usefixtures("no_ray")
def test_another_crawl_in_the_output_is_refused(command, out):
    claim(out)
    refused(command("https://b.example/"), "belongs to another crawl")
    refused(command(SEED, "--scope", "any"), "scope.mode is 'site' there and 'any' here")


def claim(out, seeds=(SEED,), config=None):
    output = Output.open(str(out))
    output.claim(output.judge(seeds, config or Config(), crawl_id="c", version="0", now=0.0))


IDLE = ShardStats(0, epoch=1, ready=True, idle=True)
BUSY = replace(IDLE, idle=False, counters={"rows.fetched": 3, "links.found": 2, "links.new": 2})


class Graph:
    """The graph as a script: rounds of statistics, after the last of which it fails or goes on as it is."""

    rounds: tuple = ()
    fails: Exception | None = None
    lives: tuple = ()

    def __init__(self, config, seeds, output, clock):
        self.config, self.seeds, self.output, self.clock = config, seeds, output, clock
        self.steps = []
        self._rounds = list(self.rounds)
        type(self).lives += (self,)

    def start(self):
        self.steps.append("start")

    def stats(self):
        if len(self._rounds) > 1:
            self._rounds.pop(0)
        elif self.fails:
            raise self.fails
        step = self._rounds[0]
        if callable(step):
            step()
            step = BUSY
        return [replace(step, stopped=self.steps.count("stop") == 2)]

    def last_call(self, until):
        self.steps.append("last call")

    def stop(self):
        self.steps.append("stop")

    def close(self):
        self.steps.append("close")


@pytest.fixture
def graph(monkeypatch):
    """The command's graph becomes a scripted one; told its rounds, it gives what became of it."""

    class Scripted(Graph):
        lives = ()

    monkeypatch.setattr(module, "engine", lambda _: nullcontext())
    monkeypatch.setattr(module, "Crawl", Scripted)
    monkeypatch.setattr(module, "POLL_SECONDS", 0.0)

    def script(*rounds, fails=None):
        Scripted.rounds = (None, *rounds)
        Scripted.fails = fails
        return Scripted

    return script


def test_a_complete_crawl(command, out, graph):
    scripted = graph(BUSY, replace(BUSY, idle=True), replace(BUSY, idle=True))
    result = command(SEED, "--json", "--shards", 3, "--user-agent", "bot/1", "--allow-private")
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    assert (summary["ending"], summary["pages"], summary["found"]) == ("complete", 3, 2)
    assert json.loads((out / "_SUCCESS").read_text()) == summary
    (life,) = scripted.lives
    assert life.steps == ["start", "stop", "stop", "close"]
    assert life.seeds == (SEED,)
    config = life.config
    assert (config.runtime.shards, config.user_agent, config.fetch.allow_private) == (
        3,
        "bot/1",
        True,
    )
    assert "pages=3" in result.stderr


def test_the_shards_and_the_user_hear_what_the_end_waits_for(command, graph):
    stalled = replace(BUSY, stalled=True)
    scripted = graph(stalled, stalled, stalled, IDLE, IDLE)
    result = command(SEED)
    assert result.exit_code == 0, result.output
    (life,) = scripted.lives
    assert life.steps.count("last call") == 2
    told = [line for line in result.stderr.splitlines() if "failing hosts" in line]
    assert [line.split()[0] for line in told] == ["nothing", "failing"]


def test_seeds_of_a_resumed_crawl_need_not_be_told_again(command, out, graph):
    scripted = graph(IDLE, IDLE)
    assert command(SEED).exit_code == 0
    assert command().exit_code == 0
    assert [life.seeds for life in scripted.lives] == [(SEED,), (SEED,)]


def test_a_budget_ends_it_well(command, out, graph):
    graph(BUSY)
    result = command(SEED, "--max-pages", 3, "--max-depth", 2, "--delay", 0)
    assert result.exit_code == 0
    assert "max_pages: no new requests" in result.stderr
    assert json.loads((out / "_SUCCESS").read_text())["ending"] == "max_pages"
    assert "crawl max_pages" in " ".join(result.stdout.split())


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_it(command, out, graph, number, code):
    graph(lambda: os.kill(os.getpid(), number), BUSY)
    before = signal.getsignal(number)
    result = command(SEED)
    assert result.exit_code == code
    assert "stopped: no new requests" in result.stderr
    assert not (out / "_SUCCESS").exists()
    assert signal.getsignal(number) is before


def test_that_ray_does_not_start_is_one_line(command, monkeypatch):
    def too_late(**_):
        message = "The current node timed out during startup.\nThis could happen"
        raise Exception(message)

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr("actors.crawl.ray.init", too_late)
    result = command(SEED)
    assert result.exit_code == 1
    starting, failed = result.stderr.splitlines()
    assert starting == "starting Ray and the shards"
    assert failed.startswith("raycrawl: Ray did not start")
    assert failed.endswith("during startup. This could happen; the same command resumes")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_restore_need_not_be_waited_for(command, out, graph, monkeypatch, number, code):
    graph(IDLE, IDLE)
    monkeypatch.setattr(Graph, "start", lambda _: os.kill(os.getpid(), number))
    before = signal.getsignal(number)
    result = command(SEED)
    assert result.exit_code == code
    _, stopped = result.stderr.splitlines()
    assert stopped == "raycrawl: stopped while starting; the same command resumes"
    assert not (out / "_SUCCESS").exists()
    assert signal.getsignal(number) is before


def test_ctrl_c_while_ray_shuts_down_after_the_end_changes_nothing(
    command, out, graph, monkeypatch
):
    @contextmanager
    def engine(_):
        yield
        os.kill(os.getpid(), signal.SIGINT)

    graph(IDLE, IDLE)
    monkeypatch.setattr(module, "engine", engine)
    result = command(SEED, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == json.loads((out / "_SUCCESS").read_text())


def test_the_rate_is_that_of_this_run(command, graph):
    graph(replace(BUSY, ready=False, counters={}), BUSY, replace(BUSY, idle=True))
    resumed = json.loads(command(SEED, "--json").stdout)
    assert (resumed["pages"], resumed["pages_per_second"]) == (3, 0.0)


def test_a_crawl_that_goes_on_is_no_longer_finished(command, out, graph):
    graph(IDLE, IDLE)
    assert command(SEED).exit_code == 0
    graph(lambda: os.kill(os.getpid(), signal.SIGINT), BUSY)
    assert command(SEED).exit_code == 130
    assert not (out / "_SUCCESS").exists()


@pytest.mark.parametrize(
    "error", [OutputError("/out/wal: rows cannot be written: No space"), StateError("damaged")]
)
def test_what_goes_wrong_on_the_way_is_told_in_one_line(command, out, graph, error):
    graph(BUSY, fails=error)
    result = command(SEED)
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == f"raycrawl: {error}; the same command resumes"
    assert "Traceback" not in result.output
    assert not (out / "_SUCCESS").exists()
    with alone(Output.open(str(out))):  # the lock is gone
        pass


def test_a_bug_is_not_hidden(command, graph):
    graph(BUSY, fails=ZeroDivisionError())
    result = command(SEED)
    assert isinstance(result.exception, ZeroDivisionError)
    assert result.exit_code == 1


@pytest.mark.slow
def test_the_second_signal_ends_the_process_at_once():
    code = (
        "import os, signal; from jobs.crawl import _signals\n"
        "with _signals() as came:\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    assert came == [signal.SIGTERM]\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    os._exit(1)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], check=False, timeout=60)
    assert ended.returncode == 130


@pytest.mark.ray
def test_a_disk_that_refuses_ends_the_crawl_with_one_line_and_it_resumes(tmp_path):
    out = tmp_path / "out"
    with running(Options(hosts=3, pages=12, troubles=False)) as web:
        config = web.config_toml(tmp_path)
        config.write_text("[dataset]\nsegment_bytes = 1\n" + config.read_text())
        words = [
            sys.executable, "-m", "jobs.main", "crawl", *web.seeds, "--out", str(out), "--json",
            "--config", str(config),
        ]  # fmt: skip
        claim(out, web.seeds, load(config, {}))
        (out / "pages").touch()  # no segment can be published
        failed = _run(words)
        assert failed.returncode == 1, failed.stderr
        last = failed.stderr.splitlines()[-1]
        assert last.startswith(f"raycrawl: {out}: ")
        assert "cannot be written" in last
        assert last.endswith("; the same command resumes")
        assert "Traceback" not in failed.stderr
        assert not (out / "_SUCCESS").exists()

        (out / "pages").unlink()
        resumed = _run(words)
        assert resumed.returncode == 0, resumed.stderr
        summary = json.loads(resumed.stdout)
        assert summary["ending"] == "complete"
        assert differences(web.world, truth(web.world), rows_of(out, "url", "kind")) == []
        assert len(rows_of(out, "url")) == summary["rows"]


def _run(words):
    return subprocess.run(
        words, check=False, capture_output=True, text=True, timeout=120,
        cwd=Path(__file__).resolve().parents[2], env=os.environ | {"RAY_AUTH_MODE": "disabled"},
    )  # fmt: skip
