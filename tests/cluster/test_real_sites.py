"""Documentation of Debian packages, crawled: the pages that GNU wget reached on them, no more and no fewer."""

import gzip
import json
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.cluster.running import Command, served
from tests.shared import need

pytestmark = pytest.mark.ray

SITES = {
    site["package"]: site
    for site in json.loads(gzip.decompress(need("pages/reachable_sets.json.gz").read_bytes()))["sites"]
}  # fmt: skip
# Not asking what is no page, as wget would: style sheets and pictures are not in the sets. There is no delay on
# one's own machine, and duplicates count as pages of their own.
CONFIG = """
[scope]
mode = "host"
follow_duplicates = true
follow_nofollow = true
[fetch]
allow_private = true
[politeness]
delay = 0
"""


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    """One crawl of all the packages that are there: package → the paths of its pages. They differ in their ports."""
    folder = tmp_path_factory.mktemp("real")
    (folder / "crawl.toml").write_text(CONFIG)
    with ExitStack() as stack:
        seeds = {
            name: stack.enter_context(served(site["docroot"], site["start"]))
            for name, site in SITES.items()
            if Path(site["docroot"]).is_dir()
        }
        arguments = (*seeds.values(), "--config", str(folder / "crawl.toml"))
        command = Command(folder, folder / "out", arguments)
        assert command.run().code == 0
    pages = [
        urlsplit(row["url"])
        for row in command.rows("url", "kind", "content_type").to_pylist()
        if row["kind"] == "fetched" and row["content_type"] == "text/html"
    ]
    ports = {name: urlsplit(seed).netloc for name, seed in seeds.items()}
    return {
        name: sorted(unquote(page.path) for page in pages if page.netloc == netloc)
        for name, netloc in ports.items()
    }


@pytest.mark.parametrize("package", SITES)
def test_pages_are_those_that_wget_reaches(package, request):
    if not Path(SITES[package]["docroot"]).is_dir():
        pytest.skip(f"the Debian package {package} is not installed")
    found = request.getfixturevalue("crawled")[package]
    assert found == sorted(unquote(path) for path in SITES[package]["fetched_html"])
