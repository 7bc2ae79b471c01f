"""Which views of a warehouse have the rows of one split, of which task and split."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import duckdb

_SPLIT_VIEWS = """
with views as (
    select schema_name, view_name, sql from duckdb_views() where database_name = $database and not internal
),

named as (
    select views.*, tasks.view_name as task, substr(views.view_name, len(tasks.view_name) + 2) as split
    from views
    inner join views as tasks
        on views.schema_name = tasks.schema_name and starts_with(views.view_name, tasks.view_name || '_')
),

-- DuckDB writes both alike: what it stored of the view, and what the view of that split would be.
expected as (
    select
        *,
        json_deserialize_sql(json_serialize_sql(format(
            'select * from "{}"."{}" where split = ''{}''',
            replace(schema_name, '"', '""'), replace(task, '"', '""'), replace(split, '''', '''''')
        ))) as query
    from named
)

select schema_name || '.' || view_name, schema_name || '.' || task, split
from expected
where ends_with(sql, ' AS ' || query || ';')
order by all
"""


class SplitView(NamedTuple):
    """What a view of one split has the rows of."""

    task: str
    """The full name of the task's view."""
    split: str


def common_splits(views: Iterable[SplitView]) -> Mapping[str, frozenset[str]]:
    """Return by corpus the splits that every task has a view of: all that it declares, and what occurs in all tasks."""
    by_task = defaultdict[str, set[str]](set)
    for view in views:
        by_task[view.task].add(view.split)
    common: dict[str, frozenset[str]] = {}
    for task, splits in by_task.items():
        corpus = task.partition(".")[0]
        common[corpus] = common.get(corpus, frozenset(splits)) & splits
    return common


def split_views(con: duckdb.DuckDBPyConnection, database: str) -> Mapping[str, SplitView]:
    """Return by its full name each view that is as a build makes that of a split: named so, and with that query.

    Somebody's own view beside a task, ``toy.mood_mine``, is none. ``database`` is the warehouse's name.
    """
    rows = con.execute(_SPLIT_VIEWS, {"database": database}).fetchall()
    return {view: SplitView(task, split) for view, task, split in rows}
