"""Queries that would take all time or all memory: each is stopped, and neither the process nor the file is harmed."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import talkhouse
from talkhouse.export import sandbox
from talkhouse.export.formats import QueryFormat
from talkhouse.export.sandbox import run_query
from talkhouse.schema.errors import QueryFailed
from talkhouse.system.interrupt import stoppable
from talkhouse.system.memory import capped
from tests.commands import run
from tests.data_files import data_of
from tests.lanes import first_quick

ENDLESS = data_of(__file__)["endless"]
"""Only the clock ends these."""

LARGE = {
    "repeat": "select length(repeat('x', 4_000_000_000))",
    "repeat beyond a text": "select length(repeat('x', 10_000_000_000))",
    "repeat twice": "select length(repeat(repeat('x', 60_000), 60_000))",
    "format": "select length(format('{:2000000000}', 'x'))",
    "printf": "select length(printf('%2000000000d', 1))",
    "list of a range": "select len(range(1_000_000_000))",
    "list beyond a list": "select range(1_000_000_000_000)",
    "unnested list": "select count(*) from (select unnest(range(1_000_000_000_000)))",
    "resized list": "select len(list_resize([1], 10_000_000_000))",
    "array": "select [1]::int[100_000]",
    "string_agg": "select length(string_agg(repeat('x', 1_000_000), '')) from range(1_000_000)",
    "list of rows": "select len(list(i)) from range(100_000_000_000) t(i)",
    "list of texts": "select len(list(repeat('x', 1000) || i)) from range(100_000_000) t(i)",
    "sort": "select repeat('x', 100) || i as s from range(100_000_000) t(i) order by hash(i)",
    "window": "select max(s) from (select sum(i) over (order by hash(i)) as s from range(10_000_000_000) t(i))",
    "median": "select median(i) from range(10_000_000_000) t(i)",
    "sample": "from range(1_000_000_000_000) using sample reservoir(1_000_000_000 rows)",
    "bits": "select bitstring_agg(i, 0, 1_000_000_000_000) from range(2) t(i)",
    "factorial": "select 1_000_000!",
    "doubled texts": "with recursive t(i, s) as (select 1, 'x' union all select i + 1, s || s from t) "
    "select max(length(s)) from t",
    "doubled rows": "with recursive t(i) as (select 1 union all select i + 1 from t, range(2)) select count(*) from t",
    "doubled names": "with a0 as (select 'xxxxxxxxxx' as s), "
    + ", ".join(f"a{i + 1} as (select s || s as s from a{i})" for i in range(40))
    + " select length(s) from a40",
    "pivot into many columns": "pivot (select i, hash(i)::varchar as h from range(200_000) t(i)) on h using count(*)",
    "many joins": "select count(*) from main.turns t0"
    + "".join(f" join main.turns t{i} using (dialogue_id)" for i in range(1, 60)),
}
"""These need more memory than they may take, or than DuckDB gives to one value."""

DEEP = {
    "parentheses": ("select " + "(" * 5000 + "1" + ")" * 5000),
    "open parentheses": "select " + "(" * 1000,
    "brackets": "select " + "[" * 5000 + "1" + "]" * 5000,
    "structs": "select " + "{a:" * 3000 + "1" + "}" * 3000,
    "not": "select " + "not " * 20_000 + "true",
    "minus": "select " + "- " * 20_000 + "1",
    "plus": "select " + "+".join(["1"] * 20_000),
    "case": "select " + "case when true then " * 5000 + "1" + " end" * 5000,
    "subqueries": "select " + "(select " * 5000 + "1" + ")" * 5000,
    "subqueries below the parser's limit": "select " + "(select " * 900 + "1" + ")" * 900,
    "tables": "from " + "(from " * 5000 + "range(1)" + ")" * 5000,
    "functions": "select " + "abs(" * 5000 + "1" + ")" * 5000,
    "casts": "select 1" + "::int" * 20_000,
    "indexes": "select [1]" + "[1]" * 20_000,
    "except": " except ".join(["select 1"] * 5000),
    "types": "select null::" + "struct(a " * 3000 + "int" + ")" * 3000,
    "types of lists": "select null::int" + "[]" * 20_000,
    "lambdas": "select " + "list_transform([1], lambda x: " * 1000 + "1" + ")" * 1000,
    "types by JSON": "select from_json('[1]', repeat('[', 3000) || '\"INT\"' || repeat(']', 3000))",
    "JSON": "select json_structure(repeat('[', 5_000_000) || repeat(']', 5_000_000))",
    "regular expression": "select regexp_matches('a', '((a{100}){100}){100}')",
    "quoted names": 'from "' + "x" * 100_000 + '"',
    "message": "select error(repeat('x', 10_000_000))",
}
"""These are nested more deeply than DuckDB takes, or longer."""

STUBBORN = {
    "distance of long texts": "select levenshtein(repeat('a', 1_000_000), repeat('b', 1_000_000))",
    "similarity of long texts": "select jaro_winkler_similarity(repeat('ab', 1_000_000), repeat('ba', 1_000_000))",
    "20,000 columns": "select " + ",".join(["1"] * 20_000),
    "names in names": "with a0 as (select 1 as i), "
    + ", ".join(f"a{i + 1} as not materialized (select x.i from a{i} x, a{i} y)" for i in range(24))
    + " select count(*) from a24",
}
"""DuckDB does not hear an interrupt in these: the process of the query is killed."""

QUICK = (*(next(iter(queries)) for queries in (ENDLESS, LARGE, DEEP)), "20,000 columns")
"""Those of all these that run in the quick lane: 0.3 s of all processors, or the seconds of grace."""


def in_lanes(queries: dict[str, str], every: int) -> list[Any]:
    """Leave one of every so many to the slow lane, and the others to the long one."""
    return [
        pytest.param(query, id=name, marks=[] if name in QUICK else [lane])
        for place, (name, query) in enumerate(queries.items())
        for lane in (pytest.mark.long if place % every else pytest.mark.slow,)
    ]


CRASH = (
    "select json_transform(repeat('[', 100_000) || repeat(']', 100_000), "
    "repeat('[', 100_000) || '\"INT\"' || repeat(']', 100_000))"
)
"""This uses up the stack of DuckDB 2.0.0."""


@pytest.fixture(autouse=True, scope="module")
def _unchanged(sample: Path) -> Iterator[None]:
    before = hashlib.sha256(sample.read_bytes()).digest()
    yield
    assert hashlib.sha256(sample.read_bytes()).digest() == before


@pytest.mark.parametrize("query", in_lanes(ENDLESS | LARGE, 3) + in_lanes(DEEP, 1))
def test_a_query_that_takes_too_much_is_stopped(sample: Path, query: str, capfd: pytest.CaptureFixture[str]) -> None:
    with talkhouse.open(sample, settings=sandbox.settings(memory="200MB")) as con:
        with pytest.raises(QueryFailed) as failed, stoppable(con, 0.3) as stop, capped(con):
            run_query(con, query, QueryFormat.CSV, Path("/dev/null"), check_complete=stop.check)
        assert len(str(failed.value)) < 10_000
        run_query(con, "select 'still here' as x", QueryFormat.CSV, None)
    assert "still here" in capfd.readouterr().out


@pytest.mark.parametrize("query", in_lanes(STUBBORN, 2))
def test_a_query_that_does_not_hear_is_killed(sample: Path, tmp_path: Path, query: str) -> None:
    arguments = ["--db", sample, "--timeout", "0.3", "--memory-limit", "200MB", "--output", tmp_path / "out.csv"]
    shown = run("sql", query, *arguments)
    assert (shown.returncode, shown.stdout) == (1, "")
    assert "took too long and was stopped" in shown.stderr
    assert "within 0.3 s" in shown.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_query_that_crashes_duckdb_is_an_error(sample: Path) -> None:
    shown = run("sql", CRASH, "--db", sample, "--memory-limit", "500MB")
    assert (shown.returncode, shown.stdout) == (1, "")
    assert "the query made DuckDB crash" in shown.stderr
    assert "SIGSEGV" in shown.stderr


def test_the_command_holds_its_memory_limit(sample: Path) -> None:
    shown = run("sql", "select len(range(1_000_000_000))", "--db", sample, "--memory-limit", "100MB")
    assert (shown.returncode, shown.stdout) == (1, "")
    assert "more memory than it may take" in shown.stderr
    assert "--memory-limit" in shown.stderr


@pytest.mark.parametrize("query_format", first_quick(["csv", "table", "json", "jsonl", "markdown", "parquet"]))
def test_a_small_limit_is_enough_for_ordinary_queries(sample: Path, tmp_path: Path, query_format: str) -> None:
    arguments = ["--db", sample, "--memory-limit", "100MB", "--format", query_format, "--output", tmp_path / "out"]
    shown = run("sql", "from main.turns order by text", *arguments)
    assert (shown.returncode, shown.stderr) == (0, "")
