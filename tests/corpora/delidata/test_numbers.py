"""The numbers of DeliData that people see are what plain Python makes of the raw files: invented and real ones."""

from typing import Any

import duckdb
import pytest

from talkhouse.charts.declarations import dashboards, metrics
from talkhouse.charts.words import headlines
from talkhouse.export.composition import rows_behind
from talkhouse.ingest.corpora.delidata import CORPUS
from tests.corpora.conftest import Published
from tests.corpora.delidata import view_rows
from tests.corpora.delidata.rules import Group, read

Loaded = tuple[duckdb.DuckDBPyConnection, list[Group]]
"""A warehouse, and the raw files that it was built from."""

(PAGE,) = (page for page in dashboards() if page.name == CORPUS.id)


@pytest.fixture
def loaded(published: Published) -> Loaded:
    return published.con, read(published.folder)


def near(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(pytest.approx(value) if isinstance(value, float) else value for value in row)


def behind(con: duckdb.DuckDBPyConnection, sql: str) -> int:
    """Count the rows that a receipt says a number is made of."""
    ((count,),) = con.execute(f"select count(*) from ({rows_behind(sql)})").fetchall()
    return int(count)


def test_headlines_and_their_receipts(loaded: Loaded) -> None:
    con, groups = loaded
    lines = headlines(con, PAGE)
    assert [line.text for line in lines] == [text for text, _ in view_rows.headlines(groups)]
    assert [behind(con, line.sql) for line in lines] == [count for _, count in view_rows.headlines(groups)]


def test_metrics(loaded: Loaded) -> None:
    con, groups = loaded
    expected = view_rows.metrics(groups)
    known = {view: of_view for view, of_view in metrics().items() if view.startswith(f"{CORPUS.id}_")}
    assert {view: [*of_view] for view, of_view in known.items()} == {view: [*of] for view, of in expected.items()}
    for view, of_view in known.items():
        row = con.execute(f"select {', '.join(metric.sql for metric in of_view.values())} from bi.{view}").fetchall()[0]
        assert dict(zip(of_view, row, strict=True)) == pytest.approx(expected[view]), view


def test_words_are_those_of_messages(loaded: Loaded) -> None:
    """Also in the metrics that all corpora share: submitted cards and the opening row are turns, and no talk."""
    con, groups = loaded
    for view, expected in view_rows.shared_metrics(groups).items():
        wanted = ", ".join(metrics()[view][name].sql for name in expected)
        of_corpus = "scheme = 'delidata.type'" if view == "labelled_turns" else f"corpus_id = '{CORPUS.id}'"
        row = con.execute(f"select {wanted} from bi.{view} where {of_corpus}").fetchall()[0]
        assert dict(zip(expected, row, strict=True)) == pytest.approx(expected), view


@pytest.mark.parametrize("view", ["solutions", "trajectory", "outcomes"])
def test_rows_of_the_views(view: str, loaded: Loaded) -> None:
    con, groups = loaded
    keys, columns, expected = {
        "solutions": ("native_id, turn_index, speaker_name", view_rows.SOLUTION, view_rows.solutions),
        "trajectory": ("native_id, turn_index", view_rows.TRAJECTORY, view_rows.trajectory),
        "outcomes": ("native_id", view_rows.OUTCOME, view_rows.outcomes),
    }[view]
    count = len(keys.split(","))
    rows = con.execute(f"select {keys}, {columns} from bi.{CORPUS.id}_{view}").fetchall()
    found = {row[:count]: row[count:] for row in rows}
    assert len(found) == len(rows)
    wanted = expected(groups)
    assert found.keys() == wanted.keys()
    assert not {key: (row, wanted[key]) for key, row in found.items() if row != near(wanted[key])}


def test_what_a_row_changes_is_said_in_it_by_its_author(loaded: Loaded) -> None:
    """As the columns and metrics say: a change is of the row itself, and by who wrote it."""
    _, groups = loaded
    assert view_rows.gains_agree(groups)
    changes = [state for state in view_rows.states(groups) if state.is_changed]
    assert changes
    assert all(state.row["origin"] == state.person for state in changes)
