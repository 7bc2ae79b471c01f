"""mlcroissant itself opens what is exported: without a warning, every row as its view has it, and split by split."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import talkhouse
from talkhouse.build.progress import Silent
from talkhouse.build.run import build
from talkhouse.packages.export import export_package
from talkhouse.query.export import settings
from talkhouse.query.formats import Tool
from talkhouse.schema.sql import dicts
from talkhouse.warehouse.opened import opened
from tests import outside

pytestmark = pytest.mark.packages

_PYTHON = ("uv", "run", "--no-project", "--quiet", "--with", "mlcroissant==1.1.1", "--with", "pyarrow==26.0.1", "python")

_ODD = """
create view bi.odd as
select * from (values
    ('a b', {'x': 1, 'y z': 'q'}, [{'k': 1, 'l': ['a']}, {'k': null, 'l': []}], [['a', null], [], null],
     date '2020-01-02', time '01:02:03', timestamp '2020-01-02 03:04:05.678901', 'e1'::enum('e1', 'e2'), 7::ubigint,
     1.25::decimal(9, 2), 'column', 1, 'name', null::integer),
    ('x.y', null, null, null, null, null, null, null, null, null, null, null, null, null),
    ('tr-ain', {'x': null, 'y z': null}, [], [], date '1500-01-02', time '23:59:59', timestamp '1200-01-02 03:04:05',
     'e2', 0, -1.25, 'column', 2, 'name', null),
    (null, null, null, null, null, null, null, null, null, null, null, null, null, null)
) as rows(split, "a struct", structs, nested, day, "time", "timestamp", kind, number, decimal, "file_split", "index",
          "a:b/c#d?é 日本", nothing)
"""


def _read(folders: Iterator[Path], cwd: Path) -> dict[str, Any]:
    """Return what mlcroissant reads in packages, by the name of their folders."""
    program = Path(__file__).with_name("read_records.py")
    answer = json.loads(outside.run([*_PYTHON, str(program), *map(str, folders)], cwd))
    assert answer["logged"] == []
    return {Path(folder).name: read for folder, read in answer["packages"].items()}


def _exported(database: Path, names: list[str], tool: Tool, folder: Path) -> Iterator[Path]:
    for name in names:
        output = folder / name
        with opened(database, settings=settings(output)) as warehouse:
            export_package(warehouse, name, tool, output, is_accepted=True)
        yield output


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.isoformat() if hasattr(value, "isoformat") else value


def _counted(rows: list[dict[str, Any]]) -> Counter[str]:
    return Counter(json.dumps(row, sort_keys=True) for row in rows)


def _check_rows(con: duckdb.DuckDBPyConnection, schema: str, read: dict[str, Any], numbers: bool = False) -> None:
    """Compare every record set of rows with its view."""
    assert read["issues"] == []
    assert read["by_split"]
    for view, by_split in read["by_split"].items():
        rows = [_plain(row) for row in dicts(con.execute(f"select * from {schema}.{view}"))]
        records = [{key: value for key, value in row.items() if key != "file_split"} for row in read["record_sets"][view]]
        if not numbers:
            assert _counted(records) == _counted(rows), view
        assert len(records) == len(rows)
        assert all(record["file_split"] == split for split, of_split in by_split.items() for record in of_split)
        together = [record for of_split in by_split.values() for record in of_split]
        assert _counted(together) == _counted(read["record_sets"][view]), view
        for split, of_split in by_split.items():
            assert len(of_split) == sum((row.get("split") or "all") == split for row in rows) or numbers
            places = [(row.get("release"), row["example_index"]) for row in of_split if "example_index" in row]
            assert places == sorted(places, key=lambda place: (place[0] or "", place[1]))


def test_samples_are_read_as_their_views_are(sample: Path, tmp_path: Path) -> None:
    with talkhouse.open(sample) as con:
        names = [name for (name,) in con.execute("select corpus_id from main.corpora order by all").fetchall()]
        for name, read in _read(_exported(sample, names, Tool.CROISSANT, tmp_path), tmp_path).items():
            _check_rows(con, name, read)


def test_labels_of_the_hugging_face_package_are_numbers(sample: Path, tmp_path: Path) -> None:
    names = ["dbdc3", "mantis", "delidata"]
    packages = _read(_exported(sample, names, Tool.HUGGINGFACE, tmp_path), tmp_path)
    with talkhouse.open(sample) as con:
        for name, read in packages.items():
            _check_rows(con, name, read, numbers=True)
        rows = con.execute("select label from dbdc3.breakdown_detection").fetchall()
    read = packages["dbdc3"]["record_sets"]
    labels = [label["name"] for label in read["breakdown_detection_labels"]]
    assert labels == ["O", "T", "X"]
    assert Counter(labels[row["label"]] for row in read["breakdown_detection"]) == Counter(label for (label,) in rows)
    assert {type(item) for row in packages["mantis"]["record_sets"]["intent_prediction"] for item in row["intents"]} == {int}


def test_odd_names_and_types_are_read(sample: Path, tmp_path: Path) -> None:
    database = tmp_path / "odd.duckdb"
    database.write_bytes(sample.read_bytes())
    with duckdb.connect(database) as con:
        con.execute(_ODD)
    read = _read(_exported(database, ["bi.odd"], Tool.CROISSANT, tmp_path), tmp_path)["bi.odd"]
    assert read["issues"] == []
    rows = {row["split"]: row for row in read["record_sets"]["odd"]}
    assert {split: [row["split"] for row in of_split] for split, of_split in read["by_split"]["odd"].items()} == {
        "a_b": ["a b"],
        "tr_ain": ["tr-ain"],
        "x.y": ["x.y"],
        "all": [None],
    }
    assert rows["a b"] == {
        **{"split": "a b", "file_split": "a_b", "file_split_": "column", "a_struct": {"x": 1, "y_z": "q"}},
        **{"structs": [{"k": 1, "l": ["a"]}, {"k": None, "l": []}], "nested": [["a", None], [], None]},
        **{"day": "2020-01-02T00:00:00", "time": "01:02:03", "timestamp": "2020-01-02T03:04:05.678901"},
        **{"kind": "e1", "number": 7, "decimal": 1.25, "index": 1, "a_b_c_d_é_日本": "name", "nothing": None},
    }
    assert rows["tr-ain"]["timestamp"] == "1200-01-02T03:04:05"


def test_the_publishers_files_are_read_as_their_views_are(real_data: Path, tmp_path: Path) -> None:
    database = tmp_path / "real.duckdb"
    build(database, Silent(), data=real_data)
    names = ["dbdc3.breakdown_detection", "delidata", "mantis", "blended_skill_talk"]
    packages = _read(_exported(database, names, Tool.CROISSANT, tmp_path), tmp_path)
    with talkhouse.open(database) as con:
        for name, read in packages.items():
            _check_rows(con, name.partition(".")[0], read)
    splits = packages["dbdc3.breakdown_detection"]["by_split"]["breakdown_detection"]
    assert {split: len(rows) for split, rows in splits.items()} == {"dev": 8450, "eval": 1600}
