"""`ray job submit` to a cluster that asks for a token: the same crawl, the same rows."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from benchmarks.simweb.options import Options
from benchmarks.simweb.running import running
from tests.cluster.running import ROOT, adopt_orphans, crawl_of, descendants, end, faults, summary

pytestmark = pytest.mark.ray

DELAY = 0.02
BIN = Path(sys.executable).parent
RAY = str(BIN / "ray")


def free_ports(count):
    """Ports that are free now; all are held until all are known."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [str(bound.getsockname()[1]) for bound in sockets]
    for bound in sockets:
        bound.close()
    return ports


@pytest.fixture(scope="module")
def cluster():
    """A head node of its own; gives the address for jobs and the environment that has the token."""
    adopt_orphans()
    before = descendants()
    # AF_UNIX paths are short.
    folder = tempfile.mkdtemp(prefix="rc-", dir="/tmp")
    gcs, dashboard, client, agent, grpc = free_ports(5)
    environment = {
        **os.environ, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "a token of this test only, and a long one",
        "PATH": f"{BIN}:{os.environ['PATH']}",
    }  # fmt: skip
    environment.pop("RAY_ADDRESS", None)
    try:
        subprocess.run(
            [RAY, "start", "--head", f"--port={gcs}", f"--dashboard-port={dashboard}",
             f"--ray-client-server-port={client}", f"--dashboard-agent-listen-port={agent}",
             f"--dashboard-agent-grpc-port={grpc}", f"--temp-dir={folder}", "--num-cpus=2",
             "--object-store-memory=200000000", "--min-worker-port=0", "--max-worker-port=0",
             "--disable-usage-stats", "--node-ip-address=127.0.0.1"],
            env=environment, check=True, timeout=90, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        yield f"http://127.0.0.1:{dashboard}", environment
    finally:
        while left := descendants() - before:
            end(left)
        shutil.rmtree(folder, ignore_errors=True)


def submit(cluster, *words):
    """`ray job submit`, to its end; returns its code and what it printed."""
    address, environment = cluster
    done = subprocess.run(
        [RAY, "job", "submit", "--address", address, *words], cwd=ROOT, env=environment, timeout=150,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


def test_job(cluster, tmp_path):
    with running(Options(hosts=30, pages=300, page_bytes=1500, links=8, troubles=False)) as web:
        command = crawl_of(web, tmp_path, delay=DELAY, shards=2)
        words = [
            "python",
            "-m",
            "jobs.crawl",
            *command.arguments,
            "--out",
            str(command.out),
            "--json",
        ]
        code, printed = submit(cluster, "--working-dir", ".", "--", *words)
        assert code == 0, printed
        totals = summary(next(line for line in printed.splitlines() if line.startswith("{")))
        assert (totals["ending"], totals["found"]) == ("complete", sum(totals["links"].values()))
        assert faults(web, command, DELAY) == []


def test_token_is_asked_for(cluster):
    address, environment = cluster
    code, printed = submit((address, {**environment, "RAY_AUTH_TOKEN": "not it" * 8}), "--", "true")
    assert code != 0
    assert "token" in printed.lower()
