"""Delta's transaction log of each table: one commit over the files that lie there.

By the public protocol, and no more of it than a table needs that is written once. Not by delta-rs, whose logs have a
random id, the time and the path at which they were made, and no properties but Delta's own: here a log is a document of
the snapshot as the others are, the same for the same manifest.
"""

import uuid
from collections.abc import Iterator

import msgspec

from talkhouse.lake_format.lake_manifest import CORPUS, LakeManifest, LakeTable
from talkhouse.translation.translated import spark_type

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
    """Return what Delta has no place of its own for: the key, and of each corpus the licence and a hash of its rows."""
    properties = {"talkhouse.grain": ", ".join(table.grain), "talkhouse.revision": manifest.revision}
    for corpus in manifest.corpora:
        corpus_id = str(corpus["corpus_id"])
        if corpus_id in table.fingerprints:
            told = {key: corpus.get(key) for key in ("title", "licence", "terms")}
            properties |= {f"talkhouse.{corpus_id}.{key}": str(value) for key, value in told.items() if value}
    prints = {f"talkhouse.{corpus_id}.fingerprint": print_ for corpus_id, print_ in table.fingerprints.items()}
    return properties | prints


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
