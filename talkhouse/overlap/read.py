"""What a file of an overlap says: the matrix of places, and the verdicts on examples."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from talkhouse.overlap.overlap_file import MATRIX, open_overlap
from talkhouse.overlap.request import EVIDENCE, VERDICTS
from talkhouse.overlap.units import CONTEXT
from talkhouse.schema.sql import dicts


@dataclass(frozen=True)
class Found:
    """What was found."""

    threshold: float
    contains: float
    against: list[str]
    matrix: list[dict[str, Any]]
    verdicts: list[dict[str, Any]]
    """By corpus, task, release and split, how many examples there are, and how many of each verdict."""
    worst: list[dict[str, Any]]
    """Some of the worst examples, of a dialogue each: with unit, dialogue_id, turn_index and those of the match."""


def read(path: Path, *, worst: int = 0) -> Found:
    """Read a file of an overlap, with so many of the worst examples. Raises what ``open_overlap`` raises."""
    with open_overlap(path) as con:
        # Not by its view, which may be somebody else's.
        matrix = dicts(con.execute(f"from ({MATRIX}) order by unit, place, other_unit, other_place"))
        for row in matrix:
            del row["share"]
        ((threshold, contains, against),) = con.execute("select threshold, contains, against from main.run").fetchall()
        counts = ", ".join(f"count(*) filter (verdict = '{verdict}') as {verdict}" for verdict in VERDICTS)
        verdicts = dicts(
            con.execute(f"""
select corpus_id, task, release, split, count(*) as examples, {counts}
from main.examples
group by corpus_id, task, release, split
order by corpus_id, task, release nulls first, split nulls first
""")
        )
        return Found(threshold, contains, against, matrix, verdicts, _worst(con, worst) if worst else [])


def _worst(con: duckdb.DuckDBPyConnection, number: int) -> list[dict[str, Any]]:
    """Return the worst examples, one of each dialogue, with what of them matches: the turn, its context, or all.

    Not of dialogues that stand in both places themselves: the matrix says so.
    """
    ranks = " ".join(f"when '{verdict}' then {rank}" for rank, verdict in enumerate(EVIDENCE))
    return dicts(
        con.execute(f"""
with
evidence as (
    select *, case verdict {ranks} end as rank, if(verdict = 'both', 'turn', verdict) as unit
    from main.examples
    where verdict in ({", ".join(f"'{verdict}'" for verdict in EVIDENCE)})
)

select
    evidence.corpus_id,
    evidence.task,
    evidence.release,
    evidence.split,
    evidence.example_index,
    evidence.dialogue_id,
    evidence.turn_index,
    evidence.verdict,
    evidence.unit,
    matches.kind,
    matches.shared,
    matches.total,
    matches.other_place,
    matches.other_owner,
    matches.other_turn_index,
from evidence
inner join main.places
    on places.corpus_id = evidence.corpus_id
    and places.release is not distinct from evidence.release
    and places.split is not distinct from evidence.split
inner join main.matches
    on matches.unit = evidence.unit
    and matches.place = places.place
    and matches.owner = evidence.dialogue_id
    and matches.turn_index is not distinct from if(evidence.unit = 'dialogue', null, evidence.turn_index)
    and matches.other_unit = evidence.unit
    and matches.other_place
    = case evidence.unit when 'turn' then turn_place when 'context' then context_place else dialogue_place end
where matches.kind <> 'same'
qualify row_number() over (
    partition by evidence.dialogue_id order by rank, similarity desc, words desc, task, example_index
) = 1
order by rank, matches.similarity desc, matches.words desc, evidence.dialogue_id
limit {number}
""")
    )


def with_texts(con: duckdb.DuckDBPyConnection, worst: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the worst examples with their ``text`` and ``other_text``, from a connection to the warehouse."""
    return [
        {
            **row,
            "text": _text(con, row["unit"], row["dialogue_id"], row["turn_index"]),
            "other_text": _text(con, row["unit"], row["other_owner"], row["other_turn_index"]),
        }
        for row in worst
    ]


def _text(con: duckdb.DuckDBPyConnection, unit: str, dialogue_id: str, turn_index: int | None) -> str:
    """Return the text of a turn, of the turns before it, or of a dialogue."""
    turns = "select turn_index, text from main.turns where dialogue_id = $1"
    if unit == "turn":
        turns += f" and turn_index = {turn_index}"
    elif unit == "context":
        turns += f" and turn_index < {turn_index} order by turn_index desc limit {CONTEXT}"
    rows = con.execute(f"select text from ({turns}) order by turn_index", [dialogue_id]).fetchall()
    return "\n".join(text for (text,) in rows)
