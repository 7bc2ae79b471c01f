"""Files that differ in bytes: equal in what they say, or where not."""

import gzip
import io
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from talkhouse.restore.differences import FileDifference
from talkhouse.restore.verify import content_difference
from tests.declared.record_file_pieces import source

OF_BYTES = FileDifference("other bytes", line=1, byte=1)
BOM = b"\xef\xbb\xbf"


def compared(tmp_path: Path, name: str, published: bytes, restored: bytes) -> tuple[FileDifference | None, str]:
    path = tmp_path / "restored"
    path.write_bytes(restored)
    with source(name, published) as file:
        return content_difference(file, path, OF_BYTES)


SAME = [
    ("a.jsonl", b'{"a": 1.10, "b": "\\u00e9"}\n\n[ ]', b'{"a":1.1,"b":"\xc3\xa9"}\n\n[]'),
    ("a.ndjson", b'{"a" :1}\r\n {"a":2}\t\n', b'{"a":1}\r\n {"a": 2}\t\n'),
    ("a.jsonl", BOM + b'{"a": 1}\n', BOM + b'{"a":1}\n'),
    ("a.jsonl.gz", gzip.compress(b'{"a": 1}\n', mtime=0), gzip.compress(b'{"a":1}\n', 1, mtime=0)),
    ("a.json.gz", gzip.compress(b'{"a": [1, 2]}', mtime=0), gzip.compress(b'{"a":[1,2]}\n', mtime=0)),
    ("a.csv.gz", gzip.compress(b"a,b\n", mtime=1), gzip.compress(b"a,b\n", mtime=2)),
    ("a.csv.gz", gzip.compress(BOM + b"a,b\n", mtime=1), gzip.compress(BOM + b"a,b\n", mtime=2)),
]


@pytest.mark.parametrize(("name", "published", "restored"), SAME)
def test_equal_in_what_they_say(tmp_path: Path, name: str, published: bytes, restored: bytes) -> None:
    assert compared(tmp_path, name, published, restored) == (None, "values")


DIFFERENT = [
    ("a.jsonl", b'{"a":1}\n{"a":{"b":2}}\n', b'{"a":1}\n{"a":{"b":3}}\n', "another value", "/1/a/b", None),
    ("a.jsonl", b'{"a":1,"b":2}\n', b'{"b":2,"a":1}\n', "keys in another order", "/0", None),
    ("a.jsonl", b'{"a":1}\n', b'{"a":1}', "other blanks or line ends", None, 1),
    ("a.jsonl", b'{"a": 1}\r\n', b'{"a":1}\n', "other blanks or line ends", None, 1),
    ("a.jsonl", b'{"a": 1}\n{"a":2}\n', b'{"a":1}\n', "other blanks or line ends", None, 2),
    ("a.jsonl", b'{"a": 1}\n', b'{"a":1}\n\n', "other blanks or line ends", None, 2),
    ("a.jsonl", b'{"a": \xff}\n', b'{"a": \xfe}\n', "another value", "/0/a", None),
    (
        "a.jsonl.gz",
        gzip.compress(BOM + b"1\n", mtime=0),
        gzip.compress(b"1\n", mtime=0),
        "the byte order mark",
        None,
        1,
    ),
    ("a.json.gz", gzip.compress(b"[1]", mtime=0), gzip.compress(b"[2]", mtime=0), "another value", "/0", None),
    ("a.csv.gz", gzip.compress(b"a,b\n", mtime=0), gzip.compress(b'a,"b"\n', mtime=0), "other bytes", None, 1),
    ("a.csv", b"a,b\n", b'a,"b"\n', "other bytes", None, 1),
    ("a.jsonl.gz", b"none", gzip.compress(b"1\n", mtime=0), "other bytes", None, 1),
    ("a.jsonl.gz", gzip.compress(b"1\n", mtime=0), b"none", "other bytes", None, 1),
]


@pytest.mark.parametrize(("name", "published", "restored", "what", "pointer", "line"), DIFFERENT)
def test_the_first_difference(
    tmp_path: Path, name: str, published: bytes, restored: bytes, what: str, pointer: str | None, line: int | None
) -> None:
    difference, _ = compared(tmp_path, name, published, restored)
    assert difference is not None
    assert (difference.what, difference.pointer, difference.line) == (what, pointer, line)


def parquet(columns: dict[str, Any], notes: dict[str, str] | None = None, **options: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns).replace_schema_metadata(notes), sink, **options)
    return sink.getvalue()


ROWS = {"a": list(range(2_500)), "b": [[math.nan, 1.0]] * 2_500}


def test_parquet_may_be_grouped_and_packed_otherwise(tmp_path: Path) -> None:
    plain, other = parquet(ROWS, row_group_size=700), parquet(ROWS, compression="gzip", row_group_size=2_000)
    assert compared(tmp_path, "a.parquet", plain, other) == (None, "values")
    assert compared(tmp_path, "a.parquet.gz", gzip.compress(plain), gzip.compress(other)) == (None, "values")


OTHER_PARQUET = [
    (parquet(ROWS | {"a": [*range(2_499), 0]}), "another value", "/2499/a"),
    (parquet(ROWS | {"b": [*[[math.nan, 1.0]] * 2_499, [1.0, math.nan]]}), "another value", "/2499/b"),
    (parquet({"a": ROWS["a"][:2_000], "b": ROWS["b"][:2_000]}), "another number of rows", ""),
    (parquet({"b": ROWS["b"], "a": ROWS["a"]}), "another column", "/a"),
    (parquet(ROWS | {"a": pa.array(ROWS["a"], pa.int32())}), "another column", "/a"),
    (parquet(ROWS | {"c": ROWS["a"]}), "another column", "/c"),
    (parquet(ROWS, {"made by": "a test"}), "other notes in the schema", ""),
    (b"none", "other bytes", None),
]


@pytest.mark.parametrize(("restored", "what", "pointer"), OTHER_PARQUET, ids=[str(case[1:]) for case in OTHER_PARQUET])
def test_the_first_difference_of_parquet(tmp_path: Path, restored: bytes, what: str, pointer: str | None) -> None:
    difference, _ = compared(tmp_path, "a.parquet", parquet(ROWS), restored)
    assert difference is not None
    assert (difference.what, difference.pointer) == (what, pointer)


def test_a_nanosecond_and_the_sign_of_a_zero_are_a_difference(tmp_path: Path) -> None:
    for kind, before, after in [(pa.timestamp("ns"), 1, 2), (pa.float64(), 0.0, -0.0), (pa.string(), "", None)]:
        files = [parquet({"a": pa.array([value], kind)}) for value in (before, after)]
        assert compared(tmp_path, "a.parquet", *files)[0] is not None, kind
