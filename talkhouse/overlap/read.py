"""What a file of an overlap says: the matrix of places, the verdicts on examples, and which of them to leave out."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from talkhouse.export.selection import Filters, LeftOut, select
from talkhouse.overlap.overlap_file import KINDS, SCHEMA, kept_run, open_overlap
from talkhouse.overlap.quotations import RUN
from talkhouse.overlap.request import DROPPED, EVIDENCE, VERDICTS, Unit
from talkhouse.overlap.units import CONTEXT, FAMILIES
from talkhouse.schema.errors import UsageError
from talkhouse.schema.sql import dicts, literal, quoted
from talkhouse.schema.sql_files import sql_of
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.tokens import as_written


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
    """By corpus, task, publisher's release and split, how many examples there are, and how many of each verdict."""
    templates: dict[str, int]
    """How many texts were taken as templates, by units whose pairs were too many; empty: all pairs were compared."""
    worst: list[dict[str, Any]]
    """Some of the worst examples, of a dialogue each: with unit, dialogue_id, turn_index and those of the match."""


def read(path: Path, *, worst: int = 0) -> OverlapSummary:
    """Read a file of an overlap, with so many of the worst examples. Raises what ``open_overlap`` raises."""
    with open_overlap(path) as con:
        return read_from(con, worst=worst)


def read_from(con: duckdb.DuckDBPyConnection, *, worst: int = 0) -> OverlapSummary:
    """Read a file that is open, as ``read`` does."""
    # Not by its view, which may be somebody else's.
    matrix = dicts(con.execute(f"from ({sql_of(__file__, 'matrix')}) order by unit, place, other_unit, other_place"))
    for row in matrix:
        del row["share"]
    (run,) = dicts(con.execute("from main.run"))
    counts = ", ".join(f"count(*) filter (verdict = '{verdict}') as {verdict}" for verdict in VERDICTS)
    verdicts = dicts(con.execute(sql_of(__file__, "verdicts", counts=counts)))
    some = _worst(con, worst) if worst else []
    return OverlapSummary(
        run["warehouse_fingerprint"],
        run["threshold"],
        run["contains"],
        run["against"],
        matrix,
        verdicts,
        run.get("templates", {}),
        some,
    )


_FEW = 3
"""Places that a sentence names."""


def sentences(found: OverlapSummary) -> list[str]:
    """Return the share of each split's examples that repeat a turn there; without verdicts, the share of turns.

    The greatest shares come first.
    """
    shares = []
    for row in found.verdicts:
        repeated = row["dialogue"] + row["both"] + row["turn"]
        split = ", ".join(part for part in (f"{row['corpus_id']}.{row['task']}", row["release"], row["split"]) if part)
        there = " or ".join(found.against) if len(found.against) <= _FEW else f"one of {len(found.against)} places"
        what = "a turn or a whole dialogue" if row["dialogue"] else "a turn"
        shares.append((repeated, row["examples"], f"of the examples of {split}", f"repeat {what} of {there}"))
    if not found.verdicts:
        for row in found.matrix:
            if row["unit"] == row["other_unit"] == Unit.TURN and row["place"] != row["other_place"]:
                parts = f"of the turns of {row['place']}", f"stand in {row['other_place']}"
                shares.append((row["affected"], row["units"] or 0, *parts))
    shares = sorted(
        (share for share in shares if 0 < share[0] <= share[1]), key=lambda share: (-share[0] / share[1], share[2:])
    )
    return [f"{part / whole:.1%} {of} ({part:,} of {whole:,}) {what}." for part, whole, of, what in shares]


def _worst(con: duckdb.DuckDBPyConnection, number: int) -> list[dict[str, Any]]:
    """Return the worst examples, one of each dialogue, with what of them matches: the turn, its context, or all.

    Not of dialogues that stand in both places themselves: the matrix says so.
    """
    ranks = " ".join(f"when '{verdict}' then {rank}" for rank, verdict in enumerate(EVIDENCE))
    return dicts(
        con.execute(sql_of(__file__, "worst", ranks=ranks, verdicts=", ".join(map(literal, EVIDENCE)), number=number))
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
    Unit.CONTEXT: f"""
    select distinct -distance as turn_index, text
    from (
        from bi.context_turns
        where dialogue_id = $1 and turn_index = $2 and distance <= {CONTEXT}
        qualify task = min(task) over ()
    )
    """,
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


MOST_LETTERS = 100_000
"""Of a text that are read; a dialogue may be of any length."""

Spans = list[tuple[int, int]]
"""Parts of a text: where each begins and ends, in order; they do not touch."""


class TextPair(NamedTuple):
    """Units of two places that were compared."""

    unit: str
    place: str
    other_unit: str
    other_place: str


def worst_matches(
    con: duckdb.DuckDBPyConnection, pair: TextPair, number: int, kind: str | None = None
) -> list[dict[str, Any]]:
    """Return the closest and longest matches, from a connection to a file of an overlap; of a kind, or of all.

    Without phrases and what stands in both places itself, and for each text there one of those that repeat it.
    """
    # Two texts of one place are each other's match: of twice as many, half are such.
    rank = f"list_position([{', '.join(map(repr, KINDS))}], kind)"
    order = f"{rank}, similarity desc, words desc, owner, turn_index"
    rows = dicts(
        con.execute(sql_of(__file__, "worst_matches", ranks=order, most=2 * number), {**pair._asdict(), "kind": kind})
    )
    both = dict[frozenset[Any], dict[str, Any]]()
    for row in rows:
        texts = frozenset([(row["owner"], row["turn_index"]), (row["other_owner"], row["other_turn_index"])])
        both.setdefault(texts, row)
    return [*both.values()][:number]


def with_both_texts(
    con: duckdb.DuckDBPyConnection, pair: TextPair, matches: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
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
    """Return the number of tokens in a shingle of a unit."""
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
    """Return the position of each of some parts of a text, which are in order."""
    places, at = [], 0
    text = text.replace("\0", " ")
    for piece in pieces:
        begin = text.index(piece, at)
        at = begin + len(piece)
        places.append((begin, at))
    return places


VERDICTS_IN_SQL = f"{SCHEMA}.main.examples"
"""The table of verdicts of a file that is attached."""


def left_out(
    warehouse: Warehouse, name: str, filters: Filters, path: Path, verdicts: Sequence[str] = DROPPED
) -> LeftOut:
    """Return the rows of a task's view to leave out, with the manifest's entry on them.

    The file of verdicts is attached to the warehouse. Raises UsageError for a view that is no task's.
    """
    selection = select(warehouse, name, filters)
    task = warehouse.task_of(selection.full_name)
    if task not in {example.full_name for example in warehouse.catalogue.examples}:
        raise UsageError(
            f"{selection.full_name} is not a task, and only examples of tasks have verdicts",
            next_step="name a task's view, or one of its splits; see: talkhouse views",
        )
    corpus_id, _, task_name = task.partition(".")
    keys = [column for column in ("release", "split", "example_index") if column in selection.known]
    same = " and ".join(f"judged.{key} is not distinct from {quoted(selection.name, key)}" for key in keys)
    of_task = (
        f"from {VERDICTS_IN_SQL} as judged "
        f"where judged.corpus_id = {literal(corpus_id)} and judged.task = {literal(task_name)} and {same}"
    )
    among = ", ".join(map(literal, verdicts))
    counts = warehouse.con.execute(
        f"select verdict, count(*) from (select (select judged.verdict {of_task}) as verdict "
        f"from {selection.source}{selection.where}) where verdict in ({among}) group by verdict order by verdict"
    ).fetchall()
    return LeftOut(
        f"not exists (select 1 {of_task} and judged.verdict in ({among}))",
        {**about(path), "left_out": {verdict: dict(counts).get(verdict, 0) for verdict in verdicts}},
    )


def about(path: Path) -> dict[str, Any]:
    """Return by what the verdicts of a file are, for a manifest or for programs."""
    run = kept_run(path) or {}
    names = ("against", "threshold", "contains", "warehouse_fingerprint", "rows_sha256")
    return {name: run[name] for name in names}
