"""The index of a ranked search, a file beside the warehouse: which text has which words, and where the text stands.

It can be deleted at any time, and is made again where the warehouse has changed. It holds words, ids and counts; texts
are read from the warehouse. Somebody else's file is neither read nor changed.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType

import duckdb

from talkhouse.schema.contents import strange
from talkhouse.schema.errors import SchemaMismatch, UsageError
from talkhouse.schema.guard import NO_SETTINGS, Settings
from talkhouse.schema.sql import identifier, insert, literal
from talkhouse.schema.warehouse import STORAGE_VERSION
from talkhouse.settings import database, version
from talkhouse.system.cache import is_kept
from talkhouse.system.folders import target_of
from talkhouse.warehouse.beside import columns_of_tables, format_of_run, is_ours, open_beside, writing_beside
from talkhouse.warehouse.build_facts import fingerprint
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.tokens import search_tokens

ENDING = ".search.duckdb"

FORMAT = 1
"""Number of the format, and of the rule by which texts are cut into words."""

KINDS = ("turn", "candidate", "persona")
"""What is found; of equal scores in this order."""

TABLES = {
    "run": {
        "format": "INTEGER",
        "warehouse_fingerprint": "VARCHAR",
        "texts": "BIGINT",
        "mean_words": "DOUBLE",
        "talkhouse_version": "VARCHAR",
    },
    "groups": {
        "group_no": "INTEGER",
        "kind": "VARCHAR",
        "corpus_id": "VARCHAR",
        "role": "VARCHAR",
        "splits": "VARCHAR[]",
        "standard_splits": "VARCHAR[]",
    },
    "documents": {"document": "INTEGER", "group_no": "INTEGER", "owner": "VARCHAR", "turn_index": "INTEGER"},
    "words": {"word": "VARCHAR", "word_no": "INTEGER", "texts": "INTEGER"},
    "postings": {
        "word_no": "INTEGER",
        "document": "INTEGER",
        "times": "INTEGER",
        "words": "INTEGER",
        "group_no": "INTEGER",
    },
}
"""The tables with their columns. A document is a text; its number is its place in the order of KINDS,
owner (dialogue_id, text_id, persona_id) and turn_index. ``postings`` is sorted by word_no and document; ``times``: how
often the document has the word, among so many ``words``."""

_RESULT, _WORK = "talkhouse_search_result", "talkhouse_search_work"
_PATIENCE = 600.0
"""Seconds to wait for another process that makes the same index."""
_MEMORY: Settings = MappingProxyType({"memory_limit": "20%"})
"""Of the machine, as for other commands that the pages run; what does not fit is on the disk meanwhile."""
_MORE_ROOM = "make room on the disk, or search without --rank"


def path_for(warehouse: Path) -> Path:
    """Return where the index of a warehouse is: beside it, that of a release beside the warehouse of here."""
    folder = (database() if is_kept(warehouse) else warehouse).resolve()
    return folder.with_name(f"{warehouse.resolve().stem}{ENDING}")


def open_index(path: Path, settings: Settings = NO_SETTINGS) -> duckdb.DuckDBPyConnection:
    """Open an index read-only, in a database of its own. Raises what ``open_beside`` raises, and SchemaMismatch."""
    return open_beside(path, _check_content, _not_ours, settings)


SCHEMA = "search"
"""The name in SQL that the index of a warehouse is attached under."""


def attachable(warehouse: Path) -> dict[str, Path]:
    """Return the index of a warehouse by the name that it is attached under; nothing where there is none of ours."""
    path = path_for(warehouse)
    return {SCHEMA: path} if is_ours(path, open_index) else {}


def state_of(path: Path, fingerprint_of_warehouse: str) -> str:
    """Return why there is no index of a warehouse at a path, in words, or "" where there is one.

    Raises UsageError for a file that is no index of ours.
    """
    if not os.path.lexists(path):
        return "there is no index of the texts yet"
    try:
        with open_index(path) as con:
            ((kept,),) = con.execute("select warehouse_fingerprint from main.run").fetchall()
    except SchemaMismatch:
        return "the index of the texts is of another Talkhouse"
    return "" if kept == fingerprint_of_warehouse else "the warehouse has changed since its texts were indexed"


def ready_index(warehouse: Warehouse, say: Callable[[str], None]) -> Path:
    """Return the index of a warehouse, made where there is none of its rows; as ``make_index``."""
    path = path_for(warehouse.path)
    if state_of(path, fingerprint(warehouse.con, identifier(warehouse.database))):
        return make_index(warehouse.path, say)
    return path


def make_index(warehouse: Path, say: Callable[[str], None], settings: Settings = _MEMORY) -> Path:
    """Make the index of a warehouse, and return the file; one that another process has made meanwhile stays.

    ``say`` is told why it is made. One process makes it, others wait; it appears whole or not at all. Raises UsageError
    where a file that is not ours is in its place, or where it can't be written, OutputFailed where there is no room.
    """
    path = path_for(warehouse)
    with writing_beside(warehouse, path, _MORE_ROOM, settings, patience=_PATIENCE) as (opened_warehouse, folder):
        con, of = opened_warehouse.con, identifier(opened_warehouse.database)
        now = fingerprint(con, of)
        if not (why := state_of(path, now)):
            return path
        say(why)
        part = folder / path.name
        for name, file in ((_RESULT, part), (_WORK, folder / "work.duckdb")):
            con.execute(f"attach {literal(str(file))} as {name} (read_write, storage_version '{STORAGE_VERSION}')")
        con.execute(f"use {_WORK}")  # so that no macro of the warehouse answers for a function
        _create_places(con, of)
        _create_documents(con, of)
        _create_postings(con, of)
        ((texts, words),) = con.execute(
            f"select count(distinct document), coalesce(sum(times), 0) from {_RESULT}.main.postings"
        ).fetchall()
        _create(con, "run", "select " + ", ".join(f"null::{kind}" for kind in TABLES["run"].values()) + " where false")
        insert(con, f"{_RESULT}.main.run", [(FORMAT, now, texts, words / texts if texts else 0.0, version())])
        opened_warehouse.check_complete()
        con.execute(f"checkpoint {_RESULT}")
        con.execute(f"detach {_RESULT}")
        shutil.copymode(warehouse, part)  # it has words: who may not read the one may not read the other
        part.replace(target_of(path))
    return path


def _create(con: duckdb.DuckDBPyConnection, table: str, rows: str) -> None:
    """Create a table of the index of the rows of a query."""
    columns = ", ".join(f"{name}::{kind} as {name}" for name, kind in TABLES[table].items())
    names = ", ".join(TABLES[table])
    con.execute(f"create table {_RESULT}.main.{table} as select {columns} from ({rows}) as found({names})")


_OWNERS = {
    "turn": "select dialogue_id, split, standard_split from {0}.main.records where dialogue_id is not null",
    "candidate": "select text_id, split, standard_split from {0}.main.candidates "
    "inner join {0}.main.records on records.record_id = candidates.record_id where text_id is not null",
    "persona": "select persona_id, split, standard_split from {0}.main.persona_uses "
    "inner join {0}.main.records on records.record_id = persona_uses.record_id where persona_id is not null",
}
"""By kind, the query of what owns a text, and the splits that it was published in."""

_TEXTS = {
    "turn": ("turns", "dialogue_id", "dialogue_id, turn_index, coalesce(role, '')"),
    "candidate": ("texts", "text_id", "text_id, null::integer, ''"),
    "persona": ("personas", "persona_id", "persona_id, null::integer, ''"),
}
"""By kind, the table of its texts, the column of what owns each, and owner, turn_index and role."""


def _create_places(con: duckdb.DuckDBPyConnection, warehouse: str) -> None:
    """Create ``places``, the sets of splits that texts stand in, and ``owner_places``."""
    owners = " union all ".join(
        f"select '{kind}' as kind, * from ({query.format(warehouse)}) as rows(owner, split, standard_split)"
        for kind, query in _OWNERS.items()
    )
    con.execute(f"""
create table owner_splits as
select
    kind,
    owner,
    coalesce(list(distinct split order by split) filter (split is not null), []) as splits,
    coalesce(list(distinct standard_split order by standard_split) filter (standard_split is not null), [])
        as standard_splits,
from ({owners})
group by kind, owner
""")
    con.execute("""
create table places as
select row_number() over (order by splits, standard_splits)::integer as place_no, splits, standard_splits
from (select distinct splits, standard_splits from owner_splits)
""")
    con.execute("""
create table owner_places as
select kind, owner, place_no from owner_splits inner join places using (splits, standard_splits)
""")


def _create_documents(con: duckdb.DuckDBPyConnection, warehouse: str) -> None:
    """Create the tables ``groups`` and ``documents``, and ``numbered``, the rows of the warehouse by number."""
    rows = " union all ".join(
        f"select '{kind}', texts.rowid, {columns}, coalesce(place_no, 0) from {warehouse}.main.{table} as texts "
        f"left join owner_places on owner_places.kind = '{kind}' and owner_places.owner = texts.{owner} "
        f"where texts.{owner} is not null"
        for kind, (table, owner, columns) in _TEXTS.items()
    )
    con.execute(f"""
create table standing as
select *, split_part(owner, ':', 1) as corpus_id
from ({rows}) as rows(kind, row_number, owner, turn_index, role, place_no)
""")
    con.execute("""
create table group_keys as
select row_number() over (order by kind, corpus_id, role, place_no)::integer as group_no, *
from (select distinct kind, corpus_id, role, place_no from standing)
""")
    _create(
        con,
        "groups",
        "select group_no, kind, corpus_id, nullif(role, ''), coalesce(splits, []), coalesce(standard_splits, []) "
        "from group_keys left join places using (place_no) order by group_no",
    )
    ranks = ", ".join(f"'{kind}'" for kind in KINDS)
    con.execute(f"""
create table numbered as
select
    (row_number() over (order by list_position([{ranks}], kind), owner, turn_index) - 1)::integer as document,
    group_no,
    kind,
    row_number,
    owner,
    turn_index,
from standing
inner join group_keys using (kind, corpus_id, role, place_no)
""")
    con.execute("drop table standing")
    _create(con, "documents", "select document, group_no, owner, turn_index from numbered order by document")


def _create_postings(con: duckdb.DuckDBPyConnection, warehouse: str) -> None:
    """Create the tables ``words`` and ``postings``."""
    # Counted within each text, which is much less work than to group the words of all. Cut twice: to keep the words
    # between the two would take more.
    counted = "unnest(map_entries(list_aggregate(found, 'histogram')))"
    texts = " union all ".join(
        f"select document, group_no, {search_tokens('texts.text')} from {warehouse}.main.{table} as texts "
        f"inner join numbered on numbered.kind = '{kind}' and numbered.row_number = texts.rowid"
        for kind, (table, _, _) in _TEXTS.items()
    )
    used = (
        f"select document, group_no, len(found) as words, {counted} as entry "
        f"from ({texts}) as texts(document, group_no, found)"
    )
    _create(
        con,
        "words",
        "select word, row_number() over (order by word) - 1, texts "
        f"from (select entry.key as word, count(*) as texts from ({used}) group by word) order by word",
    )
    _create(
        con,
        "postings",
        "select word_no, document, entry.value, used.words, group_no "
        f"from ({used}) as used inner join {_RESULT}.main.words on words.word = entry.key order by word_no, document",
    )


def _check_content(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Raise UsageError where the tables are not those that Talkhouse makes."""
    if what := strange(con):
        raise _not_ours(path, what)
    tables = columns_of_tables(con)
    if (number := format_of_run(con, path, tables, _not_ours)) != FORMAT:
        raise SchemaMismatch(
            "the index is of another Talkhouse than this",
            where=path,
            expected=f"format {FORMAT}",
            found=f"format {number}",
            next_step="make it again with: talkhouse search WORDS --rank",
        )
    if tables != TABLES:
        raise _not_ours(path, "other tables than those that Talkhouse makes")


def _not_ours(path: Path, found: str) -> UsageError:
    return UsageError(
        "this is not an index that talkhouse search made, and was left as it is",
        where=path,
        expected="no file, or an index of ours",
        found=found,
        next_step="move it away",
    )
