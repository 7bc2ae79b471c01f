"""Which dialogue, record and speaker of the state before is which of the state after, whatever their ids.

A key that is a place moves when a record is put in front of others. So what is compared is found by its words first.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

import duckdb

from talkhouse.diff.relations import of_release
from talkhouse.diff.states import Side, Sides
from talkhouse.schema.sql import insert, literal

BEFORE = " (before)"
"""What stands behind an id of the state before that is left, and that the state after gives to something else."""

_GROUP = ("release", "subset", "split")


class Renumbered(NamedTuple):
    """How many dialogues or records of a corpus have another id."""

    kind: str
    corpus: str
    rows: int


def identify(sides: Sides, corpora: Collection[str]) -> list[Renumbered]:
    """Make the tables ``"?dialogue"``, ``"?record"`` and ``"?speaker"``: ids before and after, where they differ."""
    con = sides.con
    for kind in ("dialogue", "record", "speaker"):
        con.execute(f'create temp table "?{kind}" (corpus varchar, before varchar, after varchar)')
    if not corpora:
        return []
    for side, name in zip(sides, ("before", "after"), strict=True):
        con.execute(f'create temp table "?dialogues {name}" as {_dialogues(side, corpora)}')
    found = _match(con, "dialogue", has_similar=True, sides=sides)
    con.execute(f'insert into "?speaker" {_speakers(sides.before)}')
    for side, name in zip(sides, ("before", "after"), strict=True):
        con.execute(f'create temp table "?records {name}" as {_records(side, corpora, is_before=name == "before")}')
    return found + _match(con, "record", has_similar=False, sides=sides)


def _in(corpora: Iterable[str]) -> str:
    return f"corpus_id in ({', '.join(map(literal, corpora))})"


def _scope(side: Side, table: str, corpora: Collection[str]) -> str:
    """Write the condition of the rows of the corpora that a side is about; of one where it is about a release."""
    return of_release(side, table, next(iter(corpora)))


def _dialogues(side: Side, corpora: Collection[str]) -> str:
    """Write the query of dialogues: a hash of their words, and where and in what order they were first published."""
    return f"""
with
published as (
    select
        dialogue_id,
        {_release(side)} as release,
        subset,
        split,
        row_number() over (order by release, subset, split, source_file_id, record_index, record_id) as number,
    from {side.sql}.main.records
    where dialogue_id is not null and {_in(corpora)} and {_scope(side, "records", corpora)}
),

firsts as (select * from published qualify row_number() over (partition by dialogue_id order by number) = 1),

said as (
    select dialogue_id, hash(list(hash(role, text) order by turn_index)) as content, count(*) as turns
    from {side.sql}.main.turns
    where split_part(dialogue_id, ':', 1) in ({", ".join(map(literal, corpora))}) and {_scope(side, "turns", corpora)}
    group by dialogue_id
)

select
    dialogues.corpus_id as corpus,
    dialogues.dialogue_id as id,
    coalesce(said.content, 0) as content,
    coalesce(said.turns, 0) as size,
    firsts.release,
    firsts.subset,
    firsts.split,
    row_number() over (order by firsts.number, dialogues.dialogue_id) as number,
from {side.sql}.main.dialogues
left join said using (dialogue_id)
left join firsts using (dialogue_id)
where {_in(corpora)} and {_scope(side, "dialogues", corpora)}
"""


def _release(side: Side) -> str:
    """Write the publisher's release of a record; where two are compared, both have one name."""
    return "release" if side.of_release is None else "null::varchar"


def _speakers(side: Side) -> str:
    """Write the query of anonymous speakers that follow their dialogue: their ids begin with its id."""
    return f"""
select
    min("?dialogue".corpus),
    speakers.speaker_id,
    min("?dialogue".after || substr(speakers.speaker_id, len(participants.dialogue_id) + 1)),
from {side.sql}.main.speakers
inner join {side.sql}.main.participants using (speaker_id)
inner join "?dialogue" on "?dialogue".before = participants.dialogue_id
where speakers.is_anonymous and starts_with(speakers.speaker_id, participants.dialogue_id || '/')
group by speakers.speaker_id
"""


_STATED = {
    "annotations": "turn_index, persona_set, persona_position, scheme, annotator_index, item_index, persona_id, label, "
    "value::varchar, extra::varchar",
    "candidates": "turn_index, candidate_set, position, item_index, text_id, persona_id, source, is_gold, "
    "extra::varchar",
    "persona_uses": "turn_index, persona_set, position, persona_id, extra::varchar",
}
"""What a record states that has no dialogue."""


def _records(side: Side, corpora: Collection[str], *, is_before: bool) -> str:
    """Write the query of records: a hash of where their dialogue was published, or of what they state without one."""
    dialogue = 'coalesce("?dialogue".after, records.dialogue_id)' if is_before else "records.dialogue_id"
    mapped = 'left join "?dialogue" on "?dialogue".before = records.dialogue_id' if is_before else ""
    release = _release(side).replace("release", "records.release")
    stated = " union all ".join(
        f"select record_id, hash({literal(table)}, {columns}) as stated from {side.sql}.main.{table} "
        "where dialogue_id is null"
        for table, columns in _STATED.items()
    )
    return f"""
with stated as (select record_id, sum(stated) as stated from ({stated}) group by record_id)

select
    records.corpus_id as corpus,
    records.record_id as id,
    if(
        records.dialogue_id is null,
        hash(subset, {release}, records.native_id, records.extra::varchar, stated.stated),
        hash(subset, {release}, {dialogue})
    ) as content,
    1 as size,
    {release} as release,
    subset,
    split,
    row_number() over (order by {release}, subset, split, source_file_id, record_index, records.record_id) as number,
from {side.sql}.main.records
left join stated on stated.record_id = records.record_id and records.dialogue_id is null
{mapped}
where {_in(corpora)} and {_scope(side, "records", corpora)}
"""


def _match(con: duckdb.DuckDBPyConnection, kind: str, *, has_similar: bool, sides: Sides) -> list[Renumbered]:
    """Find pairs of one kind, the surest first, and write the ids that differ."""
    left = {name: f'"?{kind}s {name}"' for name in ("before", "after")}
    for side in left.values():
        con.execute(f"alter table {side} add column pair bigint")
    _pair(con, left, ("id", "content"))
    _pair(con, left, ("content", *_GROUP), numbered=True)
    _pair(con, left, ("content",), numbered=True)
    if has_similar:
        _pair_similar(con, left, sides)
    _pair(con, left, ("id",))
    before, after = left.values()
    con.execute(f"""
insert into "?{kind}"
select min(before.corpus), before.id, min(coalesce(after.id, before.id || {literal(BEFORE)}))
from {before} as before
left join {after} as after on after.pair = before.pair
where before.id is distinct from after.id and (after.id is not null or before.id in (select id from {after}))
group by before.id
""")
    counted = con.execute(f"""
select before.corpus, count(*)
from {before} as before
inner join {after} as after using (pair)
where before.id <> after.id
group by all
order by all
""")
    return [Renumbered(kind, corpus, rows) for corpus, rows in counted.fetchall()]


def _pair(
    con: duckdb.DuckDBPyConnection, left: dict[str, str], equal: tuple[str, ...], *, numbered: bool = False
) -> None:
    """Pair what is left of both sides and equal in these columns; ``numbered``: the first with the first, and so on.

    What has nothing in it, as a dialogue without turns, is not found by its content. The number of a pair is that of
    its row after.
    """
    names = ", ".join(("corpus", *equal))
    number = f"row_number() over (partition by {names} order by number)" if numbered else "1"
    has_content = "size > 0" if numbered else "true"
    for name, side in left.items():
        con.execute(
            f'create or replace temp table "?left {name}" as '
            f"select {names}, id as row_id, number as place, {number} as nth from {side} "
            f"where pair is null and {has_content}"
        )
    same = " and ".join(f"before.{name} is not distinct from after.{name}" for name in ("corpus", *equal, "nth"))
    con.execute(
        'create or replace temp table "?met" as select before.row_id as before, after.row_id as after, '
        'after.place as pair from "?left before" as before '
        f'inner join "?left after" as after on {same}'
    )
    _write_pairs(con, left)


def _write_pairs(con: duckdb.DuckDBPyConnection, left: dict[str, str]) -> None:
    for name, side in left.items():
        con.execute(f'update {side} as side set pair = met.pair from "?met" as met where met.{name} = side.id')


def _pair_similar(con: duckdb.DuckDBPyConnection, left: dict[str, str], sides: Sides) -> None:
    """Pair dialogues that share at least half of the turns of the longer one, the most alike first.

    Who shares half of a dialogue's turns shares one of any half of them and one more; so only dialogues are compared
    that share one of the rarest such turns of both.
    """
    for side, (name, table) in zip(sides, left.items(), strict=True):
        con.execute(f"""
create or replace temp table "?turns {name}" as
select
    ids.corpus, ids.id, ids.size, ids.number,
    hash(turns.role, turns.text, row_number() over (partition by ids.id, turns.role, turns.text)) as said,
from {table} as ids
inner join {side.sql}.main.turns on turns.dialogue_id = ids.id
where ids.pair is null
""")
    con.execute("""
create or replace temp table "?frequent" as
select corpus, said, count(*) as times
from (select corpus, said from "?turns before" union all select corpus, said from "?turns after")
group by all
""")
    for name in left:
        con.execute(f"""
create or replace temp table "?rare {name}" as
select corpus, id, said
from "?turns {name}"
inner join "?frequent" using (corpus, said)
qualify row_number() over (partition by id order by times, said) <= size // 2 + 1
""")
    rows = con.execute("""
with
met as (
    select distinct corpus, before.id as before, after.id as after
    from "?rare before" as before
    inner join "?rare after" as after using (corpus, said)
)

select
    met.before, met.after, after.number,
from met
inner join "?turns before" as before on before.id = met.before
inner join "?turns after" as after on after.id = met.after and after.said = before.said
group by met.before, met.after, before.size, after.size, before.number, after.number
having 2 * count(*) >= greatest(before.size, after.size)
order by
    count(*) / greatest(before.size, after.size) desc, met.before <> met.after, before.number, after.number
""")
    taken: tuple[set[str], set[str]] = (set(), set())
    pairs = []
    while batch := rows.fetchmany(10_000):
        for before, after, number in batch:
            if before not in taken[0] and after not in taken[1]:
                taken[0].add(before)
                taken[1].add(after)
                pairs.append((before, after, number))
    con.execute('create or replace temp table "?met" (before varchar, after varchar, pair bigint)')
    for start in range(0, len(pairs), 1_000):
        insert(con, '"?met"', pairs[start : start + 1_000])
    _write_pairs(con, left)
