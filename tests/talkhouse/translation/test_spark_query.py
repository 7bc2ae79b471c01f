"""Each rule of the translation: with it a query gives DuckDB's rows, without it other ones, or none."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from talkhouse.queries.heads import MacroQuery
from talkhouse.translation import spark_query
from talkhouse.translation.dialects import NotPortable, parsed, spark_sql
from talkhouse.translation.spark_query import macros, translated, without_macros
from talkhouse.translation.translated import NotTranslated
from tests.data_files import data_of

DATA = data_of(__file__)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CASES = DATA["cases"]
"""Rules, and queries that need them on Sail, too."""

IN_SPARK = DATA["in_spark"]
"""Those that show only in Spark itself."""


@pytest.mark.parametrize(("rule", "sql"), CASES)
def test_a_rule_makes_the_rows_equal(
    rule: str, sql: str, sail: "SparkSession", monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = rows_of(duckdb.sql(sql).to_arrow_table())
    tree, used = spark_query.ruled(parsed(sql))
    assert rule in used
    assert rows_of(sail.sql(spark_sql(tree)).toArrow()) == expected
    leave_out(rule, monkeypatch)
    assert without_it(sail, sql) != expected


@pytest.mark.long
@pytest.mark.usefixtures("pyspark")
def test_some_rules_are_needed_in_spark_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    if not shutil.which("java"):
        pytest.skip("Spark itself needs Java; on Sail these queries are the same without their rules")
    expected = [rows_of(duckdb.sql(sql).to_arrow_table()) for _, sql in IN_SPARK]
    with_rules = [translation(sql) for _, sql in IN_SPARK]
    without = []
    for rule, sql in IN_SPARK:
        with monkeypatch.context() as patch:
            leave_out(rule, patch)
            without.append(translation(sql))
    # Sessions of Sail, which other tests open in this process, leave variables that forbid a local session.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SPARK_")}
    found = json.loads(
        subprocess.run(
            [sys.executable, "-m", "tests.talkhouse.translation.spark_rows"],
            env=environment,
            input=json.dumps(with_rules + without),
            capture_output=True,
            check=True,
            text=True,
        ).stdout
    )
    assert found[: len(expected)] == expected
    for case, rows in zip(IN_SPARK, found[len(expected) :], strict=True):
        assert rows != expected[IN_SPARK.index(case)], case


def test_every_rule_is_tried() -> None:
    tried = {rule for rule, _ in (*CASES, *IN_SPARK)} | BY_ITS_TEXT
    assert {rule.__name__ for rule in spark_query.RULES.values()} == tried


BY_ITS_TEXT = {"data_type", "json_value", "percentile", "row_number", "star", "trim"}
"""Rules that refuse, or whose need shows in a large table only."""


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select percentile_disc(0.5) within group (order by x) from main.turns", "percentile_disc(0.5) WITHIN GROUP"),
        ("select texts.rowid from main.texts", "texts.text_id"),
        ("select t.rowid from main.texts as t", "t.text_id"),
        ("select x::map(varchar, json) from main.turns", "'MAP<STRING, STRING>'"),
    ],
)
def test_a_rule_writes(sql: str, expected: str) -> None:
    assert expected in translation(sql)


@pytest.mark.parametrize(("sql", "construct"), DATA["what_no_rule_covers_is_refused_by_name"])
def test_what_no_rule_covers_is_refused_by_name(sql: str, construct: str) -> None:
    assert construct in reason(sql)


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        # A part of the construct is translated already when it is refused, and is shown as it was written.
        ("select list(lower(text) order by turn_index) filter (where true) from main.turns", "ARRAY_AGG(LOWER(text)"),
        ("select list(text order by x[1]) over () from main.turns", "ARRAY_AGG(text ORDER BY x[1])"),
        ("select x[1][1:] from main.turns", "x[1][1:]"),
        # A rule that does not expect it.
        ("select x[1, 2] from main.turns", "no rule covers this form of it: x[1, 2]"),
        ("select from_json(text, '{not json') from main.turns", "no rule covers this form of it: FROM_JSON("),
        ("select count(*) from main.turns positional join main.texts", "a positional join"),
        ("select text from main.turns asof join main.texts on turns.text >= texts.text", "asof join"),
        ("select text from main.turns natural join main.texts", "a natural join"),
        ("select text from main.turns join main.texts using (text)", "with 'using'"),
        ("select text from main.turns union all by name select text from main.texts", "with 'by_name'"),
        ("with recursive x as (select 1 as n union all select n + 1 from x) from x", "with 'recursive'"),
        ("select text, count(*) from main.turns group by all", "with 'all'"),
        ("select text from main.turns limit 1", "limit is not in the portable set"),
        ("select sum(n) over (order by n rows 1 preceding exclude current row) from main.turns", "with 'exclude'"),
        # What sqlglot itself can't read.
        ("select text[:] from main.turns", "sqlglot can't read it: it stops in line 1: select text[:"),
        ("select 'not closed", "sqlglot can't translate it"),
        ("select " + "(" * 5_000 + "1" + ")" * 5_000, "sqlglot can't"),
    ],
)
def test_whatever_else_goes_wrong_is_a_reason_and_no_traceback(sql: str, words: str) -> None:
    assert words in reason(sql)


@pytest.mark.parametrize("type_", ["MAP(VARCHAR, INTEGER)", "TIME", "STRUCT(a INTEGER)", "HUGEINT", "INTEGER[3]"])
def test_a_column_of_a_type_that_no_lake_has_is_a_reason(type_: str) -> None:
    outcome = translated("select x from main.turns", [], [("x", type_)])
    assert isinstance(outcome, NotTranslated)
    assert outcome.reason == f"can't be translated: no table or view of a lake has a column of the type {type_}: x"


def test_a_macro_that_is_no_expression_fails_only_what_calls_it() -> None:
    table = MacroQuery("toy", "rows", "", "(n) as table select n", Path())
    assert "a macro must be an expression: toy.rows" in reason("select toy.rows(1) as x", [table])
    cut = MacroQuery("toy", "cut", "", "(x) as x || 'not closed", Path())
    assert "can't read the macro: toy.cut" in reason("select toy.cut(x) as x", [cut])
    assert "an argument for each" in reason("select toy.doubled(x, x)", MACROS)


def reason(sql: str, called: list[MacroQuery] | None = None) -> str:
    outcome = translated(sql, called or [], [])
    assert isinstance(outcome, NotTranslated)
    assert outcome.reason.startswith("can't be translated: ")
    assert "\n" not in outcome.reason
    return outcome.reason


MACROS = [
    MacroQuery("toy", "doubled", "", "(x) as x || x", Path()),
    MacroQuery("toy", "starred", "", "(words, x) as list_transform(words, lambda word: word || x)", Path()),
    MacroQuery("toy", "both", "", "(x) as toy.starred([toy.doubled(x)], '-')", Path()),
]


@pytest.mark.parametrize(
    "sql",
    [
        "select toy.doubled(word || 'a') as y from (values ('b')) as t(word)",
        # The column has the name of the lambda's variable.
        "select toy.starred(['a'], word) as y from (values ('b')) as t(word)",
        "select toy.both(toy.doubled(x)) as y from (values ('b')) as t(x)",
    ],
)
def test_a_macro_is_written_out(sql: str, sail: "SparkSession") -> None:
    with duckdb.connect() as con:
        con.execute("create schema toy")
        for macro in MACROS:
            con.execute(f"create macro {macro.full_name}{macro.sql}")
        expected = rows_of(con.sql(sql).to_arrow_table())
    tree = without_macros(parsed(sql), macros(MACROS))
    assert rows_of(sail.sql(spark_sql(spark_query.ruled(tree)[0])).toArrow()) == expected


def translation(sql: str) -> str:
    return spark_sql(spark_query.ruled(parsed(sql))[0])


def rows_of(table: Any) -> list[str]:
    return sorted(map(str, table.to_pylist()))


def leave_out(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    remaining = {kind: function for kind, function in spark_query.RULES.items() if function.__name__ != rule}
    monkeypatch.setattr(spark_query, "SAME", spark_query.SAME | (spark_query.RULES.keys() - remaining.keys()))
    monkeypatch.setattr(spark_query, "RULES", remaining)


def without_it(sail: "SparkSession", sql: str) -> list[str] | None:
    """Return the rows of a translation without a rule, or None if it has none or lists of no type."""
    from pyspark.errors import PySparkException

    try:
        return rows_of(sail.sql(translation(sql)).toArrow())
    except (NotPortable, PySparkException, ValueError):
        return None


def test_no_text_is_a_variable_of_spark() -> None:
    assert spark_sql(parsed("select '${x} $x \\{' as y")) == "SELECT\n  '\\u0024{x} $x \\\\{' AS y"
