"""Scores: saved runs side by side, and any other tables of the file of scores next to the warehouse."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from io import BytesIO, TextIOWrapper
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import streamlit as st

from talkhouse.charts.fields import NOTHING, ChartField
from talkhouse.dashboard import errors as shown
from talkhouse.dashboard import outcomes, tables, warehouse
from talkhouse.dashboard.content import outcomes as errors
from talkhouse.dashboard.text import plain
from talkhouse.escaping import visible
from talkhouse.export.formats import TEXTS
from talkhouse.export.row_stream import QueryRows
from talkhouse.export.writers import write
from talkhouse.schema import warehouse as files
from talkhouse.schema.errors import TalkhouseError
from talkhouse.schema.sql import quoted
from talkhouse.scores.comparison import SIGNIFICANT, RunComparison, compare
from talkhouse.scores.saved_runs import comparable
from talkhouse.warehouse.relations import relations

SHOWN = 1_000
"""Rows of a table that are shown."""

SHOWN_RUNS = 50
"""Runs that stand side by side."""

_SECONDS = 120
"""A comparison scores two runs on 2,000 samples of their dialogues, once."""

DOWNLOADED = 100_000
"""Rows of a table that a download has at most."""


def path() -> Path:
    """Return the path of the file of scores, which may not exist."""
    return warehouse.path().with_name("scores.duckdb")


def page() -> None:
    """Draw the runs of the file, and one of its tables and views."""
    st.title("Scores", anchor=False)
    with _connection() as con:
        found = sorted(relations(con), key=lambda item: item["schema"] != "main")
    known = {f"{row['schema']}.{row['name']}": row for row in found}
    try:
        runs = outcomes.runs_beside()
    except TalkhouseError:  # a file of the user's own, whose tables are shown as they are
        runs = []
    if runs:
        _draw_runs([list(same) for _, same in groupby(runs, key=comparable)])
        st.header("Tables of the file", anchor=False)
    st.caption(f"The contents of {plain(path().name)} next to the warehouse, which is opened read-only.")
    name = st.selectbox("Table or view", list(known), key="table", bind="query-params", format_func=visible)
    if name is None:
        st.info("There is no table in it.")
        return
    row = known[name]
    st.caption(plain(row["comment"] or ""))
    relation = f"{quoted(row['schema'])}.{quoted(row['name'])}"
    with _connection() as con:
        ((count,),) = con.execute(f"select count(*) from {relation}").fetchall()
        rows = tables.read(_written(con, relation, TEXTS, SHOWN))
    tables.draw(rows)
    st.caption(
        tables.counted(count) + (f", of which the first {rows.height:,} are shown." if count > rows.height else ".")
    )
    st.download_button(
        "Download as CSV" if count <= DOWNLOADED else f"Download the first {DOWNLOADED:,} rows as CSV",
        lambda: _csv(relation),
        f"{name}.csv",
        "text/csv",
        on_click="ignore",
        icon=":material/download:",
    )


def _draw_runs(groups: list[list[dict[str, Any]]]) -> None:
    """Draw the numbers of runs of the same examples, a column for each run; those of the newest run come first."""
    groups.sort(key=lambda group: max(run["saved_at"] for run in group), reverse=True)
    known = {group[0]["run"]: group for group in groups}
    columns = iter(st.columns([3, 1]))
    chosen = next(columns).selectbox(
        "Examples", list(known), key="runs", bind="query-params", format_func=lambda run: _examples(known[run])
    )
    runs = known[chosen][-SHOWN_RUNS:]
    if len(runs) < len(known[chosen]):
        st.caption(f"The newest {len(runs)} of {len(known[chosen]):,}; the view main.comparison has all.")
    metrics = {run["run"]: [metric for metric in run["metrics"] if metric["slice"] is None] for run in runs}
    limits = dict.fromkeys(metric["threshold"] for those in metrics.values() for metric in those)
    limit = next(iter(limits))
    if len(limits) > 1:
        limit = next(columns).selectbox(
            "Threshold of the gold label",
            list(limits),
            key="at",
            bind="query-params",
            format_func=lambda at: NOTHING if at is None else f"{at:g}",
        )
    here = {run: [metric for metric in those if metric["threshold"] == limit] for run, those in metrics.items()}
    official = {metric["name"] for those in here.values() for metric in those if metric["official"]}
    every = not official or st.toggle("All metrics, not the official ones alone", key="every", bind="query-params")
    values = {run: {metric["name"]: _value(metric) for metric in those} for run, those in here.items()}
    names = [name for name in dict.fromkeys(chain(*values.values())) if every or name in official]
    rows = pl.DataFrame(
        [pl.Series("0", names, pl.String)]
        + [pl.Series(str(place), map(those.get, names), pl.String) for place, those in enumerate(values.values(), 1)]
    )
    titles = ["Metric", *map(visible, values)]
    st.html(tables.table_html("Runs", rows, [ChartField(str(place), title) for place, title in enumerate(titles)]))
    if any(not metric["official"] for those in here.values() for metric in those if metric["name"] in names):
        st.caption(r"\* not what the publisher's own program gives")
    _draw_difference([run["run"] for run in runs], limit, names)
    missing = [f"{run['run']}: {run['missing']:,}" for run in runs if run["missing"]]
    if missing:
        st.caption(plain(f"Examples without a prediction, which count as wrong: {', '.join(missing)}."))
    beside = {"beside": runs[1]["run"]} if len(runs) > 1 else {}
    where = st.Page(errors.page, title="Errors", url_path="errors")
    label = "Where they are wrong, and where they differ" if beside else "Where it is wrong"
    st.page_link(where, label=label, icon=":material/rule:", query_params={"run": runs[0]["run"], **beside})


def _draw_difference(runs: list[str], threshold: float | None, names: list[str]) -> None:
    """Draw how one run differs from another in some metrics, and which is better, as ``scores --compare`` prints it."""
    if len(runs) < 2:
        return
    st.subheader("Is one better than another?", anchor=False)
    columns = iter(st.columns(2))
    first = next(columns).selectbox("First run", runs, key="first", bind="query-params", format_func=visible)
    others = [run for run in runs if run != first]
    second = next(columns).selectbox("Second run", others, key="second", bind="query-params", format_func=visible)
    opened = warehouse.current()
    version = warehouse.version(path())
    try:
        with st.spinner("Drawing dialogues again and again"):
            found = _difference(opened.connection, opened.version, version, (str(first), str(second)))
    except TalkhouseError as error:
        shown.show(str(error), "The two runs can't be compared.")
        return
    metrics = [metric for metric in found.metrics if metric.threshold == threshold and metric.name in names]
    rows = pl.DataFrame(
        {
            "metric": [metric.name for metric in metrics],
            "difference": [NOTHING if metric.difference is None else f"{metric.difference:+.4f}" for metric in metrics],
            "interval": [
                "" if metric.low is None else f"{metric.low:+.4f} to {metric.high:+.4f}" for metric in metrics
            ],
            "p_value": ["" if metric.p_value is None else f"{metric.p_value:.4f}" for metric in metrics],
            "better": ["" if metric.better is None else found.runs[metric.better]["run"] for metric in metrics],
        },
        schema=dict.fromkeys(_DIFFERENCE, pl.String),
    )
    st.html(tables.table_html("Difference", rows, [ChartField(name, title) for name, title in _DIFFERENCE.items()]))
    st.caption(
        f"The second less the first, paired by {tables.counted(found.interval['units'], 'dialogue')}. A run is called "
        f"better where p is below {SIGNIFICANT}; of many metrics, some are so by chance."
    )


def _ends(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{low:+.4f} to {high:+.4f}"


_DIFFERENCE = {
    "metric": "Metric",
    "difference": "Difference",
    "interval": "95 % interval",
    "p_value": "p-value",
    "better": "Better",
}


@st.cache_data(max_entries=50, show_spinner=False)
def _difference(
    _connect: Callable[[float], AbstractContextManager[duckdb.DuckDBPyConnection]],
    version: warehouse.Version,
    of_scores: warehouse.Version | None,  # noqa: ARG001 - by both files, a result is known again
    names: tuple[str, str],
) -> RunComparison:
    with _connect(_SECONDS) as con:
        return compare(con, version.path, names)


def _examples(runs: list[dict[str, Any]]) -> str:
    """Return the task and part whose examples runs have predicted."""
    run = runs[0]
    condition = [] if run["where_expression"] is None else [f"where {run['where_expression']}"]
    part = " ".join((run["task"], *run["releases"], *run["splits"], *run["subsets"], *condition))
    return visible(f"{part}: {tables.counted(run['examples'], 'example')}, {tables.counted(len(runs), 'run')}")


def _value(metric: dict[str, Any]) -> str:
    """Write a number, with its 95 % interval if it has one, and a star if it is not official."""
    if metric["value"] is None:
        return NOTHING
    is_count = metric["denominator"] is None and metric["numerator"] is not None
    interval = "" if metric["low"] is None else f" ({metric['low']:.4f} to {metric['high']:.4f})"
    number = f"{metric['numerator']:,}" if is_count else f"{metric['value']:.4f}"
    return f"{number}{interval}" if metric["official"] else f"{number}{interval}\N{NO-BREAK SPACE}*"


@contextmanager
def _connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with warehouse.beside(path(), files.connect) as con:
        yield con


def _csv(relation: str) -> bytes:
    with _connection() as con:
        return _written(con, relation, "csv", DOWNLOADED).getvalue()


def _written(con: duckdb.DuckDBPyConnection, relation: str, file_format: str, limit: int) -> BytesIO:
    """Return the first rows as a file in memory."""
    file = BytesIO()
    stream = TextIOWrapper(file)
    write(QueryRows(con, con.sql(f"from {relation}"), limit), file_format, stream)
    stream.detach()
    file.seek(0)
    return file
