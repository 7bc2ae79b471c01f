"""Quality: findings by rule with their places, the checks, and the charts of agreement and builds."""

from urllib.parse import quote

import polars as pl
import streamlit as st

from talkhouse import queries
from talkhouse.charts.declared import Kind, dashboards
from talkhouse.charts.formats import NOTHING
from talkhouse.dashboard import drawing, headlines, warehouse
from talkhouse.dashboard.text import plain

DASHBOARD = "quality"
"""The declared dashboard that is part of this page."""

_PLACES = """
select corpus_id, detail, source_file_id, pointer, record_id, task, turn_index
from bi.findings
where rule = $rule
order by corpus_id, finding_index
limit $limit
"""

_CHECKS = """
select
    case when offending = 0 then 'passes' when severity = 'error' then 'fails' else 'warns' end as result,
    condition,
    offending,
    check_name,
from meta.checks
order by offending = 0, severity, check_name
"""

_EXCEPTIONS = "select corpus_id, check_name, scope, reason from meta.exceptions order by all"

_PLACES_SHOWN = 1_000


def page() -> None:
    """Draw what was found while loading, the checks, and how far annotators agree."""
    st.title("Quality", anchor=False)
    opened = warehouse.current()
    declared = next(one.dashboard for one in dashboards(opened.query_files) if one.name == DASHBOARD)
    headlines.put(opened, declared.headlines)
    _put_findings(opened)
    _put_checks(opened)
    st.subheader("Agreement, files and builds", anchor=False)
    st.caption(declared.description)
    choices = drawing.put_filters(opened, declared.filters)
    others = [chart for chart in declared.charts if not (chart.view == "findings" and chart.kind is Kind.TABLE)]
    drawing.put_charts(opened, others, choices)


def _put_findings(opened: warehouse.Warehouse) -> None:
    """Draw the rules that found something, and of one of them every place."""
    st.subheader("Findings", anchor=False)
    rules = opened.rows(queries.of_command("findings_by_rule")).drop("first_ones")
    if rules.is_empty():
        st.caption("Nothing was refused or warned about.")
        return
    st.dataframe(
        rules.drop("remedy").to_arrow(),
        hide_index=True,
        placeholder=NOTHING,
        column_config={
            "rule": "Rule",
            "severity": "Severity",
            "corpus_id": "Corpus",
            "finding_count": st.column_config.NumberColumn("Findings", format="localized"),
            "condition": st.column_config.TextColumn("When the rule applies", width="large"),
        },
    )
    names = rules["rule"].unique(maintain_order=True).to_list()
    rule = st.selectbox("Places of the rule", names, key="rule", bind="query-params", width=300) or names[0]
    of_rule = rules.filter(pl.col("rule") == rule)
    st.markdown(f"**{plain(of_rule['condition'][0] or rule)}** {plain(of_rule['remedy'][0] or '')}")
    places = opened.rows(_PLACES, {"rule": rule, "limit": _PLACES_SHOWN})
    _put_places(places, int(of_rule["finding_count"].sum()))


def _put_places(places: pl.DataFrame, number: int) -> None:
    linked = [None if record is None else f"read?record={quote(record, safe='')}" for record in places["record_id"]]
    said = [column for column in places.columns if places[column].null_count() < len(places)]
    st.dataframe(
        places.select(pl.Series("read", linked, dtype=pl.String), *said).to_arrow(),
        hide_index=True,
        placeholder=NOTHING,
        column_config={
            "corpus_id": "Corpus",
            "source_file_id": "File",
            "pointer": "Place in it",
            "record_id": "Record",
            "task": "Task",
            "turn_index": "Turn",
            "detail": st.column_config.TextColumn("What was found", width="large"),
            "read": st.column_config.LinkColumn("", display_text="Read"),
        },
    )
    if number > len(places):
        st.caption(f"The first {len(places):,} of {number:,}; all of them: `talkhouse findings`")


def _put_checks(opened: warehouse.Warehouse) -> None:
    """Draw the checks that the build ran, those that found something first, and what corpora declare as meant."""
    checks = opened.rows(_CHECKS)
    passing = checks.filter(pl.col("result") == "passes").height
    st.subheader("Checks", anchor=False)
    st.caption(f"{passing:,} of {checks.height:,} checks of the last build pass; errors would have stopped it.")
    st.dataframe(
        checks.to_arrow(),
        hide_index=True,
        placeholder=NOTHING,
        height=300,
        column_config={
            "result": "Result",
            "condition": st.column_config.TextColumn("What should be true", width="large"),
            "offending": st.column_config.NumberColumn("Rows that offend", format="localized"),
            "check_name": "Check",
        },
    )
    exceptions = opened.rows(_EXCEPTIONS)
    if not exceptions.is_empty():
        with st.expander(f"{exceptions.height:,} exceptions that corpora declare"):
            st.dataframe(exceptions.to_arrow(), hide_index=True, placeholder=NOTHING)
