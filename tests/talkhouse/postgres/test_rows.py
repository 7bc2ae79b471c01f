"""Every relation has the same rows in PostgreSQL as in DuckDB, in the same order, whatever is in them."""

import math
import shutil
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest
from psycopg.types.string import TextLoader

import talkhouse
from talkhouse.postgres.load import proof_here
from talkhouse.postgres.publish import PublicationResult, configured, verify
from talkhouse.postgres.record import proof_there
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.relations import relations
from tests.data_files import data_of
from tests.postgres_server import Database, Server
from tests.talkhouse.postgres.builds import Steps
from tests.talkhouse.postgres.conftest import Publish, publish_to

ODD = [
    *("", " ", "NULL", "null", r"\N", r"\.", "a\n\\.\nb", "\t\r\n", '"', "'", "\\", "{a,b}", "a,b"),
    *("\x01\x08\x0b\x1b\x1f", "\x7f\x85\xa0"),
    *("%s", "%(a)s", "%", ":name", "${x}", "{{x}}", "{x}", "\\1", "$1", "$$"),
    *("\u2028", "\N{RIGHT-TO-LEFT MARK}\u05e9\u05dc\u05d5\u05dd", "\U0001f469\u200d\U0001f4bb", "é", "e\u0301"),
]

VALUES = {
    "text": ["varchar", *ODD],
    "texts": ["varchar[]", [], [None], ["NULL", None, ""], ODD, ["a,b"], ["a", "b"]],
    "ragged": ["varchar[][]", [], [[]], [None, ["a", None], []], [ODD, ["x"]]],
    "deep": ["integer[][][]", [[[1], [2, None]], []]],
    "numbers": ["bigint[]", [], [1, None, -(2**63)]],
    "floats": ["double[]", [], [0.1, None, math.inf, 1e300]],
    "truths": ["boolean[]", [True, None, False]],
    "double": [
        *("double", 0.1, 1.0, -0.0, 1e15, 1e16, 5e-324, 1.7976931348623157e308, math.nan, math.inf, -math.inf, 1 / 3)
    ],
    "single": ["float", 0.5, 1e10, math.nan],
    "whole": ["hugeint", 2**100, -(2**100)],
    "unsigned": ["ubigint", 2**64 - 1],
    "exact": ["decimal(20,4)", "1234.5000", "-0.0001"],
    "truth": ["boolean", True, False],
    "day": ["date", "0001-01-01", "2024-02-29", "9999-12-31"],
    "moment": ["timestamp", "2024-02-29 23:59:59.999999", "1969-12-31 00:00:00", "2024-01-01 00:00:00.5"],
    "bytes": ["blob", b"", b"\x00\xff\\x00\n"],
    "json": ["json", '{"b": 1.50, "a": "\\n\\u00e9", "a": null}', "[]", '"x"', "1e3"],
    "id": ["uuid", "00000000-0000-0000-0000-0000000000ff"],
}
"""Columns by name: a type, and values."""


def odd_view(con: duckdb.DuckDBPyConnection) -> None:
    columns = ", ".join(f'"{name}" {kind}' for name, (kind, *_) in VALUES.items())
    con.execute(f"create table dbdc3.odd_rows (example_index integer, {columns})")
    for index in range(max(map(len, VALUES.values()))):
        row = [values[index + 1] if index + 1 < len(values) else None for values in VALUES.values()]
        con.execute(f"insert into dbdc3.odd_rows values (?{', ?' * len(row)})", [index, *row])
    con.execute("create view dbdc3.odd as from dbdc3.odd_rows")


def same(here: Any, there: Any) -> bool:
    """Compare values; numbers in the view of means differ in their last digit from one run of DuckDB to the next."""
    if isinstance(here, float) and isinstance(there, float):
        return math.isclose(here, there, rel_tol=1e-12) or here == there or (math.isnan(here) and math.isnan(there))
    if isinstance(here, list | tuple) and isinstance(there, list | tuple):
        return len(here) == len(there) and all(map(same, here, there))
    return bool(here == there)


def rows_here(con: duckdb.DuckDBPyConnection, name: str, order: str = "") -> list[tuple[Any, ...]]:
    return con.execute(f"select * from {name} {order}").fetchall()


def rows_there(
    server: "psycopg.Connection[tuple[object, ...]]", name: str, columns: list[str]
) -> list[tuple[Any, ...]]:
    """Fetch the rows of a relation from PostgreSQL, as they come; JSON in its spelling."""
    server.adapters.register_loader("json", TextLoader)
    server.execute("set max_parallel_workers_per_gather = 0; set synchronize_seqscans = off")  # from the first row on
    names = ", ".join(f'"{column}"' for column in columns)
    return server.execute(f"select {names} from {name}".encode()).fetchall()


@pytest.mark.slow
def test_each_relation_has_the_same_rows_in_the_same_order(
    filled: Path, postgres: Database, published: Publish
) -> None:
    check_rows(filled, postgres, published(filled))


@pytest.mark.long
def test_each_relation_of_the_corpora_has_the_same_rows(
    real_warehouse: Path, postgres: Database, published: Publish
) -> None:
    check_rows(real_warehouse, postgres, published(real_warehouse))
    with talkhouse.open(real_warehouse) as con:
        assert verify(Warehouse(con), postgres.url(), "", Steps()).differences == ()


def check_rows(warehouse: Path, postgres: Database, done: PublicationResult) -> None:
    """Compare all rows by value; the order of those of a table is not a promise."""
    with talkhouse.open(warehouse) as con, postgres.connect() as server:
        names = {f"{row['schema']}.{row['name']}" for row in relations(con)}
        assert {relation.name for relation in done.plan.relations} == names
        for relation in done.plan.relations:
            columns = [column.name for column in relation.columns]
            order = ", ".join(f'"{column}" nulls last' for column in relation.selection.order) or "all"
            here = rows_here(con, relation.selection.source, f"order by {order}")
            there = rows_there(server, relation.name, columns)
            if relation.kind == "table":
                here, there = sorted(here, key=repr), sorted(there, key=repr)
            assert same(here, there), relation.name
            assert len(here) == relation.rows


@pytest.fixture(scope="module")
def odd(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = Path(shutil.copyfile(sample, tmp_path_factory.mktemp("odd") / "odd.duckdb"))
    with duckdb.connect(path) as con:
        odd_view(con)
    return path


@pytest.fixture
def done(shared_postgres_server: Server, postgres: Database, odd: Path) -> PublicationResult:
    return shared_postgres_server.fill(postgres, "odd", lambda item: publish_to(item.url(), odd, views=("dbdc3.odd",)))


@pytest.mark.usefixtures("done")
def test_odd_values_arrive_as_they_are(odd: Path, postgres: Database) -> None:
    with talkhouse.open(odd) as con, postgres.connect() as server:
        here, there = rows_here(con, "dbdc3.odd"), rows_there(server, "dbdc3.odd", ["example_index", *VALUES])
        for index, name in enumerate(VALUES, 1):
            assert same([row[index] for row in here], [row[index] for row in there]), name
        texts = "select text from dbdc3.odd where text is not null order by text"
        assert server.execute(texts.encode()).fetchall() == con.execute(texts).fetchall()
        assert verify(Warehouse(con), postgres.url(), "", Steps()).differences == ()
        types = (
            "select data_type, udt_name from information_schema.columns where table_name = 'odd' order by column_name"
        )
        assert ("ARRAY", "_text") in server.execute(types).fetchall()
        assert ("jsonb", "jsonb") in server.execute(types).fetchall()
        # Of doubles, -0 and 0 are equal to Python.
        assert server.execute("select count(*) from dbdc3.odd where double::text = '-0'").fetchall() == [(1,)]


CHANGES = data_of(__file__)["changes"]


@pytest.mark.slow
def test_the_hash_notices_every_change(odd: Path, postgres: Database, done: PublicationResult) -> None:
    names = {schema: schema for schema in done.plan.schemas}
    (relation,) = (item for item in done.plan.relations if item.name == "dbdc3.odd")
    with talkhouse.open(odd) as con, configured(con), postgres.connect() as server:
        here = proof_here(con, relation)
        assert proof_there(server, relation, names) == here
        for what, change in CHANGES.items():
            with server.transaction(force_rollback=True):
                assert server.execute(change.encode()).rowcount, what
                assert proof_there(server, relation, names) != here, what
        assert proof_there(server, relation, names) == here
