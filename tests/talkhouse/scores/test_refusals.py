"""Predictions that can't be scored: each is refused with how many rows, the first of them, and what to do."""

import json
import math
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from pyarrow.ipc import IpcWriteOptions, new_file

from talkhouse.schema.errors import UsageError
from talkhouse.scores.score import Scored
from talkhouse.scores.task import ScoreRequest, task
from talkhouse.scores.workspace import BadPredictions
from tests.commands import COMMAND
from tests.commands import run as start
from tests.talkhouse.scores.invented import Invented, score_once

Rows = list[dict[str, Any]]
LABELS = ["Reasoning", "Solution", "Moderation"]


@pytest.fixture(scope="module")
def con(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    """Eight examples with labels, and four lists of five candidates."""
    invented = Invented(sample, tmp_path_factory.mktemp("refusals") / "talkhouse.duckdb")
    invented.replace("delidata.probing_target", [{"label": LABELS[index % 3]} for index in range(8)])
    invented.replace(
        "mpchat.next_response_prediction", [{"candidates": list("abcde"), "gold_position": 0} for _ in range(4)]
    )
    return invented.con


@pytest.fixture
def scored(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> Callable[..., Scored]:
    def run(rows: Rows, name: str = "delidata.probing_target", **options: Any) -> Scored:
        path = tmp_path / "predictions.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return score_once(con, task(name), ScoreRequest([path], **options))

    return run


def right() -> Rows:
    return [{"example_index": index, "label": LABELS[index % 3]} for index in range(8)]


def lists() -> Rows:
    return [{"example_index": index, "scores": [5.0, 4.0, 3.0, 2.0, 1.0]} for index in range(4)]


BROKEN: dict[str, tuple[Callable[[Rows], object], str]] = {
    "missing": (lambda rows: rows.pop(3), r"no prediction: 1\n.*example_index 3"),
    "twice": (lambda rows: rows.append(dict(rows[2])), r"more than one prediction: 1\n.*example_index 2"),
    "surplus": (lambda rows: rows.append({"example_index": 8, "label": "Solution"}), r"not in what is scored: 1"),
    "other label": (lambda rows: rows[0].update(label="Sun"), r"does not have: 1\n(.*\n)*.*'Sun'"),
    "near label": (lambda rows: rows[0].update(label="solution "), r"near 'Solution', which is another label"),
    "no label": (lambda rows: rows[1].update(label=None), r"rows without a 'label': 1"),
    "half a number": (lambda rows: rows[1].update(example_index=1.5), r"not whole numbers: 1\n.*1\.5"),
    "other record": (lambda rows: [row.update(record_id="other") for row in rows], r"not those of their example_index"),
    "other build": (lambda rows: rows[0].update(view_fingerprint="0" * 32), r"another build: 1"),
    "other split": (lambda rows: rows[0].update(split="train"), r"not in what is scored: 1|more than one"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_labels(name: str, scored: Callable[..., Scored]) -> None:
    rows = right()
    BROKEN[name][0](rows)
    if name == "other split":
        rows = [{"split": "test", **row} for row in rows]
    with pytest.raises(BadPredictions, match=BROKEN[name][1]) as caught:
        scored(rows)
    assert caught.value.next_step


BROKEN_LISTS: dict[str, tuple[dict[str, Any], str]] = {
    "NaN": ({"scores": [1, 2, 3, 4, float("nan")]}, "not a finite number: 1"),
    "infinity": ({"scores": [1, 2, 3, 4, float("inf")]}, "not a finite number: 1"),
    "null": ({"scores": [1, 2, 3, 4, None]}, "not a finite number: 1"),
    "short": ({"scores": [1, 2]}, "2 scores for 5 candidates"),
    "text": ({"scores": ["a"] * 5}, "not a finite number: 1"),
    "position twice": ({"scores": None, "ranking": [0, 0]}, "a position twice, null or beyond"),
    "position beyond": ({"scores": None, "ranking": [5]}, "a position twice, null or beyond"),
}


@pytest.mark.parametrize("name", BROKEN_LISTS)
def test_broken_lists(name: str, scored: Callable[..., Scored]) -> None:
    rows = lists()
    rows[2] |= BROKEN_LISTS[name][0]
    with pytest.raises(BadPredictions, match=BROKEN_LISTS[name][1]):
        scored(rows, "mpchat.next_response_prediction")


def test_missing_ones_count_as_wrong_if_that_is_wanted(scored: Callable[..., Scored]) -> None:
    done = scored(right()[:6], missing="wrong")
    found = {metric.name: metric for metric in done.metrics}
    assert (done.missing, found["accuracy"].count, found["accuracy"].of) == (2, 6, 8)
    assert not any(metric.official for metric in done.metrics)


def test_unknown_labels_count_as_wrong_if_that_is_wanted(scored: Callable[..., Scored]) -> None:
    rows = right()
    rows[0]["label"] = None
    assert {metric.name: metric for metric in scored(rows, unknown="wrong").metrics}["accuracy"].count == 7
    rows[0]["label"] = "solution"
    done = scored(rows, unknown="wrong")
    found = {metric.name: metric for metric in done.metrics}
    assert found["accuracy"].count == 7
    assert found["F1 macro"].value == pytest.approx((2 * 2 / 5 + 1 + 1 + 0) / 4)
    assert "near 'Solution'" in done.warnings[0]


def test_scores_come_in_four_forms(scored: Callable[..., Scored]) -> None:
    name = "mpchat.next_response_prediction"
    first = scored([{"example_index": index, "scores": [3, 9, 1, 0, 0]} for index in range(4)], name).metrics
    assert scored([{"example_index": index, "ranking": [1, 0, 2, 3, 4]} for index in range(4)], name).metrics == first
    rows = [
        {"example_index": index, "position": place, "score": value}
        for index in range(4)
        for place, value in reversed([*enumerate([3, 9, 1, 0, 0])])
    ]
    assert scored(rows, name).metrics == first
    by_record = [
        {"record_id": f"mpchat/invented/{index}", "turn_index": 0, "ranking": [1, 0]} for index in reversed(range(4))
    ]
    assert scored(by_record, name).metrics == first


def test_thresholds_are_shares(con: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(UsageError, match="from 0 to 1"):
        score_once(con, task("dbdc3.breakdown_detection"), ScoreRequest([]), [1.5])
    with pytest.raises(UsageError, match="has no threshold"):
        score_once(con, task("delidata.probing_target"), ScoreRequest([]), [0.5])


def test_only_tasks_with_metrics_can_be_scored() -> None:
    with pytest.raises(UsageError, match=r"dbdc3\.breakdown_detection"):
        task("dbdc3.breakdown")


FILES: dict[str, tuple[bytes, str]] = {
    "empty.csv": (b"", "the file is empty"),
    "empty.jsonl": (b"", "the file has no rows"),
    "no_rows.csv": (b"example_index,label\n", "examples have no prediction: 8"),
    "latin.csv": (b"example_index,label\n0,caf\xe9\n", "can't decode byte 0xe9"),
    "late_latin.csv": (b"example_index,label\n" + b"0,Solution\n" * 9000 + b"0,caf\xe9\n", "can't be read"),
    "latin.jsonl": (b'{"example_index": 0, "label": "caf\xe9"}\n', "line 2: invalid UTF-8|line 1: invalid UTF-8"),
    "ragged.csv": (b"example_index,label\n0,Solution,x\n", "CSV Error on Line: 2; Original Line: 0,Solution,x"),
    "broken.jsonl": (b'{"example_index": 0}\n{"example', "Malformed JSON"),
    "cut.parquet": (b"PAR1", "can't be read"),
    "no_key.csv": (b"label\nSolution\n", "the predictions have no key"),
    "typo.csv": (b"example_index,lable\n0,Solution\n", "no column 'label'"),
    "no_number.csv": (b"example_index,label\n0,Solution\nb,Solution\n", r"not whole numbers: 1\n.*row 2: b"),
    "twice.csv": (b"example_index,label,label\n0,a,b\n", "a column is in it twice: 'label' and 'label'"),
}


def test_a_byte_order_mark_is_no_part_of_a_name(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    path = tmp_path / "bom.csv"
    lines = "".join(f"{row['example_index']},{row['label']}\n" for row in right())
    path.write_text(f"example_index,label\n{lines}", encoding="utf-8-sig")
    assert score_once(con, task("delidata.probing_target"), ScoreRequest([path])).rows == 8


def array(numbers: Any) -> bytes:
    stream = BytesIO()
    np.save(stream, np.array(numbers))
    return stream.getvalue()


RIGHT_ARRAY = array([[5.0, 4.0, 3.0, 2.0, 1.0]] * 4)
ARRAYS: dict[str, tuple[bytes, str]] = {
    "a number less": (RIGHT_ARRAY[:-8], "the file is cut"),
    "half a header": (RIGHT_ARRAY[:30], "the file is cut: it ends within its header"),
    "ten bytes": (RIGHT_ARRAY[:10], "the file is cut"),
    "no array": (b"scores", "not a NumPy array"),
    "one dimension": (array([1.0, 2.0]), r"an array of <f8, \(2,\)"),
    "whole numbers": (array([[5, 4, 3, 2, 1]] * 4), "an array of <i8"),
    "a row less": (array([[5.0, 4.0, 3.0, 2.0, 1.0]] * 3), "no prediction: 1"),
    "a row more": (array([[5.0, 4.0, 3.0, 2.0, 1.0]] * 5), r"not in what is scored: 1\n.*row 4"),
    "a column more": (array([[5.0] * 6] * 4), "6 scores for 5 candidates"),
    "NaN": (array([[5.0, 4.0, 3.0, 2.0, math.nan]] * 4), r"not a finite number: 4\n(.*\n)?.*row 0"),
}


FILES |= {f"{name}.npy": array for name, array in ARRAYS.items()}


@pytest.mark.parametrize("name", FILES)
def test_files_are_named(name: str, con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name][0])
    wanted = "mpchat.next_response_prediction" if path.suffix == ".npy" else "delidata.probing_target"
    with pytest.raises(UsageError, match=FILES[name][1]) as caught:
        score_once(con, task(wanted), ScoreRequest([path]))
    assert caught.value.where == str(path)
    assert caught.value.next_step


def turn(label: str = "O", **probabilities: object) -> dict[str, Any]:
    return {"labels": [{"breakdown": label, "prob-O": 1, "prob-T": 0, "prob-X": 0, **probabilities}]}


DOCUMENTS: dict[str, tuple[str, str]] = {
    "no JSON": ("{", r"d\.labels\.json: Expecting property name"),
    "another label": (json.dumps({"turns": [turn("o")]}), "near 'O', which is another label"),
    "NaN": ('{"turns": [{"labels": [{"breakdown": "O", "prob-O": NaN, "prob-T": 0, "prob-X": 0}]}]}', "not a finite"),
    "text": (json.dumps({"turns": [turn(**{"prob-T": "a"})]}), r"not numbers: 1\n.*d\.labels\.json, turn 1: a"),
    "a turn more": (json.dumps({"turns": [turn()]}), r"not in what is scored: 1\n.*d\.labels\.json, turn 1"),
    "no labels": (json.dumps({"turns": [{"labels": []}]}), "rows without a 'label': 1"),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_broken_label_files(name: str, con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    folder = tmp_path / "labels"
    folder.mkdir()
    request = ScoreRequest([folder], release="dbdc3", split="eval")
    with pytest.raises(UsageError, match="no file whose name ends in"):
        score_once(con, task("dbdc3.breakdown_detection"), request)
    (folder / "d.labels.json").write_text(DOCUMENTS[name][0], encoding="utf-8")
    with pytest.raises(UsageError, match=DOCUMENTS[name][1]) as caught:
        score_once(con, task("dbdc3.breakdown_detection"), request)
    assert caught.value.where == str(folder)


# Files that are small and unpack to much: each is refused in little memory, whatever it says of itself.

A_TASK = ("delidata.probing_target",)
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
    "rows.parquet": (A_TASK, many_rows, "--input-limit ratio="),
    "texts.parquet": (A_TASK, lambda path: parquet.write_table(repeated(), path), "--input-limit file="),
    "zeros.arrow": (A_TASK, zeros, "--input-limit file="),
    "size.csv": (A_TASK, sparse(b"", 3_000_000_000), "--input-limit file="),
    "head.csv": (A_TASK, sparse(b"", 500_000_000), "can't be read"),
    "line.jsonl": (A_TASK, sparse(b'{"a": "', 500_000_000), "can't be read"),
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
