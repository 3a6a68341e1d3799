"""`make demo`: a small simulated web, crawled to its end, and a question to the result."""

import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb

from benchmarks.simweb.options import Options
from benchmarks.simweb.running import running

QUERY = """
SELECT kind, count(*) AS rows, count(DISTINCT host) AS hosts, sum(len(outlinks)) AS links,
       round(avg(body_bytes)) AS mean_bytes, count(duplicate_of) AS duplicates
FROM read_parquet('{out}/pages/*/*.parquet', hive_partitioning = true)
GROUP BY kind ORDER BY rows DESC
"""


def main() -> int:
    """Serves, crawls, asks; returns the crawl's exit code."""
    folder = Path(tempfile.mkdtemp(prefix="raycrawl-demo-"))
    out = folder / "out"
    with running(Options(hosts=50, pages=1500)) as web:
        command = ["crawl", "--seeds", str(web.seeds_file(folder)), "--config",
                   str(web.config_toml(folder, delay=0.05)), "--out", str(out)]  # fmt: skip
        print(f"$ raycrawl {' '.join(command)}", flush=True)
        code = subprocess.run([sys.executable, "-m", "jobs.main", *command], check=False).returncode
    query = QUERY.format(out=out)
    print(f'\n$ duckdb -c "{query.strip()}"')
    print(duckdb.sql(query))
    print(f"The crawl lies in {out}; the same command resumes it.")
    return code


if __name__ == "__main__":
    sys.exit(main())
