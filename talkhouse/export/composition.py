"""What the rows of a selection are of: corpora, publisher's releases, splits, subsets, languages; repeated turns.

A corpus that was published several times has a turn once for each time, perhaps with other labels: whoever trains on
all of them, or splits them anew, should know.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import duckdb

from talkhouse.export.selection import Selection
from talkhouse.queries.foreign_sql import parse, write
from talkhouse.schema.sql import dicts, literal, quoted
from talkhouse.warehouse.opened import Warehouse

_CORPUS_KEYS = ("corpus_id", "record_id", "dialogue_id", "scheme", "persona_id", "text_id", "speaker_id")
"""Columns that name the corpus of a row, the surest first; all but the first are keys that begin with its id."""
_BEHIND_THE_ID = {"record_id": "/", "scheme": "."}
"""What stands behind the id of the corpus in a key; a colon in all others."""


def corpora_of(warehouse: Warehouse, selection: Selection) -> list[dict[str, Any]]:
    """Return the corpora whose rows are selected; all in the warehouse where no column names them."""
    own = [corpus for corpus in warehouse.corpora if corpus["corpus_id"] == selection.schema]
    key = key_of(selection.known)
    if own or key is None:
        return own or warehouse.corpora
    rows = selection.rows([key])
    named = warehouse.con.execute(f"select distinct {owner(key)} from ({rows})").fetchall()
    return [corpus for corpus in warehouse.corpora if (corpus["corpus_id"],) in named]


def key_of(columns: Collection[str]) -> str | None:
    """Return the one of the columns that names the corpus of each row, or None."""
    return next((column for column in _CORPUS_KEYS if column in columns), None)


def owner(key: str) -> str:
    """Return the SQL expression of the corpus that a key names."""
    return f"regexp_extract({quoted(key)}, {literal('^[a-z][a-z0-9_]*')})"


def is_of(key: str, corpus_id: str) -> str:
    """Return the SQL condition, short enough to be typed, by which a key names a corpus."""
    if key == "corpus_id":
        return f"{key} = {literal(corpus_id)}"
    return f"starts_with({key}, {literal(corpus_id + _BEHIND_THE_ID.get(key, ':'))})"


def rows_behind(sql: str) -> str | None:
    """Return a query of the rows behind another one; None for what is no single SELECT from somewhere."""
    tree = parse(sql)
    statements = tree.get("statements") or []
    if len(statements) != 1 or statements[0]["node"]["type"] != "SELECT_NODE":
        return None
    node = statements[0]["node"]
    if node["from_table"]["type"] == "EMPTY":
        return None
    # What is selected, and all that follows WHERE, are those of a query that has nothing else.
    whole = parse("select * from main.corpora")["statements"][0]["node"]
    parts = {key: node[key] for key in ("cte_map", "from_table", "where_clause", "sample")}
    statements[0]["node"] = {**whole, **parts}
    try:
        return write(tree)
    except duckdb.SerializationException:  # nested deeper than DuckDB writes
        return None


_COLUMNS = ("release", "split", "subset", "language")
_LAST = ("language", "subset", "split")
"""The columns that are left out where there are too many values together, one after the other."""
_MOST = 100
"""Rows of a composition."""
_SHOWN = 8
"""Values that a note lists."""

_PUBLISHED = ("release", "split", "subset")
"""What sets two publications of a turn apart: rows that agree in all of them are meant to be several."""

_KEYS = ("task", "dialogue_id", "turn_index", "item_index")
"""What names a turn, or the part of it that an example is about, among the examples of a task."""

Composition = list[dict[str, Any]]
"""How many rows there are of each combination of values, in the keys ``release``, ``split``, ``subset``, ``language``
and ``rows``; a key is missing where the view has no such column."""


def composition(warehouse: Warehouse, selection: Selection) -> Composition:
    """Return the origin of the selected rows; empty if they are not of records or dialogues, or name none.

    With more than 100 combinations, languages are not told apart, then neither subsets nor splits.
    """
    is_of_corpora = not {"record_id", "dialogue_id"}.isdisjoint(selection.known)
    left = [column for column in _COLUMNS if column in selection.known and is_of_corpora]
    for column in ("", *_LAST):
        left = [name for name in left if name != column]
        if not left:
            break
        names = ", ".join(map(quoted, left))
        counted = dicts(
            warehouse.con.execute(
                f"select {names}, count(*) as rows from ({selection.rows(left)}) group by all "
                f"order by {', '.join(f'{quoted(name)} nulls first' for name in left)} limit {_MOST + 1}"
            )
        )
        if len(counted) <= _MOST:
            return counted
    return []


def notes(of: Composition) -> list[str]:
    """Return the publisher's releases, splits, subsets and languages of the rows, wherever there are several."""
    lines = []
    for column in _COLUMNS:
        rows = Counter[str]()
        for part in of:
            if column in part:
                rows["(none)" if part[column] is None else part[column]] += part["rows"]
        if len(rows) > 1:
            values = [f"{value} {count:,}" for value, count in rows.most_common(_SHOWN)]
            more = [f"{len(rows) - _SHOWN:,} more"] if len(rows) > _SHOWN else []
            lines.append(f"rows by {column}: {', '.join([*values, *more])}")
    return lines


def warnings(warehouse: Warehouse, selection: Selection, of: Composition) -> list[str]:
    """Warn of turns, or dialogues, that are among the examples once for each of several releases, splits or subsets.

    ``of``: the composition of the same selection. Several examples of one turn in one publication are no surprise.
    """
    values = {column: _values(of, column) for column in _PUBLISHED}
    several = [column for column in _PUBLISHED if len(values[column]) > 1]
    if not several or not {"example_index", "dialogue_id"} <= {*selection.known}:
        return []
    query = _repeated(warehouse, selection, {column: values[column] for column in several})
    ((units, rows, differing, *sets),) = warehouse.con.execute(query).fetchall()
    if not units:
        return []
    column, bits = next((column, bits) for column, bits in zip(several, sets, strict=True) if bits)
    among = [str(value) for place, value in enumerate(values[column]) if bits >> place & 1]
    listed = ", ".join([*among[:_SHOWN], *(["..."] if len(among) > _SHOWN else [])])
    unit = "turn" if "turn_index" in selection.known else "dialogue"
    are = f"{units:,} {unit}{'' if units == 1 else 's'} of {selection.full_name} {'is' if units == 1 else 'are'}"
    labels = f", with different labels for {differing:,} of them" if differing else ""
    where = f"in the {column}s {listed}{labels}: choose one with --{column}"
    return [f"{are} exported more than once ({rows:,} rows), {where}"]


def _values(of: Composition, column: str) -> list[str | None]:
    """Return the values of a column, null first; none where the composition is without it."""
    found = {part[column] for part in of if column in part}
    return [*([None] if None in found else []), *sorted(str(value) for value in found if value is not None)]


def _repeated(warehouse: Warehouse, selection: Selection, values: Mapping[str, Sequence[str | None]]) -> str:
    """Return the query of the turns in several publications: how many, their rows, and in how many labels differ.

    Then for each of these columns a bit for each of its values that such turns have; null where each has one value.
    A set of values as bits takes a tenth of the time of ``count(distinct ...)``.
    """
    keys = [key for key in _KEYS if key in selection.known]
    view = warehouse.view_file(selection.full_name)
    label = view.label_column if view and view.label_column in selection.known else None
    read = dict.fromkeys([*keys, *values, *([label] if label else [])])
    names = ", ".join(map(quoted, keys))
    sets = {column: f"set_{place}" for place, column in enumerate(values)}
    bits = ", ".join(f"bit_or({_bit(column, values[column])}) as {name}" for column, name in sets.items())
    differs = "false"
    if label:
        differs = f"coalesce(min({quoted(label)}) <> max({quoted(label)}), false) "
        differs += f"or count({quoted(label)}) not in (0, count(*))"
    several = " or ".join(f"bit_count({name}) > 1" for name in sets.values())
    of_all = ", ".join(f"bit_or({name}) filter (bit_count({name}) > 1)" for name in sets.values())
    return (
        f"select count(*), sum(rows), count_if(differs), {of_all} from ("
        f"select {names}, count(*) as rows, {differs} as differs, {bits} from ({selection.rows([*read])}) "
        f"where dialogue_id is not null group by {names}) where {several}"
    )


def _bit(column: str, values: Sequence[str | None]) -> str:
    """Return the SQL of the bit of a value by its place among all values; null has the first."""
    named = ", ".join(literal(value) for value in values if value is not None)
    first = 0 if None in values else 1
    return f"(1::hugeint << (coalesce(list_position([{named}], {quoted(column)}::varchar), 0) - {first})::integer)"
