"""The file that is named is the one that is scored: whatever its name, and no name of a column stands in it twice."""

import json
import os
import zipfile
from hashlib import sha256
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from pyarrow.ipc import new_file

from talkhouse.schema.errors import SourceError, TalkhouseError, UsageError
from talkhouse.scores.score import Scored
from talkhouse.scores.task import ScoreRequest, task
from tests.conftest import how_many
from tests.lanes import first_quick
from tests.talkhouse.scores.invented import Invented, score_once

TASK = "delidata.probing_target"
LABELS = ["Reasoning", "Solution", "Moderation", "Solution"]


@pytest.fixture(scope="module")
def con(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    """Four examples with labels, and four lists of five candidates."""
    invented = Invented(sample, tmp_path_factory.mktemp("given") / "talkhouse.duckdb")
    invented.replace(TASK, [{"label": label} for label in LABELS])
    lists = [{"candidates": list("abcde"), "gold_position": 0} for _ in range(4)]
    invented.replace("mpchat.next_response_prediction", lists)
    return invented.con


def right(done: Scored) -> int | None:
    return {metric.name: metric.count for metric in done.metrics}["accuracy"]


def csv(labels: list[str]) -> str:
    return "example_index,label\n" + "".join(f"{index},{label}\n" for index, label in enumerate(labels))


NAMES = [
    *("p[1].csv", "p?.csv", "p*.csv", "**.csv", "p{0,1}.csv", "~.csv", "-p.csv", "p'1.csv", 'p"1.csv', "p\n1.csv"),
    *("label=Solution/p.csv", "s3://p/p.csv", "label=Solution/p.parquet", "label=Solution/p.jsonl", "p[1].parquet"),
    *("p[1].jsonl", "p[1].arrow", "p[1].tsv", "é.csv", "a;b.csv", "$HOME.csv", "p.csv.gz.csv"),
]


def write(path: Path, labels: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table({"example_index": range(len(labels)), "label": labels})
    if path.suffix == ".parquet":
        parquet.write_table(table, path)
    elif path.suffix == ".arrow":
        with new_file(path, table.schema) as writer:
            writer.write_table(table)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    else:
        path.write_text(csv(labels).replace(",", "\t" if path.suffix == ".tsv" else ","))


@pytest.mark.parametrize("name", first_quick(NAMES))
def test_the_file_of_that_name_is_scored(con: duckdb.DuckDBPyConnection, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for other in ("p1", "p0", "pp", "p"):  # which a pattern of its name would find
        write(tmp_path / f"{other}{path.suffix}", ["Moderation"] * 4)
    write(path, LABELS)
    done = score_once(con, task(TASK), ScoreRequest([path]))
    assert right(done) == 4
    assert done.files == [{"path": str(path), "sha256": sha256(path.read_bytes()).hexdigest()}]


TWICE = {
    "last row.jsonl": b'{"example_index": 0, "label": "a"}\n' * 3000 + b'{"example_index": 1, "label": 2, "label": 3}',
    "case.jsonl": b'{"example_index": 0, "label": "a", "Label": "b"}',
    "other row.jsonl": b'{"example_index": 0, "label": "a"}\n{"example_index": 1, "Label": "b"}',
    "case.csv": b"example_index,label,LABEL\n0,a,b\n",
    "quoted.tsv": b'example_index\tlabel\t"label"\n0\ta\tb\n',
}


@pytest.mark.parametrize("name", TWICE)
def test_a_name_twice_is_refused(con: duckdb.DuckDBPyConnection, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(TWICE[name])
    with pytest.raises(UsageError, match="is in it twice") as caught:
        score_once(con, task(TASK), ScoreRequest([path]))
    assert caught.value.where == str(path)
    assert (caught.value.found or "").startswith("row 3,001") == name.startswith("last")


@pytest.mark.slow
@pytest.mark.parametrize("names", [("example_index", "label", "label"), ("example_index", "label", "Label")])
def test_a_column_twice_is_refused(con: duckdb.DuckDBPyConnection, tmp_path: Path, names: tuple[str, ...]) -> None:
    table = pa.Table.from_arrays([pa.array(range(4)), pa.array(LABELS), pa.array(["Solution"] * 4)], names=list(names))
    parquet.write_table(table, tmp_path / "p.parquet")
    with new_file(tmp_path / "p.arrow", table.schema) as writer:
        writer.write_table(table)
    for suffix in ("parquet", "arrow"):
        with pytest.raises(UsageError, match=f"is in it twice: 'label' and '{names[2]}'"):
            score_once(con, task(TASK), ScoreRequest([tmp_path / f"p.{suffix}"]))


@pytest.mark.slow
def test_files_differ_in_no_letter_of_a_column(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("example_index,label\n0,Reasoning\n1,Solution\n")
    (tmp_path / "b.csv").write_text("example_index,Label\n2,Moderation\n3,Solution\n")
    with pytest.raises(UsageError, match="the files differ in the letters of a column's name: 'label' and 'Label'"):
        score_once(con, task(TASK), ScoreRequest([tmp_path / "a.csv", tmp_path / "b.csv"]))


@pytest.mark.slow
def test_columns_that_the_task_does_not_need_are_left(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """Also where they are named like what is made on the way, or have no name, as Pandas writes its index."""
    lines = csv(LABELS).splitlines()
    (tmp_path / "p.csv").write_text(
        "\n".join([f",{lines[0]},place,raw", *(f"{index},{line},x,y" for index, line in enumerate(lines[1:]))])
    )
    assert right(score_once(con, task(TASK), ScoreRequest([tmp_path / "p.csv"]))) == 4


def test_what_is_no_file_is_refused(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """A named pipe would be waited for."""
    os.mkfifo(tmp_path / "p.csv")
    folder = tmp_path / "labels"
    folder.mkdir()
    os.mkfifo(folder / "a.labels.json")
    for path in (tmp_path / "p.csv", Path("/dev/zero")):
        with pytest.raises(UsageError, match="neither a file nor a folder"):
            score_once(con, task(TASK), ScoreRequest([path], layout="table"))
    wanted, request = task("dbdc3.breakdown_detection"), ScoreRequest([folder], release="dbdc3", split="eval")
    with pytest.raises(SourceError, match="neither a file nor a folder"):
        score_once(con, wanted, request)
    (folder / "a.labels.json").unlink()
    (folder / "a.labels.json").symlink_to("/etc/passwd")
    with pytest.raises(SourceError, match="a link"):
        score_once(con, wanted, request)


@pytest.mark.slow
def test_what_a_folder_may_have(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """The hash of a folder is that of its label files, with their names."""
    turns = json.dumps({"turns": []})
    for name in ("b.labels.json", "a.labels.json", "notes.txt"):
        (tmp_path / name).write_text(turns)
    digest = sha256(turns.encode()).hexdigest()
    done = score_once(
        con, task("dbdc3.breakdown_detection"), ScoreRequest([tmp_path], release="dbdc3", split="eval", missing="wrong")
    )
    whole = sha256(f"a.labels.json {digest}\nb.labels.json {digest}\n".encode()).hexdigest()
    assert done.files == [{"path": str(tmp_path), "sha256": whole}]


DOCUMENTS = {
    "deep": (b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
    "deep member": (b'{"turns": [' + b'{"a":' * 99 + b"1" + b"}" * 99 + b"]}", "nested too deeply"),
    "twice": (b'{"turns": [{"labels": [{"breakdown": "O", "breakdown": "X"}]}]}', "'breakdown' is in an object twice"),
    "surrogate": (b'{"turns": [{"labels": [{"breakdown": "\\ud800"}]}]}', "surrogate"),
    "latin": (b'{"turns": "caf\xe9"}', "can't decode"),
    "utf-16": ('{"turns": []}'.encode("utf-16"), "can't decode"),
    "nul": (b'{"turns": "\0"}', "control character"),
    "huge number": (b'{"turns": ' + b"1" * 10_000 + b"}", "no prediction"),
    "list": (b"[1, 2]", "no prediction"),
    "text": (b'"x"', "no prediction"),
    "turns in no list": (b'{"turns": {"a": 1}}', "no prediction"),
    "odd turns": (b'{"turns": [1, [2], null, {"labels": 5}]}', "not in what is scored|without a 'label'"),
}


@pytest.mark.parametrize("name", first_quick(DOCUMENTS))
def test_odd_label_files(con: duckdb.DuckDBPyConnection, tmp_path: Path, name: str) -> None:
    content, message = DOCUMENTS[name]
    labels = tmp_path / "labels"
    labels.mkdir()
    (labels / "a.labels.json").write_bytes(content)
    with zipfile.ZipFile(tmp_path / "labels.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.labels.json", content)
    for path in (labels, tmp_path / "labels.zip"):
        with pytest.raises(TalkhouseError, match=message) as caught:
            score_once(con, task("dbdc3.breakdown_detection"), ScoreRequest([path], release="dbdc3", split="eval"))
        assert str(tmp_path) in str(caught.value)


ROWS = {
    "deep": b'{"example_index": 0, "label": ' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}",
    "no object": b"[1, 2]",
    "number": b"5",
    "surrogate": b'{"example_index": 0, "label": "\\udc00"}',
    "nul": b'{"example_index": 0, "label": "a\0"}',
    "escaped nul": b'{"example_index": 0, "label": "a\\u0000"}',
    "huge": b'{"example_index": ' + b"9" * 400 + b', "label": "a"}',
    "float": b'{"example_index": 1e999, "label": "a"}',
    "nan": b'{"example_index": NaN, "label": "a"}',
    "nested": b'{"example_index": {"a": 1}, "label": ["Solution"]}',
    "utf-16": '{"example_index": 0, "label": "a"}'.encode("utf-16"),
    "no key": b"{}",
    "empty key": b'{"": 1, "example_index": 0, "label": "a"}',
    "odd key": b'{"a\\u0000\\"b$.*": 1, "example_index": 0, "label": "a"}',
    "two in a line": b'{"example_index": 0} {"example_index": 1}',
    "many keys": json.dumps({f"k{index}": 0 for index in range(20_000)}).encode(),
}


TABLES = {
    "nul": b"example_index,label\n0,a\0b\n",
    "nul in a name": b"example_index,lab\0el\n0,a\n",
    "utf-16": csv(LABELS).encode("utf-16"),
    "only quotes": b'"""""\n',
    "open quote": b'example_index,"label\n0,a\n',
    "nan": b"example_index,label\nnan,a\n",
    "huge": b"example_index,label\n" + b"9" * 400 + b",a\n",
    "a long line": b"example_index,label\n0," + b"x" * 5_000_000 + b"\n",
    "a long head": b"x" * 2_000_000,
    "many columns": b",".join(b"c%d" % index for index in range(20_000)) + b"\n",
}


def array(head: bytes, version: bytes = b"\1\0", data: bytes = b"\0" * 160) -> bytes:
    return b"\x93NUMPY" + version + len(head).to_bytes(2 if version == b"\1\0" else 4, "little") + head + data


HEAD = b"{'descr': '<f8', 'fortran_order': False, 'shape': (4, 5), }"
HEADS = {
    "version": array(HEAD, b"\7\0"),
    "no dictionary": array(b"5"),
    "no Python": array(b"{{{"),
    "call": array(HEAD.replace(b"(4, 5)", b"exit()")),
    "deep": array(b"(" * 9_000),
    "deep list": array(b"-" * 5_000 + b"1"),
    "keys": array(b"{'descr': '<f8'}"),
    "other key": array(HEAD.replace(b", }", b", 'x': 1}")),
    "shape of texts": array(HEAD.replace(b"4, 5", b"'4', '5'")),
    "negative": array(HEAD.replace(b"4, 5", b"-4, -5")),
    "huge": array(HEAD.replace(b"4, 5", b"1" * 300 + b", 5")),
    "large": array(HEAD.replace(b"4, 5", b"200000000000, 5")),
    "no columns": array(HEAD.replace(b"4, 5", b"4, 0"), data=b""),
    "booleans": array(HEAD.replace(b"4, 5", b"True, True")),
    "records": array(HEAD.replace(b"'<f8'", b"[('a', '<f8')]")),
    "number as type": array(HEAD.replace(b"'<f8'", b"8")),
    "object": array(HEAD.replace(b"<f8", b"|O")),
    "order": array(HEAD.replace(b"False", b"'no'")),
    "a long header": array(HEAD + b" " * 20_000),
    "longer than the file": b"\x93NUMPY\2\0\xff\xff\xff\xff" + HEAD,
    "nul": array(HEAD + b"\0"),
    "cut": b"\x93NUMPY\1",
}


ODD = {
    f"{name}.{suffix}": content
    for suffix, files in (("jsonl", ROWS), ("csv", TABLES), ("npy", HEADS))
    for name, content in files.items()
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ODD)
def test_odd_files(con: duckdb.DuckDBPyConnection, tmp_path: Path, name: str) -> None:
    path = tmp_path / f"p{Path(name).suffix}"
    path.write_bytes(ODD[name])
    wanted = "mpchat.next_response_prediction" if path.suffix == ".npy" else TASK
    with pytest.raises(TalkhouseError) as caught:
        score_once(con, task(wanted), ScoreRequest([path]))
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 4_000


@pytest.mark.slow
def test_mutated_arrays(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """Each is scored or refused; the numbers are zeros, so that no change of the header makes them others."""
    random = np.random.default_rng(20)
    path = tmp_path / "p.npy"
    whole = array(HEAD)
    refused, number = 0, how_many(300)
    for _ in range(number):
        bad = bytearray(whole)
        for place in random.integers(0, len(HEAD) + 10, random.integers(1, 4)):
            bad[place] = random.integers(0, 256)
        path.write_bytes(bad[: random.choice([len(bad), random.integers(0, len(bad))], p=[0.9, 0.1])])
        try:
            score_once(con, task("mpchat.next_response_prediction"), ScoreRequest([path]))
        except TalkhouseError:
            refused += 1
    assert refused > number * 2 / 3
