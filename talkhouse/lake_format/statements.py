"""The SQL that makes a lake's tables and views in Spark: as statements, and as a file that ``spark-sql -f`` runs."""

from collections.abc import Iterable
from typing import NamedTuple

from talkhouse.lake_format.manifest import Manifest, Table
from talkhouse.translation.translated import TranslatedViews, View, spark_name, spark_type


class Statement(NamedTuple):
    """One statement, without the semicolon."""

    kind: str
    """``database``, ``table`` or ``view``."""
    name: str
    """What it makes."""
    sql: str


def statements(manifest: Manifest, translation: TranslatedViews, location: str) -> list[Statement]:
    """Return what makes databases, tables and views, each after what it reads.

    ``location``: the folder or address of the lake, as Spark reaches it.
    """
    schemas = sorted({table.schema for table in manifest.tables} | {view.schema for view in translation.views})
    return [
        *(Statement("database", schema, f"CREATE DATABASE IF NOT EXISTS {spark_name(schema)}") for schema in schemas),
        *(statement for table in manifest.tables for statement in _table(table, location)),
        *(Statement("view", view.full_name, _view(view)) for view in translation.views),
    ]


def script(every: Iterable[Statement]) -> str:
    """Write statements as a file, in which a line ends with a semicolon where a statement ends, and nowhere else."""
    return "".join(f"{statement.sql};\n\n" for statement in every)


def _table(table: Table, location: str) -> list[Statement]:
    """Replace the table by one of this snapshot's files; a folder is a corpus, and so a partition."""
    name = spark_name(table.schema, table.name)
    columns = [(column.name, spark_type(column.type), column.comment) for column in table.columns]
    columns.append(("corpus", "string", "The corpus, by the folder that the row is in; shared: it belongs to none."))
    declared = _list(f"{spark_name(column)} {type_}{_comment(text)}" for column, type_, text in columns)
    create = (
        f"CREATE TABLE {name} (\n{declared}\n)\n"
        f"USING parquet\nPARTITIONED BY (corpus)\nLOCATION {_literal(f'{location}/{table.folder}')}"
        f"{_comment(table.comment)}"
    )
    return [
        Statement("table", table.full_name, sql)
        for sql in (f"DROP TABLE IF EXISTS {name}", create, f"ALTER TABLE {name} RECOVER PARTITIONS")
    ]


def _view(view: View) -> str:
    columns = _list(f"{spark_name(column.name)}{_comment(column.comment)}" for column in view.columns)
    return (
        f"CREATE OR REPLACE VIEW {spark_name(view.schema, view.name)} (\n{columns}\n){_comment(view.comment)}\n"
        f"AS\n{view.sql}"
    )


def _list(items: Iterable[str]) -> str:
    return ",\n".join(f"    {item}" for item in items)


def _comment(text: str) -> str:
    return f" COMMENT {_literal(text)}" if text else ""


_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r"})
"""A literal stays on one line, so that a semicolon in it ends none."""


def _literal(text: str) -> str:
    escaped = text.translate(_ESCAPES).replace("${", "$\\u007b")
    return f"'{escaped}'"  # Spark puts settings in place of ${name}, in texts too
