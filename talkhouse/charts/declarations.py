"""Reads what is declared beside the views: dashboards, metrics, and how the conversations of a corpus are shown."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from string import Formatter
from typing import TypeVar

import msgspec
import polars as pl

from talkhouse.charts.declared import ROW_COUNT, Chart, Dashboard, Filter, Headline, Metric
from talkhouse.queries.catalogue import BI, Check, check_foreign
from talkhouse.queries.files import Files, QueryFile, own_files
from talkhouse.queries.foreign_sql import check_condition, check_expressions, check_select
from talkhouse.queries.heads import is_name
from talkhouse.schema.errors import CatalogueError, closest
from talkhouse.schema.sql import quoted

Metrics = Mapping[str, Mapping[str, Metric]]
"""View of ``bi`` -> name of a metric -> the metric."""
Parts = Mapping[str, type[msgspec.Struct]]
"""Key of a declaration -> the type of what is under it; the empty key is the whole."""
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
        DeclaredDashboard(file.folder, file.path, read(file, Dashboard, _PARTS))
        for file in files
        if place_in_bi(file).startswith("dashboards/")
    ]
    known = metrics(files)
    names: set[str] = set()
    by_path = {file.path: file for file in files}
    for one in declared:
        check_foreign(files, *_sql_of(by_path[one.path], one.dashboard))
        if not is_name(one.name):
            raise broken(one.path, "a name is lower case letters, digits and '_'")
        if one.name in names:
            raise broken(one.path, f"another dashboard is named {one.name}")
        names.add(one.name)
        for chart in one.dashboard.charts:
            check_view(one.path, chart.view)
            named = (*chart.metrics, *chart.counts)
            missing = [name for name in named if name not in known.get(chart.view, {}) and name != ROW_COUNT]
            if missing:
                reason = f"'{chart.title}' shows {missing[0]}, which is in no metrics.toml under [{chart.view}]"
                raise broken(one.path, reason)
    return sorted(declared, key=lambda one: one.folder != BI)


def _sql_of(file: QueryFile, dashboard: Dashboard) -> Iterator[tuple[QueryFile, Check, str]]:
    """Yield all SQL that a dashboard declares, and how it is checked."""
    conditions = [*(chart.where for chart in dashboard.charts), *(choice.where for choice in dashboard.filters)]
    yield from ((file, check_condition, where) for where in conditions if where)
    for headline in dashboard.headlines:
        yield file, check_select, headline.sql


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
            known[view] = {name: _guarded(one) for name, one in of_view.items()}
    return known


def _guarded(one: Metric) -> Metric:
    """Return a metric whose SQL is null where it would combine what it can't."""
    if not one.within:
        return one
    conditions = (_COUNTS_ONCE if column == "release" else _HAS_ONE.format(quoted(column)) for column in one.within)
    return msgspec.structs.replace(one, sql=f"case when {' and '.join(conditions)} then {one.sql.strip()} end")


def metrics_files(files: Files) -> Iterator[tuple[QueryFile, Metrics]]:
    """Read every file of metrics; CatalogueError names the first that is broken, or whose SQL is refused."""
    for file in files:
        if place_in_bi(file) == "metrics.toml":
            views = read(file, dict[str, dict[str, Metric]], {"": Metric})
            for view in views:
                check_view(file.path, view)
            declared = (one for of_view in views.values() for one in of_view.values())
            check_foreign(files, *((file, check_expressions, one.sql) for one in declared))
            yield file, views


def place_in_bi(file: QueryFile) -> str:
    """Return the path of a declaration in the folder of what BI tools get: that of all corpora, or of one."""
    if file.is_sql:
        return ""
    return file.name if file.folder == BI else file.name.removeprefix(f"{BI}/")


def read(file: QueryFile, kind: type[_Type], parts: Parts) -> _Type:
    """Read a declaration; CatalogueError names the file, and the keys that come closest to one that is not known.

    ``parts``: the type of what is under each key, and under ``""`` of the whole.
    """
    try:
        return msgspec.toml.decode(file.text, type=kind)
    except msgspec.DecodeError as error:
        raise broken(file.path, str(error), _nearest(str(error), parts)) from error


def _nearest(message: str, parts: Parts) -> str | None:
    """Return which keys come closest to one that msgspec does not know."""
    unknown = _UNKNOWN.search(message)
    if not unknown:
        return None
    part = parts.get(unknown["part"] or "", parts[""])
    return f"one of: {', '.join(closest(unknown['key'], part.__struct_fields__))}"


def check_view(path: Path, name: str) -> None:
    """Raise CatalogueError for what is not the name of a view, which stands in SQL as it is."""
    if not is_name(name):
        raise broken(path, f"a view is lower case letters, digits and '_', and not {name[:100]!r}")


def broken(path: Path, reason: str, expected: str | None = None) -> CatalogueError:
    """Return the error of a declaration that can't be read."""
    next_step = "fix the file"
    return CatalogueError("the declaration is broken", where=path, expected=expected, found=reason, next_step=next_step)


READING = "reading.toml"
"""The file, among what BI tools get of a corpus."""

_LONGEST = 1_000
"""Characters of a pattern."""

_WHOLE = "_whole_text"

SPEAKER = "speaker"
"""What a line names beside the groups of its pattern: who says the turn."""


class Timeline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who holds what at which turn: rows of a view, of which those count where a person's state becomes another."""

    view: str
    """A view of ``bi``, without the schema, with record_id, dialogue_id and turn_index."""
    title: str
    person: str
    """The column with the name of a person."""
    state: str
    """The column with what the person holds after the turn, as a text; items are separated by a comma."""
    message: str = ""
    """The column with the turn that says a change in its own words, where one does."""
    before: str = ""
    """The column with the turn that came before a change, where one did."""
    score: str = ""
    """The column with how good it is, 0 to 1."""
    overall: str = ""
    """The column with a number of all people together after the turn."""
    overall_title: str = ""


class Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How turns of a kind are drawn, if their text is of a pattern: as one sentence."""

    kind: str
    pattern: str
    """A regular expression that the whole text is of; named groups are items that are separated by a comma.

    Of Rust, which takes no longer for one than for another: a warehouse from somebody else may have any.
    """
    sentence: str
    """With ``{speaker}`` and the groups in braces."""
    nothing: str = "none"
    """What stands where a group is empty."""

    def __post_init__(self) -> None:
        """Raise ValueError for a pattern that is none, and for a name that it does not give."""
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
        """Return for each text what its groups have; None where it is not of the pattern."""
        return [groups if groups[_WHOLE] is not None else None for groups in self._groups(texts).to_list()]

    def _groups(self, texts: Sequence[str]) -> pl.Series:
        return pl.Series(texts, dtype=pl.String).str.extract_groups(rf"(?s)\A(?P<{_WHOLE}>{self.pattern})\z")


class ConversationDisplay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the conversations of a corpus are shown."""

    explanation: str = ""
    """What people do in them, for whoever reads one for the first time."""
    hidden: tuple[str, ...] = ()
    """Annotation schemes that are not shown turn by turn."""
    lines: tuple[Line, ...] = ()
    timeline: Timeline | None = None


_DISPLAY_PARTS: Parts = {"": ConversationDisplay, "lines": Line, "timeline": Timeline}


def conversations(corpus_id: str, files: Files | None = None) -> ConversationDisplay | None:
    """Return how the conversations of a corpus are shown; None where it declares nothing of it."""
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
