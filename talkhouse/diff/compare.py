"""Compares relations by SQL: sums of hashes first, then rows by their keys, then the columns of those that differ."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import duckdb

from talkhouse.diff.relations import IDS, SPLITS, Field, Relation
from talkhouse.diff.states import Side, Sides
from talkhouse.schema.sql import literal, quoted
from talkhouse.schema.sql_files import sql_of

CHANGES = ("removed", "added", "changed", "moved", "renumbered")
"""What becomes of a row, in the order in which it is told."""

SHOWN = ("moved", "changed", "added", "removed")
"""The changes whose rows are shown; a row that has another id or place alone is counted."""

_PAIRED = ("changed", "moved")
"""Of these, those of rows that are in both states."""

_SIDES = ("before", "after")

CELLS = '"?cells"'
"""The table of all cells that differ; one row for each."""

Group = tuple[str | None, str | None]
"""The publisher's release and split that rows are counted by; both are None for tables."""


def make_table_of_cells(con: duckdb.DuckDBPyConnection) -> None:
    """Make the table of cells."""
    con.execute(sql_of(__file__, "table_of_cells", table=CELLS))


class Sum(NamedTuple):
    """The number of some rows, and the sum of DuckDB's hashes of them, which holds in one process only."""

    rows: int = 0
    total: str = "0"


def sums(con: duckdb.DuckDBPyConnection, source: str, fields: Sequence[Field], by: str) -> dict[str, Sum]:
    """Count and hash the rows of a source by an expression."""
    rows = con.execute(f"select {by}, count(*), sum({_hash(fields)})::varchar from {source} group by 1").fetchall()
    return {group: Sum(count, total) for group, count, total in rows}


class LabelChange(NamedTuple):
    """How many rows had one label before and have another after; None: no label."""

    before: str | None
    after: str | None
    rows: int


class Counts(NamedTuple):
    """The rows of a table, or of a task in one release and split, and the number of those that differ, by change."""

    release: str | None
    split: str | None
    before: int
    after: int
    changes: Mapping[str, int]
    """Rows by change: removed, added, changed, moved, moved_in, moved_out, renumbered; those with another record id
    among the renumbered too, as ``other_record``."""
    columns: Mapping[str, int]
    """Changed and moved rows by column that differs; no places."""
    labels: Sequence[LabelChange]


class Cell(NamedTuple):
    """A cell that differs: its column, and its values as texts."""

    column: str
    before: str | None
    after: str | None


class Change(NamedTuple):
    """A row that was removed, added, changed or moved."""

    relation: str
    corpus: str
    change: str
    key: dict[str, Any]
    key_before: dict[str, Any] | None
    """Its key in the state before, if that is another."""
    cells: Sequence[Cell]
    are_texts: Collection[str]
    """The columns that are texts."""


class Comparison:
    """A relation whose rows have been paired; differences are queries of the pairs."""

    def __init__(self, sides: Sides, relation: Relation) -> None:
        self._con, self.relation = sides.con, relation
        self._rows = self._make_differing(sides)
        self._pair()
        rows = self._con.execute('select distinct change from "?pairs"').fetchall()
        self._there = {change for (change,) in rows}

    def _make_differing(self, sides: Sides) -> list[str]:
        """Make the tables of the rows of both sides by hashes, and return the queries of those that may differ."""
        relation = self.relation
        for number, (name, side) in enumerate(zip(_SIDES, sides, strict=True)):
            hashed = _hashed(relation, _rows(side, relation, number))
            self._con.execute(f'create or replace temp table "?all {name}" as {hashed}')
        # Rows of one key are told apart by their number, for which all of them are needed.
        self._is_numbered = relation.needs_number or any(map(self._has_twins, _SIDES))
        queries = []
        for number, (name, side) in enumerate(zip(_SIDES, sides, strict=True)):
            same = "" if self._is_numbered else f' anti join "?all {_SIDES[1 - number]}" using (whole)'
            self._con.execute(f'create or replace temp table "?left {name}" as select "?row" from "?all {name}"{same}')
            # Of the table itself: DuckDB then reads only the row groups in which there are such rows.
            queries.append(_rows(side, relation, number, f'rowid in (select "?row" from "?left {name}")'))
        return queries

    def _pair(self) -> None:
        """Make the tables of the rows that may differ, by key, and of the pairs of them that do."""
        relation, con = self.relation, self._con
        keys = [f"k{number}" for number in range(len(relation.key))]
        for name, rows in zip(_SIDES, self._rows, strict=True):
            con.execute(f'create or replace temp table "?narrow {name}" as {_narrow(relation, rows)}')
        if self._is_numbered:
            order = ", ".join(
                [*(f"o{number}" for number in range(len(relation.order))), "content_hash", "place_hash", '"?row"']
            )
            for name in _SIDES:
                con.execute(
                    f'create or replace temp table "?narrow {name}" as select * replace (row_number() over '
                    f'(partition by {", ".join(keys)} order by {order}) - 1 as number) from "?narrow {name}"'
                )
        same = " and ".join(f"before.{key} is not distinct from after.{key}" for key in (*keys, "number"))
        both = ", ".join(f"coalesce(after.{key}, before.{key}) as {key}" for key in (*keys, "number"))
        raw = ", ".join(
            f"before.{'raw_' if name in IDS else ''}{key} as raw_{key}"
            for name, key in zip(relation.key, keys, strict=True)
        )
        con.execute(sql_of(__file__, "pairs", both=both, raw=raw, same=same))

    def _has_twins(self, name: str) -> bool:
        """Whether two rows of a side have one key."""
        (row,) = self._con.execute(f'select count(*) > count(distinct "key") from "?all {name}"').fetchall()
        return bool(row[0])

    def counts(self) -> list[Counts]:
        """Count the rows that differ, in all or by the publisher's release and split."""
        totals: dict[Group, Counter[str]] = {}
        for name in _SIDES:
            query = f'select by_0, by_1, count(*) from "?all {name}" group by all'
            for release, split, rows in self._con.execute(query).fetchall():
                totals.setdefault((release, split), Counter())[name] = rows
        found = self._con.execute(
            "select change, before_by_0, before_by_1, after_by_0, after_by_1, coalesce(has_other_record, false), "
            'count(*) from "?pairs" group by all'
        )
        for change, *groups, has_other_record, rows in found.fetchall():
            there, here = tuple(groups[:2]), tuple(groups[2:])
            totals[there if change == "removed" else here][change] += rows
            if has_other_record and change == "renumbered":
                totals[here]["other_record"] += rows
            if change == "moved" and there != here:
                totals[here]["moved_in"] += rows
                totals[there]["moved_out"] += rows
        columns, labels = self._columns(), self._labels()
        return [
            Counts(*group, count["before"], count["after"], count, columns.get(group, {}), labels.get(group, []))
            for group, count in sorted(totals.items(), key=lambda item: [text or "" for text in item[0]])
        ]

    def _columns(self) -> dict[Group, dict[str, int]]:
        """Count the cells that differ in rows that were changed or moved, by column."""
        fields = self.relation.compared
        counted = [f"count(*) filter (where {_differs(field)}) as c{index}" for index, field in enumerate(fields)]
        if not counted or not self._there & {*_PAIRED}:
            return {}
        query = f"select pairs.after_by_0, pairs.after_by_1, {', '.join(counted)} from {self._joined()} group by all"
        return {
            (release, split): {field.name: rows for field, rows in zip(fields, cells, strict=True) if rows}
            for release, split, *cells in self._con.execute(query).fetchall()
        }

    def _labels(self) -> dict[Group, list[LabelChange]]:
        """Count the rows whose label differs, by both labels."""
        label = next((field for field in self.relation.compared if field.name == self.relation.label), None)
        found: dict[Group, list[LabelChange]] = {}
        if label is None or not self._there & {*_PAIRED}:
            return found
        old, new = (f"{_value(label, number)}::varchar" for number in range(2))
        query = (
            f"select pairs.after_by_0, pairs.after_by_1, {old}, {new}, count(*) as found from {self._joined()} "
            f"where {_differs(label)} group by all order by found desc, 3 nulls first, 4 nulls first"
        )
        for release, split, *rest in self._con.execute(query).fetchall():
            found.setdefault((release, split), []).append(LabelChange(*rest))
        return found

    def _joined(
        self, pairs: str = "(from \"?pairs\" where change in ('changed', 'moved'))", kind: str = "inner"
    ) -> str:
        before, after = self._rows
        return (
            f'{pairs} as pairs {kind} join ({before}) as before on before."?row" = pairs.before '
            f'{kind} join ({after}) as after on after."?row" = pairs.after'
        )

    def changes(self, limit: int) -> Iterator[Change]:
        """Yield rows that were removed, added, changed or moved, sorted by key, so many of each."""
        texts = frozenset(field.name for field in self.relation.compared if {*field.types} <= {"VARCHAR", None})
        names = list(self.relation.key)
        keys = [f"pairs.k{index}" for index in range(len(names))]
        raw = [f"pairs.raw_k{index}" for index in range(len(names))]
        for change in sorted(self._there & {*SHOWN}):
            order = ", ".join(f"{key} nulls first" for key in (*keys, "pairs.number"))
            pairs = f'(from "?pairs" as pairs where change = {literal(change)} order by {order} limit {limit})'
            query = (
                f"select {', '.join((*keys, *raw))}, pairs.number, {self._cells()} from {self._joined(pairs, 'left')} "
                f"order by {order}"
            )
            for *values, number, cells in self._con.execute(query).fetchall():
                key = dict(zip(names, values[: len(names)], strict=True)) | ({"number": number} if number else {})
                before = key | dict(zip(names, values[len(names) :], strict=True))
                is_other = change != "added" and before != key
                shown = [Cell(cell["name"], cell["before"], cell["after"]) for cell in cells]
                yield Change(
                    self.relation.name, self.relation.corpus, change, key, before if is_other else None, shown, texts
                )

    def _cells(self, *, places: bool = False) -> str:
        """Write the list of cells that differ; ``places``: also of columns with the place of a row."""
        fields = [field for field in self.relation.fields if field.name not in self.relation.key]
        cells = [
            f"if({_differs(field)}, {{'at': {at}, 'name': {literal(field.name)}, "
            f"'before': {_value(field, 0)}::varchar, 'after': {_value(field, 1)}::varchar}}, null)"
            for at, field in enumerate(fields if places else self.relation.compared)
        ]
        return f"list_filter([{', '.join(cells)}], lambda cell: cell is not null)" if cells else "[]"

    def keep_cells(self) -> None:
        """Insert every cell that differs into the table of cells; a row without any has one without a column."""
        names = list(self.relation.key)
        key, before = (
            ", ".join(f"{literal(name)}: pairs.{prefix}{index}" for index, name in enumerate(names))
            for prefix in ("k", "raw_k")
        )
        number = "'number': nullif(pairs.number, 0)"
        order = ", ".join(f"pairs.k{index} nulls first" for index in range(len(names)))
        cells = self._cells(places=True)
        self._con.execute(
            sql_of(
                __file__,
                "cells",
                table=CELLS,
                order=order,
                key_members=key,
                number=number,
                before_members=before,
                cells=cells,
                joined=self._joined('"?pairs"', "left"),
                relation=literal(self.relation.name),
                corpus=literal(self.relation.corpus),
            )
        )


def _rows(side: Side, relation: Relation, number: int, chosen: str | None = None) -> str:
    """Write the query of a side's rows, or of those for which ``chosen`` is true.

    Ids of the side before are those that the other has, and raw as they were.
    """
    columns, joins = ['source.rowid as "?row"'], list[str]()
    for field in relation.fields:
        column = f"source.{quoted(field.name)}" if field.types[number] is not None else "null"
        kind = IDS.get(field.name)
        if kind == "release":
            shown = column if side.release_as is None else literal(side.release_as)
        elif kind is None or number == 1 or column == "null":
            shown = column
        else:
            ids = f"ids_{len(joins)}"
            joins.append(f'left join "?{kind}" as {ids} on {ids}.before = {column}')
            shown = f"coalesce({ids}.after, {column})"
        columns.append(f"{shown} as {quoted(field.name)}")
        if kind is not None:
            columns.append(f"{column} as {quoted('?raw ' + field.name)}")
    source = f"(select rowid, * from {relation.sources[number]} where {chosen or relation.conditions[number]})"
    return f"select {', '.join(columns)} from {source} as source {' '.join(joins)}"


def _hashed(relation: Relation, rows: str) -> str:
    """Write the query of a side's rows by the hashes of their keys, and of all compared columns."""
    key = f"hash({', '.join(map(str, relation.key.values()))})"
    whole = ", ".join(_row_hashes(relation))
    return f'select "?row", {key} as "key", hash({key}, {whole}) as whole, {_by(relation)} from ({rows})'


def _narrow(relation: Relation, rows: str) -> str:
    """Write the query of a side's rows by key, with hashes of their contents, their split and their place."""
    columns = ['"?row"', "0::bigint as number"]
    for index, (name, value) in enumerate(relation.key.items()):
        columns.append(f"{value} as k{index}")
        if name in IDS:
            columns.append(f"{quoted('?raw ' + name)} as raw_k{index}")
    columns += [f"{quoted(name)} as o{index}" for index, name in enumerate(relation.order)]
    columns += [_by(relation), *(f"{value} as {name}" for name, value in _row_hashes(relation)._asdict().items())]
    has_record = any(field.name == "record_id" for field in relation.fields)
    columns.append(f"{quoted('?raw record_id') if has_record else 'null'} as raw_record")
    return f"select {', '.join(columns)} from ({rows})"


def _by(relation: Relation) -> str:
    by = [f"{quoted(name)}::varchar" if name in relation.by else "null::varchar" for name in ("release", "split")]
    return ", ".join(f"{value} as by_{index}" for index, value in enumerate(by))


class RowHashes(NamedTuple):
    """SQL: the hashes of a row's split, its contents and its place."""

    split_hash: str
    content_hash: str
    place_hash: str


def _row_hashes(relation: Relation) -> RowHashes:
    raw = [quoted("?raw " + field.name) for field in relation.fields if field.name in IDS and field.name != "release"]
    return RowHashes(
        _hash([field for field in relation.fields if field.name in SPLITS]),
        _hash([field for field in relation.compared if field.name not in SPLITS]),
        _hash([field for field in relation.fields if field.is_place], raw),
    )


def _hash(fields: Sequence[Field], more: Sequence[str] = ()) -> str:
    values = [*(field.identical(quoted(field.name)) for field in fields), *more]
    return f"hash({', '.join(values)})" if values else "0"


def _value(field: Field, number: int) -> str:
    return f"{_SIDES[number]}.{quoted(field.name)}"


def _differs(field: Field) -> str:
    return f"{field.identical(_value(field, 0))} is distinct from {field.identical(_value(field, 1))}"
