"""What is published: the tables, the views as tables of their rows, the views of splits, and what is left out."""

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

from talkhouse.export.selection import Selection, select
from talkhouse.migrations import VERSION_TABLE
from talkhouse.postgres.column_types import CopiedColumn, column_type
from talkhouse.schema.errors import UsageError, closest, listed
from talkhouse.schema.sql import quoted
from talkhouse.schema.tables import metadata, qualified
from talkhouse.schema.warehouse import HOUSEKEEPING
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.relations import SplitView, relations

_VIEWS = """
select schema_name || '.' || view_name
from duckdb_views()
where database_name = current_database() and not internal
"""

VERSION = f"{HOUSEKEEPING}.{VERSION_TABLE}"
"""The table of the schema revision."""

_TABLES = {VERSION, *map(qualified, metadata.tables.values())}
"""The tables that PostgreSQL has by the metadata; others that somebody has made are published as views are."""

_PREFIX = re.compile(r"(?!pg_)([a-z_][a-z0-9_]*)?")

_NONE: Mapping[str, int] = MappingProxyType({})

LONGEST = 63
"""Bytes of a name in PostgreSQL; it cuts longer ones."""

SUFFIX = 12
"""Bytes that stay free at the end of a schema's name, for what it is called before and after it is published."""


class RelationKind(StrEnum):
    """How a relation is published."""

    TABLE = "table"
    ROWS = "rows of a view"
    SPLIT = "view of a split"


@dataclass(frozen=True)
class Options:
    """What is to be published, as the user asked for it."""

    prefix: str = ""
    """What stands before the name of each schema."""
    views: tuple[str, ...] = ()
    """Names of views, or of schemas; none: all."""
    without_views: bool = False
    max_rows: int = 5_000_000
    """Views with more rows are left out, unless they are named."""
    nul: str | None = None
    """What stands in texts in place of NUL, which PostgreSQL can't store."""
    is_redacted: bool = False
    """Whether marks stand in texts in place of personal data."""

    def leaves_out(self, kind: RelationKind, names: Container[str | None], rows: int) -> bool:
        """Whether a view has too many rows; ``names``: its own and that of the view whose rows it has."""
        return kind is not RelationKind.TABLE and rows > self.max_rows and not any(view in names for view in self.views)

    @classmethod
    def from_record(cls, recorded: Any) -> "Options | None":
        """Return the options of a published copy, or None if they are not as Talkhouse records them."""
        match recorded:
            case {
                "prefix": str(prefix),
                "views": [*views],
                "without_views": bool(without_views),
                "max_rows": int(max_rows),
                "nul": str() | None as nul,
                "is_redacted": bool(is_redacted),
                **others,
            } if not others and all(isinstance(view, str) for view in views):
                return cls(prefix, tuple(views), without_views, max_rows, nul, is_redacted)
        return None


@dataclass(frozen=True)
class PublishedRelation:
    """A table or view that is published."""

    kind: RelationKind
    selection: Selection
    columns: tuple[CopiedColumn, ...]
    comment: str | None
    rows: int
    of_split: SplitView | None = None
    """Of a view of a split: the task whose rows it has, and which."""
    is_by_dialogue: bool = False
    """Whether no row depends on rows of other dialogues."""

    @property
    def parent(self) -> str | None:
        """Of a view of a split: the view whose rows it has."""
        return self.of_split.task if self.of_split else None

    @property
    def name(self) -> str:
        """The name in the warehouse: ``main.turns``."""
        return self.selection.full_name

    @property
    def is_repeatable(self) -> bool:
        """Whether its rows are the same each time: DuckDB adds numbers up in any order, and means differ in a digit."""
        return self.kind is RelationKind.TABLE or not any(column.type.is_float for column in self.columns)

    def there(self, schemas: Mapping[str, str]) -> str:
        """Write the name in PostgreSQL, where schemas have other names."""
        return there(self.name, schemas)


def there(name: str, schemas: Mapping[str, str]) -> str:
    """Write the name of a relation in PostgreSQL, where schemas have other names."""
    schema, _, plain = name.partition(".")
    return f"{quoted(schemas[schema])}.{quoted(plain)}"


@dataclass(frozen=True)
class NotPublished:
    """A view that is not published, and why."""

    name: str
    rows: int
    reason: str


@dataclass(frozen=True)
class PublicationPlan:
    """All that is published."""

    relations: tuple[PublishedRelation, ...]
    left_out: tuple[NotPublished, ...]

    def splits_of(self, view: PublishedRelation) -> list[PublishedRelation]:
        """Return the views of the splits of a view."""
        return [
            relation
            for relation in self.relations
            if relation.kind is RelationKind.SPLIT and relation.parent == view.name
        ]

    @property
    def schemas(self) -> list[str]:
        """The schemas that it needs, by their names in the warehouse."""
        return sorted({relation.selection.schema for relation in self.relations})


def make_plan(warehouse: Warehouse, options: Options, counted: Mapping[str, int] = _NONE) -> PublicationPlan:
    """Find what is to be published; UsageError for views that do not exist, and for names that are too long to do so.

    A view that the user has not named is then left out. ``counted``: the rows that views had the last time, which the
    plan has instead of those of now, as to count them takes its time.
    """
    _check_wanted(options.views, [name for (name,) in warehouse.con.execute(_VIEWS).fetchall()])
    planned: dict[str, PublishedRelation] = {}
    few = {name: rows for name, rows in counted.items() if name not in _TABLES and rows < options.max_rows / 2}
    left_out = []
    # A view comes before those of its splits.
    candidates = [_classify(warehouse, relation) for relation in relations(warehouse.con)]
    for candidate in sorted(candidates, key=lambda candidate: list(RelationKind).index(candidate.kind)):
        if not _is_wanted(candidate, options):
            continue
        described = _describe(warehouse, candidate, planned, options, few)
        if isinstance(described, NotPublished):
            left_out.append(described)
        else:
            planned[described.name] = described
    plan = PublicationPlan(tuple(planned.values()), tuple(left_out))
    _check_names(plan, options.prefix)
    return plan


class _Candidate(NamedTuple):
    """A table or view of the warehouse, which may be published."""

    name: str
    comment: str | None
    kind: RelationKind
    of_split: SplitView | None = None


def _classify(warehouse: Warehouse, relation: Mapping[str, Any]) -> _Candidate:
    name = f"{relation['schema']}.{relation['name']}"
    if of_split := warehouse.split_views.get(name):
        return _Candidate(name, relation["comment"], RelationKind.SPLIT, of_split)
    return _Candidate(name, relation["comment"], RelationKind.TABLE if name in _TABLES else RelationKind.ROWS)


def _is_wanted(candidate: _Candidate, options: Options) -> bool:
    if candidate.kind is RelationKind.TABLE or options.without_views or not options.views:
        return candidate.kind is RelationKind.TABLE or not options.without_views
    names = {candidate.name, candidate.name.partition(".")[0], candidate.of_split and candidate.of_split.task}
    return not names.isdisjoint(options.views)


def _describe(
    warehouse: Warehouse,
    candidate: _Candidate,
    planned: Mapping[str, PublishedRelation],
    options: Options,
    counted: Mapping[str, int],
) -> PublishedRelation | NotPublished:
    name, kind, of_split = candidate.name, candidate.kind, candidate.of_split
    parent = of_split.task if of_split else None
    selection = select(warehouse, name)
    rows = counted.get(name)
    if rows is None:
        ((rows,),) = warehouse.con.execute(f"select count(*) from {selection.source}").fetchall()
    is_named = not {name, parent}.isdisjoint(options.views)
    if options.leaves_out(kind, (name, parent), rows):
        return NotPublished(name, rows, f"it has more than {options.max_rows:,} rows (--max-rows)")
    is_split = parent in planned
    if kind is RelationKind.SPLIT and not is_split and not is_named:
        return NotPublished(name, rows, f"{parent} is left out")
    names = {"its name": selection.name}
    names |= {f"the name of its column {column['name']}": column["name"] for column in selection.columns}
    too_long = next((what for what in names if _size(names[what]) > LONGEST), None)
    if too_long is not None and kind is not RelationKind.TABLE and name not in options.views:
        return NotPublished(name, rows, f"{too_long} is longer than {LONGEST} bytes, the most that PostgreSQL takes")
    columns = []
    for column in selection.columns:
        type_there = column_type(column["type"], options.nul)
        if type_there is None:
            why = f"the type of its column {column['name']} has no counterpart: {column['type']}"
            return NotPublished(name, rows, why)
        columns.append(CopiedColumn(column["name"], type_there, column["meaning"]))
    file = warehouse.view_file(name)
    is_by_dialogue = file is not None and file.scope == "dialogue"
    described = PublishedRelation(kind, selection, tuple(columns), candidate.comment, rows, of_split, is_by_dialogue)
    # A split that is asked for without its view has rows of its own.
    return described if is_split or parent is None else replace(described, kind=RelationKind.ROWS, of_split=None)


def _check_wanted(names: Iterable[str], views: Iterable[str]) -> None:
    """Raise UsageError for a name that is neither a view nor a schema of views."""
    known = {*views} | {view.partition(".")[0] for view in views}
    for name in names:
        if name not in known:
            raise UsageError(
                f"no view '{name}'",
                expected=f"one of: {listed(closest(name, known))}",
                next_step="list the views with: talkhouse views",
            )


def _check_names(plan: PublicationPlan, prefix: str) -> None:
    """Raise UsageError for names that PostgreSQL would cut, and for a prefix that needs quotes."""
    if not _PREFIX.fullmatch(prefix):
        raise UsageError(
            f"'{prefix}' can't stand before the names of schemas",
            expected="lower case letters, digits and '_', and no 'pg_' at the beginning",
            next_step="name another --schema-prefix",
        )
    for schema in plan.schemas:
        _check_name("schema", f"{prefix}{schema}", LONGEST - SUFFIX)
    for relation in plan.relations:
        _check_name("table or view", relation.selection.name, LONGEST)
        for column in relation.columns:
            _check_name(f"column of {relation.name}", column.name, LONGEST)


def _check_name(what: str, name: str, longest: int) -> None:
    if _size(name) > longest:
        raise UsageError(
            f"the name of the {what} is too long for PostgreSQL: {name}",
            expected=f"at most {longest} bytes",
            found=f"{_size(name)} bytes",
            next_step="rename it and build again, or shorten --schema-prefix where it is a schema",
        )


def _size(name: str) -> int:
    return len(name.encode())
