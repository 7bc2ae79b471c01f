"""Reads the declarations next to the views: dashboards, metrics, and the display of a corpus's conversations."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from string import Formatter
from typing import Any, TypeVar

import msgspec
import polars as pl

from talkhouse.charts.declared import ROW_COUNT, Chart, Dashboard, Filter, Headline, Metric
from talkhouse.ingest.files.skipped import DECLARATION
from talkhouse.queries.catalogue import BI, DeclaredSql, check_foreign
from talkhouse.queries.files import Files, QueryFile, own_files
from talkhouse.queries.foreign_sql import check_condition, check_expressions, check_select
from talkhouse.queries.heads import is_name
from talkhouse.schema.errors import CatalogueError, closest
from talkhouse.schema.sql import quoted

Metrics = Mapping[str, Mapping[str, Metric]]
"""View of ``bi`` -> name of a metric -> the metric."""
Parts = Mapping[str, type[msgspec.Struct]]
"""Key of a declaration -> the type of its value; the empty key is the whole."""
_Type = TypeVar("_Type")

_UNKNOWN = re.compile(r"unknown field `(?P<key>[^`]*)`(?: - at `\$\.?(?P<part>\w+)?)?")

_HAS_ONE = "min({0}) is not distinct from max({0})"
_COUNTS_ONCE = f"(bool_and(is_default) or {_HAS_ONE.format('release')})"

_PARTS: Parts = {"": Dashboard, "charts": Chart, "filters": Filter, "headlines": Headline}


class DeclaredDashboard(msgspec.Struct, frozen=True):
    """A dashboard with the file that declares it."""

    folder: str
    """The folder of queries that holds it: a corpus, or ``bi`` for all of them."""
    path: Path
    dashboard: Dashboard

    @property
    def name(self) -> str:
        """The name of its file, without the ending."""
        return self.path.stem


def dashboards(files: Files | None = None) -> list[DeclaredDashboard]:
    """Read every dashboard of these files, or Talkhouse's own; those of all corpora are first.

    CatalogueError names the first file that is broken.
    """
    return list(_dashboards(own_files() if files is None else files))


@lru_cache(maxsize=4)
def _dashboards(files: Files) -> list[DeclaredDashboard]:
    declared = [
        DeclaredDashboard(file.folder, file.path, read(file, Dashboard, _PARTS, files))
        for file in files
        if place_in_bi(file).startswith("dashboards/")
    ]
    known = metrics(files)
    names: set[str] = set()
    by_path = {file.path: file for file in files}
    for declaration in declared:
        check_foreign(files, *_sql_of(by_path[declaration.path], declaration.dashboard, files))
        if not is_name(declaration.name):
            raise broken(declaration.path, "a name is lower case letters, digits and '_'")
        if declaration.name in names:
            raise broken(declaration.path, f"another dashboard is named {declaration.name}")
        names.add(declaration.name)
        for chart in declaration.dashboard.charts:
            check_view(declaration.path, chart.view)
            named = (*chart.metrics, *chart.counts)
            missing = [name for name in named if name not in known.get(chart.view, {}) and name != ROW_COUNT]
            if missing:
                reason = f"'{chart.title}' shows {missing[0]}, which is in no metrics.toml under [{chart.view}]"
                near = closest(missing[0], known[chart.view]) if chart.view in known else closest(chart.view, known)
                expected = f"{'' if chart.view in known else 'a view with metrics, '}one of: {', '.join(near)}"
                raise broken(place_of(declaration.path, title_line(chart), files), reason, expected)
    return sorted(declared, key=lambda item: item.folder != BI)


def _sql_of(file: QueryFile, dashboard: Dashboard, files: Files) -> Iterator[DeclaredSql]:
    """Yield all SQL that a dashboard declares."""
    has_own = _declaration_of(file.folder, files) is not None
    for chart in (chart for chart in dashboard.charts if chart.where):
        place = place_of(file.path, title_line(chart), files) if has_own else file.path
        yield DeclaredSql(replace(file, path=Path(place)), check_condition, chart.where)
    yield from (DeclaredSql(file, check_condition, choice.where) for choice in dashboard.filters if choice.where)
    for headline in dashboard.headlines:
        yield DeclaredSql(file, check_select, headline.sql)


def metrics(files: Files | None = None) -> Metrics:
    """Read the metrics of all views of these files, or of Talkhouse's; CatalogueError names the first broken file."""
    return _metrics(own_files() if files is None else files)


@lru_cache(maxsize=4)
def _metrics(files: Files) -> Metrics:
    known: dict[str, Mapping[str, Metric]] = {}
    for file, views in metrics_files(files):
        for view, of_view in views.items():
            if view in known:
                raise broken(file.path, f"another metrics.toml has the metrics of bi.{view}")
            if ROW_COUNT in of_view:
                raise broken(file.path, f"every view has a metric {ROW_COUNT}, and bi.{view} can't have another")
            known[view] = {name: _guarded(metric) for name, metric in of_view.items()}
    return known


def _guarded(metric: Metric) -> Metric:
    """Return a metric whose SQL is null for groups that it can't combine."""
    if not metric.within:
        return metric
    conditions = (_COUNTS_ONCE if column == "release" else _HAS_ONE.format(quoted(column)) for column in metric.within)
    return msgspec.structs.replace(metric, sql=f"case when {' and '.join(conditions)} then {metric.sql.strip()} end")


def metrics_files(files: Files) -> Iterator[tuple[QueryFile, Metrics]]:
    """Read every file of metrics; CatalogueError names the first that is broken, or whose SQL is refused."""
    for file in files:
        if place_in_bi(file) == "metrics.toml":
            views = read(file, dict[str, dict[str, Metric]], {"": Metric})
            for view in views:
                check_view(file.path, view)
            declared = (metric for of_view in views.values() for metric in of_view.values())
            check_foreign(files, *(DeclaredSql(file, check_expressions, metric.sql) for metric in declared))
            yield file, views


def place_in_bi(file: QueryFile) -> str:
    """Return the path of a declaration in its folder for BI tools: that of all corpora, or of one."""
    if file.is_sql:
        return ""
    return file.name if file.folder == BI else file.name.removeprefix(f"{BI}/")


def read(file: QueryFile, kind: type[_Type], parts: Parts, files: Files = ()) -> _Type:
    """Read a declaration; CatalogueError names the file, and the keys closest to an unknown one.

    ``parts``: the type of each key's value, and under ``""`` of the whole. ``files``: those that may have the line.
    """
    try:
        return msgspec.toml.decode(file.text, type=kind)
    except msgspec.DecodeError as error:
        place: str | Path = file.path
        if at := _CHART.search(str(error)):
            place = place_of(file.path, title_line(msgspec.toml.decode(file.text)["charts"][int(at[1])]), files)
        raise broken(place, str(error), _nearest(str(error), parts)) from error


_CHART = re.compile(r"`\$\.charts\[(\d+)\]")
"""The place of a mistake in a dashboard, as msgspec has it."""


def title_line(chart: Chart | Filter | Mapping[str, Any]) -> str:
    """Return the line by which a chart or filter is found in its file."""
    return f'title = "{chart.get("title") if isinstance(chart, Mapping) else chart.title}"'


def place_of(path: Path, text: str, files: Files) -> str | Path:
    """Return a file, with its first line that is this text; of a chart of one's own, those of its ``corpus.toml``."""
    file = next((file for file in files if file.path == path), None)
    own = _declaration_of(file.folder, files) if file else None
    places = [(Path(own.folder, own.name), own.text)] if own else []
    places += [(path, file.text)] if file else []
    for place, whole in places:
        lines = [re.sub(r"\s+", " ", line).strip() for line in whole.splitlines()]
        if text in lines:
            return f"{place}:{lines.index(text) + 1}"
    return path


def _declaration_of(folder: str, files: Files) -> QueryFile | None:
    """Return the declaration of a corpus that has charts of its own, among the files that it has brought."""
    return next((file for file in files if (file.folder, file.name) == (folder, DECLARATION)), None)


def _nearest(message: str, parts: Parts) -> str | None:
    """Return the keys closest to one that msgspec does not know."""
    unknown = _UNKNOWN.search(message)
    if not unknown:
        return None
    part = parts.get(unknown["part"] or "", parts[""])
    return f"one of: {', '.join(closest(unknown['key'], part.__struct_fields__))}"


def check_view(path: Path, name: str) -> None:
    """Raise CatalogueError for an invalid name of a view, as it becomes part of SQL verbatim."""
    if not is_name(name):
        raise broken(path, f"a view is lower case letters, digits and '_', and not {name[:100]!r}")


def broken(path: str | Path, reason: str, expected: str | None = None) -> CatalogueError:
    """Return the error of a declaration that can't be read."""
    next_step = "fix the file"
    return CatalogueError("the declaration is broken", where=path, expected=expected, found=reason, next_step=next_step)


READING = "reading.toml"
"""The file, in a corpus's folder for BI tools."""

_LONGEST = 1_000
"""Characters of a pattern."""

_WHOLE = "_whole_text"

SPEAKER = "speaker"
"""The name in a line that is no group of its pattern: the speaker of the turn."""


class Timeline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The items of each person by turn: the rows of a view at which a person's state changes."""

    view: str
    """A view of ``bi``, without the schema, with record_id, dialogue_id and turn_index."""
    title: str
    person: str
    """The column with the name of a person."""
    state: str
    """The column with the person's items after the turn, as a text; items are separated by a comma."""
    message: str = ""
    """The column with the turn that announces a change, if any."""
    before: str = ""
    """The column with the turn before a change, if any."""
    score: str = ""
    """The column with its score, 0 to 1."""
    overall: str = ""
    """The column with a number of all people together after the turn."""
    overall_title: str = ""


class Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The sentence in place of turns of a kind whose text matches a pattern."""

    kind: str
    pattern: str
    """A regular expression for the whole text; named groups are items that are separated by a comma.

    Matched by Rust's engine, in linear time: a foreign warehouse may have any pattern.
    """
    sentence: str
    """With ``{speaker}`` and the groups in braces."""
    nothing: str = "none"
    """The text for an empty group."""

    def __post_init__(self) -> None:
        """Raise ValueError for an invalid pattern, and for a name that is none of its groups."""
        if len(self.pattern) > _LONGEST:
            raise ValueError(f"a pattern has {_LONGEST:,} characters at most, and not {len(self.pattern):,}")
        try:
            groups = self._groups([""]).struct.fields
        except pl.exceptions.ComputeError as error:
            raise ValueError(f"the pattern {self.pattern} is none: {str(error).splitlines()[0]}") from error
        named = {name for _, name, _, _ in Formatter().parse(self.sentence) if name is not None}
        if unknown := sorted(named - {*groups, SPEAKER}):
            raise ValueError(f"the sentence names {unknown[0]}, which is no group of the pattern")

    def matches(self, texts: Sequence[str]) -> list[dict[str, str | None] | None]:
        """Return the groups of each text, or None if it does not match."""
        return [groups if groups[_WHOLE] is not None else None for groups in self._groups(texts).to_list()]

    def _groups(self, texts: Sequence[str]) -> pl.Series:
        return pl.Series(texts, dtype=pl.String).str.extract_groups(rf"(?s)\A(?P<{_WHOLE}>{self.pattern})\z")


class ConversationDisplay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The display of a corpus's conversations."""

    explanation: str = ""
    """An explanation of them for first-time readers."""
    hidden: tuple[str, ...] = ()
    """Annotation schemes that are not shown turn by turn."""
    lines: tuple[Line, ...] = ()
    timeline: Timeline | None = None


_DISPLAY_PARTS: Parts = {"": ConversationDisplay, "lines": Line, "timeline": Timeline}


def conversations(corpus_id: str, files: Files | None = None) -> ConversationDisplay | None:
    """Return the display of a corpus's conversations, or None if it declares none."""
    return _conversations(corpus_id, own_files() if files is None else files)


@lru_cache(maxsize=16)
def _conversations(corpus_id: str, files: Files) -> ConversationDisplay | None:
    for file in files:
        if file.folder == corpus_id and place_in_bi(file) == READING:
            declared = read(file, ConversationDisplay, _DISPLAY_PARTS)
            schemes = [name for name in declared.hidden if not name.startswith(f"{corpus_id}.")]
            if schemes:
                raise broken(file.path, f"{schemes[0]} is no scheme of {corpus_id}")
            if declared.timeline:
                check_view(file.path, declared.timeline.view)
            return declared
    return None
