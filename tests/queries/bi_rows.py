"""What tests of the views for BI tools share: rows as dicts, groups of them, and invented labels."""

from collections import defaultdict
from typing import Any

import duckdb

from talkhouse.queries.catalogue import BI, catalogue
from talkhouse.schema.sql import dicts

Row = dict[str, Any]
VIEWS = [view for view in catalogue().views if view.schema == BI]
UNIT = ("record_id", "turn_index", "persona_set", "persona_position", "scheme")
PART = ("corpus_id", "release", "is_default", "split", "subset")

A_CORPUS = """
insert into main.corpora by name
select 'toy' as corpus_id, 'Toy' as title, '' as description, '' as homepage, 'none' as licence, '' as terms,
    '' as citation, 'en' as languages, 1 as reader_version, false as is_sample
"""
"""A corpus that no code knows, as a row."""


def read(con: duckdb.DuckDBPyConnection, query: str) -> list[Row]:
    return dicts(con.execute(query))


def by(rows: list[Row], *columns: str) -> dict[Any, Row]:
    """Key rows by one column or several, which must tell them apart."""
    found = {row[columns[0]] if len(columns) == 1 else tuple(row[name] for name in columns): row for row in rows}
    assert len(found) == len(rows)
    return found


def grouped(rows: list[Row], *columns: str) -> dict[tuple[Any, ...], list[Row]]:
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in columns)].append(row)
    return groups


def total(rows: list[Row], column: str) -> Any:
    """Add up a column; nulls add nothing."""
    return sum(row[column] or 0 for row in rows)


def records_of(con: duckdb.DuckDBPyConnection) -> dict[str, Row]:
    """Key the records by their ids, each with whether it is in the default publication of its dialogue."""
    order = {(row["corpus_id"], row["release"]): row["release_index"] for row in read(con, "from main.releases")}
    records = read(con, "from main.records")
    places = grouped([row for row in records if (row["corpus_id"], row["release"]) in order], "dialogue_id")
    for row in records:
        rivals = places.get((row["dialogue_id"],), []) if row["dialogue_id"] else []
        first = (
            min((order[other["corpus_id"], other["release"]], other["release"]) for other in rivals) if rivals else None
        )
        row["is_default"] = first is None or first[1] == row["release"]
    return by(records, "record_id")


def several_at_once(con: duckdb.DuckDBPyConnection) -> set[str]:
    """Name the schemes whose labels go together, by declaration or else by what occurs."""
    kinds = {row["scheme"]: row["kind"] for row in read(con, "from main.schemes")}
    occurring = {row["scheme"] for row in read(con, "from main.annotations where item_index > 0")}
    return {
        scheme
        for scheme, kind in kinds.items()
        if (kind or "") not in ("", "single_label") or (not kind and scheme in occurring)
    }


def label_of(row: Row) -> str | None:
    label: str | None = row["label"]
    return label if label is not None or row["value"] is None else str(row["value"])


def rate(con: duckdb.DuckDBPyConnection, records: dict[str, list[list[str | None]]], extra: str = "{}") -> None:
    """Let each record hold these units, a turn each, with one label per annotator; None: not labelled.

    A record is named toy/<release>/<subset>, where '-' stands for a release without a name.
    """
    for table in ("records", "annotations"):
        con.execute(f"delete from main.{table}")
    con.executemany(
        "insert into main.records (record_id, corpus_id, release, split, subset, record_index, source_file_id, "
        "source_pointer, extra) values (?, 'toy', nullif(?, '-'), 'train', ?, 0, 'f', '', ?)",
        [(record_id, *record_id.split("/")[1:], extra) for record_id in records],
    )
    con.executemany(
        "insert into main.annotations (record_id, turn_index, scheme, annotator_index, item_index, annotator_id, label)"
        " values (?, ?, 'toy.mood', ?, 0, ?, ?)",
        [
            (record_id, turn, annotator, f"a{annotator}", label)
            for record_id, units in records.items()
            for turn, unit in enumerate(units)
            for annotator, label in enumerate(unit)
            if label is not None
        ]
        or [("toy/none/0", 0, 0, "", None)],
    )
