"""Puts a catalogue into a private warehouse: macros and views with comments, examples, and a view per split."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import duckdb

from talkhouse.queries.catalogue import Catalogue
from talkhouse.queries.heads import Query, ScoreQuery, ViewQuery, broken, unknown_name
from talkhouse.queries.sql_errors import sql_of
from talkhouse.schema.sql import identifier, literal
from talkhouse.schema.tables import metadata

_INHERITED_FROM = ("examples", "records", "dialogues", "turns", "annotations")
"""Tables whose columns mean the same in a view; the first that has the name counts."""


_COLUMNS = """
select schema_name, table_name, column_name
from duckdb_columns()
where database_name = current_database() and not internal
"""

_OF_TASKS = ("split", "standard_split", "example_index", "dialogue_id", "native_id")
"""Columns that the view of every task has."""

_MEANINGS = {
    "is_default": "True in the default publication of the dialogue, the first of the publisher's releases that has it; "
    "always true in a corpus that was published once. Views of one split have only these rows."
}
"""Columns that mean the same in the view of every task, and are in no table."""

_OF_LABELS = ("record_id", "split", "example_index")
"""Columns that a view has whose head names a label: examples are found by them."""

_OF_EXAMPLES = {column.name for name in ("records", "dialogues") for column in metadata.tables[name].columns}
"""Columns by which scores can be divided, whether or not the task's view has them."""

MOST_SPLITS = 100
"""Splits that nobody has declared and that have a view each; where there are more, none of them has one."""

_VIEWS = "select schema_name, view_name from duckdb_views() where database_name = current_database()"

_SPLITS = "select distinct corpus_id, task, split from main.examples where split is not null"


def create_views(con: duckdb.DuckDBPyConnection, catalogue: Catalogue) -> None:
    """Create schemas, macros and views; examples may then read them. CatalogueError names the first file to mend."""
    con.execute(";\n".join(f"create schema if not exists {identifier(schema)}" for schema in catalogue.schemas))
    for macro in catalogue.macros:
        with sql_of(macro):
            con.execute(f"create or replace macro {macro.name_in_sql}{macro.sql}")
        con.execute(f"comment on macro {macro.name_in_sql} is {literal(macro.comment)}")
    _create(con, catalogue.views, {query.full_name for query in catalogue.examples})
    for score in catalogue.scores:
        for column in score.by:
            if column not in (known := {*_columns_of(con, score), *_OF_EXAMPLES}):
                raise unknown_name(score, "by", column, known)


def fill_examples(con: duckdb.DuckDBPyConnection, catalogue: Catalogue, corpora: Iterable[str]) -> None:
    """Run the examples of these corpora into ``main.examples``; CatalogueError names the first file to mend."""
    wanted = set(corpora)
    for query in (query for query in catalogue.examples if query.schema in wanted):
        with sql_of(query):
            con.execute(
                "insert into main.examples by name "
                f"select '{query.schema}' as corpus_id, '{query.name}' as task, * from ({query.sql}\n)"
            )


def check_schemes(con: duckdb.DuckDBPyConnection, catalogue: Catalogue, corpora: Iterable[str]) -> None:
    """Raise CatalogueError where a head names a scheme that none of these corpora declares, though they are there."""
    present = set(corpora)
    known = {scheme for (scheme,) in con.execute("select scheme from main.schemes").fetchall()}
    queries: Iterable[ViewQuery | ScoreQuery] = (*catalogue.written_views, *catalogue.scores)
    for query in queries:
        if query.scheme and query.scheme not in known and query.schema in present:
            raise unknown_name(query, "scheme", query.scheme, known)


def create_split_views(
    con: duckdb.DuckDBPyConnection, catalogue: Catalogue, splits: Mapping[str, Iterable[str]]
) -> None:
    """Create, for each task view, one view per split, of the default publications; existing ones are left alone.

    ``splits``: corpus id -> the splits that it declares. Those that occur in ``main.examples`` are added, unless they
    are so many that a column of splits holds something else, such as ids.
    """
    tasks, missing = {query.full_name for query in catalogue.examples}, []
    existing = set(con.execute(_VIEWS).fetchall())
    occurring = defaultdict[tuple[str, str], set[str]](set)
    for corpus_id, task, split in con.execute(_SPLITS).fetchall():
        occurring[corpus_id, task].add(split)
    for view in (view for view in catalogue.written_views if view.full_name in tasks):
        declared = set(splits.get(view.schema, ()))
        others = occurring[view.schema, view.name] - declared
        for split in sorted(declared | others if len(others) <= MOST_SPLITS else declared):
            if (view.schema, f"{view.name}_{split}") not in existing:
                missing.append(split_view(view, split, only_default="is_default" in _columns_of(con, view)))
    if missing:
        _create(con, missing)


def split_view(task: ViewQuery, split: str, *, only_default: bool) -> ViewQuery:
    """Return the view of one split of a task view: of the default publications, or of every release."""
    where = f"split = {literal(split)}{' and is_default' if only_default else ''}"
    return replace(
        task,
        name=f"{task.name}_{split}",
        sql=f"select * from {task.name_in_sql} where {where}",
        comment=f"The split {split} of {task.full_name}{', each example once' if only_default else ''}. {task.comment}",
    )


def _create(con: duckdb.DuckDBPyConnection, views: Sequence[ViewQuery], tasks: Collection[str] = ()) -> None:
    """Create views with their comments, which replacing one drops; comments all at once, which is faster."""
    for view in views:
        with sql_of(view):
            con.execute(f"create or replace view {view.name_in_sql} as {view.sql}")
        if view.label_column:  # Now, for views of all labels read this column.
            _check_columns(view, _columns_of(con, view), is_task=view.full_name in tasks)
    columns = defaultdict(list)
    for schema, name, column in con.execute(_COLUMNS).fetchall():
        columns[schema, name].append(column)
    comments = []
    for view in views:
        own = columns[view.schema, view.name]
        _check_columns(view, own, is_task=view.full_name in tasks)
        comments.append(f"comment on view {view.name_in_sql} is {literal(view.comment)}")
        for column in own:
            if meaning := view.columns.get(column) or _MEANINGS.get(column) or _inherited(column):
                comments.append(f"comment on column {view.name_in_sql}.{identifier(column)} is {literal(meaning)}")
    con.execute(";\n".join(comments))


def _columns_of(con: duckdb.DuckDBPyConnection, query: Query) -> list[str]:
    """Return the columns of the view that a file makes, or of the task that it scores."""
    return [name for name, *_ in con.execute(f"from {query.name_in_sql} limit 0").description or ()]


def _check_columns(view: ViewQuery, columns: Sequence[str], *, is_task: bool) -> None:
    """Raise CatalogueError where a head names a column that the view does not have, or the view of a task too few."""
    labels = [] if view.label_column is None else [("label" if view.label else "labels", view.label_column)]
    identifying = [("identifying", name) for name in view.identifying_columns]
    grain = [("grain", name) for name in view.grain]
    named = [*grain, *labels, *identifying, *((name, name) for name in view.columns)]
    for key, name in named:
        if name not in columns:
            raise unknown_name(view, key, name, columns)
    needed = (*(_OF_TASKS if is_task else ()), *(_OF_LABELS if view.label_column else ()))
    if missing := [name for name in dict.fromkeys(needed) if name not in columns]:
        who = "the view of every task" if is_task else "a view with labels"
        expected = f"the columns that {who} has: {', '.join(dict.fromkeys(needed))}"
        raise broken(view.path, f"a view without {', '.join(missing)}", view.sql_line, expected)


def _inherited(column: str) -> str | None:
    """Return the meaning of a column that a view takes from a shared table by the same name."""
    tables = (metadata.tables[name] for name in _INHERITED_FROM)
    return next((table.columns[column].comment for table in tables if column in table.columns), None)
