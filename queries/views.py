"""Puts a catalogue into a private warehouse: macros and views with comments, examples, and a view per split."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import duckdb

from talkhouse.queries.catalogue import Catalogue, Query
from talkhouse.schema.sql import identifier, literal
from talkhouse.schema.tables import metadata

_INHERITED_FROM = ("examples", "records", "dialogues", "turns", "annotations")
"""Tables whose columns mean the same in a view; the first that has the name counts."""


_COLUMNS = """
select schema_name, table_name, column_name
from duckdb_columns()
where database_name = current_database() and not internal
"""

_VIEWS = "select schema_name, view_name from duckdb_views() where database_name = current_database()"

_SPLITS = "select distinct corpus_id, task, split from main.examples where split is not null"


def create_views(con: duckdb.DuckDBPyConnection, catalogue: Catalogue) -> None:
    """Create schemas, macros and views; examples may then read them."""
    statements = [f"create schema if not exists {schema}" for schema in catalogue.schemas]
    for macro in catalogue.macros:
        statements.append(f"create or replace macro {macro.full_name}{macro.sql}")
        statements.append(f"comment on macro {macro.full_name} is {literal(macro.comment)}")
    con.execute(";\n".join(statements))
    _create(con, catalogue.views)


def fill_examples(con: duckdb.DuckDBPyConnection, catalogue: Catalogue, corpora: Iterable[str]) -> None:
    """Run the examples of these corpora into ``main.examples``."""
    wanted = set(corpora)
    for query in (query for query in catalogue.examples if query.schema in wanted):
        con.execute(
            "insert into main.examples by name "
            f"select '{query.schema}' as corpus_id, '{query.name}' as task, * from ({query.sql})"
        )


def create_split_views(
    con: duckdb.DuckDBPyConnection, catalogue: Catalogue, splits: Mapping[str, Iterable[str]]
) -> None:
    """Create, beside each task view, one view per split; existing ones are left alone.

    ``splits``: corpus id -> the splits that it declares; those that occur in ``main.examples`` are added.
    """
    tasks, wanted = {query.full_name for query in catalogue.examples}, []
    existing = set(con.execute(_VIEWS).fetchall())
    found = con.execute(_SPLITS).fetchall()
    for view in (view for view in catalogue.written_views if view.full_name in tasks):
        occurring = {split for corpus_id, task, split in found if (corpus_id, task) == (view.schema, view.name)}
        for split in sorted(occurring.union(splits.get(view.schema, ()))):
            wanted.append(split_view(view, split))
    _create(con, [view for view in wanted if (view.schema, view.name) not in existing])


def split_view(task: Query, split: str) -> Query:
    """Return the view of one split of a task view."""
    return replace(
        task,
        name=f"{task.name}_{split}",
        sql=f"select * from {task.full_name} where split = {literal(split)}",
        comment=f"The split {split} of {task.full_name}. {task.comment}",
    )


def _create(con: duckdb.DuckDBPyConnection, views: Sequence[Query]) -> None:
    """Create views all at once, which is twice as fast; replacing one drops its comments, so they are set each time."""
    if not views:
        return
    con.execute(";\n".join(f"create or replace view {_name(view)} as {view.sql}" for view in views))
    columns = defaultdict(list)
    for schema, name, column in con.execute(_COLUMNS).fetchall():
        columns[schema, name].append(column)
    comments = []
    for view in views:
        comments.append(f"comment on view {_name(view)} is {literal(view.comment)}")
        for column in columns[view.schema, view.name]:
            if meaning := view.columns.get(column) or _inherited(column):
                comments.append(f"comment on column {_name(view)}.{identifier(column)} is {literal(meaning)}")
    con.execute(";\n".join(comments))


def _name(view: Query) -> str:
    """Write the name of a view, which has whatever characters its split has."""
    return f"{view.schema}.{identifier(view.name)}"


def _inherited(column: str) -> str | None:
    """Return the meaning of a column that a view takes from a shared table by the same name."""
    tables = (metadata.tables[name] for name in _INHERITED_FROM)
    return next((table.columns[column].comment for table in tables if column in table.columns), None)
