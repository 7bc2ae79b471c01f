"""Quality: findings by rule with their places, the checks, and the charts of agreement and builds."""

import polars as pl
import streamlit as st

from talkhouse import queries
from talkhouse.charts.declared import ROWS, Kind, dashboards
from talkhouse.charts.fields import Field
from talkhouse.dashboard import chart_table, drawing, headlines, links, warehouse
from talkhouse.dashboard.tables import counted
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

_RULES = [
    Field("rule", "Rule"),
    Field("severity", "Severity"),
    Field("corpus_id", "Corpus"),
    Field("finding_count", "Findings", ROWS),
    Field("condition", "When the rule applies"),
]

_PLACES_SHOWN = 1_000


def page() -> None:
    """Draw what was found while loading, the checks, and how far annotators agree."""
    st.title("Quality", anchor=False)
    opened = warehouse.current()
    declared = next(one.dashboard for one in dashboards(opened.query_files) if one.name == DASHBOARD)
    headlines.put(opened, declared.headlines)
    _put_findings(opened)
    _put_checks(opened)
    st.header("Agreement, files and builds", anchor=False)
    st.caption(plain(declared.description, lines=True))
    choices = drawing.put_filters(opened, declared.filters)
    others = [chart for chart in declared.charts if not (chart.view == "findings" and chart.kind is Kind.TABLE)]
    drawing.put_charts(opened, others, choices, level=3)


def _put_findings(opened: warehouse.Warehouse) -> None:
    """Draw the rules that found something, and of one of them every place."""
    st.header("Findings", anchor=False)
    rules = opened.rows(queries.of_command("findings_by_rule")).drop("first_ones")
    if rules.is_empty():
        st.caption("Nothing was refused or warned about.")
        return
    chart_table.put("Findings by rule", rules, _RULES)
    names = rules["rule"].unique(maintain_order=True).to_list()
    rule = st.selectbox("Places of the rule", names, key="rule", bind="query-params", width=300) or names[0]
    of_rule = rules.filter(pl.col("rule") == rule)
    st.markdown(f"**{plain(of_rule['condition'][0] or rule)}** {plain(of_rule['remedy'][0] or '')}")
    places = opened.rows(_PLACES, {"rule": rule, "limit": _PLACES_SHOWN})
    _put_places(places, int(of_rule["finding_count"].sum()))


def _put_places(places: pl.DataFrame, number: int) -> None:
    linked = [
        None if record is None else links.read(None, turn, record_id=record)
        for record, turn in places.select("record_id", "turn_index").iter_rows()
    ]
    said = [column for column in places.columns if places[column].null_count() < len(places)]
    chart_table.put_rows(
        places.select(pl.Series("read", linked, dtype=pl.String), *said),
        {
            "corpus_id": "Corpus",
            "source_file_id": "File",
            "pointer": "Place in it",
            "record_id": "Record",
            "task": "Task",
            "turn_index": "Turn",
            "detail": st.column_config.TextColumn("What was found", width="large"),
            "read": chart_table.LINK,
        },
    )
    if number > len(places):
        st.caption(f"The first {len(places):,} of {number:,}; all of them: `talkhouse findings`")
    else:
        st.caption(counted(number, "place"))


def _put_checks(opened: warehouse.Warehouse) -> None:
    """Draw the checks that the build ran, those that found something first, and what corpora declare as meant."""
    checks = opened.rows(_CHECKS)
    passing = checks.filter(pl.col("result") == "passes").height
    st.header("Checks", anchor=False)
    st.caption(f"{passing:,} of {checks.height:,} checks of the last build pass; errors would have stopped it.")
    chart_table.put_rows(
        checks,
        {
            "result": "Result",
            "condition": st.column_config.TextColumn("What should be true", width="large"),
            "offending": st.column_config.NumberColumn("Rows that offend", format="localized"),
            "check_name": "Check",
        },
    )
    st.caption(f"All {counted(checks.height, 'check')} are in the table: scroll in it.")
    exceptions = opened.rows(_EXCEPTIONS)
    if not exceptions.is_empty():
        with st.expander(f"{exceptions.height:,} exceptions that corpora declare"):
            titles = {"corpus_id": "Corpus", "check_name": "Check", "scope": "Where", "reason": "Why it is meant so"}
            chart_table.put("Exceptions", exceptions, [Field(name, title) for name, title in titles.items()])
