"""Dialogues that the page shows: of each corpus the one that its annotators disagree on most, and those of headlines.

Which they are depends on the rows alone. Their texts are there only where the licence asks no more than to name the
authors, as ``talkhouse export`` gives such rows without being asked to accept terms.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import duckdb

from talkhouse.charts.headlines import Said
from talkhouse.query.selection import select
from talkhouse.query.terms import parts_of
from talkhouse.report.votes import Part, Scheme, bar
from talkhouse.schema.sql import dicts
from talkhouse.warehouse.opened import Warehouse

_BEFORE, _AFTER = 3, 2
"""Turns around the one that the example is about."""

_LETTERS = 280
"""Of a turn's text that are shown at most."""

_TEXTS = "main.turns"

# Rounded: threads add up in any order, and turns with the same votes would differ in the last digits.
_DISPUTED = """
with disputed as (
    select
        dialogue_id, record_id, turn_index, scheme, round(entropy, 9) as bits,
        count(*) over (partition by round(entropy, 9)) as tied_count,
    from bi.turn_agreement
    where corpus_id = $corpus and is_default and turn_index is not null and entropy > 0
)

select dialogue_id, turn_index, scheme, bits, tied_count
from disputed
order by bits desc, dialogue_id, turn_index, scheme, record_id
limit 1
"""

_USUAL = """
with counted as (
    select dialogue_id, count(*) as turn_count from bi.turns where corpus_id = $corpus group by dialogue_id
)

select dialogue_id, turn_count
from counted
order by abs(turn_count - (select quantile_disc(turn_count, 0.5) from counted)), dialogue_id
limit 1
"""

_TURNS = """
select turn_index, coalesce(speaker_name, speaker_id, role) as speaker, left(text, $most + 1) as text
from bi.turns
where dialogue_id = $dialogue and turn_index between $first and $last
order by turn_index
"""

_VOTES = """
select turn_index, scheme, label, sum(vote_count)::bigint as vote_count
from bi.label_counts
where dialogue_id = $dialogue and is_default and turn_index between $first and $last
group by turn_index, scheme, label
order by turn_index, scheme, label
"""


@dataclass(frozen=True)
class Turn:
    """A turn of an example."""

    turn_index: int
    speaker: str
    text: str
    is_cut: bool
    bars: dict[str, list[Part]]
    """Scheme with several votes -> how often each label was given."""
    labels: list[tuple[str, str, str]]
    """Scheme, label and meaning, where one was given."""


@dataclass(frozen=True)
class Example:
    """A part of a dialogue."""

    id: str
    corpus_id: str
    dialogue_id: str
    turn_index: int | None
    """The turn that it is about."""
    why: str
    turns: list[Turn]
    withheld: str = ""
    """Why no texts are shown."""


def examples(
    warehouse: Warehouse, corpora: Iterable[str], said: Iterable[Said], known: dict[str, Scheme]
) -> list[Example]:
    """Return the examples of all corpora, each dialogue once."""
    con = warehouse.con
    chosen: dict[str, tuple[str, int | None, str]] = {}
    for corpus_id in corpora:
        if found := _disputed(con, corpus_id) or _usual(con, corpus_id):
            chosen[found[0]] = (corpus_id, *found[1:])
    for one in said:
        if one.dialogue_id and one.dialogue_id not in chosen:
            rows = con.execute("select corpus_id from main.dialogues where dialogue_id = ?", [one.dialogue_id])
            chosen |= {one.dialogue_id: (row[0], one.turn_index, one.text) for row in rows.fetchall()}
    asked = _asked(warehouse)
    return [
        _example(con, f"example-{number}", dialogue_id, *about, asked, known)
        for number, (dialogue_id, about) in enumerate(sorted(chosen.items(), key=lambda one: (one[1][0], one[0])), 1)
    ]


def places(shown: Iterable[Example]) -> dict[str, str]:
    """Return the anchor of each dialogue that is shown."""
    return {one.dialogue_id: one.id for one in shown}


def _asked(warehouse: Warehouse) -> dict[str, str]:
    """Return what the terms of texts ask of their users, by corpus, where it is more than to name the authors."""
    asked: dict[str, set[str]] = {}
    for part in parts_of(warehouse, [select(warehouse, _TEXTS)]):
        if more := {*part.flags} - {"attribution"}:
            asked.setdefault(part.corpus_id, set()).update(flag.replace("_", "-") for flag in more)
    return {corpus_id: ", ".join(sorted(flags)) for corpus_id, flags in asked.items()}


def _disputed(con: duckdb.DuckDBPyConnection, corpus_id: str) -> tuple[str, int | None, str] | None:
    for dialogue_id, turn_index, scheme, bits, tied_count in con.execute(_DISPUTED, {"corpus": corpus_id}).fetchall():
        tied = f"; the first by its id of {tied_count:,} turns that tie" if tied_count > 1 else ""
        why = f"Turn {turn_index} has the most disagreement on {scheme}: an entropy of {bits:.2f} bits{tied}."
        return dialogue_id, turn_index, why
    return None


def _usual(con: duckdb.DuckDBPyConnection, corpus_id: str) -> tuple[str, int | None, str] | None:
    for dialogue_id, turn_count in con.execute(_USUAL, {"corpus": corpus_id}).fetchall():
        return dialogue_id, None, f"A dialogue of median length ({turn_count:,} turns), the first of these by its id."
    return None


def _example(
    con: duckdb.DuckDBPyConnection,
    name: str,
    dialogue_id: str,
    corpus_id: str,
    turn_index: int | None,
    why: str,
    asked: dict[str, str],
    known: dict[str, Scheme],
) -> Example:
    if corpus_id in asked:
        return Example(name, corpus_id, dialogue_id, turn_index, why, [], asked[corpus_id])
    first = max((turn_index or 0) - _BEFORE, 0)
    range_ = {"dialogue": dialogue_id, "first": first, "last": (turn_index or _BEFORE) + _AFTER}
    votes: dict[int, dict[str, dict[str, int]]] = {}
    for index, scheme, label, count in con.execute(_VOTES, range_).fetchall():
        votes.setdefault(index, {}).setdefault(scheme, {})[label or ""] = count
    turns = [
        _turn(row, votes.get(row["turn_index"], {}), known)
        for row in dicts(con.execute(_TURNS, {**range_, "most": _LETTERS}))
    ]
    return Example(name, corpus_id, dialogue_id, turn_index, why, turns)


def _turn(row: dict[str, Any], votes: dict[str, dict[str, int]], known: dict[str, Scheme]) -> Turn:
    text = row["text"] or ""
    several = {scheme: counts for scheme, counts in votes.items() if sum(counts.values()) > 1}
    alone = [(scheme, label) for scheme, counts in votes.items() if scheme not in several for label in counts]
    return Turn(
        row["turn_index"],
        row["speaker"],
        text[:_LETTERS],
        len(text) > _LETTERS,
        {scheme: bar(known[scheme], counts) for scheme, counts in several.items()},
        [(scheme, label, known[scheme].meanings.get(label, "")) for scheme, label in alone],
    )
