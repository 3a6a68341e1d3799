"""A crawl with pages that crash, hang or flood the process that reads them, and with PDFs: one row each, no harm."""

import os
from collections import Counter

import pytest

from benchmarks.simweb.log import parse
from tests.cluster.running import ROOT, Command, served
from tests.crawler.page.pdfs import pdf, shown

pytestmark = pytest.mark.ray

CONFIG = """
[fetch]
allow_private = true
[politeness]
delay = 0
[page]
batch_seconds = 6
apart_seconds = 3
apart_memory = 268435456
"""
DEADLY = {
    "abort": "its reader crashed (signal 6)",
    "segfault": "its reader crashed (signal 11)",
    "hang_in_c": "its reader took more than 3 s",
    "swell": "its reader needed more than 256 MiB",
}
SOUND = 40


def write_site(folder):
    """A start page that leads to sound pages, to deadly ones and to PDFs; every one of those leads one further."""
    folder.mkdir()
    names = [f"{n}.html" for n in range(SOUND)] + [f"{poison}.html" for poison in DEADLY]
    names += ["one.pdf", "broken.pdf"]
    (folder / "index.html").write_text("".join(f"<a href={name}>{name}</a> " for name in names))
    for n in range(SOUND):
        (folder / f"{n}.html").write_text(f"<p>number {n} <a href=from-{n}.html>on</a>")
        (folder / f"from-{n}.html").write_text(f"<p>the page behind {n}")
    for poison in DEADLY:
        (folder / f"{poison}.html").write_text(f"<!--poison {poison}--><a href=lost.html>on</a>")
    (folder / "one.pdf").write_bytes(pdf(shown("printed words"), uris=["from-pdf.html"], title="P"))
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing")
    (folder / "from-pdf.html").write_text("<p>the page behind the document")


def test_a_deadly_page_costs_its_own_row(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "tests" / "poison"), str(ROOT)]))
    write_site(tmp_path / "site")
    (tmp_path / "crawl.toml").write_text(CONFIG)
    with served(tmp_path / "site", "/index.html", tmp_path / "log") as seed:
        command = Command(tmp_path, tmp_path / "out", (seed, "--config", str(tmp_path / "crawl.toml")))  # fmt: skip
        completed = command.run()
    assert (completed.code, completed.summary["ending"]) == (0, "complete"), completed.errors
    assert completed.summary["found"] == completed.accounted
    assert completed.summary["leases_lost"] == 0
    rows = {
        row["url"].rpartition("/")[2]: row
        for row in command.rows("url", "kind", "error", "body", "text", "title").to_pylist()
    }
    failed = {name: row["error"] for name, row in rows.items() if row["kind"] == "parse_failed"}
    broken = failed.pop("broken.pdf")
    assert "Data format error" in broken
    assert failed == {f"{poison}.html": reason for poison, reason in DEADLY.items()}
    assert all(rows[name]["body"].startswith(b"<!--poison ") for name in failed)
    sound = {"index.html", "one.pdf", "from-pdf.html"}
    sound |= {f"{n}.html" for n in range(SOUND)} | {f"from-{n}.html" for n in range(SOUND)}
    assert {name for name, row in rows.items() if row["kind"] == "fetched"} == sound
    assert rows["7.html"]["text"] == "number 7 on"
    assert (rows["one.pdf"]["title"], rows["one.pdf"]["text"]) == ("P", "printed words")
    asked = Counter(request.target for request in parse((tmp_path / "log").read_text()))
    assert {target: count for target, count in asked.items() if count > 1} == {}
