"""What the README shows, run: its queries over a small dataset, its configuration, its commands."""

import inspect
import re
import tomllib
from pathlib import Path

import duckdb
import pytest

from crawler.config import Config, Dataset
from crawler.dataset.journal import Journal
from crawler.dataset.output import Output
from crawler.dataset.rows import RowBuilder
from crawler.dataset.schema import ROWS
from crawler.url.admit import Admission
from jobs.main import app
from tests.crawler.dataset.samples import fetched, outcome, page

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
WORDS = " ".join(f"word{n}" for n in range(200))


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


@pytest.fixture
def dataset(tmp_path, monkeypatch):
    """`out/` with three pages: two of them nearly the same, the third asking not to be indexed."""
    bodies = {
        "https://example.org/a": page("<a href='/b' hreflang=de>bee</a>", f"<p>{WORDS}</p>"),
        "https://example.org/b": page("<a href='/a'>ay</a>", f"<p>{WORDS} more</p>"),
        "https://example.org/c": page(
            "<a href='/a'>ay</a>", head="<meta name=robots content=noindex>"
        ),
    }
    outcomes = [outcome(url, body=body) for url, body in bodies.items()]
    config = Config()
    builder = RowBuilder(config, Admission(config, ["https://example.org/"]), "raycrawl")
    journal = Journal(Output.open(str(tmp_path / "out")), 0, Dataset(sync=False))
    journal.open(1, 0.0)
    journal.append(1, 1, builder.build(fetched(outcomes)).rows, 0.0)
    journal.close(0.0)
    monkeypatch.chdir(tmp_path)


def test_the_queries_answer(dataset):
    everything, index, linked, near, versions = (
        duckdb.sql(query).fetchall() for query in blocks("sql")
    )
    assert [(kind, rows) for kind, rows, _, _ in everything] == [("fetched", 3)]
    assert sorted(url[-1] for url, _, _ in index) == ["a", "b"]
    assert linked[0][:2] == ("https://example.org/a", 2)
    assert [url for url, _ in near] == ["https://example.org/b"]
    assert versions == [("https://example.org/a", "de", "https://example.org/b")]


def test_the_python_examples_run(dataset, capsys):
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "3 ['url', 'url_key'" in printed


def test_the_configuration_is_one():
    for block in blocks("toml"):
        Config.model_validate(tomllib.loads(block))


def test_every_column_is_explained():
    names = set(re.findall(r"`(\w+)`", README))
    assert set(ROWS.names) <= names


def test_every_option_is_named():
    command = next(command for command in app.registered_commands if command.callback)
    options = set(re.findall(r"--[a-z-]+", README))
    for name in inspect.signature(command.callback).parameters:
        option = {"as_json": "json"}.get(name, name).replace("_", "-")
        assert name == "urls" or f"--{option}" in options


def test_the_targets_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", README, re.MULTILINE):
        assert f"\n{target}:" in makefile


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)h][^)]*)\)", README):
        assert (ROOT / target).exists(), target
