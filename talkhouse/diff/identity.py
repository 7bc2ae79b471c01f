"""Matches dialogues, records and speakers of the state before with those of the state after, whatever their ids.

A key that is a place moves when a record is inserted before others. So dialogues are matched by content first.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

import duckdb

from talkhouse.diff.relations import of_release
from talkhouse.diff.states import Side, Sides
from talkhouse.schema.sql import insert, literal
from talkhouse.schema.sql_files import sql_of

BEFORE = " (before)"
"""The suffix of an id of the state before that is unmatched, and that the state after gives to something else."""

_GROUP = ("release", "subset", "split")


class Renumbered(NamedTuple):
    """The number of dialogues or records of a corpus with another id."""

    kind: str
    corpus: str
    rows: int


def identify(sides: Sides, corpora: Collection[str]) -> list[Renumbered]:
    """Make the tables ``"?dialogue"``, ``"?record"`` and ``"?speaker"``: ids before and after, if they differ."""
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
    """Write the condition of the rows of the corpora that a side is about; of one if it is about a release."""
    return of_release(side, table, next(iter(corpora)))


def _dialogues(side: Side, corpora: Collection[str]) -> str:
    """Write the query of dialogues: a hash of their words, and the place and order of their first publication."""
    return sql_of(
        __file__,
        "identity_dialogues",
        side=side.sql,
        release=_release(side),
        corpora=", ".join(map(literal, corpora)),
        of_corpora=_in(corpora),
        **{f"of_{table}": _scope(side, table, corpora) for table in ("records", "turns", "dialogues")},
    )


def _release(side: Side) -> str:
    """Write the publisher's release of a record; if two are compared, both have one name."""
    return "release" if side.of_release is None else "null::varchar"


def _speakers(side: Side) -> str:
    """Write the query of anonymous speakers that follow their dialogue: their ids begin with its id."""
    return sql_of(__file__, "identity_speakers", side=side.sql)


_STATED = {
    "annotations": "turn_index, persona_set, persona_position, scheme, annotator_index, item_index, persona_id, label, "
    "value::varchar, extra::varchar",
    "candidates": "turn_index, candidate_set, position, item_index, text_id, persona_id, source, is_gold, "
    "extra::varchar",
    "persona_uses": "turn_index, persona_set, position, persona_id, extra::varchar",
}
"""The contents of a record without a dialogue."""


def _records(side: Side, corpora: Collection[str], *, is_before: bool) -> str:
    """Write the query of records: a hash of the publication of their dialogue, or of their contents without one."""
    dialogue = 'coalesce("?dialogue".after, records.dialogue_id)' if is_before else "records.dialogue_id"
    mapped = 'left join "?dialogue" on "?dialogue".before = records.dialogue_id' if is_before else ""
    release = _release(side).replace("release", "records.release")
    stated = " union all ".join(
        f"select record_id, hash({literal(table)}, {columns}) as stated from {side.sql}.main.{table} "
        "where dialogue_id is null"
        for table, columns in _STATED.items()
    )
    return sql_of(
        __file__,
        "identity_records",
        side=side.sql,
        stated=stated,
        release=release,
        dialogue=dialogue,
        mapped=mapped,
        of_corpora=_in(corpora),
        of_records=_scope(side, "records", corpora),
    )


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
    con.execute(sql_of(__file__, "renumbered_ids", kind=kind, ending=literal(BEFORE), before=before, after=after))
    counted = con.execute(sql_of(__file__, "renumbered_counts", before=before, after=after))
    return [Renumbered(kind, corpus, rows) for corpus, rows in counted.fetchall()]


def _pair(
    con: duckdb.DuckDBPyConnection, left: dict[str, str], equal: tuple[str, ...], *, numbered: bool = False
) -> None:
    """Pair remaining rows of both sides that are equal in these columns; ``numbered``: in their order.

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

    A dialogue that shares half of another's turns shares one of any half of them plus one; so only those are compared
    that share one of the rarest such turns of both.
    """
    for side, (name, table) in zip(sides, left.items(), strict=True):
        con.execute(sql_of(__file__, "similar_turns", name=name, table=table, warehouse=side.sql))
    con.execute(sql_of(__file__, "similar_frequent"))
    for name in left:
        con.execute(sql_of(__file__, "similar_rare", name=name))
    rows = con.execute(sql_of(__file__, "similar_dialogues"))
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
