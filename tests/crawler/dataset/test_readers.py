"""The dataset as others read it: one table, with the same rows, whoever opens it."""

import pyarrow.dataset as pads
import pytest

from crawler.config import Dataset
from crawler.dataset import manifest
from crawler.dataset.journal import Journal
from crawler.dataset.output import Output
from crawler.dataset.schema import ROWS
from tests.crawler.dataset.samples import START, built, outcome, pages


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Segments of two shards and two days, some columns null throughout a segment."""
    output = Output.open(str(tmp_path_factory.mktemp("out")))
    denied = [outcome(f"https://example.org/no/{n}", kind="robots_denied", body=None, headers=None,
                      fetched_at=START + 86_400) for n in range(3)]  # fmt: skip
    for shard, rows in ((0, pages(1, 5)), (1, built(*denied).rows)):
        journal = Journal(output, shard, Dataset(sync=False))
        journal.open(1, 0.0)
        journal.append(1, 1, rows, START)
        journal.close(START)
    kinds = [entry.kinds for entry in manifest.entries(output)]
    assert kinds == [{"fetched": 5}, {"robots_denied": 3}]
    return output.path("pages")


def test_pyarrow(folder):
    dataset = pads.dataset(folder, partitioning="hive")
    table = dataset.to_table()
    assert table.num_rows == 8
    assert table.select(ROWS.names).schema.equals(ROWS, check_metadata=False)
    assert set(table["day"].to_pylist()) == {"2023-11-14", "2023-11-15"}
    assert dataset.count_rows(filter=pads.field("kind") == "fetched") == 5


def test_duckdb(folder):
    duckdb = pytest.importorskip("duckdb")
    files = f"read_parquet('{folder}/**/*.parquet', hive_partitioning=true)"
    with duckdb.connect() as connection:
        kinds = dict(connection.sql(f"select kind, count(*) from {files} group by kind").fetchall())
        links = connection.sql(
            f"select count(*) from (select unnest(outlinks).url from {files})"
        ).fetchone()
        names = [row[0] for row in connection.sql(f"describe select * from {files}").fetchall()]
    assert kinds == {"fetched": 5, "robots_denied": 3}
    assert links == (5,)
    assert names == [*ROWS.names, "day"]


@pytest.mark.slow
def test_polars(folder):
    polars = pytest.importorskip("polars")
    frame = polars.read_parquet(f"{folder}/**/*.parquet", hive_partitioning=True)
    assert frame.height == 8
    assert frame.filter(polars.col("kind") == "fetched").height == 5
    assert frame["outlinks"].list.len().sum() == 5


def test_pandas(folder):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_parquet(folder)
    assert len(frame) == 8
    assert frame["kind"].value_counts().to_dict() == {"fetched": 5, "robots_denied": 3}
    assert set(frame["day"].astype(str)) == {"2023-11-14", "2023-11-15"}
