"""A dialogue or record: found by its id, with all that the warehouse has about it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from talkhouse.schema.errors import UsageError, check_unicode
from talkhouse.schema.sql import dicts
from talkhouse.schema.sql_files import sql_of
from talkhouse.warehouse.opened import Warehouse


def show(con: duckdb.DuckDBPyConnection, name: str) -> dict[str, Any]:
    """Return everything about a dialogue or record, found by its id, or by the publisher's id where that is unique.

    ``kind`` and ``id`` name what was found. ``corpus`` is its licence and citation; ``dialogue`` one of main.dialogues,
    or None; ``participants`` and ``turns`` are the dialogue's, with the speakers' names (``speaker``, or ``speakers``
    where several say it together), ``parts`` are rows of main.parts. ``records`` are rows of main.records: all records
    of a dialogue, or the one record. Each has its ``source`` (file, sha256, pointer), ``annotations``, ``personas``
    (uses with their texts) and ``candidates`` (with their texts), every row with all its columns; ``extra`` is JSON
    text. Raises UsageError for a name that fits nothing, or several.
    """
    target = resolve(con, name)
    records = _records(con, f"{target.kind}_id", [target.id])
    dialogue_id = target.id if target.kind == "dialogue" else records[0]["dialogue_id"]
    whole = _whole(con, [dialogue_id])[dialogue_id]
    owner = (whole["dialogue"] or records[0])["corpus_id"]
    corpus = next(corpus for corpus in Warehouse(con).corpora if corpus["corpus_id"] == owner)
    return {"kind": target.kind, "id": target.id, "corpus": corpus, **whole, "records": records}


def show_dialogues(con: duckdb.DuckDBPyConnection, dialogue_ids: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield what ``show`` returns of each of these dialogues, which are there; a hundred take little longer than one.

    All of them are in memory together.
    """
    corpora = {corpus["corpus_id"]: corpus for corpus in Warehouse(con).corpora}
    records = defaultdict[str, list[dict[str, Any]]](list)
    for record in _records(con, "dialogue_id", dialogue_ids):
        records[record["dialogue_id"]].append(record)
    of_dialogues = _whole(con, dialogue_ids)
    for dialogue_id in dialogue_ids:
        whole = of_dialogues[dialogue_id]
        about = {"kind": "dialogue", "id": dialogue_id, "corpus": corpora[whole["dialogue"]["corpus_id"]]}
        yield {**about, **whole, "records": records[dialogue_id]}


def _whole(con: duckdb.DuckDBPyConnection, dialogue_ids: Sequence[str | None]) -> dict[str | None, dict[str, Any]]:
    """Return by their ids what belongs to dialogues themselves, rather than to their records; nothing for None."""
    ids, values = _listed(dialogue_ids)
    whole: dict[str | None, dict[str, Any]] = {
        dialogue_id: {"dialogue": None, "participants": [], "turns": [], "parts": []} for dialogue_id in dialogue_ids
    }
    for row in dicts(con.execute(f"from main.dialogues where dialogue_id in ({ids})", values)):
        whole[row["dialogue_id"]]["dialogue"] = row
    for name in ("participants", "turns", "parts"):
        for row in dicts(con.execute(sql_of(__file__, name, ids=ids), values)):
            whole[row.pop("dialogue_id")][name].append(row)
    return whole


def _records(con: duckdb.DuckDBPyConnection, key: str, ids: Sequence[str]) -> list[dict[str, Any]]:
    """Return the records whose ``key``, record_id or dialogue_id, is one of these, each with all that belongs to it."""
    listed, values = _listed(ids)
    records = dicts(con.execute(sql_of(__file__, "records", key=key, ids=listed), values))
    _attach(con, records)
    return records


def _listed(ids: Sequence[str | None]) -> tuple[str, dict[str, str | None]]:
    """Return ids as parameters, and their values: one alone is an equality to DuckDB, which skips most of a table."""
    values = {f"id_{place}": dialogue_id for place, dialogue_id in enumerate(ids)}
    return ", ".join(f"${name}" for name in values), values


def _attach(con: duckdb.DuckDBPyConnection, records: list[dict[str, Any]]) -> None:
    """Add to each record the rows that belong to it."""
    values = {"records": [record["record_id"] for record in records]}
    for name in ("annotations", "personas", "candidates"):
        rows: dict[str, list[dict[str, Any]]] = {record["record_id"]: [] for record in records}
        for row in dicts(con.execute(sql_of(__file__, name), values)):
            rows[row.pop("record_id")].append(row)
        for record in records:
            record[name] = rows[record["record_id"]]


def of_default(records: Iterable[dict[str, Any]], releases: Collection[str | None]) -> list[dict[str, Any]]:
    """Return the records of a dialogue's default publication, and those of no publisher's release.

    ``releases``: what ``bi.default_releases`` has of the dialogue; all records where that is none.
    """
    default = {None, *releases}
    return [record for record in records if len(default) == 1 or record["release"] in default]


_NEAREST = 5


@dataclass(frozen=True)
class Target:
    """The ``dialogue`` or ``record`` that a name on the command line stands for, and its id."""

    kind: str
    id: str


def resolve(con: duckdb.DuckDBPyConnection, name: str) -> Target:
    """Find the dialogue or record with that id, or the only one with that native id; UsageError lists similar ids."""
    check_unicode(name, "the id")
    exact, native = sql_of(__file__, "exact_ids"), sql_of(__file__, "native_ids")
    targets = con.execute(exact, {"name": name}).fetchall() or con.execute(native, {"name": name}).fetchall()
    if len(targets) == 1:
        return Target(*targets[0])
    search = 'find it with: talkhouse search TEXT   or talkhouse sql "from main.records"'
    if not targets:
        near = con.execute(sql_of(__file__, "near_ids"), {"name": name, "nearest": _NEAREST}).fetchall()
        names = ", ".join(id_ for (id_,) in near)
        raise UsageError(f"no dialogue or record '{name}'", expected=f"an id such as: {names}", next_step=search)
    some = ", ".join(id_ for _, id_ in targets[:_NEAREST]) + (" ..." if len(targets) > _NEAREST else "")
    raise UsageError(
        f"{len(targets):,} dialogues or records have the publisher's id '{name}'",
        expected=f"one of: {some}",
        next_step="name one of these ids",
    )


def find_ids(con: duckdb.DuckDBPyConnection, text: str, limit: int, *, whole: bool = False) -> list[Target]:
    """Return the first dialogues and records with an id, or the publisher's id of a dialogue, that contains the text.

    Whole ids come before those that only contain it; ``whole``: these alone. Upper and lower case are the same.
    """
    values = {"text": text, "limit": limit, "whole": whole}
    return [Target(*row) for row in con.execute(sql_of(__file__, "containing_ids"), values).fetchall()]
