"""Pages per CPU second of whole crawls, raycrawl and Scrapy on the same pages, in the same run.

`python -m benchmarks.end_to_end [--quick]`: a table for `python3.11-doc` on many loopback addresses and one for a
simulated web, with what each stage cost. The servers' own CPU time is not counted; it is printed, to be judged.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from benchmarks import measure

DOCUMENTATION = Path("/usr/share/doc/python3.11/html")
# Bounds every crawl of a run.
SECONDS = 900.0
# Scrapy is stopped after so many pages; its pages per CPU second hardly change after that.
SCRAPY_PAGES = 4_000


class Web(NamedTuple):
    """A served web: its seeds, the names it needs resolved, and its server's process."""

    name: str
    seeds: list[str]
    overrides: dict[str, str]
    server: psutil.Process


@contextmanager
def served(name: str, *command: str) -> Iterator[Web]:
    """A web of `benchmarks.simweb`, served while the block runs."""
    child = subprocess.Popen(
        [sys.executable, "-m", *command, "--child"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdout
    try:
        ready = json.loads(child.stdout.readline())
        yield Web(name, ready["seeds"], ready.get("overrides", {}), psutil.Process(child.pid))
    finally:
        child.terminate()
        child.wait(timeout=30)


def crawl_raycrawl(web: Web, folder: Path, shards: int) -> tuple[int, measure.Usage]:
    """Our crawl of a web, with no delay and everything else as it comes."""
    config = folder / "crawl.toml"
    names = "".join(f'"{name}" = "{address}"\n' for name, address in web.overrides.items())
    config.write_text(
        '[scope]\nmode = "host"\nfollow_duplicates = true\n[fetch]\nallow_private = true\n[politeness]\ndelay = 0\n'
        "backoff_base = 0.2\nincidents_before_parking = 3\nparks_before_giving_up = 0\nretry_wait_factor = 0.01\n"
        f"[runtime]\nshards = {shards}\n[dns.overrides]\n{names}"
    )
    seeds = folder / "seeds.txt"
    seeds.write_text("\n".join(web.seeds))
    printed = folder / "raycrawl.txt"
    usage = measure.run(
        [sys.executable, "-m", "jobs.crawl", "--seeds", str(seeds), "--config", str(config),
         "--out", str(folder / "out"), "--json"],
        timeout=SECONDS, output=printed,
    )  # fmt: skip
    return _last_json(printed)["pages"], usage


def crawl_scrapy(web: Web, folder: Path, seeds: int) -> tuple[int, measure.Usage]:
    """Scrapy's crawl of the hosts of the first seeds."""
    file, names = folder / "scrapy-seeds.txt", folder / "overrides.json"
    file.write_text("\n".join(web.seeds[:seeds]))
    names.write_text(json.dumps(web.overrides))
    printed = folder / "scrapy.txt"
    usage = measure.run(
        [sys.executable, "-m", "benchmarks.peers.scrapy_crawl", str(file), str(folder / "pages.jsonl"),
         "--pages", str(SCRAPY_PAGES), *(["--overrides", str(names)] if web.overrides else [])],
        timeout=SECONDS, output=printed, name=lambda _: "scrapy",
    )  # fmt: skip
    return _last_json(printed)["pages"], usage


def _last_json(printed: Path) -> dict[str, Any]:
    lines = [line for line in printed.read_text().splitlines() if line.startswith("{")]
    if not lines:
        message = f"the crawl did not end:\n{printed.read_text()[-2000:]}"
        raise RuntimeError(message)
    tree: dict[str, Any] = json.loads(lines[-1])
    return tree


def compare(web: Web, *, shards: int, scrapy_seeds: int) -> None:
    """Both crawls of one web, and the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        before = sum(web.server.cpu_times()[:2])
        ours, usage = crawl_raycrawl(web, folder, shards)
        server = sum(web.server.cpu_times()[:2]) - before
        print(f"\n## {web.name}: raycrawl, {shards} shard(s)")
        print(f"{ours} pages in {usage.wall:.1f} s, {ours / usage.cpu_seconds:.0f} pages per CPU second "
              f"(server: {server:.2f} CPU s, {100 * server / usage.cpu_seconds:.0f} % of the crawl's)")  # fmt: skip
        print(measure.table(usage, ours))
        if scrapy_seeds:
            theirs, peer = crawl_scrapy(web, folder, scrapy_seeds)
            print(f"## {web.name}: Scrapy, the first {scrapy_seeds} seed(s)")
            print(f"{theirs} pages in {peer.wall:.1f} s, {theirs / peer.cpu_seconds:.0f} pages per CPU second, "
                  f"peak {peer.peak_total / 1e6:.0f} MB")  # fmt: skip
            print(
                f"ratio: {ours / usage.cpu_seconds / (theirs / peer.cpu_seconds):.2f}", flush=True
            )


def main() -> None:
    """Runs the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a minute, not ten")
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("--no-scrapy", action="store_true")
    parser.add_argument("--only", choices=["docs", "simweb"])
    arguments = parser.parse_args()
    quick, os.environ["RAY_AUTH_MODE"] = arguments.quick, "disabled"
    peers = 0 if arguments.no_scrapy else 1
    if arguments.only != "simweb" and DOCUMENTATION.exists():
        addresses = "6" if quick else "40"
        with served("python3.11-doc", "benchmarks.simweb.tree", "--root", str(DOCUMENTATION),
                    "--addresses", addresses) as web:  # fmt: skip
            compare(web, shards=arguments.shards, scrapy_seeds=peers * (1 if quick else 5))
    if arguments.only != "docs":
        pages, hosts = ("1500", "30") if quick else ("20000", "200")
        with served("simweb", "benchmarks.simweb", "--pages", pages, "--hosts", hosts, "--no-troubles",
                    "--page-bytes", "40000", "--links", "60", "--seeds", hosts, "--slow", "0") as web:  # fmt: skip
            compare(web, shards=arguments.shards, scrapy_seeds=peers * int(hosts))


if __name__ == "__main__":
    main()
