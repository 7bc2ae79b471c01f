"""Ask: a question put together by choices, its answer as a chart, and the query and the receipt of it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from talkhouse.charts import questions
from talkhouse.charts.declarations import metrics_files
from talkhouse.charts.declared import Chart, Kind
from talkhouse.charts.fields import title
from talkhouse.charts.metric import Metric
from talkhouse.charts.query import DEFAULT, OPTIONS, Choices, chart_sql, narrowed, values_sql
from talkhouse.charts.questions import Dimension
from talkhouse.dashboard import chart_on_page, links, warehouse
from talkhouse.dashboard.text import plain
from talkhouse.dashboard.warehouse import Warehouse
from talkhouse.queries.catalogue import BI
from talkhouse.schema.sql import quoted
from talkhouse.visible import visible
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

_KINDS = {"Lines": Kind.LINE, "Bars": Kind.BAR, "Table": Kind.TABLE}

_FILTERS = ("corpus_id", "split")
"""Columns that every question may be narrowed by, beside those that its metric needs one value of."""


class _Asked(NamedTuple):
    """A metric that can be asked for, and what it is of."""

    view: str
    name: str
    metric: Metric
    of: str


def page() -> None:
    """Draw the choices, then what they ask for."""
    st.title("Ask", anchor=False)
    opened = warehouse.current()
    st.caption("Show a number by one thing over another. The address has the whole question: share it as it is.")
    offered = _offered(opened)
    if not offered:
        st.info("There is nothing to ask of: this warehouse has no corpora.")
        return
    names = _labels((one, f"{one.of}: {one.metric.title}", one.name) for one in offered)
    asked = names[st.selectbox("Show", list(names), key="show", bind="query-params", help="Type to search.")]
    columns = _columns(opened, asked.view)
    chart = _put_choices(opened, asked, columns)
    choices = _put_filters(opened, asked, chart, columns)
    _put_answer(opened, asked, chart, choices, columns)


def _offered(opened: Warehouse) -> list[_Asked]:
    """Return the metrics of views of the corpora that are there, by what they are of."""
    corpora = dict(opened.rows(_CORPORA).iter_rows())
    if not corpora:
        return []
    found = [
        _Asked(view, name, one, _subject(view, file.folder, corpora))
        for file, views in metrics_files(opened.query_files)
        if file.folder == BI or file.folder in corpora
        for view, of_view in views.items()
        for name, one in of_view.items()
    ]
    return sorted(found, key=lambda one: (one.of, one.metric.title, one.name))


def _subject(view: str, folder: str, corpora: dict[str, str]) -> str:
    if folder == BI:
        return title(view)
    return f"{corpora[folder]}, {title(view.removeprefix(f'{folder}_')).lower()}"


def _columns(opened: Warehouse, view: str) -> dict[str, dict[str, str]]:
    with opened.connection() as con:
        return {column["name"]: column for column in columns_of(con, BI, view)}


def _dimensions(opened: Warehouse, view: str, columns: Mapping[str, dict[str, str]]) -> list[Dimension]:
    known = questions.candidates(columns.values())
    counts = opened.rows(questions.counts_sql(view, [column["name"] for column in known])).row(0) if known else ()
    return questions.dimensions(known, counts)


def _labels(things: Iterable[tuple[_Thing, str, str]]) -> dict[str, _Thing]:
    """Return things by what they are called; of two that are called alike, with their names."""
    known = list(things)
    often = Counter(called for _, called, _ in known)
    return {visible(f"{called} ({name})" if often[called] > 1 else called): one for one, called, name in known}


def _put_choices(opened: Warehouse, asked: _Asked, columns: Mapping[str, dict[str, str]]) -> Chart:
    """Draw what the number is shown by and over, and as what; return the chart of it."""
    known = _dimensions(opened, asked.view, columns)
    first, second, third = st.columns(3)
    by = _choice(first, "By", [one for one in known if one.value_count <= questions.MOST_SERIES])
    over = _choice(second, "Over", [one for one in known if one.name != by])
    kind = third.segmented_control("As", list(_KINDS), default="Bars", required=True, key="as", bind="query-params")
    of_view = {asked.name: asked.metric}
    return questions.chart_of(asked.view, asked.name, of_view, by=by, over=over, kind=_KINDS[kind or "Bars"])


def _choice(place: DeltaGenerator, label: str, known: Iterable[Dimension]) -> str:
    """Draw the choice of a column; return its name, empty for none."""
    names = _labels((one, one.title, one.name) for one in known)
    chosen = names.get(
        place.selectbox(label, list(names), index=None, placeholder="Nothing", key=label.lower(), bind="query-params")
        or ""
    )
    if chosen is None:
        return ""
    place.caption(plain(chosen.meaning))
    return chosen.name


def _put_filters(opened: Warehouse, asked: _Asked, chart: Chart, columns: Mapping[str, dict[str, str]]) -> Choices:
    """Draw what the question is narrowed to; of releases only one at a time, as they repeat each other's turns."""
    offered: list[tuple[str, str, str, dict[str, str]]] = []
    if {DEFAULT, "release"} <= columns.keys() and "release" not in chart.columns:
        releases = {f"{of}: {called}": release for release, of, called in opened.rows(_RELEASES).iter_rows()}
        there = _values(opened, asked.view, "release").values()
        known = {visible(called): release for called, release in releases.items() if release in there}
        offered.append(("release", "In", _DEFAULT_PUBLICATION, known))
    for name in dict.fromkeys((*_FILTERS, *asked.metric.within)):
        if name in columns.keys() - {"release", *chart.columns}:
            offered.append((name, title(name), "All", _values(opened, asked.view, name)))
    drawn = [one for one in offered if len(one[3]) > 1]
    choices: dict[str, list[str]] = {}
    for (name, label, nothing, values), place in zip(drawn, st.columns(max(len(drawn), 1)), strict=False):
        chosen = place.selectbox(
            label, list(values), index=None, placeholder=nothing, key=f"only_{name}", bind="query-params"
        )
        if chosen in values:
            choices[name] = [values[chosen]]
    return choices


def _values(opened: Warehouse, view: str, column: str) -> dict[str, str]:
    """Return the values of a column by how they are shown."""
    rows = opened.rows(values_sql(view, column, OPTIONS))
    return {visible(str(value)): str(value) for value in rows.to_series()}


def _put_answer(
    opened: Warehouse, asked: _Asked, chart: Chart, choices: Choices, columns: Mapping[str, dict[str, str]]
) -> None:
    whole = narrowed(chart, choices, list(columns))
    several = _several(opened, asked, whole)
    if reason := questions.refusal(asked.metric, chart, choices, several):
        st.warning(plain(reason), icon=":material/block:")
        return
    chart_on_page.put(opened, chart, choices, level=2)
    sql = chart_sql(whole, {asked.name: asked.metric})
    with st.expander("Its SQL", icon=":material/database:"):
        st.code(sql, language="sql", wrap_lines=True)
        st.link_button("Run it on the SQL page", links.sql(sql))


def _several(opened: Warehouse, asked: _Asked, chart: Chart) -> list[str]:
    """Return the columns that the metric needs one value of and that have several among the chosen rows.

    Of releases it needs the default publications or one of them, which is what is ever chosen here.
    """
    needed = [name for name in asked.metric.within if name not in ("release", *chart.columns)]
    if not needed:
        return []
    counts = ", ".join(f"count(distinct {quoted(name)}) + max(({quoted(name)} is null)::int)" for name in needed)
    where = f" where {chart.where}" if chart.where else ""
    row = opened.rows(f"select {counts} from {BI}.{quoted(chart.view)}{where}").row(0)
    return [name for name, count in zip(needed, row, strict=True) if (count or 0) > 1]
