"""What DuckDB says of a declared chart, metric or filter: an error with the file and line of its declaration."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from talkhouse.charts.conversations import READING, Timeline
from talkhouse.charts.declarations import dashboards, metrics, metrics_files, place_in_bi
from talkhouse.charts.declared import Chart, Filter, Headline
from talkhouse.charts.metric import Metric, metric
from talkhouse.queries.catalogue import BI
from talkhouse.queries.files import Files, own_files
from talkhouse.queries.sql_errors import OF_THE_SQL, read_error
from talkhouse.schema.errors import CatalogueError
from talkhouse.schema.sql import quoted

Run = Callable[[str], object]
"""Runs a statement."""

_NEXT = "fix the file; if the views are of another Talkhouse, bring them up to date with: talkhouse build"


@contextmanager
def sql_of_chart(run: Run, chart: Chart, files: Files | None = None) -> Iterator[None]:
    """Raise CatalogueError with file and line where a chart, or a metric that it shows, can't be computed."""
    try:
        yield
    except OF_THE_SQL as error:
        first: Exception = error
        if _fails(run, f"from {BI}.{chart.view}") is None:
            for name in (*chart.metrics, *chart.counts):
                check_metric(run, chart.view, name, metric(name, metrics(files).get(chart.view, {})), files)
            # By itself: of a column in GROUP BY, DuckDB does not say which names come closest.
            errors = (_fails(run, f"select {quoted(column)} from {BI}.{chart.view}") for column in chart.columns)
            first = next(filter(None, errors), first)
        places = (one.path for one in dashboards(files) if _has(one.dashboard.charts, chart))
        raise _error(
            first, f"the chart '{chart.title}'", next(places, None), f'title = "{chart.title}"', files
        ) from error


def check_metric(run: Run, view: str, name: str, declared: Metric, files: Files | None) -> None:
    """Raise CatalogueError with file and line where a metric of a view can't be computed."""
    if error := _fails(run, f"select {declared.sql} from {BI}.{view}"):
        given = own_files() if files is None else files
        path = next((file.path for file, views in metrics_files(given) if view in views), None)
        raise _error(error, f"the metric {name} of {BI}.{view}", path, f"[{view}.{name}]", files) from error


@contextmanager
def sql_of_filter(choice: Filter, files: Files | None = None) -> Iterator[None]:
    """Raise CatalogueError with file and line where the values of a filter can't be computed."""
    try:
        yield
    except OF_THE_SQL as error:
        path = next((one.path for one in dashboards(files) if choice in one.dashboard.filters), None)
        raise _error(error, f"the filter '{choice.title}'", path, f'title = "{choice.title}"', files) from error


@contextmanager
def sql_of_headline(headline: Headline, files: Files | None = None) -> Iterator[None]:
    """Raise CatalogueError with file and line where the query of a headline fails."""
    try:
        yield
    except OF_THE_SQL as error:
        what, text = f"the headline '{headline.sentence}'", _line_of(headline)
        raise _error(error, what, _path_of(headline, files), text, files) from error


def broken_headline(headline: Headline, found: str, expected: str, files: Files | None = None) -> CatalogueError:
    """Return the error of a headline whose row does not fit its sentence."""
    problem = f"the headline '{headline.sentence}' can't be said"
    where = _place(_path_of(headline, files), _line_of(headline), files)
    return CatalogueError(problem, where=where, expected=expected, found=found, next_step="fix the file")


@contextmanager
def sql_of_timeline(timeline: Timeline, files: Files | None = None) -> Iterator[None]:
    """Raise CatalogueError with file and line where the rows of a timeline can't be read."""
    try:
        yield
    except OF_THE_SQL as error:
        text = f'title = "{timeline.title}"'
        given = (file for file in (own_files() if files is None else files) if place_in_bi(file) == READING)
        path = next((file.path for file in given if text in file.text.splitlines()), None)
        raise _error(error, f"the timeline '{timeline.title}'", path, text, files) from error


def _path_of(headline: Headline, files: Files | None) -> Path | None:
    return next((one.path for one in dashboards(files) if headline in one.dashboard.headlines), None)


def _line_of(headline: Headline) -> str:
    return f'sentence = "{headline.sentence}"'


def _has(charts: Iterable[Chart], chart: Chart) -> bool:
    """Tell whether a chart is among others; what was chosen on a page is in its condition."""
    return any((other.title, other.view, other.kind) == (chart.title, chart.view, chart.kind) for other in charts)


def _fails(run: Run, sql: str) -> Exception | None:
    try:
        run(f"describe {sql}")
    except OF_THE_SQL as error:
        return error
    return None


def _error(error: Exception, what: str, path: Path | None, text: str, files: Files | None) -> CatalogueError:
    """Return the error of a declaration; ``text`` stands in the line to name."""
    found, expected, _ = read_error(error)
    where = _place(path, text, files)
    return CatalogueError(f"{what} can't be computed", where=where, expected=expected, found=found, next_step=_NEXT)


def _place(path: Path | None, text: str, files: Files | None) -> str | Path | None:
    """Return the file, with its first line that is this text."""
    texts = {file.path: file.text for file in (own_files() if files is None else files)}
    lines = texts.get(path, "").splitlines() if path else []
    plain = [re.sub(r"\s+", " ", line).strip() for line in lines]
    return path if text not in plain else f"{path}:{plain.index(text) + 1}"
