"""The network goes, under a crawl by the real command; it comes back, and the same command goes on."""

from collections import Counter
from contextlib import ExitStack

import pytest

from benchmarks.simweb import judge
from benchmarks.simweb.options import Options
from benchmarks.simweb.running import running
from benchmarks.simweb.truth import truth
from tests.cluster.running import answered, crawl_of

pytestmark = pytest.mark.ray

DELAY = 0.2
WORLD = Options(hosts=20, pages=300, zipf=0.1, page_bytes=1500, links=8, troubles=False)


def test_a_crawl_without_a_network_ends_with_nothing_lost(tmp_path):
    with ExitStack() as crawling:
        with running(WORLD) as web:
            command = crawl_of(web, tmp_path, delay=DELAY, shards=2)
            file = tmp_path / "simweb.toml"
            impatient = "[politeness]\noutage_wait = 4\n"
            file.write_text(file.read_text().replace("[politeness]\n", impatient))
            crawl = crawling.enter_context(command.running())
            crawl.until(answered(web, 0.3))
        cut_off = crawl.wait()
    assert (cut_off.code, cut_off.summary["ending"]) == (1, "cut_off")
    assert "no host answers any more" in cut_off.errors
    assert "raycrawl: no host can be reached any more; nothing was given up" in cut_off.errors
    assert cut_off.errors.endswith("; the same command resumes\n")
    assert not (command.out / "_SUCCESS").exists()
    assert cut_off.summary["queued"] > 0 == cut_off.summary["hosts_given_up"]
    kinds = Counter(command.rows("kind")["kind"].to_pylist())
    assert kinds["fetched"] > 0 == kinds["connect_error"]

    with running(WORLD, port=web.port) as web:
        command = crawl_of(web, tmp_path, delay=DELAY, shards=2)
        finished = command.run()
        assert (finished.code, finished.summary["ending"]) == (0, "complete")
    rows = command.rows("url", "kind").to_pylist()
    found = [(row["url"], row["kind"]) for row in rows]
    assert judge.differences(web.world, truth(web.world), found) == []
    assert finished.summary["found"] == finished.accounted
