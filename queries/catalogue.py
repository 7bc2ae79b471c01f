"""Find the SQL files (``<schema>/<view>.sql``, ``macros/``, ``examples/``, ``bi/`` ...); read comments and grain."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from graphlib import CycleError, TopologicalSorter
from hashlib import sha256
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import duckdb

from talkhouse.queries import heads
from talkhouse.queries.files import DEFAULT_ROOT, Files, QueryFile, files_in, own_files
from talkhouse.queries.foreign_sql import Refused, Scope, check_expressions, check_macro, check_select, scope_of_files
from talkhouse.schema.sql import identifier, literal

FORMAT = 1
"""Raised when views, macros or examples are made otherwise from the same SQL: every warehouse gets them anew."""

CHECKS = "checks"
"""Folder of checks: those next to the corpora hold for all of them, those inside a corpus for it alone."""
METRICS = "metrics"
"""Folder of what sums up scores: that next to the corpora is for all of them, one inside a corpus for it alone."""
BI = "bi"
"""Folder and schema of views for BI tools: ``bi/turns.sql`` is ``bi.turns``, ``toy/bi/moods.sql`` ``bi.toy_moods``."""

TASK_LABELS, LABELLED_TASKS, TASK_MEANINGS = "task_labels", "labelled_tasks", "task_meanings"
TASK_CONTEXTS = "task_contexts"
"""What a view reads that wants the gold labels of all tasks, the names of these tasks, what labels mean that a task
makes, or what comes before a turn to those that say so: the catalogue writes them."""

_TEXT = re.compile(r"'([^']+)'(\s*\|\|)?")
"""A text in SQL, and whether something is joined to it."""

Check: TypeAlias = Callable[[str, Scope], None]
"""One of those of ``foreign_sql``."""

_full_name = attrgetter("full_name")

_PLACE = ("path", "sql_line", "head")
"""What of a file has no part in what its view is."""


@dataclass(frozen=True)
class Catalogue:
    """Everything under the roots."""

    written_macros: tuple[heads.MacroQuery, ...]
    written_views: tuple[heads.ViewQuery, ...]
    examples: tuple[heads.ExampleQuery, ...]
    checks: tuple[heads.CheckQuery, ...] = ()
    scores: tuple[heads.ScoreQuery, ...] = ()
    """What each example of a task scores: ``<corpus>/scores/<task>.sql``, or a file whose head names its tasks."""
    metrics: tuple[heads.MetricQuery, ...] = ()
    """The metrics over what examples score: ``metrics/*.sql``, ``<corpus>/metrics/*.sql``."""
    layouts: tuple[heads.LayoutQuery, ...] = ()
    """Predictions in a publisher's own layout as a table: ``<corpus>/layouts/*.sql``."""
    printed: tuple[heads.PrintedQuery, ...] = ()
    """The lines that a publisher's own script prints: ``<corpus>/printed/<task>.sql``."""
    views_in_files: tuple[heads.ViewQuery, ...] = ()
    """The views as their files have them, before the labels of all tasks are written into those that read them."""

    @cached_property
    def macros(self) -> tuple[heads.MacroQuery, ...]:
        """The macros in an order in which they can be created; CatalogueError where there is no such order."""
        return _in_order(self.written_macros, {macro.full_name: macro.calls for macro in self.written_macros})

    @cached_property
    def views(self) -> tuple[heads.ViewQuery, ...]:
        """The views in an order in which they can be created; CatalogueError for broken SQL or no such order."""
        return _in_order(self.written_views, _relations(self.written_views))

    def without_labels_of(self, tasks: Collection[str]) -> "Catalogue":
        """Return the catalogue whose views do without the labels of tasks, which their full names tell."""
        return replace(self, written_views=tuple(_with_task_labels(self.views_in_files, without=tasks)))

    @property
    def schemas(self) -> list[str]:
        """Every schema that a macro or view lives in."""
        return sorted({query.schema for query in (*self.written_macros, *self.written_views)})

    @cached_property
    def hash(self) -> str:
        """SHA-256 over names and SQL: it changes when a view would, and not with the order of the files."""
        state = sha256(f"{FORMAT}\0".encode())
        kinds = (self.written_macros, self.written_views, self.examples, self.checks)
        for query in (query for kind in kinds for query in sorted(kind, key=_full_name)):
            values = [str(getattr(query, own.name)) for own in fields(query) if own.name not in _PLACE]
            state.update("\0".join([*values, ""]).encode())
        return state.hexdigest()


def catalogue(roots: Iterable[Path] = (DEFAULT_ROOT,)) -> Catalogue:
    """Read every SQL file under the roots; raises CatalogueError with the file's name for the first broken one."""
    wanted = tuple(roots)
    return catalogue_of(own_files() if wanted == (DEFAULT_ROOT,) else files_in(wanted))


@lru_cache(maxsize=4)
def catalogue_of(files: Files) -> Catalogue:
    """Parse every SQL file of these; raises CatalogueError with the file's name for the first broken one."""
    of_folders = tuple(file for file in files if file.is_sql and heads.is_name(file.folder))
    of_corpora = tuple(file for file in of_folders if file.folder not in (CHECKS, METRICS))
    views = _parsed(of_corpora, "", heads.ViewQuery)
    views += [
        replace(query, schema=BI, name=f"{query.schema}_{query.name}")
        for query in _parsed(of_folders, BI, heads.ViewQuery)
    ]
    shared = tuple(file for file in of_folders if file.folder == CHECKS)
    of_all = tuple(file for file in of_folders if file.folder == METRICS)
    found = Catalogue(
        tuple(_parsed(of_folders, "macros", heads.MacroQuery)),
        tuple(_with_task_labels(views)),
        tuple(_parsed(of_folders, "examples", heads.ExampleQuery)),
        tuple(_parsed(shared, "", heads.CheckQuery) + _parsed(of_folders, CHECKS, heads.CheckQuery)),
        scores=tuple(
            replace(query, name=name)
            for query in _parsed(of_folders, "scores", heads.ScoreQuery)
            for name in query.tasks or [query.name]
        ),
        metrics=tuple(_parsed(of_all, "", heads.MetricQuery) + _parsed(of_folders, METRICS, heads.MetricQuery)),
        layouts=tuple(_parsed(of_folders, "layouts", heads.LayoutQuery)),
        printed=tuple(_parsed(of_folders, "printed", heads.PrintedQuery)),
        views_in_files=tuple(views),
    )
    _check_names(found)
    own = {*own_files()}
    _check_foreign(found, {file.path for file in files if file not in own})
    return found


class DeclaredSql(NamedTuple):
    """SQL in a declaration, and how it is checked."""

    file: QueryFile
    check: Check
    sql: str


def check_foreign(files: Files, *declared: DeclaredSql) -> None:
    """Raise CatalogueError for SQL in declarations that are not Talkhouse's own and does more than compute."""
    own = {*own_files()}
    if foreign := [declaration for declaration in declared if declaration.file not in own]:
        scope = _scope(catalogue_of(files))
        for file, check, sql in foreign:
            with _refusals_in(file.path, sql):
                check(sql, scope)


def _check_foreign(known: Catalogue, paths: Collection[Path]) -> None:
    """Raise CatalogueError for SQL in these files that does more than compute."""
    views, scope = _scope(known), _scope(known, is_scored=True)
    of_tables: list[heads.Query] = [*known.written_macros, *known.views_in_files, *known.examples, *known.checks]
    of_scores: list[heads.Query] = [*known.scores, *known.metrics, *known.layouts, *known.printed]
    for query in (query for query in (*of_tables, *of_scores) if query.path in paths):
        with _refusals_in(query.path, query.sql, query.sql_line):
            check = check_macro if isinstance(query, heads.MacroQuery) else check_select
            check(query.sql, scope if query in of_scores else views)
    for score in (score for score in known.scores if score.path in paths):
        for key, sql in (("oracle", score.oracle), ("counts", score.counts)):
            with _refusals_in(score.path, "", heads.line_of(score, key)):
                check_expressions(sql or "null", scope)


def _scope(known: Catalogue, *, is_scored: bool = False) -> Scope:
    schemas = {query.schema for query in (*known.written_views, *known.written_macros)}
    allowed = None if is_scored else (TASK_LABELS, LABELLED_TASKS, TASK_MEANINGS, TASK_CONTEXTS)
    return scope_of_files(schemas, {macro.full_name for macro in known.written_macros}, allowed)


@contextmanager
def _refusals_in(path: Path, sql: str, line: int | None = None) -> Iterator[None]:
    """Raise CatalogueError for what is refused of SQL that begins in this line of a file."""
    try:
        yield
    except Refused as refused:
        at = None if line is None else line + sql.encode()[: refused.at].count(b"\n")
        computes = "a SELECT of functions that compute, over tables and views of the warehouse"
        raise heads.broken(path, refused.what, at, f"one of: {refused.near}" if refused.near else computes) from None


def _check_names(catalogue: Catalogue) -> None:
    """Raise CatalogueError where a head names a task or a file of metrics that does not exist."""
    views, scores, metrics = (
        {query.full_name for query in queries}
        for queries in (catalogue.written_views, catalogue.scores, catalogue.metrics)
    )
    for query in (*catalogue.scores, *catalogue.printed):
        _check_name(query, "tasks", query.full_name, views if isinstance(query, heads.ScoreQuery) else scores)
    for layout in catalogue.layouts:
        for task in layout.tasks:
            _check_name(layout, "tasks", f"{layout.schema}.{task}", scores)
    for score in catalogue.scores:
        for name in score.metrics:
            _check_name(score, "metrics", name, metrics)
        whole, begun = _metric_names(catalogue, score)
        named = [("official", name) for name in score.official or () if name != "none"]
        for key, name in [*named, *([("doubt", score.doubt.metric)] if score.doubt else [])]:
            if not name.startswith(begun):
                _check_name(score, key, name, whole)


def _metric_names(catalogue: Catalogue, score: heads.ScoreQuery) -> tuple[set[str], tuple[str, ...]]:
    """Return the names that the metrics of a task may have, and how those begin that are put together.

    Both are texts in the SQL of the metrics and of the macros that they call.
    """
    macros = {macro.full_name: macro for macro in catalogue.written_macros}
    queries: list[heads.Query] = [metric for metric in catalogue.metrics if metric.full_name in score.metrics]
    for query in queries:
        queries += [macros[name] for name in sorted(query.calls & macros.keys()) if macros[name] not in queries]
    texts = [match for query in queries for match in _TEXT.findall(query.sql)]
    whole = {text for text, more in texts if not more and any(map(str.isalpha, text))}  # no brackets and blanks
    return whole, tuple(text for text, more in texts if more)


def _check_name(query: heads.Query, key: str, name: str, known: set[str]) -> None:
    if name not in known:
        raise heads.unknown_name(query, key, name, known)


def _parsed(files: Files, subfolder: str, kind: type[heads.Kind]) -> list[heads.Kind]:
    return [heads.parse(file, kind) for file in files if file.kind == subfolder]


def _with_task_labels(views: Collection[heads.ViewQuery], *, without: Collection[str] = ()) -> list[heads.ViewQuery]:
    """Let each view that reads ``task_labels`` read the task views that name their label column in their head.

    ``-- label: column`` names a text, ``-- labels: column`` a list of texts, ``-- scheme: name`` what declares them.
    ``labelled_tasks`` has the names of these views, ``task_meanings`` what their heads say in ``-- meanings:``,
    ``task_contexts`` what any view's head says in ``-- context:``. What is put in place of a name has no line end, so
    that DuckDB still counts the lines of the file.
    """
    named = (view for view in views if view.label_column and view.full_name not in without)
    labelled = sorted(named, key=_full_name)
    labels = " union all ".join([_labels_of(view) for view in labelled] or [_NO_LABELS])
    tasks = "values " + ", ".join(f"('{view.name}')" for view in labelled) if labelled else "select '' where false"
    meanings = " union all ".join([row for view in labelled for row in _meanings_of(view)] or [_NO_MEANINGS])
    contexts = " union all ".join([_context_of(view) for view in views if view.context] or [_NO_CONTEXT])
    written = {TASK_LABELS: labels, LABELLED_TASKS: tasks, TASK_MEANINGS: meanings, TASK_CONTEXTS: contexts}
    reads = re.compile(rf"\bfrom ({'|'.join(written)})\b")
    return [replace(view, sql=reads.sub(lambda read: f"from ({written[read[1]]})", view.sql)) for view in views]


_NO_LABELS = (
    "select null::varchar as corpus_id, null::varchar as task, null::varchar as scheme, null::varchar as record_id, "
    "null::varchar as split, null::integer as example_index, null::varchar[] as labels, null::integer as label_count "
    "where false"
)


def _labels_of(view: heads.ViewQuery) -> str:
    """Write a SELECT of a task's examples with their labels as a list."""
    if view.label and view.labels:
        raise heads.broken(
            view.path, "a label and labels", heads.line_of(view, "labels"), "one of them: a task has one such column"
        )
    column = identifier(view.label_column or "")
    labels = f"[{column}::varchar]" if view.label else f"{column}::varchar[]"
    scheme = f"'{view.scheme}'" if view.scheme else "null::varchar"
    return (
        f"select '{view.schema}' as corpus_id, '{view.name}' as task, {scheme} as scheme, record_id, split, "
        f"example_index, {labels} as labels, len({labels})::integer as label_count "
        f"from {view.name_in_sql} where {column} is not null"
    )


_NO_MEANINGS = (
    "select null::varchar as corpus_id, null::varchar as task, null::varchar as label, null::varchar as meaning "
    "where false"
)


def _meanings_of(view: heads.ViewQuery) -> Iterator[str]:
    """Write a SELECT of each label whose meaning the head of a task says."""
    for label, meaning in view.label_meanings.items():
        yield (
            f"select '{view.schema}' as corpus_id, '{view.name}' as task, {literal(label)} as label, "
            f"{literal(meaning)} as meaning"
        )


_NO_CONTEXT = "select '' as corpus_id, '' as task, '' as context where false"


def _context_of(view: heads.ViewQuery) -> str:
    return f"select '{view.schema}' as corpus_id, '{view.name}' as task, '{view.context}' as context"


def _in_order(queries: Iterable[heads.Kind], needs: Mapping[str, set[str]]) -> tuple[heads.Kind, ...]:
    """Sort views, or macros, so that each comes after those that it reads."""
    by_name: dict[str, heads.Kind] = {}
    for query in queries:
        if by_name.setdefault(query.full_name, query) is not query:
            raise heads.broken(query.path, f"{query.full_name} is also created by {by_name[query.full_name].path}")
    # Sorted, since a set is in another order in each process.
    graph = {name: sorted(needs[name] & by_name.keys()) for name in by_name}
    try:
        return tuple(by_name[name] for name in TopologicalSorter(graph).static_order())
    except CycleError as error:
        cycle = error.args[1]
        raise heads.broken(by_name[cycle[0]].path, f"they read each other in a cycle: {' -> '.join(cycle)}") from error


def _relations(selects: Collection[heads.Query]) -> dict[str, set[str]]:
    """Return the tables and views that each SELECT reads, as it names them."""
    found = {}
    texts = [query.sql for query in selects]
    rows = duckdb.execute("select json_serialize_sql(sql) from (select unnest(?::varchar[]) as sql)", [texts])
    for query, (serialized,) in zip(selects, rows.fetchall(), strict=True):
        tree = json.loads(serialized)
        if tree["error"]:
            before = query.sql.encode()[: int(tree.get("position") or 0)]
            raise heads.broken(query.path, str(tree["error_message"]), query.sql_line + before.count(b"\n"))
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
