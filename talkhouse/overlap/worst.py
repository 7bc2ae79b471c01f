"""The worst matches of two places: each with both texts, and where in them the same stands."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import duckdb

from talkhouse.overlap.forms import as_written
from talkhouse.overlap.overlap_file import KINDS
from talkhouse.overlap.quotations import RUN
from talkhouse.overlap.read import text_of
from talkhouse.overlap.units import FAMILIES
from talkhouse.schema.sql import dicts

MOST_LETTERS = 100_000
"""Of a text that are read; a dialogue may be of any length."""

Spans = list[tuple[int, int]]
"""Parts of a text: where each begins and ends, in order; they do not touch."""


class Pair(NamedTuple):
    """Units of two places that were compared."""

    unit: str
    place: str
    other_unit: str
    other_place: str


def worst_matches(
    con: duckdb.DuckDBPyConnection, pair: Pair, number: int, kind: str | None = None
) -> list[dict[str, Any]]:
    """Return the closest and longest matches, from a connection to a file of an overlap; of a kind, or of all.

    Without phrases and what stands in both places itself, and for each text there one of those that repeat it.
    """
    # Two texts of one place are each other's match: of twice as many, half are such.
    rank = f"list_position([{', '.join(map(repr, KINDS))}], kind)"
    order = f"{rank}, similarity desc, words desc, owner, turn_index"
    rows = dicts(
        con.execute(
            f"""
select owner, turn_index, other_owner, other_turn_index, kind, shared, total
from main.matches
where
    unit = $unit and place = $place and other_unit = $other_unit and other_place = $other_place
    and not is_phrase and kind <> 'same' and ($kind is null or kind = $kind)
qualify row_number() over (partition by other_owner, other_turn_index order by {order}) = 1
order by {order}
limit {2 * number}
""",
            {**pair._asdict(), "kind": kind},
        )
    )
    both = dict[frozenset[Any], dict[str, Any]]()
    for row in rows:
        texts = frozenset([(row["owner"], row["turn_index"]), (row["other_owner"], row["other_turn_index"])])
        both.setdefault(texts, row)
    return [*both.values()][:number]


def with_texts(con: duckdb.DuckDBPyConnection, pair: Pair, matches: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return matches with both texts and the parts that they share, from a connection to the warehouse."""
    found = []
    for match in matches:
        text = text_of(con, pair.unit, match["owner"], match["turn_index"])[:MOST_LETTERS]
        other = text_of(con, pair.other_unit, match["other_owner"], match["other_turn_index"])[:MOST_LETTERS]
        length = RUN if match["kind"] == "contains" else shingle_of(pair.unit)
        spans, other_spans = ([(0, len(text))],) * 2 if text == other else shared_spans(con, text, other, length)
        found.append({**match, "text": text, "other_text": other, "spans": spans, "other_spans": other_spans})
    return found


def shingle_of(unit: str) -> int:
    """Return how many tokens a shingle of a unit has."""
    return next(family.shingle for family in FAMILIES if unit in family.units)


def shared_spans(con: duckdb.DuckDBPyConnection, text: str, other: str, length: int) -> tuple[Spans, Spans]:
    """Return the parts of two texts that are made of runs of so many tokens, or of all where there are fewer."""
    (rows,) = con.execute(f"select {as_written('$1::varchar')}, {as_written('$2::varchar')}", [text, other]).fetchall()
    tokens = [[(token, index) for index, piece in enumerate(row) for token in piece["tokens"]] for row in rows]
    length = max(min(length, *map(len, tokens)), 1)
    runs = [
        [tuple(token for token, _ in of_text[at : at + length]) for at in range(len(of_text) - length + 1)]
        for of_text in tokens
    ]
    common = {*runs[0]} & {*runs[1]}
    found = []
    for written, pieces, of_text, of_runs in zip((text, other), rows, tokens, runs, strict=True):
        places = _places(written, [piece["written"] for piece in pieces])
        joined: Spans = []
        for at, run in enumerate(of_runs):
            if run in common:
                begin, end = places[of_text[at][1]][0], places[of_text[at + length - 1][1]][1]
                if joined and begin <= joined[-1][1]:
                    begin, _ = joined.pop()
                joined.append((begin, end))
        found.append(joined)
    return found[0], found[1]


def _places(text: str, pieces: Sequence[str]) -> Spans:
    """Return where each of some parts of a text stands in it; they are in order."""
    places, at = [], 0
    text = text.replace("\0", " ")
    for piece in pieces:
        begin = text.index(piece, at)
        at = begin + len(piece)
        places.append((begin, at))
    return places
