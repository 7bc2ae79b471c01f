"""The queries of charts, filters and colours of series; if DuckDB refuses one, its declaration is named."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from talkhouse.charts.declarations import (
    READING,
    Timeline,
    dashboards,
    metrics,
    metrics_files,
    place_in_bi,
    place_of,
    title_line,
)
from talkhouse.charts.declared import Chart, ChartKind, Filter, Grain, Headline, Metric, metric
from talkhouse.charts.fields import Rows
from talkhouse.dialogues.schemes import label_colours, plain_colour, schemes_of, schemes_sql
from talkhouse.queries.catalogue import BI
from talkhouse.queries.files import Files, own_files
from talkhouse.queries.sql_errors import OF_THE_SQL, read_error
from talkhouse.schema.errors import CatalogueError
from talkhouse.schema.sql import literal, quoted

DIGITS = 9
"""Decimals by which rows are ordered: threads add up in any order, and equal rows would differ in the last ones."""

OPTIONS = 1_000
"""The maximum number of values of a filter or a series."""

DEFAULT = "is_default"
"""The column that is true in the default publication of a dialogue."""

Choices = Mapping[str, list[str]]
"""Column -> the values that were chosen; none chosen means all."""

TOTAL, TIED = "_total", "_tied"
"""Columns of a row of ``counted_sql``: the number of rows without a limit, and of those with its first metric."""


def chart_sql(chart: Chart, metrics: Mapping[str, Metric]) -> str:
    """Return the query of a chart, one SELECT with GROUP BY; ``metrics`` are those of its view.

    Its columns are the chart's, then its metrics, then its counts.
    """
    return _chart_sql(chart, metrics, [])


def counted_sql(chart: Chart, metrics: Mapping[str, Metric]) -> str:
    """Return the same query with TOTAL and TIED at the end, for a chart with columns."""
    tied = f"partition by round({metric(chart.metrics[0], metrics).sql}, {DIGITS})"
    return _chart_sql(chart, metrics, [f"count(*) over () as {TOTAL}", f"count(*) over ({tied}) as {TIED}"])


def _chart_sql(chart: Chart, metrics: Mapping[str, Metric], others: Sequence[str]) -> str:
    columns = [column_sql(chart, column) for column in chart.columns]
    wanted = [f"{column} as {quoted(name)}" for column, name in zip(columns, chart.columns, strict=True)]
    wanted += [f"{metric(name, metrics).sql} as {quoted(name)}" for name in (*chart.metrics, *chart.counts)]
    lines = [f"select {', '.join([*wanted, *others])}", f"from {BI}.{chart.view}"]
    if chart.where:
        lines.append(f"where {chart.where}")
    if columns:
        lines.append(f"group by {', '.join(columns)}")
        lines.append(f"order by {', '.join(_order_sql(chart, name, metrics) for name in chart.order)}")
    return "\n".join([*lines, f"limit {chart.limit}"])


def column_sql(chart: Chart, column: str) -> str:
    """Return the expression of a column that a chart groups by."""
    if column != chart.x or not chart.grain:
        return quoted(column)
    if chart.truncated_to:
        return f"date_trunc({literal(chart.grain)}, {quoted(column)})"
    return f"{'hour' if chart.grain is Grain.HOUR else 'isodow'}({quoted(column)})"


def _order_sql(chart: Chart, name: str, metrics: Mapping[str, Metric]) -> str:
    if name == chart.x and chart.along:
        known = ", ".join(map(literal, chart.along))
        return f"list_position([{known}], {quoted(name)}::varchar) nulls last, {quoted(name)}"
    return quoted(name) if name in chart.columns else f"round({metric(name, metrics).sql}, {DIGITS}) desc"


def filter_sql(choice: Filter, limit: int) -> str:
    """Return the query of the values that a filter offers, as texts."""
    column = quoted(choice.column)
    where = f"{column} is not null" + (f" and ({choice.where})" if choice.where else "")
    return f"select distinct {column}::varchar from {BI}.{quoted(choice.view)} where {where} order by all limit {limit}"


def values_sql(view: str, column: str, limit: int) -> str:
    """Return the query of all values of a column of a view."""
    name = quoted(column)
    return f"select distinct {name} from {BI}.{quoted(view)} where {name} is not null order by all limit {limit}"


def narrowed(chart: Chart, choices: Choices, columns: Collection[str]) -> Chart:
    """Return a chart with the choices as further conditions, if its view has the columns.

    If no publisher's release is chosen, nothing counts more than once: only default publications do, unless the
    chart tells the publisher's releases apart.
    """
    conditions = [f"({chart.where})"] if chart.where else []
    is_chosen = bool(choices.get("release")) and "release" in columns
    if DEFAULT in columns and not is_chosen and "release" not in chart.columns:
        conditions.append(DEFAULT)
    for column in sorted(choices.keys() & set(columns)):
        if choices[column]:
            conditions.append(f"{quoted(column)} in ({', '.join(map(literal, choices[column]))})")
    return msgspec.structs.replace(chart, where=" and ".join(conditions))


def worth_drawing(rows: Rows, charts: Sequence[Chart]) -> tuple[Chart, ...]:
    """Return the charts of a dashboard whose columns hold as many values as the charts need, by one query.

    Where there is one split, charts do without it. If the query fails, all are returned: the broken one will name its
    fault.
    """
    counts: dict[str, list[str]] = {}
    asked = [(chart, column) for chart in charts for column in dict.fromkeys((*chart.needs, *_split_of(chart)))]
    for number, (chart, column) in enumerate(asked):
        value = column_sql(chart, column)
        several = f" + max(({value} is null)::int) {{0}}" if column in _split_of(chart) else ""
        rows_of_chart = f"filter (where {chart.where or 'true'})"
        count = f"count(distinct {value}) {rows_of_chart}{several.format(rows_of_chart)} as c{number}"
        counts.setdefault(chart.view, []).append(count)
    if not asked:
        return tuple(charts)
    parts = (
        f"(select {', '.join(columns)} from {BI}.{quoted(view)}) as {quoted(view)}" for view, columns in counts.items()
    )
    try:
        found = rows(f"select * from {', '.join(parts)}").row(0, named=True)
    except OF_THE_SQL:
        return tuple(charts)
    held = {(chart.title, column): found[f"c{number}"] or 0 for number, (chart, column) in enumerate(asked)}
    drawn = (
        chart
        for chart in charts
        if all(least <= held[chart.title, column] <= most for column, (least, most) in chart.needs.items())
    )
    return tuple(
        msgspec.structs.replace(chart, by=tuple(name for name in chart.by if name != "split"), stacked=False)
        if _split_of(chart) and held[chart.title, "split"] < 2
        else chart
        for chart in drawn
    )


def _split_of(chart: Chart) -> tuple[str, ...]:
    return ("split",) if "split" in chart.by and chart.kind is not ChartKind.HEATMAP else ()


def palette(rows: Rows, chart: Chart, metrics: Mapping[str, Metric], files: Files | None = None) -> dict[str, str]:
    """Return the colours of a chart's series by their names, in the order in which they are drawn.

    Empty if a series is made of several columns: then each chart has its own.
    """
    if not chart.by:
        of_label = _of_scheme(rows, chart.scheme) if chart.scheme else {}
        shown = [metric(name, metrics) for name in chart.metrics]
        return {item.title: of_label.get(item.label, plain_colour(index)) for index, item in enumerate(shown)}
    if len(chart.by) > 1 or len(chart.metrics) > 1:
        return {}
    if chart.scheme:
        return _of_scheme(rows, chart.scheme)
    asked = values_query(chart, (choice for file in dashboards(files) for choice in file.dashboard.filters))
    values = [str(value) for value in rows(asked).to_series()] if asked else chart.values
    return label_colours(values, chart.scale)


def values_query(chart: Chart, filters: Iterable[Filter]) -> str | None:
    """Return the query of all values of a chart's one series: those of the first filter by it, on whatever page.

    None if its colours need no query.
    """
    is_drawn = chart.kind not in (ChartKind.TABLE, ChartKind.NUMBER)
    if not is_drawn or len(chart.by) != 1 or len(chart.metrics) > 1 or chart.scheme or chart.values:
        return None
    (column,) = chart.by
    first = next((choice for choice in filters if choice.column == column), None)
    return filter_sql(first, OPTIONS) if first else values_sql(chart.view, column, OPTIONS)


def _of_scheme(rows: Rows, scheme: str) -> dict[str, str]:
    found = schemes_of(rows(schemes_sql(f"scheme = {literal(scheme)}")).iter_rows())
    return found[scheme].colours if scheme in found else {}


_Run = Callable[[str], object]
"""Runs a statement."""

_NEXT = "fix the file; if the views are of another Talkhouse, bring them up to date with: talkhouse migrate"


@contextmanager
def sql_of_chart(run: _Run, chart: Chart, files: Files | None = None) -> Iterator[None]:
    """Raise CatalogueError with file and line if a chart, or a metric that it shows, can't be computed."""
    try:
        yield
    except OF_THE_SQL as error:
        first: Exception = error
        if _fails(run, f"from {BI}.{chart.view}") is None:
            for name in (*chart.metrics, *chart.counts):
                check_metric(run, chart.view, name, metric(name, metrics(files).get(chart.view, {})), files)
            # By itself: for a column in GROUP BY, DuckDB does not suggest the closest names.
            errors = (_fails(run, f"select {quoted(column)} from {BI}.{chart.view}") for column in chart.columns)
            first = next(filter(None, errors), first)
        places = (file.path for file in dashboards(files) if has_chart(file.dashboard.charts, chart))
        raise _error(first, f"the chart '{chart.title}'", next(places, None), title_line(chart), files) from error


def check_metric(run: _Run, view: str, name: str, declared: Metric, files: Files | None) -> None:
    """Raise CatalogueError with file and line if a metric of a view can't be computed."""
    if error := _fails(run, f"select {declared.sql} from {BI}.{view}"):
        searched = own_files() if files is None else files
        path = next((file.path for file, views in metrics_files(searched) if view in views), None)
        raise _error(error, f"the metric {name} of {BI}.{view}", path, f"[{view}.{name}]", files) from error


def check_charts(run: _Run, folders: Collection[str], files: Files) -> None:
    """Raise CatalogueError with file and line for a chart in the dashboards of these folders that can't be computed."""
    known = metrics(files)
    for chart in (chart for file in dashboards(files) if file.folder in folders for chart in file.dashboard.charts):
        with sql_of_chart(run, chart, files):
            run(f"describe {chart_sql(chart, known.get(chart.view, {}))}")


@contextmanager
def sql_of_filter(choice: Filter, files: Files | None = None) -> Iterator[None]:
    """Raise CatalogueError with file and line if the values of a filter can't be computed."""
    try:
        yield
    except OF_THE_SQL as error:
        path = next((file.path for file in dashboards(files) if choice in file.dashboard.filters), None)
        raise _error(error, f"the filter '{choice.title}'", path, title_line(choice), files) from error


@contextmanager
def sql_of_headline(headline: Headline, files: Files | None = None) -> Iterator[None]:
    """Raise CatalogueError with file and line if the query of a headline fails."""
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
    """Raise CatalogueError with file and line if the rows of a timeline can't be read."""
    try:
        yield
    except OF_THE_SQL as error:
        text = f'title = "{timeline.title}"'
        searched = (file for file in (own_files() if files is None else files) if place_in_bi(file) == READING)
        path = next((file.path for file in searched if text in file.text.splitlines()), None)
        raise _error(error, f"the timeline '{timeline.title}'", path, text, files) from error


def _path_of(headline: Headline, files: Files | None) -> Path | None:
    return next((file.path for file in dashboards(files) if headline in file.dashboard.headlines), None)


def _line_of(headline: Headline) -> str:
    return f'sentence = "{headline.sentence}"'


def has_chart(charts: Iterable[Chart], chart: Chart) -> bool:
    """Whether a chart is among others; the choices of a page are in its condition."""
    wanted = (chart.title, chart.view, chart.kind)
    return any((other.title, other.view, other.kind) == wanted and other.where in chart.where for other in charts)


def _fails(run: _Run, sql: str) -> Exception | None:
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
    return path and place_of(path, text, own_files() if files is None else files)
