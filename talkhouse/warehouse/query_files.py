"""The SQL and the charts of a warehouse: Talkhouse's own, and what corpora from elsewhere have brought.

What a corpus has brought lies in the warehouse, so that nothing of it must be installed to read its rows.
"""

from pathlib import Path
from typing import NamedTuple

import duckdb

from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.registry import queries_of
from talkhouse.ingest.registry.origins import CorpusOrigin, DeclaredFolder
from talkhouse.queries.files import Files, QueryFile, files_of, own_files
from talkhouse.schema.sql import insert, quoted
from talkhouse.settings import corpus_folders

_TABLE = "meta.query_files"


def files(con: duckdb.DuckDBPyConnection, database: str) -> Files:
    """Return all files of a warehouse, which has this name in SQL.

    Those of a corpus whose folder is named (``settings.corpus_folders``) are the folder's, as its author left them.
    """
    stored = brought(con, database)
    if not corpus_folders():
        return (*own_files(), *stored)
    from talkhouse.ingest.registry.origins import (
        DeclaredFolder,
        folders_in,  # most commands need nothing of ingest
    )

    there = {name for (name,) in con.execute(f"select corpus_id from {quoted(database)}.main.corpora").fetchall()}
    named = {folder.corpus_id: folder for root in corpus_folders() for folder in folders_in(root)}
    changed = [file for name in sorted(there & named.keys()) for file in files_of(named[name].path / "queries", name)]
    # What a build has made of a declaration is in no folder.
    code = {name for name, folder in named.items() if not isinstance(folder, DeclaredFolder)}
    written = {(file.folder, file.name) for file in changed}
    left = (file for file in stored if file.folder not in code and (file.folder, file.name) not in written)
    return (*own_files(), *left, *changed)


def brought(con: duckdb.DuckDBPyConnection, database: str) -> Files:
    """Return the files that corpora have brought."""
    # A stranger's columns may be of any type, and null: what is no text is no SQL either.
    columns = ", ".join(f"coalesce({name}::varchar, '')" for name in ("folder", "name", "text"))
    rows = con.execute(f"select {columns} from {quoted(database)}.{_TABLE} order by all").fetchall()
    return tuple(QueryFile(folder, name, text, Path(_TABLE, folder, name)) for folder, name, text in rows)


class BroughtFile(NamedTuple):
    """A file as a row of the table of those that corpora have brought."""

    folder: str
    name: str
    text: str


def to_keep(files: Files) -> list[BroughtFile]:
    """Return all files that are not Talkhouse's own, sorted."""
    own = {*own_files()}
    return sorted(BroughtFile(file.folder, file.name, file.text) for file in files if file not in own)


def keep(con: duckdb.DuckDBPyConnection, files: Files) -> None:
    """Keep what is not Talkhouse's own in a warehouse that is being built."""
    insert(con, _TABLE, to_keep(files))


def brought_files(corpus: Corpus, origin: CorpusOrigin) -> Files:
    """Return the files of a corpus; one of its folder takes the place of one of a task that has the same name.

    SQL that lies next to data is none of them: a data folder holds no code.
    """
    if corpus.declaration is None:
        return tuple(files_of(queries_of(corpus), corpus.id))
    from talkhouse.ingest.declared.declaration import read_declaration
    from talkhouse.warehouse.declared_tasks import task_files

    generated = task_files(read_declaration(corpus.id, corpus.declaration, f"{corpus.id}/corpus.toml"))
    is_named = isinstance(origin, DeclaredFolder) and not origin.is_beside_data
    own = tuple(files_of(queries_of(corpus), corpus.id)) if is_named else ()
    names = {file.name for file in own}
    return (*(file for file in generated if file.name not in names), *own)
