"""Files that are small and unpack to much: each is refused in little memory, whatever it says of itself."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from pyarrow.ipc import IpcWriteOptions, new_file

from tests.commands import COMMAND
from tests.commands import run as start

LABELS = ("delidata.probing_target",)
TURNS = ("dbdc3.breakdown_detection", "--release", "dbdc3", "--split", "eval")
ARRAY = ("mpchat.next_response_prediction", "--split", "test")
LINES = ("mantis.response_ranking_10", "--split", "test")


def archive(begin: bytes, blanks: int, end: bytes = b"", beside: int = 0) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
            out.writestr("beside", os.urandom(beside))
            out.writestr("a.labels.json", begin + b" " * blanks + end)

    return make


def many_rows(path: Path) -> None:
    duckdb.execute(f"copy (select 0 as example_index, 'Solution' as label from range(50_000_000)) to '{path}'")


def repeated() -> pa.Table:
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(500_000, dtype="int32")), pa.array(["x" * 100_000]))
    return pa.table({"example_index": pa.array(range(500_000)), "label": texts})


def zeros(path: Path) -> None:
    table = pa.table({"example_index": pa.array(np.zeros(300_000_000, dtype="int64"))})
    with new_file(path, table.schema, options=IpcWriteOptions(compression="zstd")) as out:
        out.write_table(table)


def sparse(head: bytes, size: int) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.write_bytes(head)
        os.truncate(path, size)

    return make


BOMBS: dict[str, tuple[tuple[str, ...], Callable[[Path], None], str]] = {
    "ratio.zip": (TURNS, archive(b'{"turns": [', 200_000_000, b"]}"), "--input-limit ratio="),
    "record.zip": (TURNS, archive(b"", 70_000_000, beside=1_000_000), "--input-limit record="),
    "rows.parquet": (LABELS, many_rows, "--input-limit ratio="),
    "texts.parquet": (LABELS, lambda path: parquet.write_table(repeated(), path), "--input-limit file="),
    "zeros.arrow": (LABELS, zeros, "--input-limit file="),
    "size.csv": (LABELS, sparse(b"", 3_000_000_000), "--input-limit file="),
    "head.csv": (LABELS, sparse(b"", 500_000_000), "can't be read"),
    "line.jsonl": (LABELS, sparse(b'{"a": "', 500_000_000), "can't be read"),
    "line.txt": (LINES, sparse(b"", 500_000_000), "error"),
    "shape.npy": (
        ARRAY,
        sparse(b"\x93NUMPY\1\0\x46\0{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999, 100)}", 1_000),
        "can't be read",
    ),
}
ALIKE = ("record.zip", "texts.parquet", "size.csv", "line.txt")
"""Of a format, or a way to read, that another of them has too."""

WATCHED = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
"""Run from a small process: a process that is started by a large one begins with that one's peak on Linux."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long if name in ALIKE else pytest.mark.slow) for name in BOMBS]
)
def test_what_unpacks_to_much_is_refused(name: str, sample: Path, tmp_path: Path) -> None:
    task, make, message = BOMBS[name]
    make(tmp_path / name)
    code, errors, peak = run(["score", *task, str(tmp_path / name), "--db", str(sample)])
    assert code in (1, 2)
    assert message in errors
    assert "Traceback" not in errors
    assert peak < 1_200_000_000


def test_the_limits_hold_for_predictions_and_can_be_raised(sample: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    archive(json.dumps({"turns": []}).encode(), 3_000_000, beside=100_000)(path)
    command = ["score", *TURNS, path, "--db", sample, "--missing", "wrong"]
    refused = start(*command, "--input-limit", "record=1MB")
    assert (refused.returncode, "bytes of one record" in refused.stderr) == (1, True)
    assert start(*command).returncode == 0


def run(arguments: list[str]) -> tuple[int, str, int]:
    """Run a command; return its exit code, what it says of errors, and its peak in bytes."""
    done = subprocess.run([sys.executable, "-c", WATCHED, *COMMAND, *arguments], capture_output=True, text=True)
    code, peak = map(int, done.stdout.split())
    return code, done.stderr, peak * 1024
