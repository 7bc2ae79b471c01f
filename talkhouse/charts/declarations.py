"""Reads the dashboards and metrics that are declared beside the views for BI tools.

``<folder>/bi/metrics.toml`` holds metrics of ``bi`` views, and each ``<folder>/bi/dashboards/*.toml`` is a dashboard.
They name no tool: the same charts are drawn wherever charts are drawn.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import msgspec

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
