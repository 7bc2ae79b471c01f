"""What a snapshot has besides the files: the translated views, the SQL that makes tables and views, Delta's logs.

A log is one commit over the files that lie there: by the public protocol, and no more of it than a table needs that is
written once. Not by delta-rs, whose logs have a random id, the time and the path at which they were made, and no
properties but Delta's own: here a log is a document of the snapshot as the others are, the same for the same manifest.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import duckdb
import msgspec

from talkhouse.lake_format.inside import Inside
from talkhouse.lake_format.lake_manifest import CORPUS, LakeManifest, LakeTable, read
from talkhouse.schema.errors import LakeDamaged, SchemaMismatch, UsageError, closest
from talkhouse.schema.sql_files import sql_of
from talkhouse.translation.translated import TranslatedViews, View, decode, encode, spark_name, spark_type

TRANSLATION = "translation.json"
SCRIPT = "views.sql"


def documents(lake: Path, manifest: LakeManifest, translation: TranslatedViews) -> dict[str, bytes]:
    """Return name and content of each; the SQL is for the place where the lake lies now."""
    return {
        TRANSLATION: encode(translation),
        SCRIPT: script(statements(manifest, translation, str(lake.resolve()))).encode(),
        **delta_logs(manifest),
    }


def are_there(contents: Mapping[str, bytes], snapshot: Inside) -> bool:
    """Whether a snapshot has just these documents."""
    try:
        return all(snapshot.document(name) == content for name, content in contents.items())
    except (OSError, ValueError):
        return False


def write(contents: Mapping[str, bytes], folder: Inside) -> None:
    """Write documents to a folder that has none of them."""
    for name, content in contents.items():
        with folder.creating(name) as stream:
            stream.write(content)


def read_translation(lake: Path, manifest: LakeManifest) -> TranslatedViews:
    """Read the views of a lake; LakeDamaged where they can't be read."""
    try:
        return decode(Inside(lake, manifest.snapshot).document(TRANSLATION))
    except (OSError, ValueError, RecursionError) as error:
        raise LakeDamaged(
            "the views of the lake can't be read",
            where=lake / manifest.snapshot / TRANSLATION,
            found=str(error),
            next_step="write the lake again with: talkhouse lake DIR",
        ) from error


def sql(lake: Path, name: str | None = None, location: str | None = None) -> str:
    """Return the SQL that makes everything in a lake, or one table or view.

    ``location``: where the lake lies for the engine that runs it; without it, where it lies here.

    Raises UsageError for a name that is not there, and what reading a lake raises.
    """
    manifest = read(lake)
    translation = read_translation(lake, manifest)
    every = statements(manifest, translation, (location or str(lake.resolve())).rstrip("/"))
    if name is None:
        return script(every)
    relations = [statement for statement in every if statement.kind != "database"]
    wanted = [statement for statement in relations if statement.name in (name, f"main.{name}")]
    if not wanted:
        raise _unknown(name, translation, {statement.name for statement in relations})
    return script(wanted)


def _unknown(name: str, translation: TranslatedViews, known: set[str]) -> UsageError:
    """Return the error of a name that is not there: left out, or never heard of."""
    for view in translation.unportable:
        if view.full_name == name:
            return UsageError(f"the lake does not have the view {name}", found=view.reason)
    return UsageError(
        f"no view or table '{name}' in the lake",
        expected=f"one of: {', '.join(closest(name, known))}",
        next_step="list them with: talkhouse lake DIR --sql",
    )


class Statement(NamedTuple):
    """One statement, without the semicolon."""

    kind: str
    """``database``, ``table`` or ``view``."""
    name: str
    """What it makes."""
    sql: str


def statements(manifest: LakeManifest, translation: TranslatedViews, location: str) -> list[Statement]:
    """Return the SQL that creates databases, tables and views, each after those that it reads.

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


def _table(table: LakeTable, location: str) -> list[Statement]:
    """Replace the table by one of this snapshot's files; a folder is a corpus, and so a partition."""
    name = spark_name(table.schema, table.name)
    declared = _list(
        f"{spark_name(column.name)} {spark_type(column.type)}{_comment(column.comment)}"
        for column in (*table.columns, CORPUS)
    )
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


_TYPES = {"int": "integer", "bigint": "long"}
"""What Delta calls otherwise than Spark's SQL."""

_WITH_TIMES = {
    "minReaderVersion": 3,
    "minWriterVersion": 7,
    "readerFeatures": ["timestampNtz"],
    "writerFeatures": ["timestampNtz"],
}
_WITHOUT_TIMES = {"minReaderVersion": 1, "minWriterVersion": 2}
"""What a reader has to know: times without a zone, or nothing that has not always been there."""


def delta_logs(manifest: LakeManifest) -> dict[str, bytes]:
    """Return the log of each table by its path in the snapshot; none for a lake that has none."""
    tables = manifest.tables if manifest.delta else []
    return {table.delta_log.partition("/")[2]: _log(manifest, table) for table in tables}


def _log(manifest: LakeManifest, table: LakeTable) -> bytes:
    return "".join(f"{_json(action)}\n" for action in _actions(manifest, table)).encode()


def _actions(manifest: LakeManifest, table: LakeTable) -> Iterator[dict[str, object]]:
    fields = [
        {
            "name": column.name,
            "type": _TYPES.get(spark_type(column.type), spark_type(column.type)),
            "nullable": column.nullable,
            "metadata": {"comment": column.comment} if column.comment else {},
        }
        for column in (*table.columns, CORPUS)
    ]
    properties = _properties(manifest, table)
    schema = _json({"type": "struct", "fields": fields})
    has_times = any(field["type"] == "timestamp_ntz" for field in fields)
    yield {"protocol": _WITH_TIMES if has_times else _WITHOUT_TIMES}
    yield {
        "metaData": {
            "id": str(uuid.uuid5(uuid.NAMESPACE_OID, _json([table.full_name, schema, properties]))),
            "name": table.full_name,
            "description": table.comment,
            "format": {"provider": "parquet", "options": {}},
            "schemaString": schema,
            "partitionColumns": [CORPUS.name],
            "configuration": properties,
        }
    }
    for file in table.files:
        yield {
            "add": {
                "path": file.path.removeprefix(f"{table.folder}/"),
                "partitionValues": {CORPUS.name: file.corpus},
                "size": file.bytes,
                "modificationTime": 0,  # a lake keeps files from one snapshot to the next, and no times
                "dataChange": True,
                "stats": _json({"numRecords": file.rows}),
            }
        }


def _properties(manifest: LakeManifest, table: LakeTable) -> dict[str, str]:
    """Return the properties that Delta has no field for: the key, and each corpus's licence and hash of its rows."""
    properties = {"talkhouse.grain": ", ".join(table.grain), "talkhouse.revision": manifest.revision}
    for corpus in manifest.corpora:
        corpus_id = str(corpus["corpus_id"])
        if corpus_id in table.fingerprints:
            facts = {key: corpus.get(key) for key in ("title", "licence", "terms")}
            properties |= {f"talkhouse.{corpus_id}.{key}": str(value) for key, value in facts.items() if value}
    prints = {f"talkhouse.{corpus_id}.fingerprint": print_ for corpus_id, print_ in table.fingerprints.items()}
    return properties | prints


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


Columns = Mapping[str, Mapping[str, str]]
"""Table or view -> column -> type in DuckDB's words."""


def columns_of_all(con: duckdb.DuckDBPyConnection, database: str | None = None) -> Columns:
    """Describe all tables and views of a database, or of the current one."""
    relations: dict[str, dict[str, str]] = defaultdict(dict)
    for name, column, type_ in con.execute(sql_of(__file__, "columns"), [database]).fetchall():
        relations[name][column] = type_
    return dict(relations)


def check_columns(expected: Columns, actual: Columns, where: Path) -> None:
    """Raise SchemaMismatch for the first relation that is missing, or has other columns."""
    for name, columns in expected.items():
        there = actual.get(name, {})
        if there != columns:
            raise mismatch(
                f"{name} is not as this Talkhouse makes it" if there else f"{name} is missing",
                where,
                ", ".join(f"{column} {type_}" for column, type_ in columns.items() if there.get(column) != type_),
                ", ".join(f"{column} {type_}" for column, type_ in there.items() if columns.get(column) != type_),
            )


def mismatch(problem: str, where: Path, expected: str, found: str) -> SchemaMismatch:
    """Return the error of tables or views that are not as this Talkhouse makes them."""
    return SchemaMismatch(
        problem,
        where=where,
        expected=expected,
        found=found,
        next_step="build it again with: talkhouse build   and keep views of your own in another file",
    )
