"""The SQL of the views as sqlglot reads it, Spark SQL as it writes that, and constructs that have no equal there."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar

from sqlglot import exp, parse_one
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.dialects.spark import Spark
from sqlglot.generators.spark import SparkGenerator
from sqlglot.helper import seq_get
from sqlglot.parsers.duckdb import DuckDBParser


class Views(DuckDB):
    """DuckDB's SQL as the files of the views write it."""

    INDEX_OFFSET = 0
    """Keeps ``x[1]`` as it is written: sqlglot would count keys of maps and positions from the end from 0, too."""

    class Parser(DuckDBParser):
        """Reads ``a -> 'k'`` as JSON, since lambdas are ``lambda x: ...``; ``len`` is of lists, ``length`` of texts."""

        LAMBDAS: ClassVar = {key: value for key, value in DuckDBParser.LAMBDAS.items() if key.name != "ARROW"}
        FUNCTIONS: ClassVar = {
            **DuckDBParser.FUNCTIONS,
            "LEN": lambda args: exp.ArraySize(this=seq_get(args, 0)),
            "LIST_REDUCE": lambda args: exp.Reduce(
                this=seq_get(args, 0), merge=seq_get(args, 1), initial=seq_get(args, 2) or exp.Null()
            ),
        }


class VerbatimSql(exp.Expression):
    """Spark SQL in its own words, with ``{name}`` for each expression in it."""

    arg_types: ClassVar = {"this": True, "names": True, "expressions": True}


def written(sql: str, **parts: exp.Expr) -> VerbatimSql:
    """Make an expression of Spark SQL: ``written("array_size({x})", x=node)``."""
    safe = [
        exp.Paren(this=part.copy()) if isinstance(part, exp.Binary | exp.Unary) else part.copy()
        for part in parts.values()
    ]
    return VerbatimSql(this=sql, names=[*parts], expressions=safe)


def _with_parts(generator: Any, node: VerbatimSql) -> str:
    parts = zip(node.args["names"], node.expressions, strict=True)
    return str(node.this).format(**{name: generator.sql(part) for name, part in parts})


class SparkViews(Spark):
    """Spark's SQL with texts on one line, whatever characters they have."""

    class Generator(SparkGenerator):
        """Writes characters that can't be seen as escapes, and Spark SQL of our own as it is."""

        TRANSFORMS: ClassVar = {**SparkGenerator.TRANSFORMS, VerbatimSql: lambda self, node: _with_parts(self, node)}

        def escape_str(self, text: str, *_: Any, **__: Any) -> str:
            """Write the inside of a literal."""
            # Spark would put a setting in the place of ${name} before it reads the query.
            return "".join(map(_escaped, text)).replace("${", "\\u0024{")


def _escaped(character: str) -> str:
    if character in "\\'":
        return "\\" + character
    if character.isprintable():
        return character
    return "".join(f"\\u{unit:04x}" for unit in memoryview(character.encode("utf-16-le")).cast("H"))


def parsed(sql: str) -> exp.Expr:
    """Read one query, or one expression."""
    return parse_one(sql, dialect=Views)


def spark_sql(tree: exp.Expr) -> str:
    """Write a tree as Spark SQL."""
    return tree.sql(dialect=SparkViews, pretty=True)


_SHOWN = 200
"""Characters of a construct that are shown."""


class NotPortable(Exception):
    """A construct has no equal in Spark, or none that anybody has made sure of."""

    def __init__(self, construct: exp.Expr, reason: str) -> None:
        super().__init__(construct, reason)
        self.construct = construct
        self.reason = reason

    def __str__(self) -> str:
        text = self.construct.key
        with suppress(ValueError):  # it has parts that are translated already
            text = " ".join(self.construct.sql(dialect=Views, comments=False).split())
        return f"{self.reason}: {text if len(text) <= _SHOWN else f'{text[:_SHOWN]}...'}"


_PARTS: Mapping[type[exp.Expr], frozenset[str]] = {
    exp.Select: frozenset(
        {*("expressions", "from_", "joins", "laterals", "where", "group", "having", "qualify", "windows", "order")}
        | {"with_", "distinct"}
    ),
    exp.Join: frozenset({"this", "on", "side", "kind"}),
    exp.Union: frozenset({"this", "expression", "with_", "distinct", "order"}),
    exp.With: frozenset({"expressions"}),
    exp.Group: frozenset({"expressions"}),
    exp.WindowSpec: frozenset({"kind", "start", "start_side", "end", "end_side"}),
}
"""What these may have: ``union all by name`` has another part, and another meaning, than ``union all``."""

_JOINS = {"", "INNER", "OUTER", "CROSS", "SEMI", "ANTI"}


def check_parts(node: exp.Expr) -> None:
    """Raise NotPortable for a construct with a part that changes its meaning."""
    known = _PARTS.get(type(node))
    if known is None:
        return
    parts = {name for name, part in node.args.items() if part}
    what = [f"{called(node)} with '{name}'" for name in sorted(parts - known)]
    if isinstance(node, exp.Join) and (others := {node.method, node.kind} - _JOINS):
        what = [f"a {others.pop().lower()} join"]
    if what:
        raise NotPortable(node, f"{what[0]} is not in the portable set, which is the same in Spark")


def called(node: exp.Expr) -> str:
    """Return the name of a construct, or of a function as SQL writes it."""
    if isinstance(node, exp.Anonymous):
        return node.name.lower()
    return node.sql_name().lower() if isinstance(node, exp.Func) else node.key
