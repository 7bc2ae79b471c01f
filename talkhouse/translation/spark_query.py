"""One view in Spark SQL: whatever can't be translated ends here, and in nothing else."""

from collections.abc import Iterable

from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from talkhouse.queries.heads import Query
from talkhouse.translation.dialects import parsed, spark_sql
from talkhouse.translation.kept import Outcome, Refused, Translated
from talkhouse.translation.macros import macros, without_macros
from talkhouse.translation.refuse import NotPortable
from talkhouse.translation.rules import ruled
from talkhouse.translation.spark_types import spark_type

Column = tuple[str, str]
"""The name of a column, and its type in DuckDB's words."""


def translated(sql: str, called: Iterable[Query], columns: Iterable[Column]) -> Outcome:
    """Translate the query of a view, or say why that can't be done; ``called``: the macros that it calls."""
    try:
        return _translated(sql, called, columns)
    except NotPortable as error:
        reason = str(error)
    except ParseError as error:
        reason = f"sqlglot can't read it: {_where(error)}"
    except (SqlglotError, ValueError, RecursionError) as error:
        reason = f"sqlglot can't translate it: {' '.join(str(error).split()) or type(error).__name__}"
    return Refused(f"can't be translated: {reason}")


def _translated(sql: str, called: Iterable[Query], columns: Iterable[Column]) -> Translated:
    types = {name: _spark_type(name, type_) for name, type_ in columns}
    tree = without_macros(parsed(sql), macros(called))
    reads = sorted({f"{table.db}.{table.name}" for table in tree.find_all(exp.Table) if table.db})
    tree, rules = ruled(tree)
    return Translated(spark_sql(_with_types(tree, types)), rules, reads)


def _spark_type(column: str, type_: str) -> str:
    try:
        return spark_type(type_)
    except KeyError:
        raise NotPortable(exp.column(column), f"no table or view of a lake has a column of the type {type_}") from None


def _with_types(tree: exp.Expr, types: dict[str, str]) -> exp.Expr:
    """Cast each column to its type in DuckDB: Spark counts the rows of a window in 32 bits, for example."""
    casts = [exp.alias_(exp.cast(exp.column(name), type_, dialect="spark"), name) for name, type_ in types.items()]
    return exp.select(*casts).from_(exp.Subquery(this=tree))


def _where(error: ParseError) -> str:
    """Return the place at which sqlglot stops, on one line and without colours."""
    for found in error.errors:
        text = " ".join(f"{found['start_context'] or ''}{found['highlight'] or ''}".split())
        return f"it stops in line {found['line']}: {text[-80:]}"
    return str(error).partition("\n")[0]
