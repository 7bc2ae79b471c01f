"""A dialogue or record: found by its id, with all that the warehouse has about it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from talkhouse.schema.errors import UsageError, check_unicode
from talkhouse.schema.sql import dicts
from talkhouse.warehouse.opened import Warehouse

_DIALOGUES = "from main.dialogues where dialogue_id in ({ids})"

_PARTICIPANTS = """
select
    dialogue_id,
    participants.speaker_id,
    speakers.native_id,
    speakers.name,
    speakers.kind,
    participants.role,
    speakers.is_anonymous,
    participants.extra,
from main.participants
left join main.speakers using (speaker_id)
where dialogue_id in ({ids})
order by participants.role, participants.speaker_id
"""

_TURNS = """
select
    dialogue_id,
    turns.turn_index,
    turns.role,
    turns.kind,
    turns.speaker_id,
    coalesce(speakers.name, case when not speakers.is_anonymous then speakers.native_id end) as speaker,
    turns.said_at,
    turns.text,
    turns.native_id,
    turns.extra,
    turns.reply_to,
    turns.start_ms,
    turns.end_ms,
    together.speakers,
from main.turns
left join main.speakers using (speaker_id)
left join (
    select dialogue_id, turn_index, list(coalesce(speakers.name, speaker_id) order by position) as speakers
    from main.turn_speakers
    left join main.speakers using (speaker_id)
    where dialogue_id in ({ids})
    group by dialogue_id, turn_index
) as together using (dialogue_id, turn_index)
where dialogue_id in ({ids})
order by turn_index
"""

_PARTS = """
from main.parts
where dialogue_id in ({ids})
order by turn_index, part_index
"""

_RECORDS = """
select
    records.* exclude (source_file_id, source_pointer),
    struct_pack(
        source_file_id := records.source_file_id,
        path := source_files.path,
        member := source_files.member,
        sha256 := source_files.sha256,
        size := source_files.size,
        pointer := records.source_pointer
    ) as source,
from main.records
left join meta.source_files using (source_file_id)
where records.{key} in ({ids})
order by record_id
"""

_ANNOTATIONS = """
select * exclude (dialogue_id)
from main.annotations
where record_id in (select unnest($records::varchar[]))
order by turn_index nulls first, persona_set nulls first, persona_position, scheme, annotator_index, item_index
"""

_PERSONAS = """
select
    persona_uses.record_id,
    persona_uses.turn_index,
    persona_uses.persona_set,
    persona_uses.position,
    persona_uses.persona_id,
    persona_uses.speaker_id,
    speakers.name as speaker,
    personas.text,
    personas.image_file,
    personas.image_url,
    persona_uses.extra,
from main.persona_uses
left join main.personas using (persona_id)
left join main.speakers on speakers.speaker_id = persona_uses.speaker_id
where record_id in (select unnest($records::varchar[]))
order by turn_index nulls first, persona_set, position
"""

# The row numbers first, as in a search, so that of all candidate texts only those of this record are read.
_CANDIDATES = """
with listed as materialized (
    select * exclude (dialogue_id) from main.candidates where record_id in (select unnest($records::varchar[]))
),
wanted as (
    select rowid as row_number from main.texts where text_id in (select text_id from listed)
),
said as (
    select text_id, text from main.texts where rowid in (select row_number from wanted)
)
select
    listed.* exclude (extra),
    coalesce(said.text, personas.text) as text,
    personas.image_file,
    listed.extra,
from listed
left join said using (text_id)
left join main.personas using (persona_id)
order by turn_index nulls first, candidate_set, position, item_index
"""


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
    for row in dicts(con.execute(_DIALOGUES.format(ids=ids), values)):
        whole[row["dialogue_id"]]["dialogue"] = row
    for name, query in (("participants", _PARTICIPANTS), ("turns", _TURNS), ("parts", _PARTS)):
        for row in dicts(con.execute(query.format(ids=ids), values)):
            whole[row.pop("dialogue_id")][name].append(row)
    return whole


def _records(con: duckdb.DuckDBPyConnection, key: str, ids: Sequence[str]) -> list[dict[str, Any]]:
    """Return the records whose ``key``, record_id or dialogue_id, is one of these, each with all that belongs to it."""
    listed, values = _listed(ids)
    records = dicts(con.execute(_RECORDS.format(key=key, ids=listed), values))
    _attach(con, records)
    return records


def _listed(ids: Sequence[str | None]) -> tuple[str, dict[str, str | None]]:
    """Return ids as parameters, and their values: one alone is an equality to DuckDB, which skips most of a table."""
    values = {f"id_{place}": dialogue_id for place, dialogue_id in enumerate(ids)}
    return ", ".join(f"${name}" for name in values), values


def _attach(con: duckdb.DuckDBPyConnection, records: list[dict[str, Any]]) -> None:
    """Add to each record the rows that belong to it."""
    values = {"records": [record["record_id"] for record in records]}
    for name, query in (("annotations", _ANNOTATIONS), ("personas", _PERSONAS), ("candidates", _CANDIDATES)):
        rows: dict[str, list[dict[str, Any]]] = {record["record_id"]: [] for record in records}
        for row in dicts(con.execute(query, values)):
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

_EXACT = """
select 'record' as kind, record_id as id from main.records where record_id = $name
union all
select 'dialogue', dialogue_id from main.dialogues where dialogue_id = $name
"""

# A dialogue represents its records, which often have the same native id.
_NATIVE = """
select 'dialogue' as kind, dialogue_id as id from main.dialogues where native_id = $name
union all
select 'record', record_id
from main.records
where native_id = $name
    and (dialogue_id is null or dialogue_id not in (select dialogue_id from main.dialogues where native_id = $name))
order by all
"""

_NEAR = """
with known as (
    select record_id as id, record_id as name, corpus_id from main.records
    union all
    select dialogue_id, dialogue_id, corpus_id from main.dialogues
    union all
    select dialogue_id, native_id, corpus_id from main.dialogues where native_id is not null
),
of_corpus as (
    select corpus_id
    from main.corpora
    where starts_with($name, corpus_id || ':') or starts_with($name, corpus_id || '/')
)
select id
from known
where corpus_id in (from of_corpus) or not exists (from of_corpus)
group by id
order by max(starts_with(name, $name)) desc, max(jaro_winkler_similarity(name, $name)) desc, id
limit $nearest
"""


@dataclass(frozen=True)
class Target:
    """The ``dialogue`` or ``record`` that a name on the command line stands for, and its id."""

    kind: str
    id: str


def resolve(con: duckdb.DuckDBPyConnection, name: str) -> Target:
    """Find the dialogue or record with that id, or the only one with that native id; UsageError lists similar ids."""
    check_unicode(name, "the id")
    targets = con.execute(_EXACT, {"name": name}).fetchall() or con.execute(_NATIVE, {"name": name}).fetchall()
    if len(targets) == 1:
        return Target(*targets[0])
    search = 'find it with: talkhouse search TEXT   or talkhouse sql "from main.records"'
    if not targets:
        near = con.execute(_NEAR, {"name": name, "nearest": _NEAREST}).fetchall()
        names = ", ".join(id_ for (id_,) in near)
        raise UsageError(f"no dialogue or record '{name}'", expected=f"an id such as: {names}", next_step=search)
    some = ", ".join(id_ for _, id_ in targets[:_NEAREST]) + (" ..." if len(targets) > _NEAREST else "")
    raise UsageError(
        f"{len(targets):,} dialogues or records have the publisher's id '{name}'",
        expected=f"one of: {some}",
        next_step="name one of these ids",
    )


_NAMED = """
with known as (
    select 'dialogue' as kind, dialogue_id as id, dialogue_id as name from main.dialogues
    union all
    select 'dialogue', dialogue_id, native_id from main.dialogues where native_id is not null
    union all
    select 'record', record_id, record_id from main.records
)
select kind, id
from known
where lower(name) = lower($text) or (not $whole and contains(lower(name), lower($text)))
group by kind, id
order by bool_or(lower(name) = lower($text)) desc, kind, id
limit $limit
"""


def find_ids(con: duckdb.DuckDBPyConnection, text: str, limit: int, *, whole: bool = False) -> list[Target]:
    """Return the first dialogues and records with an id, or the publisher's id of a dialogue, that contains the text.

    Whole ids come before those that only contain it; ``whole``: these alone. Upper and lower case are the same.
    """
    return [Target(*row) for row in con.execute(_NAMED, {"text": text, "limit": limit, "whole": whole}).fetchall()]
