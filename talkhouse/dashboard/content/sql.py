"""The SQL page: an editor that completes names, a query in a process of its own, and a table or a chart of its rows."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import polars as pl
import streamlit as st
from streamlit.errors import StreamlitAPIException

from talkhouse.charts import words
from talkhouse.charts.declared import Chart, ChartKind, Metric, NumberFormat
from talkhouse.charts.draw import draw
from talkhouse.charts.fields import fields
from talkhouse.charts.questions import MOST_SERIES
from talkhouse.dashboard import download, errors, tables, warehouse
from talkhouse.dashboard.download import MEMORY, queue_message, run_command
from talkhouse.dashboard.drawing import draw_files
from talkhouse.dashboard.tables import ConsoleTable
from talkhouse.dashboard.text import html, plain, style
from talkhouse.dashboard.warehouse import ServedWarehouse
from talkhouse.escaping import visible
from talkhouse.schema.errors import TalkhouseError
from talkhouse.schema.sql import quoted, reserved_words
from talkhouse.schema.sql_files import sql_of
from talkhouse.schema.toml_files import toml_of
from talkhouse.system.files import temporary_folder
from talkhouse.warehouse.relations import columns_of, relations

SECONDS = 30
"""Seconds that a query may take."""

ROWS = 1_000
"""Rows that are shown."""

_GRACE = 15
"""Seconds for all that is not the query; the command itself ends it in time."""

_RESULT = "sql_result"

_LAST = "sql_last"
"""The last queries that were run, the last one first: of the open tab alone, and nowhere on disk."""

_MOST_LAST = 20

_TITLE = 80
"""Letters of a query in a list."""

_STYLE = style(__file__, "columns")


@dataclass(frozen=True)
class _Result:
    """The outcome of a query: its rows, or the reason why there are none."""

    query: str
    rows: tables.ConsoleTable | None = None
    error: str = ""


def page() -> None:
    """Draw the query and its rows, next to the views and tables."""
    st.title("SQL", anchor=False)
    opened = warehouse.current()
    st.caption(
        f"One read-only query, which can read nothing but the warehouse; at most {SECONDS} seconds and {ROWS:,} rows. "
        "Names are completed as you type (Tab accepts), Ctrl+Enter runs it; a query from a link waits until you run it."
    )
    console, beside = st.columns([2, 1], gap="large")
    with beside:
        _draw_relations(opened)
    with console:
        query = _draw_query(opened)
        result: _Result | None = st.session_state.get(_RESULT)
        if result:
            _draw_result(result)
        if query.strip():
            download.draw(download.DownloadFile("result", query=query))


def _draw_query(opened: ServedWarehouse) -> str:
    """Draw the query and its buttons; run it on request, and return it."""
    above = st.container(horizontal=True)
    with above.popover("Examples", icon=":material/lightbulb:"):
        for title, example in EXAMPLE_QUERIES.items():
            st.button(title, on_click=put_into_editor, args=(example,), type="tertiary")
    query, is_asked = draw_editor(opened)
    if is_asked:
        st.session_state.pop(_RESULT, None)
        if query.strip():
            before = [other for other in st.session_state.get(_LAST, []) if other != query]
            st.session_state[_LAST] = [query, *before][:_MOST_LAST]
        place = st.empty()
        with place.container(horizontal=True, vertical_alignment="center"):
            st.session_state[_RESULT] = result = _run(query)
        if result.rows:
            _offer(result.rows)
        place.empty()
    # After the run, so that its query is among them.
    with above:
        _draw_last()
    return query


def _draw_last() -> None:
    last: list[str] = st.session_state.get(_LAST, [])
    with st.popover("Last queries", icon=":material/history:", disabled=not last):
        st.caption("Kept in this tab until it is closed or reloaded. Nothing is stored.")
        for index, query in enumerate(last):
            shown = plain(" ".join(query.split())[:_TITLE])
            st.button(shown, on_click=put_into_editor, args=(query,), type="tertiary", key=f"last_{index}")


def _run(query: str) -> _Result:
    """Run a query; if the page is left or run again meanwhile, Streamlit stops it in ``waiting``."""
    st.button("Stop", icon=":material/stop:", on_click=_stopped, args=(query,))
    place = st.empty()
    with temporary_folder() as folder:
        output = folder / "rows.parquet"
        options = ["--texts", "--output", str(output), "--db", str(warehouse.path())]
        limits = ["--limit", str(ROWS + 1), "--timeout", str(SECONDS), "--memory-limit", MEMORY]
        try:
            run_command(
                ["sql", "-", *options, *limits],
                folder,
                text=query,
                seconds=SECONDS + _GRACE,
                waiting=lambda passed: place.caption(f"Running: {passed:.0f} s"),
                queued=lambda first: place.caption(queue_message(first)),
            )
            rows = tables.read(output)
        except TalkhouseError as error:
            return _Result(query, error=str(error))
    return _Result(query, rows.head(ROWS))


def _stopped(query: str) -> None:
    st.session_state[_RESULT] = _Result(query, error="the query was stopped")


def _draw_result(result: _Result) -> None:
    if result.rows is None:
        errors.show(result.error, "The query has no result.")
        return
    chosen = st.segmented_control(
        "As", list(KINDS), default="Table", required=True, key="as", bind="query-params", on_change=_choose
    )
    kind = KINDS[chosen or "Table"]
    if kind:
        _draw_chart_of(result.rows, kind)
    else:
        tables.draw(result.rows)
    count = tables.counted(result.rows.height)
    st.caption(f"The first {count}; there are more." if result.rows.has_more else f"{count}.")


def _draw_chosen(name: str, columns: list[str]) -> None:
    """Draw the choice of columns, with search as you type, from which a query is made."""
    chosen = st.multiselect(
        "Columns", columns, key="chosen_columns", format_func=visible, placeholder="All", help="Type to search."
    )
    selected = ", ".join(map(quoted, chosen)) or "*"
    query = f"select {selected}\nfrom {quoted(*name.split('.', 1))}\nlimit 100"
    st.button("Put into the query", icon=":material/input:", on_click=put_into_editor, args=(query,))


def _draw_relations(opened: ServedWarehouse) -> None:
    """Draw the choice of a view or table, and its columns with what they mean."""
    with opened.connection() as con:
        known = {f"{relation['schema']}.{relation['name']}": relation for relation in relations(con)}
        name = st.selectbox("Views and tables", list(known), key="view", bind="query-params", format_func=visible)
        if name is None:
            return
        columns = columns_of(con, known[name]["schema"], known[name]["name"])
    st.caption(plain(known[name]["comment"] or ""))
    _draw_chosen(name, [column["name"] for column in columns])
    lines = "".join(
        f"<p><code>{html(column['name'])}</code> <small>{html(column['type'])}</small><br>"
        f"{html(column['meaning'] or '')}</p>"
        for column in columns
    )
    label = f"Columns of {name}"
    st.html(f'{_STYLE}<div class="columns" tabindex="0" role="region" aria-label="{html(label)}">{lines}</div>')


KINDS = {"Table": None, "Bars": ChartKind.BAR, "Lines": ChartKind.LINE}

_IS_CHOSEN = "as_chosen"
"""Whether the user or the address has chosen how rows are shown."""

_MOST_BARS = 50
"""Rows that are offered as bars."""

_TIME = re.compile(r"\d{4}-\d\d(-\d\d.*)?")


def _offer(rows: ConsoleTable) -> None:
    """Show new rows by the first offer, unless the user has chosen otherwise."""
    if st.session_state.setdefault(_IS_CHOSEN, "as" in st.query_params):
        return
    offer = first_offer(rows)
    st.session_state["as"] = offer.kind
    if offer.along is not None:
        st.session_state["along"], st.session_state["by"] = offer.along, offer.by


class Offer(NamedTuple):
    """A way to show rows: a key of ``KINDS``, and the columns of a chart."""

    kind: str = "Table"
    along: str | None = None
    by: str | None = None


def first_offer(table: ConsoleTable) -> Offer:
    """Return the default display of rows: a chart of one number by one or two other columns, with these; or a table."""
    names = table.texts.drop(table.numbers)
    if len(table.numbers) != 1 or names.width not in (1, 2) or names.height < 2 or names.is_duplicated().any():
        return Offer()
    x, by = names.columns[0], names.columns[1] if names.width == 2 else None
    if by is not None and names[by].n_unique() > MOST_SERIES:
        return Offer()
    if all(value is not None and _TIME.fullmatch(value) for value in names[x]):
        return Offer("Lines", x, by)
    return Offer("Bars", x, by) if names.height <= _MOST_BARS else Offer()


def _choose() -> None:
    st.session_state[_IS_CHOSEN] = True


def _draw_chart_of(table: ConsoleTable, kind: ChartKind) -> None:
    """Draw the choices of columns, then their chart, or the reason why there is none."""
    rows = table.texts.with_columns(_whole(values) for values in table.numbers.values())
    numbers = [name for name, dtype in rows.schema.items() if dtype.is_numeric()]
    if not numbers or len(rows.columns) < 2:
        st.info("A chart needs a column of numbers and another column for its x axis: select both.")
        return
    first, second, third = st.columns(3)
    x = first.selectbox("Along", rows.columns, key="along", bind="query-params")
    values = [name for name in numbers if name != x]
    series = [name for name in rows.columns if name != x and rows[name].n_unique() <= MOST_SERIES]
    y = second.selectbox("Number", values, key="number", bind="query-params")
    by = third.selectbox(
        "By", [name for name in series if name != y], index=None, placeholder="Nothing", key="by", bind="query-params"
    )
    if y is None:
        st.info("There is only one column of numbers: choose another column for the x axis.")
        return
    _draw_chart(rows, chart_of(kind, x, y, by))


def chart_of(kind: ChartKind, x: str, y: str, by: str | None) -> Chart:
    """Return the chart of a number along a column, perhaps by another one."""
    return Chart(title=y, kind=kind, view="", metrics=(y,), x=x, by=(by,) if by else (), width=12)


def _draw_chart(rows: pl.DataFrame, chart: Chart) -> None:
    (y,) = chart.metrics
    numbers = rows.filter(rows[y].is_not_null())
    if numbers.is_empty():
        st.caption("There are no numbers in this column.")
        return
    number_format = NumberFormat.INTEGER if numbers[y].dtype.is_integer() else NumberFormat.DECIMAL
    metrics = {y: Metric(title=y, sql="", format=number_format)}
    if numbers[list(chart.columns)].is_duplicated().any():
        shared = plain(" and ".join(chart.columns))
        st.caption(f"Several rows have the same {shared}: they are drawn on top of one another.")
    alternative = words.alternative(chart, fields(chart, metrics), numbers)
    st.altair_chart(draw(chart, metrics, numbers), width="stretch", alt=alternative)
    draw_files(chart.title, numbers.select(chart.columns, y), lambda: draw(chart, metrics, numbers))


def _whole(values: pl.Series) -> pl.Series:
    known = values.drop_nulls()
    return values.cast(pl.Int64) if (known == known.round()).all() else values


_COMPONENT = "talkhouse.sql_editor"
"""As pyproject.toml declares it, by which Streamlit finds its files."""

_EDITOR_HTML = Path(__file__).with_name("sql_editor.html").read_text(encoding="utf-8")

_EDITOR_STYLE = """
<style>
.st-key-query textarea { font-family: "Source Code Pro", monospace; font-size: 0.875rem; tab-size: 4; }
</style>
"""

_QUERY = "query"
"""Of the address, and of the session: the query as it is now."""

_LAST_QUERY = "query_given"
"""The query that the address had last: another one comes from a link."""

_EDITOR_VERSION = "query_version"
"""Grows with each query that is put into the text area by the page: what is typed is not overwritten otherwise."""

_EDITOR = "sql_editor"


def draw_editor(opened: ServedWarehouse) -> tuple[str, bool]:
    """Draw the text area and the button that runs its query; return the query, and whether to run it."""
    try:
        editor = st.components.v2.component(_COMPONENT, html=_EDITOR_HTML, css="editor.css", js="editor.js")
    except StreamlitAPIException:
        # Without the package's pyproject.toml, as in a copy of the code that is not installed.
        return _draw_plain()
    _take_from_address()
    version = st.session_state.setdefault(_EDITOR_VERSION, 0)
    result = editor(
        key=_EDITOR,
        data={
            "words": sorted(reserved_words()),
            "query": st.session_state[_QUERY],
            "version": version,
            "relations": [
                [name, columns] for name, columns in opened.rows(sql_of(__file__, "completions")).iter_rows()
            ],
        },
        on_query_change=_on_typed,
        on_run_change=lambda: None,
    )
    is_asked = st.button("Run", type="primary", icon=":material/play_arrow:")
    query: str = st.session_state[_QUERY]
    if query != st.query_params.get(_QUERY, ""):
        st.query_params[_QUERY] = query
    st.session_state[_LAST_QUERY] = query
    return query, is_asked or result.run is not None


def put_into_editor(query: str) -> None:
    """Put a query in the place of the one that is in the text area; to be called before it is drawn."""
    st.session_state[_QUERY] = query
    st.session_state[_EDITOR_VERSION] = st.session_state.get(_EDITOR_VERSION, 0) + 1


def _draw_plain() -> tuple[str, bool]:
    with st.form("console", border=False):
        st.html(_EDITOR_STYLE)
        query = st.text_area("Query", key=_QUERY, bind="query-params", height=200, placeholder="from main.corpora")
        return query, st.form_submit_button("Run", type="primary", icon=":material/play_arrow:")


def _take_from_address() -> None:
    query = st.query_params.get(_QUERY)
    if query is not None and query != st.session_state.get(_LAST_QUERY):
        st.session_state[_LAST_QUERY] = query
        put_into_editor(query)
    st.session_state.setdefault(_QUERY, "")


def _on_typed() -> None:
    typed = st.session_state[_EDITOR]["query"]
    st.session_state[_QUERY] = typed["text"]


EXAMPLE_QUERIES: dict[str, str] = toml_of(__file__, "example_queries")
"""Title -> query."""
