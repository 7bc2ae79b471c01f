"""What holds for the values in files beside a warehouse: declared with their tables, and asked when one is opened."""

from collections.abc import Collection, Iterable, Mapping

import duckdb

from talkhouse.schema.sql import literal

Values = Mapping[str, Mapping[str, Collection[str]]]
"""Table -> SQL that is true of its rows in every file that Talkhouse has written -> the columns that it is asked of,
which stand for {0} in it; {1} is the table."""

SOME = "{0} is not null"
COUNT = "{0} >= 0"
POSITIVE = "{0} >= 1"
FINITE = "isfinite({0})"
SHARE = "{0} between 0 and 1"
TIME = "{0} between '0001-01-01'::timestamp and '9999-12-31 23:59:59.999999'::timestamp"
"""A time that Python can count."""
FULL = "list_count({0}) = len({0})"
"""A list without nulls, which may be empty."""
ONCE = "{0} not in (select {0} from main.{1} group by all having count(*) > 1)"


def one_of(words: Iterable[str]) -> str:
    """Return the condition that a column has one of some words."""
    return f"{{0}} in ({', '.join(map(literal, words))})"


def or_null(condition: str) -> str:
    """Return the condition that another one holds, or that there is nothing."""
    return f"({{0}} is null or {condition})"


def strange_value(con: duckdb.DuckDBPyConnection, tables: Mapping[str, Collection[str]], values: Values) -> str | None:
    """Say where a file with these tables has a value that Talkhouse does not write; None where there is none.

    One query asks all. DuckDB answers most of it from what it keeps of each column, and reads few of millions of rows.
    """
    asked = [
        (f"{table}.{column}", f"from main.{table} where not coalesce({true.format(column, table)}, false)")
        for table, conditions in values.items()
        for true, columns in conditions.items()
        for column in columns
        if column in tables[table]  # an older format may not have it
    ]
    (found,) = con.execute(f"select {', '.join(f'(select count(*) {rows})' for _, rows in asked)}").fetchall()
    for (place, _), count in zip(asked, found, strict=True):
        if count:
            return f"{place}: a value that Talkhouse does not write ({count:,} row{'' if count == 1 else 's'})"
    return None
