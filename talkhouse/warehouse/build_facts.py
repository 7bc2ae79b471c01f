"""Which build made a warehouse, and which corpora it has, with their licences.

``database`` is the warehouse's name in SQL; the facts are dictionaries, which manifests have as they are.
"""

from typing import Any

import duckdb

from talkhouse.schema.sql import dicts, quoted

_BUILD = """
select load_id, finished_at::varchar as finished_at, talkhouse_version, catalogue_hash, schema_revision
from {}.meta.loads order by load_id desc limit 1
"""

_CORPORA = """
select corpus_id, title, licence, licence_url, terms, citation, is_sample, made_from
from {}.main.corpora order by corpus_id
"""


def build(con: duckdb.DuckDBPyConnection, database: str) -> dict[str, Any] | None:
    """Return the last build: its number, its end (UTC), Talkhouse's version, the hash of its views, the revision."""
    return next(iter(dicts(con.execute(_BUILD.format(quoted(database))))), None)


def corpora(con: duckdb.DuckDBPyConnection, database: str) -> list[dict[str, Any]]:
    """Return the corpora, sorted by id: title, licence, terms, citation, whether it is a sample or made."""
    return dicts(con.execute(_CORPORA.format(quoted(database))))
