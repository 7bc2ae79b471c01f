"""The dialogue or record that an id names, and those whose id is, or contains, a text that somebody types."""

from dataclasses import dataclass

import duckdb

from talkhouse.schema.errors import UsageError, check_unicode

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
