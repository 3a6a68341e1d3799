"""What the command refuses: exit code 2, one line that says what to do, and not a byte or a time on disk changed."""

import logging

import pytest
from typer.testing import CliRunner

from crawler.config import Config
from crawler.dataset.output import Output
from jobs.main import app

SEED = "https://example.org/"


@pytest.fixture(autouse=True)
def logs_as_they_were():
    """The command sets the logging up, for its process."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def refused(*words):
    """Runs `raycrawl crawl`, which must refuse; returns its one line."""
    ended = CliRunner().invoke(app, ["crawl", *map(str, words)])
    assert ended.exit_code == 2, ended.output
    assert ended.stdout == ""
    lines = ended.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("raycrawl: ")
    return lines[0].removeprefix("raycrawl: ")


def tree(folder):
    """Every file below a folder with its bytes and its time, and every folder."""
    return {
        path: (path.read_bytes(), path.stat().st_mtime_ns) if path.is_file() else None
        for path in folder.rglob("*")
    }


def claimed(folder, *seeds):
    """An output in which a crawl of these seeds has begun."""
    output = Output.open(str(folder))
    output.claim(output.judge(seeds, Config(), crawl_id="1", version="0", now=0.0))


def test_bad_value(tmp_path):
    line = refused(SEED, "--out", tmp_path / "out", "--max-pages", "0")
    assert line.startswith("options: budget.max_pages: ")
    assert "greater than or equal to 1" in line
    assert tree(tmp_path) == {}


def test_unknown_key(tmp_path):
    config = tmp_path / "crawl.toml"
    config.write_text("[politeness]\ndelai = 2\n")
    line = refused(SEED, "--out", tmp_path / "out", "--config", config)
    assert line == f"{config}: unknown key 'politeness.delai'; did you mean 'politeness.delay'?"
    assert list(tmp_path.iterdir()) == [config]


def test_not_toml(tmp_path):
    config = tmp_path / "crawl.toml"
    config.write_text("delay: 2\n")
    assert refused(SEED, "--out", tmp_path / "out", "--config", config).startswith(f"{config}: not TOML: ")  # fmt: skip


def test_missing_files(tmp_path):
    missing = tmp_path / "missing"
    line = refused("--out", tmp_path / "out", "--seeds", missing)
    assert line == f"{missing}: cannot read the seeds: No such file or directory"
    line = refused(SEED, "--out", tmp_path / "out", "--config", missing)
    assert line == f"{missing}: cannot read the configuration: No such file or directory"
    assert tree(tmp_path) == {}


def test_output_of_another_crawl(tmp_path):
    claimed(tmp_path, "https://other.example/")
    before = tree(tmp_path)
    line = refused(SEED, "--out", tmp_path)
    assert line == (
        f"{tmp_path}: belongs to another crawl (seed {SEED} is only in this one); choose another output"
    )
    assert tree(tmp_path) == before


def test_foreign_directory(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    before = tree(tmp_path)
    line = refused(SEED, "--out", tmp_path)
    assert "thesis.tex" in line
    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    "words", [["--shard", "3"], ["--delay", "soon"], ["--scope", "galaxy"], []]
)
def test_words_that_are_no_options(words, tmp_path):
    """Typer's own refusal: usage, and what is wrong."""
    ended = CliRunner().invoke(
        app, ["crawl", SEED, *words, *(["--out", str(tmp_path)] if words else [])]
    )
    assert ended.exit_code == 2
    assert ended.stdout == ""
    assert (words[0] if words else "--out") in ended.stderr
    assert tree(tmp_path) == {}
