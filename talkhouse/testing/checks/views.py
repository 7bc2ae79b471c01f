"""The corpus's views: unique grain, comments, ATTACH, the columns of all tasks, older DuckDBs, Spark."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import duckdb

from talkhouse.queries.heads import ExampleQuery, ViewQuery
from talkhouse.schema.guard import guard
from talkhouse.schema.sql import literal
from talkhouse.testing.failure import CannotCheck, require, require_none
from talkhouse.testing.subject import Subject
from talkhouse.translation.translate import left_out

COMMON_COLUMNS = ["split", "standard_split", "example_index", "dialogue_id", "native_id"]
"""With these begins every view of a task."""


def the_grain_is_unique(subject: Subject) -> None:
    """No two rows of a view, or of a task's examples, have the grain that the head names."""
    queries: list[ViewQuery | ExampleQuery] = [*_own(subject), *subject.tasks]
    for query in queries:
        grain = ", ".join(query.grain)
        doubled = f"select {grain}, count(*) from ({query.sql}) group by all having count(*) > 1 order by all"
        rows = subject.sample.execute(doubled).fetchall()
        require_none(rows, f"rows of {query.path} with one grain", expected=f"one row of each {grain}")


def views_work_under_attach(subject: Subject) -> None:
    """A view has the same rows where the warehouse is attached under another name."""
    path = subject.sample_path
    with duckdb.connect() as con:
        con.execute(f"attach {literal(str(path))} as another_name (read_only)")
        guard(con)
        for view in _own(subject):
            there = con.execute(f"select count(*) from another_name.{view.full_name}").fetchall()
            here = subject.sample.execute(f"select count(*) from {view.full_name}").fetchall()
            require(there == here, f"{view.full_name} has other rows under ATTACH", expected=here, found=there)


def views_say_what_they_are(subject: Subject) -> None:
    """Every view has its comment, every column a meaning, and the head explains no column that is not there."""
    for view in _own(subject):
        where = [view.schema, view.name]
        query = "select comment from duckdb_views() where schema_name = ? and view_name = ?"
        ((comment,),) = subject.sample.execute(query, where).fetchall()
        require(comment == view.comment, f"another comment of {view.full_name}", expected=view.comment, found=comment)
        query = "select column_name, comment from duckdb_columns() where schema_name = ? and table_name = ?"
        columns = dict(subject.sample.execute(query, where).fetchall())
        bare = [(name,) for name, meaning in columns.items() if not meaning]
        expected = f"'--   name: meaning' in {view.path}"
        require_none(bare, f"columns of {view.full_name} without a meaning", expected=expected)
        others = [(name,) for name in view.columns if name not in columns]
        expected = f"one of {', '.join(columns)}"
        require_none(others, f"meanings of columns that {view.full_name} does not have", expected=expected)


def tasks_have_the_columns_of_all(subject: Subject) -> None:
    """The view of a task begins with the same five columns, and its examples are numbered without a gap."""
    if not subject.tasks:
        raise CannotCheck("the corpus has no task")
    for task in subject.tasks:
        columns = [name for (name, *_) in subject.sample.execute(f"describe {task.full_name}").fetchall()]
        begin = columns[: len(COMMON_COLUMNS)]
        require(begin == COMMON_COLUMNS, f"other columns of {task.full_name}", expected=COMMON_COLUMNS, found=begin)
        gaps = subject.sample.execute(
            "select release, split, count(*) from main.examples where corpus_id = ? and task = ? "
            "group by all having min(example_index) <> 0 or max(example_index) <> count(*) - 1 order by all",
            [task.schema, task.name],
        )
        require_none(gaps.fetchall(), f"gaps in the examples of {task.full_name}", expected="0, 1, 2 ...")


def views_bind_in_the_oldest_duckdb(subject: Subject) -> None:
    """Every view works in the oldest DuckDB that is supported, where the warehouse is attached."""
    problems = problems_in(OLDEST, subject.sample_path, [view.full_name for view in _own(subject)])
    require_none([*problems.items()], f"views fail in DuckDB {OLDEST}", expected="rows")


def views_translate_to_spark(subject: Subject) -> None:
    """Every view can be had in a lake; one that can't is no mistake, and is named."""
    own = {view.full_name for view in _own(subject)}
    lost = [view for view in left_out(subject.sample, subject.catalogue) if view.full_name in own]
    if lost:
        raise CannotCheck("; ".join(f"a lake leaves out {view.full_name}: {view.reason}" for view in lost))


def _own(subject: Subject) -> tuple[ViewQuery, ...]:
    if not subject.views:
        raise CannotCheck("the corpus has no view")
    return subject.views


OLDEST = "1.4.4"
"""The oldest version whose views work under ATTACH without USE (``docs/clients.md``)."""

_PROGRAM = """
import json, sys
from duckdb import connect
path, *views = json.load(sys.stdin)
con = connect()
con.execute("attach '" + path.replace("'", "''") + "' as w (read_only)")
problems = {}
for view in views:
    try:
        con.execute("from w." + view).fetchall()
    except Exception as error:
        problems[view] = f"{type(error).__name__}: {error}"
print(json.dumps(problems))
"""

_PYTHON = ">=3.11,<3.14"
"""For these it has wheels."""


def problems_in(version: str, warehouse: Path, views: Sequence[str]) -> dict[str, str]:
    """Query views in a version of DuckDB; return what went wrong, by view.

    Raises CannotCheck where uv, or this version in its cache, is missing: nothing is downloaded.
    """
    uv = shutil.which("uv")
    if uv is None:
        raise CannotCheck(f"DuckDB {version} runs by uv, which is not installed")
    wanted = ["--isolated", "--no-project", "--python", _PYTHON, "--with", f"duckdb=={version}", "--with", "pytz"]
    done = subprocess.run(  # noqa: S603 - our own words
        [uv, "run", "--offline", "--quiet", *wanted, "python", "-c", _PROGRAM],
        input=json.dumps([str(warehouse), *views]),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        command = f"uv run --no-project --python '{_PYTHON}' --with duckdb=={version} --with pytz python -c ''"
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise CannotCheck(f"DuckDB {version} is not installed ({last}); to install it: {command}")
    problems: dict[str, str] = json.loads(done.stdout)
    return problems
