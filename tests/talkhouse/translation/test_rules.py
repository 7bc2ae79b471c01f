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
from talkhouse.translation import rules
from talkhouse.translation.dialects import NotPortable, parsed, spark_sql
from talkhouse.translation.outcome_cache import NotTranslated
from talkhouse.translation.spark_query import macros, translated, without_macros

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CASES = [
    ("ordered_list", "select list(x order by k) as y from (values (2, 'b'), (1, null), (3, 'a')) as t(k, x)"),
    ("at_position", "select x[1] as y, x[-1] as z, x[3] as none from (values (['a', 'b'])) as t(x)"),
    ("at_position", "select x[1:n] as y, x[:-2] as z from (values (['a', 'b'], 0), (['a', 'b'], 1), ([], 2)) t(x, n)"),
    ("numbers", "select range(0, n) as y from (values (0), (3)) as t(n)"),
    ("reduced", "select list_reduce(x, lambda a, b: a || '-' || b) as y from (values (['a', 'b', 'c']), (['a'])) t(x)"),
    ("place", "select array_position(x, 'b') as y from (values (['a', 'b']), (['a'])) as t(x)"),
    ("distinct", "select list_distinct(x) as y from (values (['a', null, 'a'])) as t(x)"),
    ("joined_literals", "select regexp_extract(x, '[' || 'a' || ']', 0) as y from (values ('ba')) as t(x)"),
    ("lower", "select lower(x) as y from (values ('\u0391\u03a3'), ('\u0130')) as t(x)"),
    ("pattern", r"select regexp_extract(x, '\s', 0) as y from (values ('a' || chr(11) || 'b ')) as t(x)"),
    ("pattern", "select regexp_extract(x, '[\\d]', 0) as y from (values ('\u0663 3')) as t(x)"),
    ("separator", "select string_split(x, '|') as y from (values ('a|b')) as t(x)"),
    ("nested_cast", """select (x -> 'a')::varchar[] as y from (values ('{"a": ["b", null]}')) as t(x)"""),
    ("nested_cast", """select map_entries(x::json::map(varchar, varchar)) as y from (values ('{"a": "b"}')) t(x)"""),
    (
        "structure",
        """select from_json(x, '[{"a": "VARCHAR", "b": ["INTEGER"]}]') as y from (values ('[{"b": [1]}]')) t(x)""",
    ),
    (
        "unnested",
        "select k, unnest(x) as y, unnest(range(n)) as z from (values (1, ['a', 'b'], 1), (2, null, 1)) as t(k, x, n)",
    ),
    ("divide", "select x / y as z from (values (1.0, 3.0)) as t(x, y)"),
    (
        "of_extreme",
        "select min_by(x, y) as y, max_by(x, y) filter (where y < 2) as z"
        " from (values (null, 1), ('b', 2), ('a', 0)) as t(x, y)",
    ),
    ("whole_number", "select try_cast(x as integer) as y from (values ('1.5'), ('-2.5'), (' 7 '), ('x'), ('')) t(x)"),
    (
        "milliseconds",
        "select date_diff('millisecond', x, y) as z "
        "from (values (timestamp '2020-01-01 00:00:00.0009', timestamp '2020-01-01 00:00:01.0011')) as t(x, y)",
    ),
]
"""Rules, and queries that need them on Sail, too."""

IN_SPARK = [
    ("size", "select len(x) as y from (values (['a']), (null::varchar[])) as t(x)"),
    ("character", "select chr(8232) || chr(233) as y"),
    (
        "pattern",
        r"select regexp_replace(x, '.', '-', 'g') as y"
        r" from (values ('a' || chr(13) || chr(133) || chr(10))) as t(x)",
    ),
    ("pattern", r"select regexp_extract(x, 'a$', 0) as y from (values ('a' || chr(10))) as t(x)"),
    ("pattern", "select regexp_extract_all(x, '(?i)[sk]') as y from (values ('\u017f\u212aSK')) as t(x)"),
    ("whole_number", "select try_cast(x as integer) as y from (values ('1e3'), ('2.5'), ('9999999999')) as t(x)"),
]
"""Those that show only in Spark itself."""


@pytest.mark.parametrize(("rule", "sql"), CASES)
def test_a_rule_makes_the_rows_equal(
    rule: str, sql: str, sail: "SparkSession", monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = rows_of(duckdb.sql(sql).to_arrow_table())
    tree, used = rules.ruled(parsed(sql))
    assert rule in used
    assert rows_of(sail.sql(spark_sql(tree)).toArrow()) == expected
    leave_out(rule, monkeypatch)
    assert without_it(sail, sql) != expected


@pytest.mark.slow
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
    assert {rule.__name__ for rule in rules.RULES.values()} == tried


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


@pytest.mark.parametrize(
    ("sql", "construct"),
    [
        ("select strip_accents(text) from main.turns", "STRIP_ACCENTS(text)"),
        ("select upper(text) from main.turns", "UPPER(text)"),
        ("select any_value(text) from main.turns", "ANY_VALUE(text)"),
        ("select * exclude (text) from main.turns", "* EXCLUDE (text)"),
        ("select trim(text) from main.turns", "TRIM(text)"),
        ("select extra -> 'a' from main.turns", "extra -> '$.a'"),
        ("select (extra -> 'a')::varchar from main.turns", "CAST((extra -> '$.a') AS TEXT)"),
        ("select list(text) from main.turns", "ARRAY_AGG(text)"),
        ("select list(text order by turn_index desc) from main.turns", "ARRAY_AGG(text ORDER BY turn_index DESC"),
        ("select list(text order by turn_index) filter (where true) from main.turns", "ARRAY_AGG("),
        ("select x[-2:3] from main.turns", "x[-2:3]"),
        ("select range(1, 9, 2) from main.turns", "RANGE(1, 9, 2)"),
        ("select generate_series(1, turn_index) from main.turns", "GENERATE_SERIES(1, turn_index)"),
        ("select chr(turn_index) from main.turns", "CHR(turn_index)"),
        ("select regexp_extract(text, kind, 0) from main.turns", "REGEXP_EXTRACT(text, kind"),
        ("select regexp_extract(text, '\\bx', 0) from main.turns", "\\b is not known"),
        ("select regexp_extract(text, '(?P<name>x)', 0) from main.turns", "(? is not known"),
        ("select regexp_extract(text, '[a&&b]', 0) from main.turns", "in a class"),
        ("select regexp_replace(text, 'x', 'y') from main.turns", "say so with 'g'"),
        ("select regexp_replace(text, '(x)', '\\1', 'g') from main.turns", "the replacement"),
        ("select string_split(text, kind) from main.turns", "STR_SPLIT(text, kind)"),
        ("select unnest([1]) as x", "UNNEST([1])"),
        ("select unnest(x) as x, count(*) from main.turns group by x", "UNNEST(x)"),
        ("select rowid from (select 1 as x) as y", "rowid"),
        ("select x::hugeint from main.turns", "INT128"),
        ("select date_diff('day', said_at, said_at) from main.turns", "DATE_DIFF('DAY'"),
        ("select text ilike 'x' from main.turns", "text ILIKE 'x'"),
    ],
)
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
    assert rows_of(sail.sql(spark_sql(rules.ruled(tree)[0])).toArrow()) == expected


def translation(sql: str) -> str:
    return spark_sql(rules.ruled(parsed(sql))[0])


def rows_of(table: Any) -> list[str]:
    return sorted(map(str, table.to_pylist()))


def leave_out(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {kind: one for kind, one in rules.RULES.items() if one.__name__ != rule}
    monkeypatch.setattr(rules, "SAME", rules.SAME | (rules.RULES.keys() - kept.keys()))
    monkeypatch.setattr(rules, "RULES", kept)


def without_it(sail: "SparkSession", sql: str) -> list[str] | None:
    """Return the rows of a translation without a rule, None where it has none, or lists of no type."""
    from pyspark.errors import PySparkException

    try:
        return rows_of(sail.sql(translation(sql)).toArrow())
    except (NotPortable, PySparkException, ValueError):
        return None


def test_no_text_is_a_variable_of_spark() -> None:
    assert spark_sql(parsed("select '${x} $x \\{' as y")) == "SELECT\n  '\\u0024{x} $x \\\\{' AS y"
