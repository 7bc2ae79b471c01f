"""Exports: every format keeps every text, two exports are equal, the manifest is true, there is never half a file."""

import csv
import hashlib
import json
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import duckdb
import polars
import pyarrow
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import parquet

import talkhouse
from benchmarks.measure import run as measured
from benchmarks.scenario import Side
from benchmarks.scenarios.export import invent
from talkhouse.export import export as exports
from talkhouse.export.export import export
from talkhouse.export.formats import ExportFormat
from talkhouse.export.selection import Filters
from talkhouse.queries.catalogue import catalogue
from talkhouse.schema.errors import OutputFailed, UsageError
from talkhouse.schema.tables import metadata, qualified
from talkhouse.warehouse.opened import Warehouse
from tests.commands import COMMAND, on_a_terminal, run
from tests.conftest import invented_examples, wait_for
from tests.lanes import first_quick
from tests.limits import largest_file
from tests.outside import run as run_outside

TASK = "dbdc3.breakdown_detection"
NASTY = [
    None, "", " ", "\t", "a\tb", "\n", "x\ny", "x\r\ny", "\r", '"', '""', 'a "b", c', "\\", '\\"', "\\N", "\\t", "NULL",
    "null", "nan", "007", "1e3", "true", "\0", "a\0b", "\u2028", "\u2029", "\u0085", "\ufeff", "\x1a", "é", "😀", "'",
    ",", ";", "#c", "[1]", "{}", "\U0001d518", "\U0010ffff", "\ufffe",
]  # fmt: skip
FORMATS = list(ExportFormat)
Rows = list[tuple[int, str | None, list[str | None] | None]]
Connection = duckdb.DuckDBPyConnection


def described(output: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(f"{output}.manifest.json").read_text(encoding="utf-8"))
    return found


def from_cells(rows: Sequence[Sequence[Any]]) -> Rows:
    return [(int(i), text, None if items is None else json.loads(items)) for i, text, items in rows]


def with_duckdb(path: Path, file_format: ExportFormat) -> Rows:
    delimiter = "\t" if file_format is ExportFormat.TSV else ","
    dialect = (
        f"delim = '{delimiter}', header = true, quote = '\"', escape = '\"', allow_quoted_nulls = false, "
        "auto_detect = false, columns = {i: 'int', text: 'varchar', items: 'varchar'}"
    )
    if file_format in (ExportFormat.CSV, ExportFormat.TSV):
        return from_cells(duckdb.execute(f"from read_csv('{path}', {dialect})").fetchall())
    if file_format is ExportFormat.PARQUET:
        return duckdb.execute(f"from read_parquet('{path}')").fetchall()
    kinds = "{i: 'int', text: 'varchar', items: 'varchar[]'}"
    return duckdb.execute(f"from read_json('{path}', format = 'newline_delimited', columns = {kinds})").fetchall()


def with_polars(path: Path, file_format: ExportFormat) -> Rows:
    if file_format in (ExportFormat.CSV, ExportFormat.TSV):
        separator = "\t" if file_format is ExportFormat.TSV else ","
        return from_cells(polars.read_csv(path, separator=separator, infer_schema=False).rows())
    schema = {"i": polars.Int64, "text": polars.String, "items": polars.List(polars.String)}
    if file_format is ExportFormat.JSONL:
        return polars.read_ndjson(path, schema=schema).rows()
    return (polars.read_parquet(path) if file_format is ExportFormat.PARQUET else polars.read_ipc(path)).rows()


def with_its_own(path: Path, file_format: ExportFormat) -> Rows:
    """Read by the format's own library: Python's csv and json, pyarrow."""
    if file_format in (ExportFormat.PARQUET, ExportFormat.ARROW):
        table = (
            parquet.read_table(path) if file_format is ExportFormat.PARQUET else pyarrow.ipc.open_file(path).read_all()
        )
        return [(row["i"], row["text"], row["items"]) for row in table.to_pylist()]
    with path.open(encoding="utf-8", newline="") as stream:
        if file_format is ExportFormat.JSONL:
            lines = stream.read().split("\n")
            assert lines.pop() == ""
            return [(row["i"], row["text"], row["items"]) for row in map(json.loads, lines)]
        rows = list(csv.reader(stream, delimiter="\t" if file_format is ExportFormat.TSV else ","))
    assert rows.pop(0) == ["i", "text", "items"]
    return from_cells([[i, text, items or None] for i, text, items in rows])


def round_trip(con: Connection, texts: list[str | None], file_format: ExportFormat, folder: Path) -> None:
    rows: Rows = [(i, text, None if i % 5 == 3 else [text, "", None][: i % 4]) for i, text in enumerate(texts)]
    con.execute("create or replace table main.nasty (i integer, text varchar, items varchar[])")
    con.executemany("insert into main.nasty values (?, ?, ?)", rows[::-1] or [(0, None, None)])
    if not rows:
        con.execute("truncate main.nasty")
    path = folder / "nasty"
    assert export(Warehouse(con), "nasty", path, file_format=file_format, force=True).rows == len(rows)
    if file_format is not ExportFormat.ARROW:
        assert with_duckdb(path, file_format) == rows
    assert with_polars(path, file_format) == rows
    blank = file_format in (ExportFormat.CSV, ExportFormat.TSV)
    assert with_its_own(path, file_format) == [(i, text or "" if blank else text, items) for i, text, items in rows]


@pytest.mark.parametrize("file_format", FORMATS)
def test_nasty_texts_come_back(writable: Connection, tmp_path: Path, file_format: ExportFormat) -> None:
    round_trip(writable, NASTY, file_format, tmp_path)


@pytest.mark.parametrize(
    "file_format", first_quick([ExportFormat.CSV, *(form for form in FORMATS if form is not ExportFormat.CSV)])
)
@given(texts=st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"])), max_size=20))
@example(texts=[])
@invented_examples(30)
def test_any_text_comes_back(copied: Path, file_format: ExportFormat, texts: list[str | None]) -> None:
    with tempfile.TemporaryDirectory() as folder, duckdb.connect(copied) as con:
        round_trip(con, texts, file_format, Path(folder))


@pytest.mark.parametrize("file_format", [ExportFormat.CSV, ExportFormat.TSV])
def test_a_single_column_loses_no_rows(writable: Connection, tmp_path: Path, file_format: ExportFormat) -> None:
    writable.execute("create or replace table main.one as select unnest(['a', null, '', null, 'b']) as text")
    export(Warehouse(writable), "one", tmp_path / "one", file_format=file_format)
    assert polars.read_csv(tmp_path / "one", infer_schema=False)["text"].to_list() == ["", "a", "b", None, None]
    query = f"from read_csv('{tmp_path}/one', header = true, allow_quoted_nulls = false, columns = {{text: 'varchar'}})"
    assert duckdb.execute(query).fetchall() == [("",), ("a",), ("b",), (None,), (None,)]


def test_every_type_is_exported(writable: Connection, tmp_path: Path) -> None:
    writable.execute(
        "create or replace table main.kinds as select 1 as i, true as yes, 0.1::double as d, 'nan'::double as nan, "
        """'{"n": 1e3,\n "m": 1.0, "big": 12345678901234567890123}'::json as j, {'a': [1, null]} as s, """
        "map {'k': 'v'} as m, [['x'], []] as lists, timestamp '2020-01-02 03:04:05' as t, date '2020-01-02' as day, "
        "uuid '00000000-0000-0000-0000-000000000001' as id, interval 1 day as span, "
        "'\\xFFa'::blob as raw, 70141183460469231731687303715884105727::hugeint as huge, "
        "1.50::decimal(5, 2) as money, null::integer as nothing"
    )
    for file_format in FORMATS:
        export(Warehouse(writable), "kinds", tmp_path / f"kinds.{file_format}")
    line = json.loads((tmp_path / "kinds.jsonl").read_text())
    assert line == {
        "i": 1, "yes": True, "d": 0.1, "nan": None, "j": {"n": 1000.0, "m": 1.0, "big": 12345678901234567890123},
        "s": {"a": [1, None]}, "m": {"k": "v"}, "lists": [["x"], []], "t": "2020-01-02 03:04:05", "day": "2020-01-02",
        "id": "00000000-0000-0000-0000-000000000001", "span": "1 day", "raw": "\\xFFa",
        "huge": 70141183460469231731687303715884105727, "money": 1.5, "nothing": None,
    }  # fmt: skip
    assert '{"n": 1e3,  "m": 1.0, "big": 12345678901234567890123}' in (tmp_path / "kinds.jsonl").read_text()
    with (tmp_path / "kinds.csv").open(newline="") as stream:
        _, cells = csv.reader(stream)
    assert cells == [
        "1", "true", "0.1", "nan", '{"n": 1e3,\n "m": 1.0, "big": 12345678901234567890123}', '{"a":[1,null]}',
        '{"k":"v"}', '[["x"],[]]', "2020-01-02 03:04:05", "2020-01-02",
        "00000000-0000-0000-0000-000000000001", "1 day", "\\xFFa",
        "70141183460469231731687303715884105727", "1.50", "",
    ]  # fmt: skip
    assert polars.read_ipc(tmp_path / "kinds.arrow").equals(polars.read_parquet(tmp_path / "kinds.parquet"))
    kinds = duckdb.execute(f"describe from read_parquet('{tmp_path}/kinds.parquet')").fetchall()
    assert {name: kind for name, kind, *_ in kinds} == {
        "i": "INTEGER", "yes": "BOOLEAN", "d": "DOUBLE", "nan": "DOUBLE", "j": "VARCHAR", "s": "STRUCT(a INTEGER[])",
        "m": "MAP(VARCHAR, VARCHAR)", "lists": "VARCHAR[][]", "t": "TIMESTAMP", "day": "DATE", "raw": "BLOB",
        "id": "VARCHAR", "span": "VARCHAR",
        "huge": "DECIMAL(38,0)", "money": "DECIMAL(5,2)", "nothing": "INTEGER",
    }  # fmt: skip


@pytest.fixture(scope="module")
def shuffled(copied: Path) -> Path:
    """The copy with a view of 70,000 rows that are stored in no order, and have nulls of outer joins."""
    with duckdb.connect(copied) as con:
        con.execute(
            "create table main.stored as select i as example_index, if(i % 3 = 0, 'dev', 'eval') as split, "
            "repeat(md5(i::varchar), i % 40) as text, [i, i % 5] as counts from range(70_000) t(i) order by hash(i)"
        )
        con.execute(
            f"create view {TASK}_shuffled as select stored.*, other.number, other.name "
            "from main.stored left join (select i * 7 as example_index, i as number, i::varchar as name "
            "from range(10_000) t(i)) other using (example_index)"
        )
    return copied


@pytest.mark.slow
@pytest.mark.parametrize("file_format", first_quick(FORMATS))
def test_two_exports_are_equal_to_the_byte_and_in_order(
    shuffled: Path, tmp_path: Path, file_format: ExportFormat
) -> None:
    files = []
    for number, threads in enumerate((1, 4)):
        path = tmp_path / str(number) / f"rows.{file_format}"
        path.parent.mkdir()
        with talkhouse.open(shuffled) as con:
            con.execute(f"set threads = {threads}")
            assert export(Warehouse(con), f"{TASK}_shuffled", path).rows == 70_000
        files.append((path.read_bytes(), Path(f"{path}.manifest.json").read_bytes()))
    assert files[0] == files[1]
    if file_format is ExportFormat.PARQUET:
        rows = parquet.read_table(tmp_path / "0" / "rows.parquet", columns=["split", "example_index"]).to_pylist()
        positions = [(row["split"], row["example_index"]) for row in rows]
        assert positions == sorted(positions)
        assert positions[0] == ("dev", 0)
        assert positions[-1] == ("eval", 69_998)


@pytest.mark.slow
def test_row_groups_stay_small(writable: Connection, tmp_path: Path) -> None:
    writable.execute(
        "create or replace table main.wide as select i, [repeat(md5(i::varchar), 50) for x in range(10)] as texts "
        "from range(15_000) t(i)"
    )
    export(Warehouse(writable), "wide", tmp_path / "wide.parquet")
    file = parquet.ParquetFile(tmp_path / "wide.parquet").metadata
    sizes = [file.row_group(index).num_rows * 16_000 for index in range(file.num_row_groups)]
    assert file.num_rows == 15_000
    assert len(sizes) == 4
    assert max(sizes) < 80_000_000


def test_the_manifest_is_true(sample: Path, tmp_path: Path) -> None:
    path = tmp_path / "eval.csv"
    with talkhouse.open(sample) as con:
        done = export(Warehouse(con), TASK, path, filters=Filters("eval"), columns=["utterance", "context"], limit=7)
        ((revision, number, hashed),) = con.execute(
            "select schema_revision, load_id, catalogue_hash from meta.loads"
        ).fetchall()
        licence, terms, citation = con.execute(
            "select licence, terms, citation from main.corpora where corpus_id = 'dbdc3'"
        ).fetchall()[0]
    found = described(path)
    assert found["name"] == TASK
    assert (found["split"], found["split_column"], found["limit"]) == ("eval", "split", 7)
    assert [(column["name"], column["type"]) for column in found["columns"]] == [
        ("utterance", "VARCHAR"),
        ("context", "VARCHAR[]"),
    ]
    assert found["columns"][0]["meaning"].startswith("The system utterance")
    assert found["order"] == ["release", "split", "example_index"]
    assert found["rows"] == done.rows == 7 == len(polars.read_csv(path))
    assert found["bytes"] == done.bytes == path.stat().st_size
    assert found["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (found["format"], found["schema_revision"]) == ("csv", revision)
    assert (found["build"]["load_id"], found["build"]["catalogue_hash"]) == (number, hashed)
    (corpus,) = found["corpora"]
    assert (corpus["corpus_id"], corpus["licence"], corpus["terms"]) == ("dbdc3", licence, terms)
    assert (corpus["citation"], corpus["is_sample"]) == (citation, True)


def test_files_say_what_their_manifests_say(con: Connection, tmp_path: Path) -> None:
    for name in ("rows.parquet", "rows.arrow"):
        export(Warehouse(con), TASK, tmp_path / name, columns=["utterance", "background"], limit=2)
    of_parquet = parquet.read_schema(tmp_path / "rows.parquet")
    of_arrow = pyarrow.ipc.open_file(tmp_path / "rows.arrow").schema
    assert of_parquet.equals(of_arrow, check_metadata=True)
    keys = {key.decode(): value.decode() for key, value in of_arrow.metadata.items()}
    manifest = described(tmp_path / "rows.parquet")
    (corpus,) = manifest["corpora"]
    assert keys["name"] == TASK
    assert corpus["licence"] in keys["licence"]
    assert json.loads(keys["licence_terms"]) == corpus["licence_terms"]
    assert keys["citation"].startswith("@inproceedings{dbdc3,")
    meanings = {column["name"]: column["meaning"] for column in manifest["columns"]}
    assert json.loads(keys["columns"]) == meanings
    assert {field.name: field.metadata[b"description"].decode() for field in of_arrow} == meanings
    rows = polars.read_ipc(tmp_path / "rows.arrow")
    assert polars.read_parquet(tmp_path / "rows.parquet").equals(rows)
    assert duckdb.execute(f"from read_parquet('{tmp_path}/rows.parquet')").fetchall() == rows.rows()
    assert polars.read_parquet_metadata(tmp_path / "rows.parquet")["licence"] == keys["licence"]


@pytest.mark.packages
def test_pandas_and_datasets_open_them(con: Connection, tmp_path: Path) -> None:
    for name in ("rows.parquet", "rows.feather"):
        export(Warehouse(con), TASK, tmp_path / name)
    program = """
import datasets, pandas
own, other = pandas.read_parquet("rows.parquet"), pandas.read_feather("rows.feather")
pandas.testing.assert_frame_equal(own, other)
rows = datasets.load_dataset("parquet", data_files="*.parquet", split="train", cache_dir="cache")
assert rows.column_names == list(own.columns)
print(len(own), len(rows))
"""
    command = ["uv", "run", "--no-project", "--with", "datasets==5.2.0", "--with", "pandas==3.1.1", "python", "-c"]
    ((count,),) = con.execute(f"select count(*) from {TASK}").fetchall()
    assert run_outside([*command, program], tmp_path).split() == [str(count)] * 2


@pytest.mark.parametrize(
    ("name", "limit", "there"),
    [
        ("main.turns", None, True),
        ("turns", 1, False),
        ("main.records", None, True),
        ("main.annotations", None, True),
        ("main.labels", None, True),
        ("meta.loads", None, True),
        ("delidata.outcome", None, False),
        ("meta.findings", 0, False),
    ],
)
def test_every_corpus_in_the_rows_is_named(
    con: Connection, tmp_path: Path, name: str, limit: int | None, there: bool
) -> None:
    done = export(Warehouse(con), name, tmp_path / "rows.parquet", limit=limit)
    found = [corpus["corpus_id"] for corpus in described(done.path)["corpora"]]
    known = [corpus for (corpus,) in con.execute("select corpus_id from main.corpora order by all").fetchall()]
    some = {"turns": known[:1], "delidata.outcome": ["delidata"], "meta.findings": []}
    assert found == (known if there else some[name])


@pytest.mark.parametrize("every", [pytest.param(7, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.long)])
def test_every_relation_can_be_exported(con: Connection, tmp_path: Path, every: int) -> None:
    """Each in one format; of the views of single splits, which are all made alike, one."""
    names = [view.full_name for view in catalogue().views] + [qualified(table) for table in metadata.tables.values()]
    opened = Warehouse(con)
    for name, file_format in zip([*names[::every], f"{TASK}_eval"], cycle(FORMATS), strict=False):
        done = export(opened, name, tmp_path / f"rows.{file_format}", force=True)
        assert con.execute(f"select count(*) from {name}").fetchall() == [(done.rows,)]
        assert described(done.path)["rows"] == done.rows


def splits(path: Path) -> set[str]:
    return set(polars.read_parquet(path)["split"])


def test_a_standard_split_is_taken_where_no_published_one_has_the_name(sample: Path, tmp_path: Path) -> None:
    with talkhouse.open(sample) as con:
        standard = export(Warehouse(con), TASK, tmp_path / "standard.parquet", filters=Filters("test"))
        published = export(Warehouse(con), TASK, tmp_path / "published.parquet", filters=Filters("eval"))
    assert described(standard.path)["split_column"] == "standard_split"
    assert described(published.path)["split_column"] == "split"
    assert splits(standard.path) == splits(published.path) == {"eval"}
    assert standard.rows == published.rows > 0


def test_the_publishers_split_wins(writable: Connection, tmp_path: Path) -> None:
    writable.execute(
        "create or replace table main.swapped as select * from (values ('test', 'train'), ('train', 'test')) "
        "as t(split, standard_split)"
    )
    export(Warehouse(writable), "swapped", tmp_path / "rows.parquet", filters=Filters("test"))
    assert splits(tmp_path / "rows.parquet") == {"test"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    first_quick(
        [
            (["nix", "--output", "a.csv"], ["no view or table 'nix'", "talkhouse views"]),
            (["dbdc3.breakdown_detectio", "--output", "a.csv"], ["one of: dbdc3.breakdown_detection"]),
            (
                [TASK, "--output", "a.csv", "--split", "nix"],
                ["no rows of the split 'nix'", "one of: dev, eval", "standard"],
            ),
            ([f"{TASK}_eval", "--output", "a.csv", "--split", "dev"], ["no rows of the split 'dev'", "one of: eval"]),
            (["turns", "--output", "a.csv", "--split", "dev"], ["main.turns has no column 'split'", "main.records"]),
            ([TASK, "--output", "a.csv", "--columns", "split,uterance"], ["no column 'uterance'", "one of: utterance"]),
            ([TASK, "--output", "a.csv", "--columns", "split,split"], ["'split' is named twice"]),
            ([TASK, "--output", "a.csv", "--columns", ""], ["has no column ''"]),
            (
                [TASK, "--output", "a.xlsx"],
                ["does not show the format", ".parquet, .csv, .tsv, .jsonl, .arrow, .feather"],
            ),
            ([TASK, "--output", "a"], ["does not show the format", "parquet|csv|tsv|jsonl|arrow"]),
            ([TASK, "--output", "a.csv", "--format", "xml"], ["xml"]),
            ([TASK, "--output", "here.csv"], ["the file exists already", "--force"]),
            ([TASK, "--output", "described.csv"], ["described.csv.manifest.json: the file exists already"]),
            ([TASK, "--output", "folder.csv", "--force"], ["the output is a folder"]),
            ([TASK, "--output", "nix/a.csv"], ["nix: there is no such folder"]),
            ([TASK, "--output", "here.csv/a.csv"], ["there is no such folder"]),
            ([TASK, "--output", "w.duckdb", "--format", "csv", "--force"], ["would replace the warehouse"]),
            ([TASK, "--output", "linked.csv", "--force"], ["would replace the warehouse"]),
            ([TASK, "--output", "/dev/null", "--format", "csv", "--force"], ["not a file that can be replaced"]),
            ([TASK, "--output", "x" * 300 + ".csv"], ["can't be written"]),
        ],
        4,
    ),
)
def test_wrong_use_gets_a_message_and_nothing_is_written(
    sample: Path, tmp_path: Path, arguments: list[str], words: list[str]
) -> None:
    shutil.copy(sample, tmp_path / "w.duckdb")
    (tmp_path / "linked.csv").symlink_to("w.duckdb")
    (tmp_path / "folder.csv").mkdir()
    for name in ("here.csv", "described.csv.manifest.json"):
        (tmp_path / name).write_text("as it was")
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    shown = run("export", *arguments, "--db", "w.duckdb", cwd=tmp_path)
    assert (shown.returncode, shown.stdout) == (2, "")
    for word in words:
        assert word in shown.stderr
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")} == before


@pytest.mark.usefixtures("unprivileged")
def test_a_folder_that_may_not_be_written_to(con: Connection, tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(UsageError, match=r"can't be written[\s\S]*Permission denied"):
        export(Warehouse(con), TASK, tmp_path / "rows.parquet")


def test_the_command_says_what_it_did(sample: Path, tmp_path: Path) -> None:
    first = run("export", "turns", "--output", "turns.tsv", "--db", sample, cwd=tmp_path)
    assert (first.returncode, first.stderr) == (0, "")
    for word in ("rows of main.turns", "turns.tsv.manifest.json", "licence of dbdc3, invented sample: MIT", "delidata"):
        assert word in first.stdout
    content = (tmp_path / "turns.tsv").read_bytes()
    (tmp_path / "turns.tsv").write_text("older")
    again = run("export", "turns", "--output", "turns.tsv", "--force", "--db", sample, cwd=tmp_path)
    assert (again.returncode, again.stdout) == (0, first.stdout)
    assert (tmp_path / "turns.tsv").read_bytes() == content
    assert sorted(path.name for path in tmp_path.iterdir()) == ["turns.tsv", "turns.tsv.manifest.json"]
    narrow = on_a_terminal(["export", "turns", "--output", "turns.tsv", "--force", "--db", sample], tmp_path, 60)
    assert "licence of dbdc3" in narrow


@pytest.mark.parametrize("file_format", first_quick(FORMATS))
def test_a_full_disk_leaves_the_old_file(writable: Connection, tmp_path: Path, file_format: ExportFormat) -> None:
    writable.execute("create or replace table main.random as select uuid()::varchar as text from range(100_000)")
    writable.execute("checkpoint")
    path = tmp_path / f"rows.{file_format}"
    export(Warehouse(writable), "corpora", path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with largest_file(500_000), pytest.raises(OutputFailed, match=r"no room[\s\S]*make room"):
        export(Warehouse(writable), "random", path, force=True)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.slow
def test_ctrl_c_while_duckdb_sorts(copied: Path, tmp_path: Path) -> None:
    with duckdb.connect(copied) as con:
        con.execute(
            "create or replace view main.long as select hash(i) as key, repeat('x', 200) as text "
            "from range(1_000_000_000) t(i)"
        )
    arguments = [*COMMAND, "export", "long", "--output", "rows.csv", "--db", str(copied)]
    process = subprocess.Popen(arguments, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    wait_for(tmp_path / ".rows.csv.part" / "rows", process)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=300)
    assert (process.returncode, stderr) == (130, "interrupted\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    script = (
        "import talkhouse.export.export; talkhouse.export.export.MEMORY = 500_000_000\n"
        "from benchmarks.scenarios.export import main; main()"
    )
    peaks, sizes = [], []
    for number in (200_000, 600_000):
        path, output = tmp_path / f"{number}.duckdb", tmp_path / f"{number}.csv"
        invent(path, number)
        command = (COMMAND[0], "-c", script, "export", str(path), str(output))
        peaks.append(measured(Side("export", command)).peak)
        sizes.append(output.stat().st_size / 1e6)
    assert sizes[1] - sizes[0] > 400
    assert peaks[1] - peaks[0] < (sizes[1] - sizes[0]) / 2


@pytest.mark.slow
def test_a_view_that_needs_more_memory_gets_it(
    writable: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "MEMORY", 50_000_000)
    writable.execute(
        "create or replace view main.greedy as select list(i) as numbers "
        "from range(10_000_000) t(i) group by i // 9_000_000"
    )
    before = writable.execute("select current_setting('memory_limit')").fetchall()
    assert export(Warehouse(writable), "greedy", tmp_path / "rows.parquet").rows == 2
    assert writable.execute("select current_setting('memory_limit')").fetchall() == before


def test_the_help_names_every_ending() -> None:
    assert f"({' '.join(exports.SUFFIXES)})" in " ".join(run("export", "--help").stdout.split())
