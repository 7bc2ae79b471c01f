"""Arrow that somebody else made: read as it was written, and refused by the lengths that its buffers declare."""

import struct
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather

from talkhouse.ingest.declared.record_files.arrow_buffers import open_arrow
from talkhouse.ingest.declared.record_files.parquet_pages import NamedFile
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.files.limits import DEFAULT
from talkhouse.schema.errors import SourceError


def test_lengths_are_refused_before_anything_is_unpacked(tmp_path: Path) -> None:
    texts = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 500, pa.int32()), ["x" * 3_000, "y" * 77])
    table = pa.table({"text": texts, "number": range(1_000), "list": [[1.0, 2.0], [3.0]] * 500})
    path = tmp_path / "a.arrow"

    def opened() -> pa.RecordBatchReader:
        return open_arrow(path, NamedFile(path.name, path.stat().st_size, DEFAULT))

    pl.from_arrow(table).write_ipc(path, compression="lz4")
    assert pl.from_arrow(opened()).equals(pl.from_arrow(table))
    feather.write_feather(table, path, compression="zstd")
    assert opened().read_all() == table
    good = path.read_bytes()
    for length in (8_000, 3_077):  # of the numbers, and of the texts of the dictionary
        for other, error in ((10**12, SourceError), (10**9, SourceError), (-5, BadRecord), (99_999, BadRecord)):
            path.write_bytes(good.replace(struct.pack("<q", length), struct.pack("<q", other)))
            with pytest.raises(error, match=r"too much to read|damaged Arrow"):
                opened()
    repeated = texts.take([0] * 50_000)
    for column in (repeated, pa.ListArray.from_arrays(range(50_001), repeated)):
        feather.write_feather(pa.table({"text": column}), path)
        with pytest.raises(SourceError, match="'ratio'"):
            opened()
