"""Files that differ in bytes: equal in what they say, or where not."""

import gzip
from pathlib import Path

import pytest

from talkhouse.restore.diff_bytes import Difference
from talkhouse.restore.diff_values import content_difference
from tests.declared.record_file_pieces import source

OF_BYTES = Difference("other bytes", line=1, byte=1)
BOM = b"\xef\xbb\xbf"


def compared(tmp_path: Path, name: str, published: bytes, restored: bytes) -> tuple[Difference | None, str]:
    path = tmp_path / "restored"
    path.write_bytes(restored)
    with source(name, published) as file:
        return content_difference(file, path, OF_BYTES)


SAME = [
    ("a.jsonl", b'{"a": 1.10, "b": "\\u00e9"}\n\n[ ]', b'{"a":1.1,"b":"\xc3\xa9"}\n\n[]'),
    ("a.ndjson", b'{"a" :1}\r\n {"a":2}\t\n', b'{"a":1}\r\n {"a": 2}\t\n'),
    ("a.jsonl", BOM + b'{"a": 1}\n', BOM + b'{"a":1}\n'),
    ("a.jsonl.gz", gzip.compress(b'{"a": 1}\n'), gzip.compress(b'{"a":1}\n', 1)),
    ("a.json.gz", gzip.compress(b'{"a": [1, 2]}'), gzip.compress(b'{"a":[1,2]}\n')),
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
    ("a.jsonl.gz", gzip.compress(BOM + b"1\n"), gzip.compress(b"1\n"), "the byte order mark", None, 1),
    ("a.json.gz", gzip.compress(b"[1]"), gzip.compress(b"[2]"), "another value", "/0", None),
    ("a.csv.gz", gzip.compress(b"a,b\n"), gzip.compress(b'a,"b"\n'), "other bytes", None, 1),
    ("a.csv", b"a,b\n", b'a,"b"\n', "other bytes", None, 1),
    ("a.jsonl.gz", b"none", gzip.compress(b"1\n"), "other bytes", None, 1),
    ("a.jsonl.gz", gzip.compress(b"1\n"), b"none", "other bytes", None, 1),
]


@pytest.mark.parametrize(("name", "published", "restored", "what", "pointer", "line"), DIFFERENT)
def test_the_first_difference(
    tmp_path: Path, name: str, published: bytes, restored: bytes, what: str, pointer: str | None, line: int | None
) -> None:
    difference, _ = compared(tmp_path, name, published, restored)
    assert difference is not None
    assert (difference.what, difference.pointer, difference.line) == (what, pointer, line)
