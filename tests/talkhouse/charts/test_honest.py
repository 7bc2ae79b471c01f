"""Tiles are the sums of their charts, and both are what independent counts of the tables say."""

import statistics
from collections.abc import Iterator
from itertools import pairwise

import duckdb
import msgspec
import pytest

import talkhouse
from talkhouse.charts.declarations import DeclaredDashboard, dashboards, metrics
from talkhouse.charts.declared import Chart, Dashboard
from talkhouse.charts.fields import frame
from talkhouse.charts.query import chart_sql, narrowed
from talkhouse.charts.questions import is_of_one_dialogue
from talkhouse.ingest.declared.declaration import read_declaration
from talkhouse.schema.sql_files import sql_of
from talkhouse.warehouse.declared_tasks import dashboard_text
from tests.samples import RELEASES

UNITS = sql_of(__file__, "honest_units")
"""The records of each dialogue's first release, written otherwise than the views have it."""

COUNTS = {
    "Dialogues": "select count(*) from main.dialogues where dialogue_id in (select dialogue_id from main.records)",
    "Turns": "select count(*) from main.turns where dialogue_id in (select dialogue_id from main.records)",
    "Labels": f"{UNITS} select count(*) from main.annotations "
    "where label is not null and record_id in (select record_id from counted)",
    "Examples": f"{UNITS} select count(*) from main.examples where record_id in (select record_id from counted)",
}
SAME = {
    "Dialogues": ("Dialogues by number of turns", "Corpora and their licences"),
    "Labels": ("Labels by scheme",),
    "Examples": ("Examples of each task by split",),
}
"""Tiles of the overview with the charts that add up to them."""


@pytest.fixture(params=["samples", pytest.param("real files", marks=pytest.mark.slow)])
def warehouse(request: pytest.FixtureRequest) -> Iterator[duckdb.DuckDBPyConnection]:
    if request.param == "samples":
        yield request.getfixturevalue("con")
        return
    with talkhouse.open(request.getfixturevalue("real_warehouse")) as con:
        yield con


def total(con: duckdb.DuckDBPyConnection, chart: Chart, choices: dict[str, list[str]] | None = None) -> float | None:
    columns = con.execute(
        "select column_name from duckdb_columns() where schema_name = 'bi' and table_name = ?", [chart.view]
    ).fetchall()
    rows = frame(con, chart_sql(narrowed(chart, choices or {}, [name for (name,) in columns]), metrics()[chart.view]))
    return None if rows[chart.metrics[0]].null_count() else float(rows[chart.metrics[0]].sum())


def of_dashboard(name: str) -> dict[str, Chart]:
    (declared,) = [board.dashboard for board in dashboards() if board.name == name]
    return {chart.title: chart for chart in declared.charts}


@pytest.mark.parametrize("declared", dashboards(), ids=lambda declared: declared.name)
def test_no_chart_adds_up_people_who_share_an_alias(declared: DeclaredDashboard) -> None:
    grouped = {column for chart in declared.dashboard.charts for column in chart.columns}
    assert not [column for column in grouped if is_of_one_dialogue(column)]


def test_tiles_are_the_sums_of_their_charts_and_count_everything_once(warehouse: duckdb.DuckDBPyConnection) -> None:
    charts = of_dashboard("overview")
    for title, count in COUNTS.items():
        (expected,) = warehouse.execute(count).fetchall()
        assert total(warehouse, charts[title]) == expected[0], title
        for other in SAME.get(title, ()):
            assert total(warehouse, charts[other]) == expected[0], other
    words = charts["Messages by number of words"]
    (spaced,) = warehouse.execute(
        "select count(*) from main.turns inner join main.dialogues using (dialogue_id) "
        "where language <> 'ja' and kind = 'message'"
    ).fetchall()
    assert total(warehouse, words) == spaced[0]


def test_labelled_turns_count_once(warehouse: duckdb.DuckDBPyConnection) -> None:
    charts = of_dashboard(RELEASES)
    ((units, votes),) = warehouse.execute(
        f"{UNITS} select count(distinct (dialogue_id, turn_index)), count(*) from main.annotations "
        "where record_id in (select record_id from counted) and scheme = ?",
        [f"{RELEASES}.breakdown"],
    ).fetchall()
    assert total(warehouse, charts["Labelled turns"]) == units
    assert total(warehouse, charts["Votes"]) == votes
    published = warehouse.execute(
        f"select release, count(*) from {RELEASES}.breakdown_detection group by all"
    ).fetchall()
    for release, count in published:
        assert total(warehouse, charts["Labelled turns"], {"release": [release]}) == count
    every = [release for release, _ in published]
    assert sum(count for _, count in published) > units
    assert total(warehouse, charts["Labelled turns"], {"release": every}) is None, "releases are added up"


@pytest.mark.slow
def test_no_metric_adds_releases_or_schemes_up(con: duckdb.DuckDBPyConnection) -> None:
    """Without the condition that charts have: a metric is null, or counts each thing once."""
    views: dict[str, set[str]] = {}
    for view, column in con.execute(
        "select table_name, column_name from duckdb_columns() where schema_name = 'bi'"
    ).fetchall():
        views.setdefault(view, set()).add(column)
    for view, named in metrics().items():
        if "is_default" not in views[view]:
            continue
        for name, metric in named.items():
            whole, once = (
                con.execute(f"select {metric.sql} from bi.{view} where corpus_id = ? {more}", [RELEASES]).fetchall()
                for more in ("", "and is_default")
            )
            assert whole in ([(None,)], once), f"{view}.{name}"


def test_charts_of_one_title_count_the_same() -> None:
    """The charts that every declared corpus gets against those of all corpora: the same rows, and the same things."""
    text = dashboard_text(read_declaration("own", 'format = "chat"\ntitle = "Own"', "corpus.toml"))
    own = {chart.title: chart for chart in msgspec.toml.decode(text, type=Dashboard).charts}
    every = [chart for declared in dashboards() for chart in declared.dashboard.charts if chart.kind == "bar"]
    shared = [(chart, own[chart.title]) for chart in every if chart.title in own]
    assert len(shared) > 1
    for chart, same in shared:
        assert (chart.view, chart.x, chart.metrics) == (same.view, same.x, same.metrics)
        # Within a split, to count what is different or the first ones is the same.
        conditions = [
            {*where.split(" and ")} - {"corpus_id = 'own'", "is_first_in_split", ""}
            for where in (chart.where, same.where)
        ]
        assert conditions[0] == conditions[1]


def test_an_answer_follows_somebody_else(con: duckdb.DuckDBPyConnection) -> None:
    turns = con.execute(
        "select dialogue_id, speaker_id, role, said_at from main.turns order by dialogue_id, turn_index"
    ).fetchall()
    gaps = []
    for before, after in pairwise(turns):
        by_one = before[1] == after[1] if before[1] and after[1] else before[2] == after[2]
        if before[0] == after[0] and before[3] and after[3] and not by_one:
            gaps.append((after[3] - before[3]).total_seconds())
    median = metrics()["turn_pairs"]["median_gap_seconds"].sql
    assert con.execute(f"select {median} from bi.turn_pairs").fetchall() == [(statistics.median(gaps),)]
    assert len(gaps) < len([True for turn in turns if turn[3]]) - 1
