"""What the comment lines at the top of an SQL file declare: one class for each kind of file.

The first line is a sentence. ``-- key: value`` lines follow, and in a view ``--   column: meaning`` lines; any other
comment is for people who read the file.
"""

import re
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from talkhouse.queries.files import QueryFile
from talkhouse.schema.contents import ID
from talkhouse.schema.errors import CatalogueError, closest
from talkhouse.schema.sql import identifier

_NAME = ID.pattern
_CALL = re.compile(rf'(?:\b({_NAME})|"({_NAME})")\.(?:({_NAME})|"({_NAME})")\s*\(')
_LINE = re.compile(r"--(?P<indent> *)(?P<key>[A-Za-z_]\w*) *:(?: +(?P<value>.*)|$)")
_COLUMN_INDENT = 3
"""Spaces from which on a line of the head is about a column."""

Text = Annotated[str, Meta(min_length=1, description="a text")]
Column = Annotated[str, Meta(pattern=rf"^{_NAME}$", description="a column: lower case letters, digits and '_'")]
Columns = Annotated[tuple[Column, ...], Meta(min_length=1, description="columns, separated by commas")]
Scheme = Annotated[str, Meta(pattern=rf"^{_NAME}\.{_NAME}$", description="a scheme: corpus.name")]
Texts = Annotated[tuple[Text, ...], Meta(min_length=1, description="texts, separated by commas")]
View = Annotated[str, Meta(pattern=rf"^{_NAME}$")]
Views = Annotated[tuple[View, ...], Meta(min_length=1, description="views of the corpus, separated by commas")]
MetricFile = Annotated[str, Meta(pattern=rf"^{_NAME}\.{_NAME}$")]
MetricFiles = Annotated[
    tuple[MetricFile, ...], Meta(min_length=1, description="files of metrics, separated by commas: folder.name")
]
Predicted = Annotated[str, Meta(pattern=r"^(label|labels|score|scores|text|prob_[a-z0-9_]+)\??$")]
Prediction = Annotated[
    tuple[Predicted, ...],
    Meta(
        min_length=1,
        description="columns, separated by commas: label, labels, score, scores, text or prob_..., "
        "each with a '?' where a prediction may be without it",
    ),
]
Numbers = Annotated[tuple[float, ...], Meta(min_length=1, description="numbers, separated by commas")]
TaskCategory = Annotated[
    str,
    Meta(pattern=r"^[a-z]+(-[a-z]+)*$", description="a task category of the Hugging Face Hub, such as text-ranking"),
]
Classes = Annotated[
    str,
    Meta(
        pattern=rf"^{_NAME} = [^;=]+(; {_NAME} = [^;=]+)*$",
        description="column = scheme, or column = label, label; the next column behind a semicolon",
    ),
]
Meanings = Annotated[
    str,
    Meta(
        pattern=r"^[^;=]*[^;= ] = [^;=]+(; [^;=]*[^;= ] = [^;=]+)*$",
        description="label = its meaning; the next label behind a semicolon",
    ),
]
Identifying = Annotated[
    str,
    Meta(
        pattern=rf"^{_NAME} = (person|name|id|link)(; {_NAME} = (person|name|id|link))*$",
        description="column = person, name, id or link; the next column behind a semicolon",
    ),
]
TurnContext = Annotated[Literal["replies", "turns"], Meta(description="replies or turns")]
NoTerms = Annotated[Literal["none"], Meta(description="none, or no such line")]
Severity = Annotated[Literal["error", "warn"], Meta(description="error or warn")]
Scope = Annotated[Literal["file", "all"], Meta(description="file or all")]
ViewScope = Annotated[Literal["dialogue", "all"], Meta(description="dialogue or all")]
Form = Annotated[Literal["documents", "lines", "score_rows"], Meta(description="one of: documents, lines, score_rows")]


class Doubt(NamedTuple):
    """A metric, the value above which it is seldom true, and why."""

    metric: str
    limit: float
    reason: str


@dataclass(frozen=True)
class Query:
    """One SQL file: its name, the sentence that describes it, and the SQL below its head."""

    schema: str
    name: str
    comment: str
    sql: str
    path: Path
    sql_line: int = 1
    """The line of the file in which the SQL begins."""
    head: tuple[str, ...] = ()
    """The lines before it."""

    @property
    def full_name(self) -> str:
        """The name as a user types it."""
        return f"{self.schema}.{self.name}"

    @property
    def name_in_sql(self) -> str:
        """The same in SQL, where a name may need quotes."""
        return identifier(self.schema, self.name)

    @property
    def calls(self) -> set[str]:
        """The macros that the SQL calls, and whatever else looks like a call of one."""
        return {".".join(filter(None, names)) for names in _CALL.findall(self.sql)}


@dataclass(frozen=True)
class MacroQuery(Query):
    """A macro: ``<folder>/macros/<name>.sql``."""


@dataclass(frozen=True, kw_only=True)
class ViewQuery(Query):
    """A view: ``<corpus>/<name>.sql``, ``bi/<name>.sql``, ``<corpus>/bi/<name>.sql``."""

    grain: Columns
    """The columns that together name one row."""
    label: Column | None = None
    """The column of a task's gold label, where that is of a closed set."""
    labels: Column | None = None
    """The same, where an example has a list of labels."""
    scheme: Scheme | None = None
    """What declares these labels."""
    meanings: Meanings | None = None
    """What these labels mean, where a task makes them and no scheme declares them."""
    classes: Classes | None = None
    """Other columns whose values are of a closed set, each with its scheme or its labels."""
    context: TurnContext | None = None
    """What comes before a turn, to a task: its path through replies, or all turns; None: the path where all is one
    tree."""
    task_category: TaskCategory | None = None
    """What kind of task it is, as the Hugging Face Hub calls it."""
    identifying: Identifying | None = None
    """Columns that lead to people and are named otherwise than in the tables: ids or names of people, ids that are
    written in the place of others, or links, which are left out."""
    terms: NoTerms | None = None
    """``none``: the rows are facts about the corpora, such as counts, to which no licence of theirs applies."""
    scope: ViewScope = "all"
    """``dialogue``: a row depends on rows of its own dialogue, and on what is the same for all of a corpus."""
    columns: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Meanings of columns, of those that no table has under the same name."""

    @property
    def other_classes(self) -> dict[str, list[str]]:
        """The columns of ``classes``, each with its labels, or with its scheme: one name with a dot."""
        return {column: [label.strip() for label in labels.split(",")] for column, labels in _pairs(self.classes)}

    @property
    def label_meanings(self) -> dict[str, str]:
        """The labels of ``meanings``, each with what it means."""
        return dict(_pairs(self.meanings))

    @property
    def identifying_columns(self) -> dict[str, str]:
        """The columns of ``identifying``, each with what it holds."""
        return dict(_pairs(self.identifying))

    @property
    def label_column(self) -> str | None:
        """The column of the gold label or labels."""
        return self.label or self.labels


def _pairs(text: str | None) -> Iterator[tuple[str, str]]:
    """Read what stands before and behind ``=`` in each part of a line, with semicolons between these."""
    for part in filter(None, (text or "").split("; ")):
        name, _, value = part.partition(" = ")
        yield name, value


@dataclass(frozen=True, kw_only=True)
class ExampleQuery(Query):
    """Which examples a task has: ``<corpus>/examples/<task>.sql``."""

    grain: Columns


@dataclass(frozen=True, kw_only=True)
class CheckQuery(Query):
    """A check: ``checks/<name>.sql``, ``<corpus>/checks/<name>.sql``."""

    severity: Severity
    rule: Text | None = None
    """The rule that findings name, where that is not the check."""
    remedy: Text | None = None
    scope: Scope = "all"
    """``file``: no row depends on rows of several files, so that a build which reads new files alone looks at these."""


@dataclass(frozen=True, kw_only=True)
class ScoreQuery(Query):
    """What each example of a task scores: ``<corpus>/scores/<task>.sql``, or a file whose head names its tasks."""

    predicts: Prediction
    """The columns of a prediction other than its key."""
    metrics: MetricFiles
    """The metrics over all examples."""
    tasks: Views = ()
    """The tasks that it is for, where that is not the one of its name."""
    labels: Texts = ()
    """The labels that a prediction may have."""
    scheme: Scheme | None = None
    """What declares these labels, in place of ``labels``."""
    thresholds: Numbers = ()
    """The thresholds that are usual, first that of the publisher's script."""
    by: Columns = ()
    """The columns by which the publisher scores, each value alone."""
    official: Texts | None = None
    """The metrics that are official for this task, or ``none``; None if they are as the metrics declare."""
    lower: Texts = ()
    """The metrics of which less is better, by their names up to a bracket."""
    doubt: Doubt | None = None
    published: Text | None = None
    """What another variant of the task leaves as the files have it."""
    pooled: Text | None = None
    """Why its splits are scored together unless one is named."""
    remark: Text | None = None
    """What to know about the numbers, such as why none of them is official."""
    oracle: Text | None = None
    """The columns of the right prediction, in SQL over the task's view."""
    counts: Text | None = None
    """How many candidates an example has, in SQL over the task's view."""


@dataclass(frozen=True)
class MetricQuery(Query):
    """Metrics over what examples score: ``metrics/<name>.sql``, ``<corpus>/metrics/<name>.sql``."""


@dataclass(frozen=True, kw_only=True)
class LayoutQuery(Query):
    """Predictions in a publisher's own layout as a table: ``<corpus>/layouts/<name>.sql``."""

    reads: Form
    tasks: Views = ()


@dataclass(frozen=True)
class PrintedQuery(Query):
    """The lines that a publisher's own script prints: ``<corpus>/printed/<task>.sql``."""


Kind = TypeVar("Kind", bound=Query)

_DOUBT = re.compile(" > |: ")


def parse(file: QueryFile, kind: type[Kind]) -> Kind:
    """Parse one file of a kind; CatalogueError names the file and the line that is not as it has to be."""
    path, lines = file.path, file.text.split("\n")  # in a literal there may be other ends of lines
    body = next((number for number, line in enumerate(lines) if not line.startswith("--")), len(lines))
    comment = lines[0] if body else ""
    if not comment.startswith("-- ") or not comment.rstrip().endswith("."):
        raise broken(path, "its first line must be a comment: one sentence that says what a row is")
    if not is_name(file.stem):
        raise broken(path, "a name is lower case letters, digits and '_'")
    while body < len(lines) and not lines[body].strip():
        body += 1
    values = _values(path, lines[1:body], kind)
    sql = "\n".join(lines[body:]).strip()
    meaning = comment.removeprefix("-- ").strip()
    return kind(file.folder, file.stem, meaning, sql, path, body + 1, tuple(lines[:body]), **values)


def is_name(text: str) -> bool:
    """Whether a file or folder may be named so."""
    return ID.fullmatch(text) is not None


def broken(path: Path, reason: str, line: int | None = None, expected: str | None = None) -> CatalogueError:
    """Return the error of an SQL file that is not as it has to be."""
    where = path if line is None else f"{path}:{line}"
    what = "SQL file" if path.suffix == ".sql" else "declaration"
    return CatalogueError(
        f"the {what} is broken", where=where, expected=expected, found=reason, next_step="fix the file"
    )


def unknown_name(query: Query, key: str, name: str, known: Iterable[str]) -> CatalogueError:
    """Return the error of a key, or a column, that names what does not exist."""
    near = ", ".join(closest(name, known)) or "none exists"
    what = f"{key}: {name}" if key != name else f"the meaning of a column '{name}', which the view does not have"
    return broken(query.path, what, line_of(query, key), f"one of: {near}")


def line_of(query: Query, key: str) -> int:
    """Return the line of a file's head that has a key or a column."""
    written = (_LINE.match(line) for line in query.head)
    return next((number for number, match in enumerate(written, 1) if match and match["key"] == key), 1)


def _values(path: Path, head: list[str], kind: type[Query]) -> dict[str, Any]:
    """Return the values of a head by their keys, each of its type."""
    keys = _keys(kind)  # type: ignore[arg-type]  # mypy takes the hash of its instances for that of the class
    values, meanings = dict[str, Any](), dict[str, str]()
    for number, line in enumerate(head, 2):
        if not (match := _LINE.fullmatch(line.rstrip())):
            continue
        key, text = match["key"], match["value"] or ""
        is_column = kind is ViewQuery and len(match["indent"]) >= _COLUMN_INDENT
        if key in (meanings if is_column else values):
            raise broken(path, f"'{key}' twice", number, "each key once")
        if is_column:
            meanings[key] = text
        elif key in keys:
            values[key] = _value(path, number, key, text, keys[key].type)
        else:
            near = f"one of: {', '.join(closest(key, keys))}" if keys else "a comment without a key"
            raise broken(path, f"the key '{key}', which this kind of file does not have", number, near)
    for key, declared in keys.items():
        if declared.is_required and key not in values:
            raise broken(path, f"no line '-- {key}: ...'", 1, f"its {key}: {_described(declared.type)}")
    return {**values, "columns": meanings} if kind is ViewQuery else values


class _Key(NamedTuple):
    """What a key of a head may have."""

    type: Any
    is_required: bool


@cache
def _keys(kind: type[Query]) -> Mapping[str, _Key]:
    """Return the keys of a kind of file: the fields of its class that other kinds do not have."""
    shared = {*(own.name for own in fields(Query)), "columns"}
    hints = get_type_hints(kind, include_extras=True)
    return {
        own.name: _Key(_without_none(hints[own.name]), own.default is MISSING)
        for own in fields(kind)
        if own.name not in shared
    }


def _without_none(hint: Any) -> Any:
    """Return the type of a key whose line may be left out; a text is never None."""
    return get_args(hint)[0] if get_origin(hint) in (Union, types.UnionType) else hint


def _value(path: Path, line: int, key: str, text: str, wanted: Any) -> Any:
    plain = get_args(wanted)[0] if get_origin(wanted) is Annotated else wanted
    parts: Any = text
    if get_origin(plain) is tuple:
        parts = [part.strip() for part in text.split(",")]
    elif plain is Doubt:
        parts = _DOUBT.split(text, maxsplit=2)
    try:
        return msgspec.convert(parts, wanted, strict=False)
    except msgspec.ValidationError as error:
        raise broken(path, f"{key}: {text}", line, _described(wanted)) from error


def _described(wanted: Any) -> str:
    """Return the value of a key."""
    if wanted is Doubt:
        return "metric > number: reason"
    return str(next(meta.description for meta in get_args(wanted)[1:] if isinstance(meta, Meta)))
