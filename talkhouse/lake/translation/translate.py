"""Every view of a warehouse in Spark SQL: from the catalogue, with the types that the warehouse gives its columns."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import duckdb
from sqlglot import exp

from talkhouse.lake.spark_types import spark_type
from talkhouse.lake.translated import LeftOut, Translation, View, ViewColumn
from talkhouse.lake.translation.dialects import parsed, spark_sql
from talkhouse.lake.translation.macros import Macro, macros, without_macros
from talkhouse.lake.translation.refuse import NotPortable
from talkhouse.lake.translation.rules import ruled
from talkhouse.queries.catalogue import Catalogue
from talkhouse.queries.heads import ViewQuery
from talkhouse.queries.views import split_view
from talkhouse.schema.errors import Unportable
from talkhouse.schema.sql import dicts
from talkhouse.warehouse.split_views import SplitView

_COLUMNS = """
select distinct on (columns.schema_name, columns.table_name, columns.column_index)
    columns.schema_name || '.' || columns.table_name as view,
    columns.column_name as name,
    columns.data_type as type,
    coalesce(columns.comment, '') as comment,
from duckdb_columns() as columns
semi join duckdb_views() as views
    on views.database_oid = columns.database_oid and views.view_oid = columns.table_oid and not views.internal
order by columns.schema_name, columns.table_name, columns.column_index
"""

Columns = Mapping[str, Sequence[ViewColumn]]
"""The columns of each view, by its full name."""


def translate(
    con: duckdb.DuckDBPyConnection, catalogue: Catalogue, split_views: Mapping[str, SplitView]
) -> Translation:
    """Translate every view of the warehouses that a connection has, which are built with this catalogue.

    ``split_views``: the views of one split that they have, by their full names.

    A view that can't be had in Spark is left out with the reason, and so are those that read it.
    """
    columns, known = _columns(con), macros(catalogue.macros)
    views, left_out = list[View](), dict[str, LeftOut]()
    for query in _queries(catalogue, split_views):
        try:
            views.append(translated(query, known, columns[query.full_name], left_out))
        except Unportable as error:
            left_out[query.full_name] = LeftOut(query.schema, query.name, str(error))
    return Translation("spark", views, [*left_out.values()])


def translated(
    query: ViewQuery, known: Mapping[str, Macro], columns: Sequence[ViewColumn], left_out: Mapping[str, Any] = {}
) -> View:
    """Translate one view; raises Unportable for a construct without a rule, and for one that reads a view left out."""
    try:
        tree = without_macros(parsed(query.sql), known)
        read = {f"{table.db}.{table.name}" for table in tree.find_all(exp.Table)}
        for name in sorted(read & left_out.keys()):
            raise NotPortable(exp.to_table(name), "it is left out")
        tree, rules = ruled(tree)
        return View(
            schema=query.schema,
            name=query.name,
            comment=query.comment,
            grain=[*query.grain],
            sql=spark_sql(_with_types(tree, columns)),
            columns=[*columns],
            rules=rules,
        )
    except (NotPortable, ValueError) as error:
        raise Unportable("the view has no equal in Spark", where=query.full_name, found=str(error)) from error


def _with_types(tree: exp.Expr, columns: Sequence[ViewColumn]) -> exp.Expr:
    """Cast each column to its type in DuckDB: Spark counts the rows of a window in 32 bits, for example."""
    casts = [
        exp.alias_(exp.cast(exp.column(column.name), column.spark_type, dialect="spark"), column.name)
        for column in columns
    ]
    return exp.select(*casts).from_(exp.Subquery(this=tree))


def _columns(con: duckdb.DuckDBPyConnection) -> Columns:
    """Describe the columns of every view."""
    rows = groupby(dicts(con.execute(_COLUMNS)), key=lambda row: str(row["view"]))
    return {
        view: [ViewColumn(row["name"], row["type"], spark_type(row["type"]), row["comment"]) for row in columns]
        for view, columns in rows
    }


def _queries(catalogue: Catalogue, split_views: Mapping[str, SplitView]) -> Iterator[ViewQuery]:
    """Yield the written views, each after those that it reads, then those of one split."""
    yield from catalogue.views
    written = {view.full_name: view for view in catalogue.views}
    for _, (task, split) in sorted(split_views.items()):
        yield split_view(written[task], split)
