"""Ask: a question put together by choices, its answer as a chart, and the query and the receipt of it."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from talkhouse.charts import questions
from talkhouse.charts.declarations import metrics_files
from talkhouse.charts.declared import Chart, ChartKind, Metric
from talkhouse.charts.fields import title
from talkhouse.charts.query import DEFAULT, Choices, chart_sql, narrowed
from talkhouse.charts.questions import Dimension
from talkhouse.dashboard import links, warehouse
from talkhouse.dashboard.drawing import draw_on_page
from talkhouse.dashboard.text import plain
from talkhouse.dashboard.warehouse import ServedWarehouse
from talkhouse.escaping import visible
from talkhouse.queries.catalogue import BI
from talkhouse.schema.sql import quoted
from talkhouse.warehouse.relations import columns_of

_Thing = TypeVar("_Thing")

_DEFAULT_PUBLICATION = "Each turn once: the default publications"

_CORPORA = "select corpus_id, title from main.corpora order by title"

_RELEASES = """
select releases.release, corpora.title, coalesce(releases.title, releases.release)
from main.releases
inner join main.corpora using (corpus_id)
order by corpora.title, release_index
"""

_KINDS = {"Lines": ChartKind.LINE, "Bars": ChartKind.BAR, "Heat map": ChartKind.HEATMAP, "Table": ChartKind.TABLE}

_FILTERS = ("corpus_id", "split")
"""Columns that may narrow every question, in addition to those of which its metric needs a single value."""

_EXAMPLE = {"show": "Annotations: Labels", "by": "Split", "over": "Scheme"}
"""The first question, if the address has none."""


class _Asked(NamedTuple):
    """A metric that can be asked for, and what it is of."""

    view: str
    name: str
    metric: Metric
    of: str


class _View(NamedTuple):
    """The choices that a view offers."""

    columns: list[str]
    dimensions: list[Dimension]
    values: dict[str, list[str]]
    """Of the columns that a question may be narrowed by."""


def page() -> None:
    """Draw the choices, then what they ask for."""
    st.title("Ask", anchor=False)
    opened = warehouse.current()
    st.caption("Show a number by one column over another. The URL holds the whole question, so you can share it.")
    offered = _offered(opened)
    if not offered:
        st.info("There is nothing to ask about: this warehouse has no corpora.")
        return
    names = _labels((item, f"{item.of}: {item.metric.title}", item.name) for item in offered)
    example = {} if _EXAMPLE.keys() & {*st.query_params, *st.session_state} else _EXAMPLE
    _begin(example, "show", names)
    asked = names[st.selectbox("Show", list(names), key="show", bind="query-params", help="Type to search.")]
    view = _view(opened, asked)
    chart = _draw_choices(asked, view, example)
    choices = _draw_filters(opened, asked, chart, view)
    _draw_answer(opened, asked, chart, choices, view)


def _begin(example: Mapping[str, str], key: str, options: Collection[str]) -> None:
    """Choose what the example has, where it is offered."""
    if example.get(key) in options:
        st.session_state[key] = example[key]


def _offered(opened: ServedWarehouse) -> list[_Asked]:
    """Return the metrics of views of the corpora that are there, by what they are of."""
    corpora = dict(opened.rows(_CORPORA).iter_rows())
    if not corpora:
        return []
    found = [
        _Asked(view, name, metric, _subject(view, file.folder, corpora))
        for file, views in metrics_files(opened.query_files)
        if file.folder == BI or file.folder in corpora
        for view, of_view in views.items()
        for name, metric in of_view.items()
    ]
    return sorted(found, key=lambda item: (item.of, item.metric.title, item.name))


def _subject(view: str, folder: str, corpora: dict[str, str]) -> str:
    if folder == BI:
        return title(view)
    return f"{corpora[folder]}, {title(view.removeprefix(f'{folder}_')).lower()}"


def _view(opened: ServedWarehouse, asked: _Asked) -> _View:
    """Return the choices of the view of a metric, by one query, as some views are slow."""
    with opened.connection() as con:
        columns = {column["name"]: column for column in columns_of(con, BI, asked.view)}
    known = questions.candidates(columns.values())
    narrowing = ("release", *_FILTERS, *asked.metric.within)
    listed = [name for name in dict.fromkeys(narrowing) if name in columns]
    sql = questions.counts_sql(asked.view, known, listed)
    row = opened.rows(sql).row(0) if known or listed else ()
    counts, lists = row[: len(row) - len(listed)], row[len(row) - len(listed) :]
    values = {name: [str(value) for value in found or ()] for name, found in zip(listed, lists, strict=True)}
    return _View(list(columns), questions.dimensions(known, counts), values)


def _labels(things: Iterable[tuple[_Thing, str, str]]) -> dict[str, _Thing]:
    """Return things by their labels; two with the same label have their names added."""
    known = list(things)
    often = Counter(called for _, called, _ in known)
    return {visible(f"{called} ({name})" if often[called] > 1 else called): thing for thing, called, name in known}


def _draw_choices(asked: _Asked, view: _View, example: Mapping[str, str]) -> Chart:
    """Draw the choices of both dimensions and of the kind of chart; return the chart."""
    first, second, third = st.columns([3, 3, 4])
    few = (dimension for dimension in view.dimensions if dimension.value_count <= questions.MOST_SERIES)
    by = _choice(first, "By", (dimension for dimension in few if not dimension.grain), example)
    others = (dimension for dimension in view.dimensions if by is None or dimension.name != by.name)
    over = _choice(second, "Over", others, example)
    kind = third.segmented_control("As", list(_KINDS), default="Bars", required=True, key="as", bind="query-params")
    of_view = {asked.name: asked.metric}
    return questions.chart_of(
        asked.view,
        asked.name,
        of_view,
        by=by.name if by else "",
        over=over.name if over else "",
        kind=_KINDS[kind or "Bars"],
        grain=over.grain if over else None,
    )


def _choice(
    place: DeltaGenerator, label: str, known: Iterable[Dimension], example: Mapping[str, str]
) -> Dimension | None:
    """Draw the choice of a column; return it, or None for none."""
    key = label.lower()
    names = _labels((dimension, dimension.title, dimension.name) for dimension in known)
    _begin(example, key, names)
    chosen = names.get(
        place.selectbox(label, list(names), index=None, placeholder="Nothing", key=key, bind="query-params") or ""
    )
    if chosen is not None:
        place.caption(plain(chosen.meaning))
    return chosen


class _OfferedFilter(NamedTuple):
    """A filter that may be drawn."""

    column: str
    label: str
    nothing: str
    """What stands there if nothing is chosen."""
    values: dict[str, str]
    """Each value by its label."""


def _draw_filters(opened: ServedWarehouse, asked: _Asked, chart: Chart, view: _View) -> Choices:
    """Draw the filters of the question; one publisher's release at a time, as they repeat each other's turns."""
    offered: list[_OfferedFilter] = []
    if {DEFAULT, "release"} <= {*view.columns} and "release" not in chart.columns:
        releases = opened.rows(_RELEASES).iter_rows()
        known = {visible(f"{of}: {called}"): name for name, of, called in releases if name in view.values["release"]}
        offered.append(_OfferedFilter("release", "In", _DEFAULT_PUBLICATION, known))
    for name in dict.fromkeys((*_FILTERS, *asked.metric.within)):
        if name in view.values.keys() - {"release", *chart.columns}:
            titles = dict(opened.rows(_CORPORA).iter_rows()) if name == "corpus_id" else {}
            values = {visible(titles.get(value, value)): value for value in view.values[name]}
            offered.append(_OfferedFilter(name, title(name), "All", values))
    drawn = [item for item in offered if len(item.values) > 1]
    choices: dict[str, list[str]] = {}
    for (name, label, nothing, values), place in zip(drawn, st.columns(max(len(drawn), 1)), strict=False):
        chosen = place.selectbox(
            plain(label), list(values), index=None, placeholder=nothing, key=f"only_{name}", bind="query-params"
        )
        if chosen in values:
            choices[name] = [values[chosen]]
    return choices


def _draw_answer(opened: ServedWarehouse, asked: _Asked, chart: Chart, choices: Choices, view: _View) -> None:
    whole = narrowed(chart, choices, view.columns)
    several = _several(opened, asked, whole, choices)
    if reason := questions.refusal(asked.metric, chart, choices, several):
        st.warning(plain(reason), icon=":material/block:")
        return
    draw_on_page(opened, chart, choices, 2, opened.rows)
    sql = chart_sql(whole, {asked.name: asked.metric})
    with st.expander("Its SQL", icon=":material/database:"):
        st.code(sql, language="sql", wrap_lines=True)
        st.link_button("Run it on the SQL page", links.sql(sql))


def _several(opened: ServedWarehouse, asked: _Asked, chart: Chart, choices: Choices) -> list[str]:
    """Return the columns that the metric needs one value of and that have several among the chosen rows.

    Of publisher's releases it needs the default publications or one of them, which is what is ever chosen here.
    """
    needed = [name for name in asked.metric.within if name not in {"release", *chart.columns, *choices}]
    if not needed:
        return []
    counts = ", ".join(f"count(distinct {quoted(name)}) + max(({quoted(name)} is null)::int)" for name in needed)
    where = f" where {chart.where}" if chart.where else ""
    row = opened.rows(f"select {counts} from {BI}.{quoted(chart.view)}{where}").row(0)
    return [name for name, count in zip(needed, row, strict=True) if (count or 0) > 1]
