import json
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path

import pytest

from benchmarks.simweb.tree import Tree


@pytest.fixture
def root(tmp_path):
    tree = tmp_path / "tree"
    (tree / "sub dir").mkdir(parents=True)
    (tree / "index.html").write_bytes(b"<a href='sub%20dir'>x</a>")
    (tree / "sub dir" / "index.html").write_bytes(b"sub")
    (tree / "style.css").write_bytes(b"p{}")
    (tree / "strange.xyz").write_bytes(b"?")
    (tmp_path / "secret.txt").write_bytes(b"secret")
    (tree / "leak.txt").symlink_to(tmp_path / "secret.txt")
    return tree


@pytest.mark.parametrize(
    ("target", "status", "part"),
    [
        ("/", 200, b"Content-Type: text/html\r\n"),
        ("/index.html?x=1", 200, b"sub%20dir"),
        ("/sub%20dir", 301, b"Location: /sub%20dir/\r\n"),
        ("/sub%20dir/", 200, b"\r\n\r\nsub"),
        ("/style.css", 200, b"Content-Type: text/css\r\n"),
        ("/strange.xyz", 200, b"Content-Type: application/octet-stream\r\n"),
        ("/robots.txt", 404, b""),
        ("/../secret.txt", 404, b""),
        ("/%2e%2e/secret.txt", 404, b""),
        ("/leak.txt", 404, b""),
        ("/nul%00", 404, b""),
    ],
)
def test_files_by_target(root, target, status, part):
    tree = Tree(root)
    answer = tree.get(target)
    assert answer.status == status
    assert part in answer.raw
    assert b"secret" not in answer.raw
    assert tree.get(target) is answer


def test_every_address_serves_the_tree(root):
    command = [
        sys.executable,
        "-m",
        "benchmarks.simweb.tree",
        f"--root={root}",
        "--addresses=3",
        "--child",
    ]
    child = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    with child:
        ready = json.loads(child.stdout.readline())
        assert len(ready["seeds"]) == 3 == len(set(ready["seeds"]))
        for seed in ready["seeds"]:
            address = seed.split("/")[2].partition(":")[0]
            connection = HTTPConnection(address, ready["port"], timeout=5)
            connection.request("GET", "/index.html")
            response = connection.getresponse()
            assert (response.status, response.headers["Content-Type"]) == (200, "text/html")
            connection.close()
        child.stdin.close()
        assert child.wait() == 0
