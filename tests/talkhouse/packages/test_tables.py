"""The files of rows: shards, types, nulls; the same bytes twice, whole or not at all, within bounded memory."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pytest
from pyarrow import parquet

import talkhouse
from talkhouse.export.expressions import QueryColumn
from talkhouse.export.formats import Tool
from talkhouse.packages.content import Classes, ClassLabel, PackageFile
from talkhouse.packages.export import export_package
from talkhouse.packages.huggingface import footer, value
from talkhouse.packages.plan import plan
from talkhouse.packages.tables import ParquetForm, write_tables
from talkhouse.schema.errors import OutputFailed, UsageError
from talkhouse.warehouse.opened import Warehouse
from tests.corpora.unusual import files_in
from tests.data_files import data_of
from tests.limits import largest_file
from tests.samples import GROUPS, PICTURES, POSTS, RELEASES

TASK = f"{RELEASES}.breakdown_detection"
FOR_HUGGING_FACE = ParquetForm(value, footer)

Connection = duckdb.DuckDBPyConnection


def written(
    con: Connection, name: str, folder: Path, form: ParquetForm = FOR_HUGGING_FACE, **options: int
) -> list[PackageFile]:
    return write_tables(plan(Warehouse(con), name), folder, form, lambda _: None, **options)


@pytest.mark.parametrize("is_list", [False, True])
def test_a_label_is_no_pattern(con: Connection, is_list: bool) -> None:
    texts = ["{slot}", "{{slot}}", "{0}", "%s", "{"]
    config = plan(Warehouse(con), TASK).configs[0]
    config = replace(config, classes=(Classes("label", is_list, tuple(map(ClassLabel, texts))),))
    column = QueryColumn("label", duckdb.sqltypes.VARCHAR, "label", "label")
    rows = "(select list(label) as label from unnest(?) as texts(label))" if is_list else "unnest(?) as texts(label)"
    numbers = con.execute(f"select {value(config, column)} from {rows}", [texts]).fetchall()
    assert numbers == ([([0, 1, 2, 3, 4],)] if is_list else [(0,), (1,), (2,), (3,), (4,)])


def rows_of(folder: Path, files: Sequence[PackageFile]) -> list[dict[str, Any]]:
    return [row for file in files for row in parquet.read_table(folder / file.path).to_pylist()]


@pytest.fixture
def many(writable: Connection) -> Connection:
    writable.execute(
        "create table main.many as select if(i % 3 = 0, 'b', if(i % 3 = 1, 'a', null)) as split, i::integer as number, "
        "md5(i::varchar) as text from range(400_000) t(i) order by hash(i)"
    )
    return writable


@pytest.mark.slow
def test_shards_follow_each_other_and_none_is_empty(many: Connection, tmp_path: Path) -> None:
    files = written(many, "many", tmp_path, shard_bytes=1_000_000)
    names = [file.path.name for file in files]
    for split in ("a", "b", "all"):
        own = [name for name in names if name.startswith(f"{split}-")]
        assert own == [f"{split}-{index:05}-of-{len(own):05}.parquet" for index in range(len(own))]
        assert len(own) == 2
    assert sorted(names) == sorted(path.name for path in (tmp_path / "data" / "many").iterdir())
    assert [row["number"] for row in rows_of(tmp_path, files[:2])] == list(range(1, 400_000, 3))
    for file in files:
        read = parquet.ParquetFile(tmp_path / file.path)
        groups = [read.metadata.row_group(index) for index in range(read.num_row_groups)]
        assert min(group.num_rows for group in groups) > 0
        assert max(group.num_rows for group in groups) <= 122_880
        assert all(group.column(0).has_offset_index for group in groups)
        assert (read.metadata.num_rows, file.bytes) == (file.rows, (tmp_path / file.path).stat().st_size)
        assert hashlib.sha256((tmp_path / file.path).read_bytes()).hexdigest() == file.sha256
    whole = written(many, "many", tmp_path / "whole")
    assert [file.path.name for file in whole] == [f"{name}-00000-of-00001.parquet" for name in ("a", "b", "all")]


@pytest.mark.slow
def test_two_packages_are_equal_to_the_byte_whatever_the_threads(many: Connection, tmp_path: Path) -> None:
    for threads in (1, 4, 3):
        many.execute(f"set threads = {threads}")
        written(many, "many", tmp_path / str(threads), shard_bytes=1_000_000)
    assert files_in(tmp_path / "1") == files_in(tmp_path / "4") == files_in(tmp_path / "3")


KINDS = data_of(__file__)["kinds"]


@pytest.mark.slow
def test_types_that_other_programs_lack_are_text_or_numbers(writable: Connection, tmp_path: Path) -> None:
    writable.execute(KINDS)
    (file,) = written(writable, "kinds", tmp_path)
    (row,) = rows_of(tmp_path, [file])
    texts = {
        "j": '{"n": 1e3, "m": 1.0}', "js": ['{"n": 1e3}'], "u": "12345678-1234-1234-1234-123456789abc",
        "m": '{"k":"v"}', "ms": '[{"k":1}]', "bits": "101", "span": "1 day", "clock": "12:00:00+01", "kind": "b",
        "kinds": ["b"],
    }  # fmt: skip
    assert {name: row[name] for name in texts} == texts
    assert (row["huge"], row["inner_huge"]) == (Decimal("70141183460469231731687303715884105727"), {"u": Decimal(1)})
    assert (row["no_list"], row["empty_list"], row["null_list"]) == (None, [], [None])
    assert (row["lists"], row["s"], row["nothing"]) == ([["x", ""], [], None], {"a": [1, None]}, None)
    types = {field.name: str(field.type) for field in parquet.read_schema(tmp_path / file.path)}
    assert (types["i"], types["j"]) == ("int32", "string")
    features = json.loads(parquet.read_schema(tmp_path / file.path).metadata[b"huggingface"])["info"]["features"]
    assert features["day"] == {"dtype": "date32", "_type": "Value"}
    assert features["lists"]["feature"]["feature"] == {"dtype": "string", "_type": "Value"}


@pytest.mark.slow
def test_labels_are_numbers_whose_names_are_in_the_footer(con: Connection, tmp_path: Path) -> None:
    for name, column in ((TASK, "label"), (TASK, "lenient_label"), (f"{POSTS}.intent_prediction", "intents")):
        folder = tmp_path / f"{name}.{column}"
        files = written(con, name, folder)
        feature = json.loads(parquet.read_schema(folder / files[0].path).metadata[b"huggingface"])["info"]["features"]
        is_list = feature[column]["_type"] == "List"
        names = (feature[column]["feature"] if is_list else feature[column])["names"]
        config = plan(Warehouse(con), name).configs[0]
        found = [row[column] for row in rows_of(folder, [file for file in files if file.config == config.name])]
        decoded = [[names[item] for item in value] if is_list else names[value] for value in found]
        of_splits = ", ".join(f"'{split.published}'" for split in config.splits)
        order = ", ".join([f"list_position([{of_splits}], split)", *config.selection.order])
        query = f"select {column} from {config.selection.source}{config.selection.where} order by {order}"
        assert decoded == [value for (value,) in con.execute(query).fetchall()]
    written(con, TASK, tmp_path / "plain", ParquetForm())
    texts = parquet.read_table(tmp_path / "plain" / "data", columns=["label"]).column("label").to_pylist()
    assert set(texts) == {"O", "T", "X"}


@pytest.mark.slow
def test_null_labels_stay_null(writable: Connection, tmp_path: Path) -> None:
    writable.execute(f"create table main.stored as from {TASK}")
    writable.execute("update main.stored set label = null, background = null where example_index % 2 = 0")
    writable.execute(f"create or replace view {TASK} as from main.stored")
    for row in rows_of(tmp_path, written(writable, TASK, tmp_path)):
        assert (row["label"] is None) == (row["example_index"] % 2 == 0)


@pytest.mark.slow
def test_every_file_opens_in_pandas_polars_and_duckdb(con: Connection, tmp_path: Path) -> None:
    for name in (PICTURES, GROUPS):
        for file in written(con, name, tmp_path / name):
            path = tmp_path / name / file.path
            assert len(pandas.read_parquet(path)) == len(polars.read_parquet(path)) == file.rows
            assert duckdb.execute(f"select count(*) from '{path}'").fetchall() == [(file.rows,)]


@pytest.mark.slow
@pytest.mark.parametrize("tool", [Tool.HUGGINGFACE, Tool.CROISSANT])
def test_a_full_disk_leaves_nothing(writable: Connection, tmp_path: Path, tool: Tool) -> None:
    writable.execute("create table main.big as select i, uuid()::varchar as text from range(300_000) t(i)")
    (tmp_path / "there").mkdir()
    before = sorted(tmp_path.iterdir())
    refused = pytest.raises(OutputFailed, match=r"no room[\s\S]*nothing was left[\s\S]*make room")
    for output in (tmp_path / "new", tmp_path / "there"):
        with largest_file(500_000), refused:
            export_package(Warehouse(writable), "big", tool, output)
    assert sorted(tmp_path.iterdir()) == before
    assert list((tmp_path / "there").iterdir()) == []


@pytest.mark.slow
def test_what_can_not_be_a_package_leaves_nothing(sample: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    (tmp_path / "file").touch()
    with talkhouse.open(sample) as con:
        for name, output, match in (
            (TASK, "full", "the folder is not empty"),
            (TASK, "file", "the output is a file"),
            (TASK, "none/new", "there is no such folder"),
            ("main.parts", "new", "there are no rows of main.parts"),
            ("nothing", "new", "no corpus, view or table"),
        ):
            with pytest.raises(UsageError, match=match):
                export_package(Warehouse(con), name, Tool.HUGGINGFACE, tmp_path / output)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "full"]
