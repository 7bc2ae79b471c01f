"""The file of an overlap, ``NAME.overlap.duckdb`` beside ``NAME.duckdb``: its tables, and which file is one of ours.

It holds keys and counts, no text. Somebody else's file is neither read nor changed, and one that was made to harm
reaches nothing: it is opened guarded, and only tables are read.
"""

import os
from pathlib import Path
from typing import Any

import duckdb

from talkhouse.overlap.request import VERDICTS, Unit
from talkhouse.schema.contents import strange
from talkhouse.schema.errors import SchemaMismatch, UsageError
from talkhouse.schema.guard import NO_SETTINGS, Settings
from talkhouse.schema.sql import dicts, literal
from talkhouse.warehouse.beside import columns_of_tables, format_of_run, is_ours, open_beside, path_beside
from talkhouse.warehouse.values_beside import COUNT, FULL, POSITIVE, SHARE, SOME, Values, one_of, or_null

ENDING = ".overlap.duckdb"

SCHEMA = "overlap"
"""The name in SQL that it is attached under."""

FORMAT = 1
"""Number of the format."""

_PLACE = "corpus/release/split, without the release where it has no name; for personas and candidates also a subset."
_BEST = {
    "kind": ("varchar", "Kind of the best match of the {0}; null: it has none."),
    "similarity": ("double", "Its similarity."),
    "place": ("varchar", "Its place."),
    "dialogue_id": ("varchar", "Its dialogue."),
}

TABLES: dict[str, tuple[str, dict[str, tuple[str, str]]]] = {
    "run": (
        "What was compared, one row.",
        {
            "format": ("integer", "Number of the format: which Talkhouse can read this file."),
            "threshold": ("double", "Similarity from which two texts are near."),
            "contains": ("double", "Share of its runs of 8 tokens from which a text is contained."),
            "compared": ("varchar[]", "Units that were compared."),
            "against": ("varchar[]", "Places that examples have verdicts against; empty: there are no verdicts."),
            "warehouse_fingerprint": ("varchar", "Fingerprint of the warehouse that was read."),
            "talkhouse_version": ("varchar", "The Talkhouse that compared."),
            "duckdb_version": ("varchar", "The DuckDB that it used."),
            "rows_sha256": ("varchar", "SHA-256 over the rows hashes of all other tables."),
        },
    ),
    "places": (
        "A place: where units stand.",
        {
            "place": ("varchar", _PLACE),
            "corpus_id": ("varchar", "Its corpus."),
            "release": ("varchar", "Its publisher's release; null: it has no name."),
            "split": (
                "varchar",
                "Its split, by the publisher's own name; null: the place is a subset without a split.",
            ),
            "standard_split": ("varchar", "train, validation, test, or null."),
        },
    ),
    "units": (
        "How much stands in a place, of each kind of unit.",
        {
            "unit": ("varchar", "turn, candidate, context, dialogue or persona."),
            "place": ("varchar", _PLACE),
            "units": ("bigint", "Units there."),
            "owners": ("bigint", "Dialogues, candidate texts or personas that they are of."),
            "distinct_texts": ("bigint", "Different texts, to the character."),
            "distinct_normalised": (
                "bigint",
                "Different texts after normalisation: the same tokens in the same order.",
            ),
            "short_units": ("bigint", "Units of fewer than five words."),
        },
    ),
    "matches": (
        "The best match of a unit in a place; where place and other_place are the same, it is repeated within.",
        {
            "unit": ("varchar", "turn, candidate, context, dialogue or persona."),
            "place": ("varchar", "Where the unit stands."),
            "owner": ("varchar", "Its dialogue_id, text_id (candidate) or persona_id."),
            "turn_index": ("integer", "Its turn, or the turn that its context comes before; null for other units."),
            "other_unit": ("varchar", "What it matches: units of this kind."),
            "other_place": ("varchar", "Where the best match stands."),
            "tokens": ("bigint", "Tokens of the unit."),
            "words": ("bigint", "Its words: tokens, but two letters of a script without blanks count as one."),
            "other_owner": ("varchar", "Owner of the best match."),
            "other_turn_index": ("integer", "Its turn, as turn_index."),
            "kind": ("varchar", "same, exact, normalised, near or contains; the first that holds."),
            "shared": ("bigint", "near: shingles in both; contains: runs of 8 tokens that stand there; else 1."),
            "total": ("bigint", "near: shingles in either; contains: runs of the unit; else 1."),
            "similarity": ("double", "shared / total."),
            "matches": ("bigint", "Units there that are exact, normalised or near, of other owners."),
            "is_phrase": ("boolean", "True: short or stereotyped, and no evidence of anything."),
        },
    ),
    "examples": (
        "What stands in the places of run.against of a task's example that is in none of them.",
        {
            "corpus_id": ("varchar", "Corpus of the task."),
            "task": ("varchar", "Task: the name of its view."),
            "release": ("varchar", "Release."),
            "split": ("varchar", "Split, by the publisher's own name."),
            "example_index": (
                "integer",
                "0-based position within publisher's release, task and split, as in main.examples.",
            ),
            "record_id": ("varchar", "The record that it was made from."),
            "dialogue_id": ("varchar", "Its dialogue."),
            "turn_index": ("integer", "The turn that is labelled or answered; null where it is a whole dialogue."),
            "verdict": ("varchar", "dialogue, both (turn and context), turn, context, phrase, clean or unjudged."),
            **{
                f"{unit}_{name}": (kind, comment.format(unit))
                for unit in ("dialogue", "turn", "context")
                for name, (kind, comment) in {
                    **_BEST,
                    **({} if unit == "dialogue" else {"turn_index": ("integer", "Its turn.")}),
                }.items()
            },
        },
    ),
}
"""Each with its comment, and its columns with type and comment."""

KINDS = ("same", "exact", "normalised", "near", "contains")
"""From the closest; the first that holds is a match's kind."""

_VALUES: Values = {
    "run": {SHARE: ["threshold", "contains"], FULL: ["compared", "against"]},
    "places": {SOME: ["place", "corpus_id"]},
    "units": {one_of(Unit): ["unit"], SOME: ["place"], POSITIVE: ["units"], COUNT: ["owners", "short_units"]},
    "matches": {
        one_of(Unit): ["unit", "other_unit"],
        SOME: ["place", "owner", "other_place", "other_owner", "is_phrase"],
        one_of(KINDS): ["kind"],
        COUNT: ["tokens", "words", "shared", "matches"],
        POSITIVE: ["total"],
    },
    "examples": {
        SOME: ["corpus_id", "task", "example_index"],
        one_of(VERDICTS): ["verdict"],
        or_null(one_of(KINDS)): ["dialogue_kind", "turn_kind", "context_kind"],
    },
}

MATRIX = """
select
    matches.unit,
    matches.place,
    matches.other_unit,
    matches.other_place,
    any_value(units.units) as units,
    count(*) filter (kind = 'same' and not is_phrase) as same,
    count(*) filter (kind = 'exact' and not is_phrase) as exact,
    count(*) filter (kind = 'normalised' and not is_phrase) as normalised,
    count(*) filter (kind = 'near' and not is_phrase) as near,
    count(*) filter (kind = 'contains' and not is_phrase) as contains,
    count(*) filter (is_phrase) as phrases,
    count(*) filter (not is_phrase) as affected,
    affected / any_value(units.units) as share,
from matches
inner join units on units.unit = matches.unit and units.place = matches.place
group by matches.unit, matches.place, matches.other_unit, matches.other_place
"""
_MATRIX_COLUMNS = {
    "unit": "Units of this kind,",
    "place": "in this place,",
    "other_unit": "that match units of this kind",
    "other_place": "in this place.",
    "units": "Units in the place, whether they match or not.",
    "same": "Units that stand in both places themselves.",
    "exact": "Units whose best match is the same to the character; like all kinds here without phrases.",
    "normalised": "Units whose best match has the same tokens in the same order.",
    "near": "Units whose best match is near.",
    "contains": "Units most of whose runs of 8 tokens stand there.",
    "phrases": "Matches that are short or stereotyped, and no evidence.",
    "affected": "Units with a match that is no phrase.",
    "share": "affected / units.",
}


def path_for(warehouse_path: Path) -> Path:
    """Return where the overlap of a warehouse is written."""
    return path_beside(warehouse_path, ENDING)


def path_to_read(warehouse_path: Path) -> Path:
    """Return where the overlap of a warehouse is read.

    Where there is none, that is an ``overlap.duckdb`` of an older Talkhouse, which had one for all warehouses of a
    folder: its fingerprint says of which it is. It is never written.
    """
    path = path_for(warehouse_path)
    older = warehouse_path.resolve().with_name("overlap.duckdb")
    return older if not os.path.lexists(path) and is_ours(older, open_overlap) else path


def create_tables(con: duckdb.DuckDBPyConnection, database: str) -> None:
    """Create the tables and the view in an attached database that is empty; their rows come later."""
    for table, (comment, columns) in TABLES.items():
        name = f"{database}.main.{table}"
        con.execute(f"create table {name} ({', '.join(f'{column} {kind}' for column, (kind, _) in columns.items())})")
        _comment(con, "table", name, comment, {column: words for column, (_, words) in columns.items()})
    # The view names its tables without their database, so that it works under whatever name it is attached.
    con.execute(f"use {database}")
    con.execute(f"create view matrix as {MATRIX}")
    _comment(con, "view", "matrix", "How many units of a place match what stands in another.", _MATRIX_COLUMNS)


def _comment(con: duckdb.DuckDBPyConnection, kind: str, name: str, comment: str, columns: dict[str, str]) -> None:
    con.execute(f"comment on {kind} {name} is {literal(comment)}")
    for column, words in columns.items():
        con.execute(f"comment on column {name}.{column} is {literal(words)}")


def open_overlap(path: Path, settings: Settings = NO_SETTINGS) -> duckdb.DuckDBPyConnection:
    """Open a file of an overlap read-only, in a database of its own, with these settings.

    Raises UsageError for what is none, WarehouseLocked where another process has it open for writing, and
    SchemaMismatch for one of a newer Talkhouse.
    """
    return open_beside(path, _check_content, _VALUES, _not_ours, settings)


def kept_run(path: Path) -> dict[str, Any] | None:
    """Return the row of the table ``run``; None where there is no file. Raises what ``open_overlap`` raises."""
    if not os.path.lexists(path):
        return None
    with open_overlap(path) as con:
        (row,) = dicts(con.execute("from main.run"))
    return row


def attachable(warehouse_path: Path) -> dict[str, Path]:
    """Return the overlap of a warehouse by the name that it is attached under; nothing where there is none of ours."""
    path = path_to_read(warehouse_path)
    return {SCHEMA: path} if is_ours(path, open_overlap) else {}


def _check_content(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Raise UsageError where the tables are not those that Talkhouse makes."""
    if what := strange(con):
        raise _not_ours(path, what)
    tables = columns_of_tables(con)
    if (number := format_of_run(con, path, tables, _not_ours)) > FORMAT:
        raise SchemaMismatch(
            "the overlap is of a newer Talkhouse than this",
            where=path,
            expected=f"format {FORMAT}",
            found=f"format {number}",
            next_step="upgrade Talkhouse, or move the file away",
        )
    for table, (_, columns) in TABLES.items():
        if tables.get(table) != {column: kind.upper() for column, (kind, _) in columns.items()}:
            raise _not_ours(path, f"a database without the table {table} that Talkhouse makes")


def _not_ours(path: Path, found: str) -> UsageError:
    return UsageError(
        "this is not a file that talkhouse overlap made, and was left as it is",
        where=path,
        expected="no file, or one of ours",
        found=found,
        next_step="move it away, name another with --output FILE, or replace it with --force",
    )
