import json
import os
import signal
import subprocess
import sys
import tomllib
from http.client import HTTPConnection
from pathlib import Path

import pytest

from benchmarks.simweb.__main__ import main
from benchmarks.simweb.log import load
from benchmarks.simweb.options import Options
from benchmarks.simweb.running import running
from benchmarks.simweb.server import listen


def ask(web, host, target, agent="one"):
    connection = HTTPConnection(host.address, web.port, timeout=5)
    try:
        connection.request(
            "GET", target, headers={"Host": f"{host.name}:{web.port}", "User-Agent": agent}
        )
        connection.getresponse().read()
    finally:
        connection.close()


def test_the_log_is_written_on_demand_and_at_the_end(tmp_path):
    path = tmp_path / "log.tsv"
    with running(Options(hosts=3, pages=5, troubles=False), log=path) as served:
        ask(served, served.world.hosts[0], "/", "one\ttwo")
        os.kill(served.pid, signal.SIGUSR1)
        # Signals are taken before what arrives later.
        assert served.log() == load(path)
        ask(served, served.world.hosts[1], "/robots.txt")
    first, second = load(path)
    assert (first.host, first.target, first.status, first.agent) == (
        "h0.s0.home.arpa",
        "/",
        200,
        "one two",
    )
    assert (second.host, second.target) == ("h1.s0.home.arpa", "/robots.txt")


def test_files_for_a_crawler(tmp_path):
    with running(Options(hosts=3, pages=6)) as web:
        check_files(web, tmp_path)


def check_files(web, tmp_path):
    config = tomllib.loads(web.config_toml(tmp_path, delay=0.25).read_text())
    assert config["dns"]["overrides"] == web.overrides
    assert config["politeness"]["delay"] == 0.25
    assert config["fetch"]["allow_private"]
    assert web.seeds_file(tmp_path).read_text().split() == web.seeds


def test_the_command_line_writes_files_and_one_ready_line_and_ends_by_a_signal(tmp_path):
    config, seeds = tmp_path / "c.toml", tmp_path / "seeds.txt"
    arguments = [
        "--hosts=3",
        "--pages=6",
        "--no-troubles",
        f"--config={config}",
        f"--seeds-file={seeds}",
    ]
    command = [sys.executable, "-m", "benchmarks.simweb", *arguments]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2])
    with child:
        ready = json.loads(child.stdout.readline())
        assert ready["pid"] == child.pid
        assert seeds.read_text().split() == ready["seeds"]
        assert tomllib.loads(config.read_text())["dns"]["overrides"] == ready["overrides"]
        with pytest.raises(OSError, match="in use"):
            listen(ready["overrides"].values(), ready["port"])
        child.send_signal(signal.SIGINT)
        assert child.wait() == 0


def test_a_child_ends_with_its_parent():
    command = [sys.executable, "-m", "benchmarks.simweb", "--hosts=3", "--pages=6", "--child"]
    child = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    with child:
        child.stdout.readline()
        child.stdin.close()
        assert child.wait() == 0


@pytest.mark.slow
def test_a_server_that_cannot_start_is_an_error():
    small = Options(hosts=3, pages=6)
    with running(small) as served, pytest.raises(RuntimeError, match="did not start"):
        running(small, port=served.port).__enter__()


def test_a_bad_flag_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["--traps=some"])
    assert "invalid choice" in capsys.readouterr().err
