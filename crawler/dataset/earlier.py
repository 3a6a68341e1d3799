"""The pages of a crawl that lies in an output, as a source of seeds for another. It reads three columns of its rows."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crawler.dataset import manifest
from crawler.dataset.output import Output
from crawler.errors import OutputError
from crawler.outcomes import Kind


def pages_of(output: Output) -> Iterator[str]:
    """The URLs of the pages in sealed segments, without duplicates of others. Raises `OutputError`."""
    for entry in manifest.entries(output):
        path = output.path(entry.file)
        try:
            with output.filesystem.open_input_file(path) as file:
                columns = ["url", "kind", "duplicate_of"]
                for rows in pq.ParquetFile(file).iter_batches(columns=columns, use_threads=False):
                    page = pc.equal(rows["kind"], Kind.FETCHED.value)
                    first = pc.and_(page, pc.is_null(rows["duplicate_of"]))
                    yield from rows["url"].filter(first).to_pylist()
        except (OSError, pa.ArrowException) as error:
            message = f"{path}: cannot be read: {error}"
            raise OutputError(message) from error
