"""Quality: findings by rule with their places, the checks, and the charts of agreement and builds."""

from collections.abc import Callable

import polars as pl
import streamlit as st

from talkhouse import queries
from talkhouse.charts.declarations import dashboards
from talkhouse.charts.declared import ROWS, ChartKind
from talkhouse.charts.fields import ChartField
from talkhouse.dashboard import drawing, links, warehouse
from talkhouse.dashboard.drawing import draw_headlines, draw_table
from talkhouse.dashboard.tables import counted, table_html
from talkhouse.dashboard.text import plain
from talkhouse.escaping import visible
from talkhouse.schema.sql_files import sql_of

DASHBOARD = "quality"
"""The declared dashboard that is part of this page."""

_EXCEPTIONS = "select corpus_id, check_name, scope, reason from meta.exceptions order by all"

_RULES = [
    ChartField("rule", "Rule"),
    ChartField("severity", "Severity"),
    ChartField("corpus_id", "Corpus"),
    ChartField("finding_count", "Findings", ROWS),
    ChartField("condition", "When the rule applies"),
]

_PLACES = [
    ChartField("corpus_id", "Corpus"),
    ChartField("detail", "What was found"),
    ChartField("source_file_id", "File"),
    ChartField("pointer", "Place in it"),
    ChartField("record_id", "Record"),
    ChartField("task", "Task"),
    ChartField("turn_index", "Turn"),
]

_CHECKED = [
    ChartField("result", "Result"),
    ChartField("condition", "What should be true"),
    ChartField("offending", "Offending rows", ROWS),
    ChartField("check_name", "Check"),
]

_EXCEPTED = [
    ChartField("corpus_id", "Corpus"),
    ChartField("check_name", "Check"),
    ChartField("scope", "Where"),
    ChartField("reason", "Why it is intended"),
]

_MOST_PLACES = 1_000

_FIRST_PLACES = 10
"""Places of a rule that are shown at first."""


def page() -> None:
    """Draw the findings of loading, the checks, and the agreement of annotators."""
    st.title("Quality", anchor=False)
    opened = warehouse.current()
    declared = next(file.dashboard for file in dashboards(opened.query_files) if file.name == DASHBOARD)
    draw_headlines(opened, declared.headlines)
    _draw_findings(opened)
    _draw_checks(opened)
    st.header("Agreement, files and builds", anchor=False)
    st.caption(plain(declared.description, lines=True))
    choices = drawing.draw_filters(opened, declared.filters)
    others = [chart for chart in declared.charts if not (chart.view == "findings" and chart.kind is ChartKind.TABLE)]
    drawing.draw_charts(opened, others, choices, level=3)


def _draw_findings(opened: warehouse.ServedWarehouse) -> None:
    """Draw the rules that found something, and of one of them every place."""
    st.header("Findings", anchor=False)
    rules = opened.rows(queries.of_command("findings_by_rule")).drop("first_ones")
    if rules.is_empty():
        st.caption("Nothing was refused or warned about.")
        return
    draw_table("Findings by rule", rules, _RULES)
    names = rules["rule"].unique(maintain_order=True).to_list()
    rule = st.selectbox("Places of the rule", names, key="rule", bind="query-params", format_func=visible, width=300)
    rule = rule or names[0]
    of_rule = rules.filter(pl.col("rule") == rule)
    st.markdown(f"**{plain(of_rule['condition'][0] or rule)}** {plain(of_rule['remedy'][0] or '')}")
    places = opened.rows(sql_of(__file__, "places_of_rule"), {"rule": rule, "limit": _MOST_PLACES})
    _draw_places(places, int(of_rule["finding_count"].sum()))


def _draw_places(places: pl.DataFrame, number: int) -> None:
    """Draw the first places of a rule, and the control that opens the others."""
    filled = [column for column in _PLACES if places[column.name].null_count() < len(places)]

    def draw(shown: pl.DataFrame) -> None:
        has_records = "record_id" in shown.columns and shown["record_id"].null_count() < len(shown)
        linked = [
            "" if record is None else links.read(None, turn, record_id=record)
            for record, turn in shown.select("record_id", "turn_index").iter_rows()
        ]
        columns = [column.name for column in filled]
        st.html(table_html("Places", shown.select(columns), filled, linked if has_records else None))

    draw(places.head(_FIRST_PLACES))
    if number <= _FIRST_PLACES:
        return
    st.caption(f"{_FIRST_PLACES} of {counted(number, 'place')}")
    _draw_folded(f"The other {number - _FIRST_PLACES:,} places", lambda: draw(places.slice(_FIRST_PLACES)))
    if number > len(places):
        st.caption(f"The first {len(places):,} are here; for all of them, run `talkhouse findings`")


def _draw_checks(opened: warehouse.ServedWarehouse) -> None:
    """Draw the checks of the build that found something; fold those that pass, and what corpora declare as meant."""
    checks = opened.rows(sql_of(__file__, "checks"))
    passing = checks.filter(pl.col("result") == "passes")
    st.header("Checks", anchor=False)
    st.markdown(
        f"{passing.height:,} of {checks.height:,} checks of the last build pass; an error would have stopped it."
    )
    if passing.height < checks.height:
        draw_table("Checks that found something", checks.filter(pl.col("result") != "passes"), _CHECKED)
    if passing.height:
        _draw_folded(
            f"{counted(passing.height, 'check')} that pass{'es' if passing.height == 1 else ''}",
            lambda: st.html(table_html("Checks that pass", passing, _CHECKED[1::2])),
        )
    exceptions = opened.rows(_EXCEPTIONS)
    if not exceptions.is_empty():
        _draw_folded(
            f"{counted(exceptions.height, 'exception')} that corpora declare",
            lambda: st.html(table_html("Exceptions", exceptions, _EXCEPTED)),
        )


@st.fragment
def _draw_folded(title: str, draw: Callable[[], object]) -> None:
    """Draw the control that opens more rows; they are made and sent only on request."""
    folded = st.expander(title, on_change="rerun")
    if folded.open:
        with folded:
            draw()
