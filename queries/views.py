"""Puts a catalogue into a private warehouse: macros and views with comments, examples, and a view per split."""

from collections.abc import Collection, Iterable, Mapping

import duckdb

from queries.catalogue import Catalogue, Query
from schema.quote import identifier, literal
from schema.tables import metadata

_INHERITED_FROM = ("examples", "records", "dialogues", "turns", "annotations")
"""Tables whose columns mean in a view what they mean in the table, the first that has the name."""


def create_views(con: duckdb.DuckDBPyConnection, catalogue: Catalogue) -> None:
    """Create schemas, macros and views; examples may then read them."""
    for schema in catalogue.schemas:
        con.execute(f"create schema if not exists {schema}")
    for macro in catalogue.macros:
        con.execute(f"create or replace macro {macro.full_name}{macro.sql}")
        con.execute(f"comment on macro {macro.full_name} is {literal(macro.comment)}")
    for view in catalogue.views:
        _create(con, view.full_name, view.sql, view.comment, view.columns, [])


def fill_examples(con: duckdb.DuckDBPyConnection, catalogue: Catalogue, corpora: Iterable[str]) -> None:
    """Run the examples of these corpora into ``main.examples``."""
    wanted = set(corpora)
    for query in (query for query in catalogue.examples if query.schema in wanted):
        con.execute(
            "insert into main.examples by name "
            f"select '{query.schema}' as corpus_id, '{query.name}' as task, * from ({query.sql})"
        )


def create_split_views(
    con: duckdb.DuckDBPyConnection,
    catalogue: Catalogue,
    splits: Mapping[str, Iterable[str]],
    made: Collection[str] = (),
) -> set[str]:
    """Create, beside each task view, one view per split; gives their names.

    ``splits``: corpus id -> the splits that it declares; those that occur in ``main.examples`` are added.
    ``made``: views that were created before, which are left alone.
    """
    tasks, names = {query.full_name for query in catalogue.examples}, set(made)
    for view in (view for view in catalogue.views if view.full_name in tasks):
        columns: list[str] = []
        for split in _splits(con, view, splits.get(view.schema, ())):
            name = f"{view.schema}.{identifier(f'{view.name}_{split}')}"
            if name not in names:
                sql = f"select * from {view.full_name} where split = {literal(split)}"
                comment = f"The split {split} of {view.full_name}. {view.comment}"
                columns = _create(con, name, sql, comment, view.columns, columns)
                names.add(name)
    return names


def _create(
    con: duckdb.DuckDBPyConnection, name: str, sql: str, comment: str, meanings: Mapping[str, str], columns: list[str]
) -> list[str]:
    """Create one view; gives its columns. Replacing a view drops its comments, so they are set each time."""
    con.execute(f"create or replace view {name} as {sql}")
    columns = columns or [column for column, *_ in con.execute(f"describe {name}").fetchall()]
    comments = [f"comment on view {name} is {literal(comment)}"]
    for column in columns:
        if meaning := meanings.get(column) or _inherited(column):
            comments.append(f"comment on column {name}.{identifier(column)} is {literal(meaning)}")
    con.execute("; ".join(comments))
    return columns


def _inherited(column: str) -> str | None:
    """Give the meaning of a column that a view takes over from a shared table under the same name."""
    tables = (metadata.tables[name] for name in _INHERITED_FROM)
    return next((table.columns[column].comment for table in tables if column in table.columns), None)


def _splits(con: duckdb.DuckDBPyConnection, view: Query, declared: Iterable[str]) -> list[str]:
    rows = con.execute(
        "select distinct split from main.examples where corpus_id = ? and task = ? and split is not null",
        [view.schema, view.name],
    )
    return sorted({*declared, *(split for (split,) in rows.fetchall())})
