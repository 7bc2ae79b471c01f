"""The hash of rows: as it is defined, recomputed in plain Python; the same in any order, another for another value."""

import json
import math
import re
from datetime import date, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import pytest

from talkhouse.schema.sql import quoted
from talkhouse.warehouse.rows_hash import (
    PLACES,
    SHARED,
    VOLATILE,
    RowsHash,
    content_id,
    hashes_of,
    rows_hash,
    splits,
    table_hashes,
    task_hashes,
)
from tests.data_files import data_of
from tests.samples import PICTURES, RELEASES

NONE = "0" * 64
DIFFERENT = data_of(__file__)["different"]
VALUES = """
select 'é, "1" ' || chr(128512) as text, '' as empty, null::varchar as nothing, -7::bigint as number, true as truth,
    -0.0::double as zero, 'nan'::double as nan, '-inf'::double as infinite, 1e22::double as large, 0.1::double as tenth,
    timestamp '1969-12-31 23:59:59.999999' as before, date '2020-02-03' as day, '\\x00\\xFF'::blob as bytes,
    '{"b" : 1, "a": null}'::json as json, ['a"/', null, chr(31) || chr(10)] as list, [['a'], []] as lists,
    {'b': 1, 'a': [true, null], 'none': null::varchar} as struct, 3::utinyint as "Ä"
"""


def text(value: Any) -> bytes:
    """Write a value as the definition has it; by no means of ours."""
    if isinstance(value, bool | int):
        return str(value).lower().encode()
    if isinstance(value, float):
        return b"nan" if math.isnan(value) else b"%.17g" % value
    if isinstance(value, datetime):
        since = value - datetime(1970, 1, 1)  # noqa: DTZ001  # as stored: without a zone
        return str((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds).encode()
    if isinstance(value, bytes):
        return value.hex().encode()
    if isinstance(value, list | dict):
        compact = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return re.sub(r"\\u00[01][0-9a-f]", lambda found: rf"\u{found[0][2:].upper()}", compact).encode()
    return (value.isoformat() if isinstance(value, date) else value).encode()


def recomputed(con: duckdb.DuckDBPyConnection, query: str, without: frozenset[str] = frozenset()) -> RowsHash:
    cursor = con.execute(query)
    names = [column[0] for column in cursor.description or ()]
    sums, rows = [0] * 4, cursor.fetchall()
    for row in rows:
        known = sorted((name, text(value)) for name, value in zip(names, row, strict=True) if value is not None)
        line = b"".join(b"%b=%d:%b," % (name.encode(), len(of), of) for name, of in known if name not in without)
        digest = sha256(line).digest()
        sums = [(total + int.from_bytes(digest[8 * i : 8 * i + 8])) % 2**64 for i, total in enumerate(sums)]
    return RowsHash(len(rows), "".join(f"{total:016x}" for total in sums))


@pytest.mark.slow
def test_plain_python_gives_the_same_of_every_kind_of_value_and_every_table_and_task(
    con: duckdb.DuckDBPyConnection,
) -> None:
    assert rows_hash(con, VALUES) == recomputed(con, VALUES)
    database = con.execute("select current_database()").fetchall()[0][0]
    tables, tasks = table_hashes(con, database), task_hashes(con, database)
    of_all = {
        name: sum(table.rows for table in tables if table.table == name) for name in {table.table for table in tables}
    }
    assert of_all == {name: con.sql(f"from {name}").shape[0] for name in of_all}
    assert {"main.turns", "meta.rules", "meta.query_files" if "meta.query_files" in of_all else "meta.checks"} <= {
        *of_all
    }
    for table in tables:
        if table.table in ("main.turns", "main.records", "main.corpora"):
            of = "starts_with(dialogue_id, $1 || ':')" if table.table == "main.turns" else "corpus_id = $1"
            query = f"from {table.table} where {of.replace('$1', repr(table.corpus))}"
            assert RowsHash(table.rows, table.hash) == recomputed(con, query), table
        elif table.table in VOLATILE and table.corpus == SHARED and table.table != "meta.findings":
            assert RowsHash(table.rows, table.hash) == recomputed(con, f"from {table.table}", VOLATILE[table.table])
    assert len(tasks) > 40
    for task in tasks:
        if "release" in con.sql(f"from {task.task}").columns or task.release is None:
            of = f"split = '{task.split}'" + (f" and release = '{task.release}'" if task.release else "")
            query = f"from {task.task} where {of}"
            assert (task.rows, task.hash) == recomputed(con, query)
            assert (task.rows, task.content_hash) == recomputed(con, query, PLACES)
    lines = [
        f"{table.table}\t{table.corpus}\t{table.rows}\t{table.hash}" for table in tables if table.table[:5] == "main."
    ]
    lines += [f"{task.task}\t{task.release or ''}\t{task.split}\t{task.rows}\t{task.hash}" for task in tasks]
    assert content_id(tables, tasks) == sha256("\n".join(sorted(lines)).encode()).hexdigest()


@pytest.mark.slow
@pytest.mark.parametrize(("first", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_it_is_another_for_other_rows(first: str, other: str) -> None:
    with duckdb.connect() as con:
        assert rows_hash(con, first) != rows_hash(con, other)


@pytest.mark.slow
def test_the_order_of_rows_and_columns_the_sign_of_nan_and_columns_without_values_do_not_matter() -> None:
    rows = "select i, hash(i)::varchar as text, [i, null] as list, i / 7.0 as number from range(5000) t(i)"
    with duckdb.connect() as con:
        found = rows_hash(con, rows)
        assert found == rows_hash(con, f"select number, text, list, null::json as new, i from ({rows}) order by text")
        assert found.rows == 5000
        assert rows_hash(con, "select 'nan'::double as a") == rows_hash(con, "select -('nan'::double) as a")
        assert rows_hash(con, "select 1 where false") == RowsHash(0, NONE)


@pytest.mark.slow
def test_all_examples_of_a_task_are_hashed_in_the_splits_that_are_published(con: duckdb.DuckDBPyConnection) -> None:
    tasks = task_hashes(con, con.execute("select current_database()").fetchall()[0][0])
    for name in {task.task for task in tasks}:
        published = [
            (split.release, split.split, split.rows, split.fingerprint) for split in splits(con, *name.split("."))
        ]
        assert published == [
            (task.release, task.split, task.rows, task.view_fingerprint) for task in tasks if task.task == name
        ]
    assert {task.release for task in tasks if "release" not in con.sql(f"from {task.task}").columns} > {None}


@pytest.mark.slow
def test_a_corpus_is_hashed_by_table(con: duckdb.DuckDBPyConnection) -> None:
    hashes = hashes_of(con, RELEASES)
    turns = con.execute(
        "select count(*) from main.turns where starts_with(dialogue_id, ?)", [f"{RELEASES}:"]
    ).fetchall()
    assert [(hashes["main.turns"].rows,)] == turns
    assert hashes == hashes_of(con, RELEASES)
    assert hashes["main.turns"] != hashes_of(con, PICTURES)["main.turns"]
    assert "meta.loads" not in hashes


@pytest.mark.slow
def test_a_macro_of_the_file_can_not_answer_for_the_hash(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "planted.duckdb")) as con:
        con.execute("create table rows as select range as a, range::double as b, [range] as c from range(9)")
        found = rows_hash(con, "from rows")
        for name in ("sha256", "concat", "strlen", "printf", "isnan", "to_json", "substr", "sum"):
            con.execute(f"create macro {quoted(name)}(a, b := 0, c := 0) as 'planted'")
        assert rows_hash(con, "from rows") == found
