"""Every view of a warehouse in Spark SQL: from the catalogue, with the types that the warehouse gives its columns.

A view that can't be had in Spark is left out with the reason, and so are those that read it. But what reads the labels
of all tasks only goes without those of a task that is left out: no corpus takes a view from the others.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from importlib.metadata import version as installed
from itertools import groupby
from typing import NamedTuple

import duckdb
import msgspec

from talkhouse import migrations, queries, schema, translation
from talkhouse.queries.catalogue import Catalogue
from talkhouse.queries.heads import MacroQuery, ViewQuery
from talkhouse.queries.views import split_view
from talkhouse.schema.sql import dicts
from talkhouse.schema.sql_files import sql_of
from talkhouse.system.cache import Cache, code_of, key_of
from talkhouse.translation.translated import (
    LeftOutView,
    NotTranslated,
    Outcome,
    TranslatedViews,
    View,
    ViewColumn,
    spark_type,
)
from talkhouse.warehouse.relations import SplitView


class TypedColumn(NamedTuple):
    """A column of a view in the warehouse; ``type`` in DuckDB's words."""

    name: str
    type: str
    comment: str


_Columns = Mapping[str, Sequence[TypedColumn]]
"""The columns of each view, by its full name."""

_SplitViews = Mapping[str, SplitView]
"""The views of one split, by their full names: the what each has the rows of."""


def translate(con: duckdb.DuckDBPyConnection, catalogue: Catalogue, split_views: _SplitViews) -> TranslatedViews:
    """Translate the views of the warehouses that a connection has, which are built with this catalogue."""
    columns, outcomes = _columns(con), Outcomes()
    translation = _translation(catalogue, split_views, columns, outcomes)
    left_out = {view.full_name for view in translation.unportable}
    tasks = {view.full_name for view in catalogue.views if view.label_column} & left_out
    if tasks:
        fewer = catalogue.without_labels_of(tasks)
        translation = _translation(fewer, split_views, columns, outcomes)
        changed = {view.full_name for view in {*fewer.views} - {*catalogue.views}}
        views = [
            msgspec.structs.replace(view, without=sorted(tasks)) if view.full_name in changed else view
            for view in translation.views
        ]
        translation = TranslatedViews("spark", views, translation.unportable)
    outcomes.keep()
    return translation


def _translation(
    catalogue: Catalogue, split_views: _SplitViews, columns: _Columns, outcomes: "Outcomes"
) -> TranslatedViews:
    views, left_out = list[View](), dict[str, LeftOutView]()
    for query in _queries(catalogue, split_views):
        called = _macros_of(query, catalogue)
        outcome = outcomes.get_or_make(_key(query, called, columns), partial(_translated, query, called, columns))
        view = _view(query, columns[query.full_name], outcome, left_out)
        if isinstance(view, View):
            views.append(view)
        else:
            left_out[query.full_name] = view
    return TranslatedViews("spark", views, [*left_out.values()])


def _view(
    query: ViewQuery, columns: Sequence[TypedColumn], outcome: Outcome, left_out: Mapping[str, LeftOutView]
) -> View | LeftOutView:
    """Return a view, or why there is none."""
    leave_out = partial(LeftOutView, query.schema, query.name)
    if isinstance(outcome, NotTranslated):
        return leave_out(outcome.reason)
    for name in outcome.reads:
        if name in left_out:
            return leave_out(f"it reads {name}, which is left out", because=left_out[name].because or name)
    try:
        described = [ViewColumn(name, type_, spark_type(type_), comment) for name, type_, comment in columns]
        return View(query.schema, query.name, query.comment, [*query.grain], outcome.sql, described, outcome.rules)
    except ValueError as error:
        return leave_out(f"can't be translated: {error}")


def _translated(query: ViewQuery, called: Sequence[MacroQuery], columns: _Columns) -> Outcome:
    from talkhouse.translation.spark_query import translated  # sqlglot takes longer than all that is kept

    return translated(query.sql, called, [(column.name, column.type) for column in columns[query.full_name]])


def _key(query: ViewQuery, called: Sequence[MacroQuery], columns: _Columns) -> str:
    types = [text for column in columns[query.full_name] for text in (column.name, column.type)]
    return key_of(query.sql, *(f"{macro.full_name}{macro.sql}" for macro in called), "columns", *types)


def _macros_of(query: ViewQuery, catalogue: Catalogue) -> list[MacroQuery]:
    """Return the macros that a view calls, each after those that it calls."""
    known = {macro.full_name: macro for macro in catalogue.macros}
    called, waiting = set[str](), query.calls & known.keys()
    while waiting:
        name = waiting.pop()
        called.add(name)
        waiting |= (known[name].calls & known.keys()) - called
    return [macro for name, macro in known.items() if name in called]


def _columns(con: duckdb.DuckDBPyConnection) -> _Columns:
    rows = groupby(dicts(con.execute(sql_of(__file__, "view_columns"))), key=lambda row: str(row["view"]))
    return {view: [TypedColumn(row["name"], row["type"], row["comment"]) for row in columns] for view, columns in rows}


def _queries(catalogue: Catalogue, split_views: _SplitViews) -> Iterator[ViewQuery]:
    """Yield the written views, each after those that it reads, then those of one split."""
    yield from catalogue.views
    written = {view.full_name: view for view in catalogue.views}
    for _, view in sorted(split_views.items()):
        yield split_view(written[view.task], view.split, only_default=view.only_default)


_KEPT = Cache("views", ".msgpack", most=2)
_MOST = 2_000
"""Views that are kept; with more, only those of the last run are."""

_DIGEST = 32


class Outcomes:
    """What came of views: kept from earlier runs, or made now."""

    def __init__(self) -> None:
        self._before = _read()
        self._now: dict[str, Outcome] = {}

    def get_or_make(self, key: str, make: Callable[[], Outcome]) -> Outcome:
        """Return the outcome cached under the hash of a view's dependencies, or else compute it."""
        outcome = self._now.get(key) or self._before.get(key) or make()
        self._now[key] = outcome
        return outcome

    def keep(self) -> None:
        """Cache new outcomes, in addition to the earlier ones."""
        if not self._now.keys() <= self._before.keys():
            both = {**self._before, **self._now}
            content = msgspec.msgpack.encode(both if len(both) <= _MOST else self._now)
            _KEPT.keep(sha256(content).digest() + content, key_of(made_by()))


def made_by() -> bytes:
    """Hash what decides how any view is translated: versions, and Talkhouse's own code."""
    versions = f"DuckDB {duckdb.__version__}, sqlglot {installed('sqlglot')} "
    return versions.encode() + code_of(schema, migrations, queries) + code_of(translation)


def _read() -> dict[str, Outcome]:
    """Return the cached outcomes; none if the file is damaged."""
    content = _KEPT.read(key_of(made_by())) or b""
    if sha256(content[_DIGEST:]).digest() != content[:_DIGEST]:
        return {}
    try:
        return msgspec.msgpack.decode(content[_DIGEST:], type=dict[str, Outcome])
    except (ValueError, RecursionError):
        return {}


_LEFT_OUT_CACHE = Cache("left_out", ".json", most=8)


def left_out(con: duckdb.DuckDBPyConnection, catalogue: Catalogue) -> list[LeftOutView]:
    """Return the views of a catalogue that a lake can't have; those of one split are as their task's.

    The types of columns follow from the catalogue and the code, so that nothing has to be read of the warehouse.
    """
    key = key_of(catalogue.hash, made_by())
    try:
        return msgspec.json.decode(_LEFT_OUT_CACHE.read(key) or b"", type=list[LeftOutView])
    except (ValueError, RecursionError):  # not kept, or damaged
        views = translate(con, catalogue, {}).left_out
        _LEFT_OUT_CACHE.keep(msgspec.json.encode(views), key)
        return views


def left_out_lines(views: Sequence[LeftOutView]) -> list[str]:
    """Return lines on what is left out and why; views that read one that is left out are named with it."""
    lines = []
    for view in views:
        readers = [other.full_name for other in views if other.because == view.full_name and not other.part]
        if view.part:
            lines.append(f"{view.full_name}: {view.part}, which is left out")
        elif not view.because:
            also = f"; and with it what reads it: {', '.join(readers)}" if readers else ""
            lines.append(f"{view.full_name}: {view.reason}{also}")
    return lines
