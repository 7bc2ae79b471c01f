"""mlcroissant itself opens what is exported: without a warning, every row as its view has it, and split by split."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import pytest

import talkhouse
from talkhouse.export.export import settings
from talkhouse.export.formats import Tool
from talkhouse.ingest.registry import corpora
from talkhouse.packages.export import export_package
from talkhouse.schema.sql import dicts
from talkhouse.schema.sql_files import sql_of
from talkhouse.warehouse.opened import opened
from tests import outside
from tests.samples import GROUPS, POSTS, RELEASES, SUGGESTIONS

pytestmark = pytest.mark.packages

_PACKAGES = ("--with", "mlcroissant==1.1.1", "--with", "pyarrow==26.0.1")
_PYTHON = ("uv", "run", "--no-project", "--quiet", *_PACKAGES, "python")

_ODD = sql_of(__file__, "mlcroissant_odd")


def _read(folders: Iterable[Path], cwd: Path) -> dict[str, Any]:
    program = Path(__file__).with_name("read_with_mlcroissant.py")
    answer = json.loads(outside.run([*_PYTHON, str(program), *map(str, folders)], cwd))
    assert answer["logged"] == []
    return {Path(folder).name: read for folder, read in answer["packages"].items()}


def _exported(database: Path, names: Iterable[str], tool: Tool, folder: Path) -> list[Path]:
    outputs = [folder / name for name in names]
    for output in outputs:
        with opened(database, settings=settings(output)) as warehouse:
            export_package(warehouse, output.name, tool, output, is_accepted=True)
    return outputs


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.isoformat() if hasattr(value, "isoformat") else value


def _counted(rows: list[dict[str, Any]]) -> Counter[str]:
    return Counter(json.dumps(row, sort_keys=True) for row in rows)


def _check_splits(read: dict[str, Any]) -> None:
    """Check that there was no warning, and that the rows of the splits are together those of all."""
    assert read["issues"] == []
    assert read["by_split"]
    for view, by_split in read["by_split"].items():
        assert all(row["file_split"] == split for split, rows in by_split.items() for row in rows)
        together = [row for rows in by_split.values() for row in rows]
        assert _counted(together) == _counted(read["record_sets"][view]), view


def _rows(schema: str, config: str) -> str:
    """Return the rows of a configuration: of a task in several releases, each example once, or one release."""
    if schema != RELEASES:
        return f"{schema}.{config}"
    release = config.removeprefix("breakdown_detection").removeprefix("_")
    return f"{schema}.breakdown_detection where " + (f"release = '{release}'" if release else "is_default")


def _check_rows(con: duckdb.DuckDBPyConnection, schema: str, read: dict[str, Any]) -> None:
    _check_splits(read)
    for view, by_split in read["by_split"].items():
        rows = [_plain(row) for row in dicts(con.execute(f"from {_rows(schema, view)}"))]
        for split, records in by_split.items():
            of_split = [row for row in rows if (row.get("split") or "all") == split]
            found = [{key: value for key, value in record.items() if key != "file_split"} for record in records]
            assert _counted(found) == _counted(of_split), (view, split)
        assert len(read["record_sets"][view]) == len(rows)


def test_samples_are_read_as_their_views_are(sample: Path, tmp_path: Path) -> None:
    packages = _read(_exported(sample, corpora(), Tool.CROISSANT, tmp_path), tmp_path)
    with talkhouse.open(sample) as con:
        for name, read in packages.items():
            _check_rows(con, name, read)
    for rows in packages[RELEASES]["by_split"]["breakdown_detection"].values():
        places = [(row["release"], row["example_index"]) for row in rows]
        assert places == sorted(places)


def test_labels_of_the_hugging_face_package_are_numbers(sample: Path, tmp_path: Path) -> None:
    packages = _read(_exported(sample, [RELEASES, POSTS, GROUPS], Tool.HUGGINGFACE, tmp_path), tmp_path)
    for read in packages.values():
        _check_splits(read)
    with talkhouse.open(sample) as con:
        rows = con.execute(f"select label from {RELEASES}.breakdown_detection where is_default").fetchall()
    breakdown = packages[RELEASES]["record_sets"]
    labels = [label["name"] for label in breakdown["breakdown_detection_labels"]]
    assert labels == ["O", "T", "X"]
    assert Counter(labels[row["label"]] for row in breakdown["breakdown_detection"]) == Counter(
        label for (label,) in rows
    )
    intents = [row["intents"] for row in packages[POSTS]["record_sets"]["intent_prediction"]]
    assert {type(item) for items in intents for item in items} == {int}


def test_odd_names_and_types_are_read(sample: Path, tmp_path: Path) -> None:
    database = tmp_path / "odd.duckdb"
    database.write_bytes(sample.read_bytes())
    with duckdb.connect(database) as con:
        con.execute(_ODD)
    read = _read(_exported(database, ["bi.odd"], Tool.CROISSANT, tmp_path), tmp_path)["bi.odd"]
    assert read["issues"] == []
    rows = {row["split"]: row for row in read["record_sets"]["odd"]}
    by_split = {split: [row["split"] for row in of_split] for split, of_split in read["by_split"]["odd"].items()}
    assert by_split == {"a_b": ["a b"], "tr_ain": ["tr-ain"], "x.y": ["x.y"], "all": [None]}
    assert rows["a b"] == {
        "split": "a b",
        "file_split": "a_b",
        "file_split_": "column",
        "a_struct": {"x": 1, "y_z": "q"},
        "structs": [{"k": 1, "l": ["a"]}, {"k": None, "l": []}],
        "nested": [["a", None], [], None],
        "day": "2020-01-02T00:00:00",
        "time": "01:02:03",
        "timestamp": "2020-01-02T03:04:05.678901",
        "kind": "e1",
        "number": 7,
        "decimal": 1.25,
        "index": 1,
        "a_b_c_d_é_日本": "name",
        "nothing": None,
    }
    assert rows["tr-ain"]["timestamp"] == "1200-01-02T03:04:05"


def test_the_publishers_files_are_read_as_their_views_are(real_warehouse: Path, tmp_path: Path) -> None:
    names = [f"{RELEASES}.breakdown_detection", GROUPS, POSTS, SUGGESTIONS]
    packages = _read(_exported(real_warehouse, names, Tool.CROISSANT, tmp_path), tmp_path)
    with talkhouse.open(real_warehouse) as con:
        for name, read in packages.items():
            _check_rows(con, name.partition(".")[0], read)
    splits = packages[f"{RELEASES}.breakdown_detection"]["by_split"]["breakdown_detection"]
    assert {split: len(rows) for split, rows in splits.items()} == {"dev": 4150, "eval": 1050}
