"""What a file of an overlap says: the matrix of places, and the verdicts on examples."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from talkhouse.overlap.overlap_file import MATRIX, open_overlap
from talkhouse.overlap.request import EVIDENCE, VERDICTS, Unit
from talkhouse.overlap.units import CONTEXT
from talkhouse.schema.sql import dicts


@dataclass(frozen=True)
class OverlapSummary:
    """What an overlap comes to: the matrix, the verdicts, and the worst examples."""

    fingerprint: str
    """Of the warehouse that was read."""
    threshold: float
    contains: float
    against: list[str]
    matrix: list[dict[str, Any]]
    verdicts: list[dict[str, Any]]
    """By corpus, task, release and split, how many examples there are, and how many of each verdict."""
    worst: list[dict[str, Any]]
    """Some of the worst examples, of a dialogue each: with unit, dialogue_id, turn_index and those of the match."""


def read(path: Path, *, worst: int = 0) -> OverlapSummary:
    """Read a file of an overlap, with so many of the worst examples. Raises what ``open_overlap`` raises."""
    with open_overlap(path) as con:
        return read_from(con, worst=worst)


def read_from(con: duckdb.DuckDBPyConnection, *, worst: int = 0) -> OverlapSummary:
    """Read a file that is open, as ``read`` does."""
    # Not by its view, which may be somebody else's.
    matrix = dicts(con.execute(f"from ({MATRIX}) order by unit, place, other_unit, other_place"))
    for row in matrix:
        del row["share"]
    query = "select warehouse_fingerprint, threshold, contains, against from main.run"
    ((fingerprint, threshold, contains, against),) = con.execute(query).fetchall()
    counts = ", ".join(f"count(*) filter (verdict = '{verdict}') as {verdict}" for verdict in VERDICTS)
    verdicts = dicts(
        con.execute(f"""
select corpus_id, task, release, split, count(*) as examples, {counts}
from main.examples
group by corpus_id, task, release, split
order by corpus_id, task, release nulls first, split nulls first
""")
    )
    some = _worst(con, worst) if worst else []
    return OverlapSummary(fingerprint, threshold, contains, against, matrix, verdicts, some)


_FEW = 3
"""Places that a sentence names."""


def sentences(found: OverlapSummary) -> list[str]:
    """Return what share of the examples of each split repeats a turn there; without verdicts, what share of turns.

    The greatest shares come first.
    """
    shares = []
    for row in found.verdicts:
        repeated = row["dialogue"] + row["both"] + row["turn"]
        split = ", ".join(one for one in (f"{row['corpus_id']}.{row['task']}", row["release"], row["split"]) if one)
        there = " or ".join(found.against) if len(found.against) <= _FEW else f"one of {len(found.against)} places"
        what = "a turn or a whole dialogue" if row["dialogue"] else "a turn"
        shares.append((repeated, row["examples"], f"of the examples of {split}", f"repeat {what} of {there}"))
    if not found.verdicts:
        for row in found.matrix:
            if row["unit"] == row["other_unit"] == Unit.TURN and row["place"] != row["other_place"]:
                said = f"of the turns of {row['place']}", f"stand in {row['other_place']}"
                shares.append((row["affected"], row["units"] or 0, *said))
    shares = sorted((one for one in shares if 0 < one[0] <= one[1]), key=lambda one: (-one[0] / one[1], one[2:]))
    return [f"{part / whole:.1%} {of} ({part:,} of {whole:,}) {what}." for part, whole, of, what in shares]


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
            "text": text_of(con, row["unit"], row["dialogue_id"], row["turn_index"]),
            "other_text": text_of(con, row["unit"], row["other_owner"], row["other_turn_index"]),
        }
        for row in worst
    ]


_TURNS = "select turn_index, text from main.turns where dialogue_id = $1"
_TEXTS = {
    Unit.TURN: f"{_TURNS} and turn_index = $2",
    Unit.CONTEXT: f"{_TURNS} and turn_index < $2 order by turn_index desc limit {CONTEXT}",
    Unit.DIALOGUE: _TURNS,
    Unit.CANDIDATE: "select 0 as turn_index, text from main.texts where text_id = $1",
    Unit.PERSONA: "select 0 as turn_index, text from main.personas where persona_id = $1",
}


def text_of(con: duckdb.DuckDBPyConnection, unit: str, owner: str, turn_index: int | None) -> str:
    """Return the text of a unit, from a connection to the warehouse; empty where it is not there."""
    query = _TEXTS[Unit(unit)]
    values = [owner, turn_index] if "$2" in query else [owner]
    rows = con.execute(f"select text from ({query}) order by turn_index", values).fetchall()
    return "\n".join(text for (text,) in rows if text is not None)
