"""One writer for each format: ``sql`` and ``export`` write the same bytes, to a file as to standard output."""

import csv
import json
from pathlib import Path

import duckdb
import polars
import pytest
from pyarrow import parquet as pq

import talkhouse
from talkhouse.export import sandbox
from talkhouse.export.export import export
from talkhouse.export.formats import ExportFormat, QueryFormat
from talkhouse.export.sandbox import run_query
from talkhouse.export.selection import select
from talkhouse.warehouse.opened import Warehouse
from tests.commands import run
from tests.data_files import data_of
from tests.lanes import first_quick

DATA = data_of(__file__)

RELATIONS = [
    "main.awkward", "main.types", "main.lone", "main.records", "main.annotations", "mpchat.next_response_prediction",
    "blended_skill_talk.guided_response", "dbdc3.breakdown_detection", "mantis.response_ranking",
    "delidata.change_of_mind",
]  # fmt: skip
SHARED = [QueryFormat.CSV, QueryFormat.JSONL, QueryFormat.PARQUET]
NASTY = DATA["nasty"]
TYPES = DATA["types"]
LONE = "create or replace table main.lone as select unnest(['a', null, '', null]) as text"


@pytest.fixture(scope="module")
def awkward(copied: Path) -> Path:
    """The copy of the sample with tables of values that formats differ about."""
    with duckdb.connect(copied) as con:
        for statement in (NASTY, TYPES, LONE):
            con.execute(statement)
    return copied


def by_sql(path: Path, query: str, query_format: QueryFormat, output: Path | None, limit: int | None = None) -> None:
    with talkhouse.open(path, settings=sandbox.settings()) as con:
        run_query(con, query, query_format, output, limit=limit)


def printed(path: Path, query: str, query_format: QueryFormat, capfdbinary: pytest.CaptureFixture[bytes]) -> bytes:
    by_sql(path, query, query_format, None)
    return capfdbinary.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("query_format", first_quick(SHARED))
def test_sql_and_export_write_the_same(awkward: Path, tmp_path: Path, query_format: QueryFormat) -> None:
    with talkhouse.open(awkward) as con:
        for name in RELATIONS:
            export(Warehouse(con), name, tmp_path / f"{name}.export", file_format=ExportFormat(query_format))
        queries = [select(Warehouse(con), name).sql() for name in RELATIONS]
    with talkhouse.open(awkward, settings=sandbox.settings()) as con:
        for name, query in zip(RELATIONS, queries, strict=True):
            run_query(con, query, query_format, tmp_path / f"{name}.sql")
            queried, exported = tmp_path / f"{name}.sql", tmp_path / f"{name}.export"
            if query_format is QueryFormat.PARQUET:  # an exported file also says what it is, in its metadata
                assert polars.read_parquet(queried).equals(polars.read_parquet(exported)), name
                assert row_groups(queried) == row_groups(exported), name
            else:
                assert queried.read_bytes() == exported.read_bytes(), name


def row_groups(path: Path) -> list[int]:
    metadata = pq.read_metadata(path)
    return [metadata.row_group(index).num_rows for index in range(metadata.num_row_groups)]


@pytest.mark.parametrize("table", first_quick(["awkward", "types", "lone", "turns"]))
@pytest.mark.parametrize("query_format", [form for form in QueryFormat if form is not QueryFormat.PARQUET])
def test_standard_output_gets_what_a_file_gets(
    awkward: Path, tmp_path: Path, table: str, query_format: QueryFormat, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    query = f"from main.{table} order by all"
    by_sql(awkward, query, query_format, tmp_path / "out")
    assert printed(awkward, query, query_format, capfdbinary) == (tmp_path / "out").read_bytes()


def test_null_is_not_the_empty_text_in_csv(awkward: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    query = 'select i, "a ""b""" from main.awkward order by i'
    assert printed(awkward, query, QueryFormat.CSV, capfdbinary).decode() == (
        '"i","a ""b"""\n0,""\n1,\n2,"a ""b"", c\n\td\r\n"\n3,"007"\n4,"é😀\\"\n'
    )
    assert printed(awkward, "from main.lone", QueryFormat.CSV, capfdbinary) == b'"text"\n"a"\n\n""\n\n'


def test_json_keeps_the_spelling_of_numbers(awkward: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    query = "select i, j, d, items from main.awkward order by i limit 3"
    lines = [
        '{"i":0,"j":{"n": 1.50, "e": 1e3, "big": 12345678901234567890123},"d":null,"items":[1.5,null]}',
        '{"i":1,"j":1e3,"d":null,"items":[]}',
        '{"i":2,"j":null,"d":null,"items":null}',
    ]
    assert printed(awkward, query, QueryFormat.JSONL, capfdbinary).decode() == "".join(f"{line}\n" for line in lines)
    assert printed(awkward, query, QueryFormat.JSON, capfdbinary).decode() == "[\n" + ",\n".join(lines) + "\n]\n"


def test_names_that_a_query_uses_twice(awkward: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    query = "select 1 as x, [2] as x, 'nan'::double as X"
    assert printed(awkward, query, QueryFormat.JSONL, capfdbinary) == b'{"x":1,"x_1":[2],"X_2":null}\n'
    assert printed(awkward, query, QueryFormat.CSV, capfdbinary) == b'"x","x","X"\n1,"[2]",nan\n'
    assert printed(awkward, query, QueryFormat.MARKDOWN, capfdbinary).startswith(b"| x | x | X |\n")


STATEMENTS = [
    "-- why\n/* not */ from main.corpora;", "with a as (select 1) from a", "explain select 1",
    "explain analyze select 1", "describe main.turns", "show all tables", "summarize main.corpora",
    "pivot main.turns on role using count(*)", "values (1, 'a')", "select current_date",
]  # fmt: skip


@pytest.mark.parametrize("query", first_quick(STATEMENTS, 3))
def test_every_statement_that_reads_has_every_format(awkward: Path, tmp_path: Path, query: str) -> None:
    with talkhouse.open(awkward, settings=sandbox.settings()) as con:
        for query_format in QueryFormat:
            run_query(con, query, query_format, tmp_path / query_format, limit=1)
            assert (tmp_path / query_format).read_bytes()
    assert len(json.loads((tmp_path / QueryFormat.JSON).read_bytes())) == 1


FORMULAS = ["=1+1", "+1", "-1", "@a", "\t=1", "\r=1", "\n=1", "\0=1", "\uff1d1", "\uff0b1", "\uff0d1", "\uff201"]
TEXTS = ["", "a=1", "a\n=1", " =1", "'=1", '"=1', "1-1"]


def test_formulas_are_escaped_in_cells_and_in_the_head(writable: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    writable.execute(
        'create or replace table main.sheet as select -1 as i, -1.5 as d, true as yes, text as "=a" from '
        "(select unnest($texts) as text) union all select null, null, null, null",
        {"texts": FORMULAS + TEXTS},
    )
    warehouse = Warehouse(writable)
    for kind in ("csv", "tsv"):
        plain, escaped = tmp_path / f"plain.{kind}", tmp_path / f"escaped.{kind}"
        export(warehouse, "main.sheet", plain, is_accepted=True)
        export(warehouse, "main.sheet", escaped, is_accepted=True, escape_formulas=True)
        rows, changed = map(cells, (plain, escaped))
        assert (rows[0][3], changed[0][3]) == ("=a", "'=a")
        assert {row[:3] for row in changed[1:]} == {("-1", "-1.5", "true"), ("", "", "")}
        assert sorted(row[3] for row in rows[1:]) == sorted([*FORMULAS, *TEXTS, ""])
        assert sorted(row[3] for row in changed[1:]) == sorted([*(f"'{text}" for text in FORMULAS), *TEXTS, ""])
        manifests = [json.loads(Path(f"{path}.manifest.json").read_text()) for path in (plain, escaped)]
        assert [manifest["formulas_escaped"] for manifest in manifests] == [False, True]


def cells(path: Path) -> list[tuple[str, ...]]:
    with path.open(newline="") as file:
        return [*map(tuple, csv.reader(file, delimiter="\t" if path.suffix == ".tsv" else ","))]


@pytest.mark.slow
def test_only_what_spreadsheets_open_is_escaped(sample: Path, tmp_path: Path) -> None:
    task, option = "delidata.change_of_mind", "--escape-formulas"
    of_rows = ("export", task, "--accept-terms", option)
    for wanted in (
        (*of_rows, "--output", tmp_path / "a.parquet"),
        (*of_rows, "--output", tmp_path / "folder", "--for", "huggingface"),
        ("export", "--for", "superset", option, "--output", tmp_path / "a.zip"),
        ("sql", "select '=1' as a", option),
        ("sql", "select '=1' as a", option, "--format", "json", "--output", tmp_path / "a.json"),
        ("score", task, "--template", tmp_path / "a.jsonl", option),
        ("score", task, "--baseline", "majority", option),
    ):
        refused = run(*wanted, "--db", sample)
        assert refused.returncode == 2
        assert option in refused.stderr
    assert list(tmp_path.iterdir()) == []
    assert run("sql", "select '=1' as a", option, "--format", "csv", "--db", sample).stdout == '"a"\n"\'=1"\n'
    assert run("score", task, "--template", tmp_path / "a.csv", option, "--db", sample).returncode == 0
