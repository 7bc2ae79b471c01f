"""The SQL of the views as sqlglot reads it, and Spark SQL as sqlglot writes it."""

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
        FUNCTIONS: ClassVar = {**DuckDBParser.FUNCTIONS, "LEN": lambda args: exp.ArraySize(this=seq_get(args, 0))}


class Written(exp.Expression):
    """Spark SQL in its own words, with ``{name}`` for each expression in it."""

    arg_types: ClassVar = {"this": True, "names": True, "expressions": True}


def written(sql: str, **parts: exp.Expr) -> Written:
    """Make an expression of Spark SQL: ``written("array_size({x})", x=node)``."""
    safe = [
        exp.Paren(this=part.copy()) if isinstance(part, exp.Binary | exp.Unary) else part.copy()
        for part in parts.values()
    ]
    return Written(this=sql, names=[*parts], expressions=safe)


class SparkViews(Spark):
    """Spark's SQL with texts on one line, whatever characters they have."""

    class Generator(SparkGenerator):
        """Writes characters that can't be seen as escapes, and Spark SQL of our own as it is."""

        TRANSFORMS: ClassVar = {**SparkGenerator.TRANSFORMS, Written: lambda self, node: _with_parts(self, node)}

        def escape_str(self, text: str, *_: Any, **__: Any) -> str:
            """Write the inside of a literal."""
            # Spark would put a setting in the place of ${name} before it reads the query.
            return "".join(map(_escaped, text)).replace("${", "\\u0024{")


def _with_parts(generator: Any, node: Written) -> str:
    parts = zip(node.args["names"], node.expressions, strict=True)
    return str(node.this).format(**{name: generator.sql(part) for name, part in parts})


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
