"""Find the SQL files (``<schema>/<view>.sql``, ``macros/``, ``examples/``, ``bi/`` ...); read comments and grain."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from graphlib import CycleError, TopologicalSorter
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb

from talkhouse import queries
from talkhouse.schema.errors import CatalogueError

DEFAULT_ROOT = Path(queries.__path__[0])
CHECKS = "checks"
"""Folder of checks: those beside the corpora hold for all of them, those inside a corpus for it alone."""
METRICS = "metrics"
"""Folder of what sums up scores: that beside the corpora is for all of them, one inside a corpus for it alone."""
BI = "bi"
"""Folder and schema of views for BI tools: ``bi/turns.sql`` is ``bi.turns``, ``toy/bi/moods.sql`` ``bi.toy_moods``."""

TASK_LABELS, LABELLED_TASKS = "task_labels", "labelled_tasks"
"""What a view reads that wants the gold labels of all tasks, or the names of these tasks: the catalogue writes them."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_KEY = re.compile(r"^-- ([a-z]+): (.*)$")
_CALL = re.compile(r"\b([a-z][a-z0-9_]*\.[a-z][a-z0-9_]*)\s*\(")
_SCHEME = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")
_COLUMN = re.compile(r"^--   ([a-z][a-z0-9_]*): (.*)$")


@dataclass(frozen=True)
class Query:
    """One SQL file: its name, the sentence that describes it, its grain, and the SQL below them."""

    schema: str
    name: str
    comment: str
    grain: tuple[str, ...]
    sql: str
    path: Path
    columns: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Meanings of columns, of those that no table has under the same name."""
    facts: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The ``-- key: value`` lines."""

    @property
    def full_name(self) -> str:
        """The name as SQL writes it."""
        return f"{self.schema}.{self.name}"

    def list_of(self, key: str) -> list[str]:
        """Return the names in a ``-- key: name, name`` line; none where there is no such line."""
        return [name.strip() for name in self.facts.get(key, "").split(",") if name.strip()]

    @property
    def calls(self) -> set[str]:
        """The macros that the SQL calls, and whatever else looks like a call of one."""
        return set(_CALL.findall(self.sql))


@dataclass(frozen=True)
class Catalogue:
    """Everything under the roots."""

    written_macros: tuple[Query, ...]
    written_views: tuple[Query, ...]
    examples: tuple[Query, ...]
    checks: tuple[Query, ...] = ()
    scores: tuple[Query, ...] = ()
    """What each example of a task scores: ``<corpus>/scores/<task>.sql``, or a file whose head names its tasks."""
    metrics: tuple[Query, ...] = ()
    """The metrics over what examples score: ``metrics/*.sql``, ``<corpus>/metrics/*.sql``."""
    layouts: tuple[Query, ...] = ()
    """Predictions in a publisher's own layout as a table: ``<corpus>/layouts/*.sql``."""
    printed: tuple[Query, ...] = ()
    """The lines that a publisher's own script prints: ``<corpus>/printed/<task>.sql``."""
    views_in_files: tuple[Query, ...] = ()
    """The views as their files have them, before the labels of all tasks are written into those that read them."""

    @cached_property
    def macros(self) -> tuple[Query, ...]:
        """The macros in an order in which they can be created; CatalogueError where there is no such order."""
        return _in_order(self.written_macros, {macro.full_name: macro.calls for macro in self.written_macros})

    @cached_property
    def views(self) -> tuple[Query, ...]:
        """The views in an order in which they can be created; CatalogueError for broken SQL or no such order."""
        return _in_order(self.written_views, _relations(self.written_views))

    def without_labels_of(self, tasks: Collection[str]) -> "Catalogue":
        """Return the catalogue whose views do without the labels of tasks, which their full names tell."""
        return replace(self, written_views=tuple(_with_task_labels(self.views_in_files, without=tasks)))

    @property
    def schemas(self) -> list[str]:
        """Every schema that a macro or view lives in."""
        return sorted({query.schema for query in (*self.written_macros, *self.written_views)})

    @property
    def hash(self) -> str:
        """SHA-256 over names and SQL: it changes when a view would."""
        state = sha256()
        for query in (*self.written_macros, *self.written_views, *self.examples, *self.checks):
            head = [query.full_name, query.comment, str(query.columns), str(query.facts)]
            state.update("\0".join([*head, query.sql, ""]).encode())
        return state.hexdigest()


def catalogue(roots: Iterable[Path] = (DEFAULT_ROOT,)) -> Catalogue:
    """Read every SQL file under the roots; raises CatalogueError with the file's name for the first broken one."""
    wanted = tuple(roots)
    return _own() if wanted == (DEFAULT_ROOT,) else _catalogue(wanted)


@cache
def _own() -> Catalogue:
    """Read Talkhouse's own SQL files, once in a process."""
    return _catalogue((DEFAULT_ROOT,))


def _catalogue(roots: tuple[Path, ...]) -> Catalogue:
    folders = [folder for root in roots for folder in sorted(root.iterdir()) if _NAME.fullmatch(folder.name)]
    macros = [_read(path, folder.name) for folder in folders for path in sorted(folder.glob("macros/*.sql"))]
    examples = _read_all(folders, "examples/*.sql", "grain")
    views = _read_all([folder for folder in folders if folder.name not in (CHECKS, METRICS)], "*.sql", "grain")
    views += [
        replace(query, schema=BI, name=f"{query.schema}_{query.name}")
        for query in _read_all(folders, f"{BI}/*.sql", "grain")
    ]
    shared = [folder for folder in folders if folder.name == CHECKS]
    checks = _read_all(shared, "*.sql", "severity") + _read_all(folders, f"{CHECKS}/*.sql", "severity")
    metrics = _read_all([folder for folder in folders if folder.name == METRICS], "*.sql")
    metrics += _read_all(folders, f"{METRICS}/*.sql")
    return Catalogue(
        tuple(macros),
        tuple(_with_task_labels(views)),
        tuple(examples),
        tuple(checks),
        scores=tuple(
            replace(query, name=name)
            for query in _read_all(folders, "scores/*.sql", "predicts", "metrics")
            for name in query.list_of("tasks") or [query.name]
        ),
        metrics=tuple(metrics),
        layouts=tuple(_read_all(folders, "layouts/*.sql", "reads")),
        printed=tuple(_read_all(folders, "printed/*.sql")),
        views_in_files=tuple(views),
    )


def is_labelled(view: Query) -> bool:
    """Tell whether a view is of a task that names its label column."""
    return bool(view.facts.keys() & {"label", "labels"})


def _with_task_labels(views: Collection[Query], *, without: Collection[str] = ()) -> list[Query]:
    """Let each view that reads ``task_labels`` read the task views that name their label column in their head.

    ``-- label: column`` names a text, ``-- labels: column`` a list of texts, ``-- scheme: name`` what declares them.
    ``labelled_tasks`` has the names of these views.
    """
    labelled = [view for view in views if is_labelled(view) and view.full_name not in without]
    labels = "\nunion all\n".join([_labels_of(view) for view in labelled] or [_NO_LABELS])
    tasks = "values " + ", ".join(f"('{view.name}')" for view in labelled) if labelled else "select '' where false"
    written = {TASK_LABELS: labels, LABELLED_TASKS: tasks}
    reads = re.compile(rf"\bfrom ({'|'.join(written)})\b")
    return [replace(view, sql=reads.sub(lambda read: f"from (\n{written[read[1]]}\n)", view.sql)) for view in views]


_NO_LABELS = (
    "select null::varchar as corpus_id, null::varchar as task, null::varchar as scheme, null::varchar as record_id, "
    "null::varchar as split, null::integer as example_index, null::varchar[] as labels, null::integer as label_count "
    "where false"
)


def _labels_of(view: Query) -> str:
    """Write a SELECT of a task's examples with their labels as a list."""
    facts = view.facts
    if {"label", "labels"} <= facts.keys():
        raise _broken(view.path, "its head names a label and labels: a task has one column of labels")
    column = facts.get("label") or facts["labels"]
    if not _NAME.fullmatch(column) or not _SCHEME.fullmatch(facts.get("scheme", "a.b")):
        raise _broken(view.path, "'-- label: column' names a column, '-- scheme: corpus.name' a scheme")
    labels = f"[{column}::varchar]" if "label" in facts else f"{column}::varchar[]"
    scheme = f"'{facts['scheme']}'" if "scheme" in facts else "null::varchar"
    return (
        f"select '{view.schema}' as corpus_id, '{view.name}' as task, {scheme} as scheme, record_id, split, "
        f"example_index, {labels} as labels, len({labels})::integer as label_count "
        f"from {view.full_name} where {column} is not null"
    )


def _read_all(folders: list[Path], pattern: str, *needs: str) -> list[Query]:
    return [_read(path, folder.name, needs) for folder in folders for path in sorted(folder.glob(pattern))]


def _read(path: Path, schema: str, needs: tuple[str, ...] = ()) -> Query:
    """Read one file: the comment lines at its top, and the SQL below them.

    The first line is a sentence; ``-- key: value`` lines follow, and ``--   column: meaning`` for columns.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    body = next((number for number, line in enumerate(lines) if not line.startswith("--")), len(lines))
    comment, *head = lines[:body] or [""]
    if not comment.startswith("-- ") or not comment.rstrip().endswith("."):
        raise _broken(path, "its first line must be a comment: one sentence that says what a row is")
    if not _NAME.fullmatch(path.stem):
        raise _broken(path, "a name is lower case letters, digits and '_'")
    facts = {key: value for line in head for key, value in _KEY.findall(line)}
    columns = {name: meaning for line in head for name, meaning in _COLUMN.findall(line)}
    for key in needs:
        if key not in facts:
            raise _broken(path, f"the lines at its top must name its {key}: '-- {key}: ...'")
    grain = tuple(column.strip() for column in facts.get("grain", "").split(",") if column.strip())
    sql = "\n".join(lines[body:]).strip()
    return Query(schema, path.stem, comment.removeprefix("-- ").strip(), grain, sql, path, columns, facts)


def _in_order(queries: Iterable[Query], needs: Mapping[str, set[str]]) -> tuple[Query, ...]:
    """Sort views, or macros, so that each comes after those that it reads."""
    by_name: dict[str, Query] = {}
    for query in queries:
        if by_name.setdefault(query.full_name, query) is not query:
            raise _broken(query.path, f"{query.full_name} is also created by {by_name[query.full_name].path}")
    # Sorted, since a set is in another order in each process.
    graph = {name: sorted(needs[name] & by_name.keys()) for name in by_name}
    try:
        return tuple(by_name[name] for name in TopologicalSorter(graph).static_order())
    except CycleError as error:
        cycle = error.args[1]
        raise _broken(by_name[cycle[0]].path, f"they read each other in a cycle: {' -> '.join(cycle)}") from error


def _relations(selects: Collection[Query]) -> dict[str, set[str]]:
    """Return the tables and views that each SELECT reads, as it names them."""
    found = {}
    texts = [query.sql for query in selects]
    rows = duckdb.execute("select json_serialize_sql(sql) from (select unnest(?::varchar[]) as sql)", [texts])
    for query, (serialized,) in zip(selects, rows.fetchall(), strict=True):
        tree = json.loads(serialized)
        if tree["error"]:
            raise _broken(query.path, str(tree.get("error_message")))
        found[query.full_name] = {f"{schema}.{name}" for schema, name in _base_tables(tree) if schema}
    return found


def _base_tables(node: Any) -> Iterator[tuple[str, str]]:
    """Walk a serialized SELECT for the tables that it names."""
    if isinstance(node, dict):
        if node.get("type") == "BASE_TABLE":
            yield node["schema_name"], node["table_name"]
        for value in node.values():
            yield from _base_tables(value)
    elif isinstance(node, list):
        for value in node:
            yield from _base_tables(value)


def _broken(path: Path, reason: str) -> CatalogueError:
    return CatalogueError("the SQL file is broken", where=path, found=reason, next_step="fix the file")
