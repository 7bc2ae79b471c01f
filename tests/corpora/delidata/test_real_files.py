"""DeliData: what the rules give on the publisher's own files, all or some of them (set TALKHOUSE_DATA)."""

from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.corpora.delidata.rules import TASKS, Group, examples, read, team_performance
from tests.corpora.delidata.test_delidata import found

pytestmark = pytest.mark.slow

GROUPS = 500
"""Groups of the whole release; the published figures are held against it alone."""

LABELS = {
    "deliberation_type": {"Probing": 1738, "Non-probing-deliberation": 8990, "None": 2864, "0": 411},
    "probing_target": {"Moderation": 785, "Solution": 490, "Reasoning": 463},
    "nonprobing_target": {"Reasoning": 3919, "Solution": 2913, "Agree": 2047, "Disagree": 111},
    "change_of_mind": {"+": 1700, "-": 1680, "0": 10623},
    "outcome": {"gain": 318, "same": 94, "loss": 88},
}


@pytest.fixture(scope="module")
def groups(folder: Path) -> list[Group]:
    return read(folder)


OWN = "starts_with(dialogue_id, 'delidata:')"


def count(con: duckdb.DuckDBPyConnection, query: str) -> dict[Any, int]:
    return dict(con.execute(query).fetchall())


def test_rows_are_turns_and_aliases_participants(real: duckdb.DuckDBPyConnection, groups: list[Group]) -> None:
    kinds = Counter(row["message_type"].lower() for group in groups for row in group.rows)
    assert count(real, f"select kind, count(*) from main.turns where {OWN} group by kind") == kinds
    people = Counter("system" if name == "SYSTEM" else "participant" for group in groups for name in group.named)
    assert count(real, f"select role, count(*) from main.participants where {OWN} group by role") == people


@pytest.mark.parametrize("task", TASKS)
def test_every_example_is_that_of_the_rules(task: str, real: duckdb.DuckDBPyConnection, groups: list[Group]) -> None:
    assert found(real, task) == examples(groups)[task]


def test_annotations_are_those_of_the_files(real: duckdb.DuckDBPyConnection, groups: list[Group]) -> None:
    rows = [row for group in groups for row in group.rows]
    items = Counter(item for row in rows for item in row["annotation_additional"].split(",") if item not in ("", "0"))
    query = "select label, count(*) from main.annotations where scheme = 'delidata.additional' group by label"
    assert count(real, query) == items
    values = "select value from main.annotations where scheme = 'delidata.team_performance' order by all"
    assert real.execute(values).fetchall() == sorted((float(row["team_performance"]),) for row in rows)


def test_the_invariants_hold(real: duckdb.DuckDBPyConnection, groups: list[Group]) -> None:
    """No check finds anything but cards that are none: the letters of N/A, and one junk value."""
    assert all(abs(team_performance(row) - float(row["team_performance"])) < 0.0011 for g in groups for row in g.rows)
    query = (
        "select distinct rule, regexp_extract(detail, 'the card (\\S+)', 1) from meta.findings where rule[:3] = 'DE-'"
    )
    assert set(real.execute(query).fetchall()) <= {("DE-06", "/"), ("DE-06", "N"), ("DE-06", "on"), ("DE-08", "")}


def test_the_published_figures(real: duckdb.DuckDBPyConnection, groups: list[Group]) -> None:
    if len(groups) != GROUPS:
        pytest.skip(f"{len(groups)} of {GROUPS} groups are there")
    kinds = {"initial": 500, "message": 14_003, "submit": 3_107}
    assert count(real, f"select kind, count(*) from main.turns where {OWN} group by kind") == kinds
    assert count(real, f"select role, count(*) from main.participants where {OWN} group by role") == {
        "participant": 1_637,
        "system": 500,
    }
    for task, labels in LABELS.items():
        assert count(real, f"select label, count(*) from delidata.{task} group by label") == labels, task
    opening = """
        select count(*), count(distinct dialogue_id), count_if(previous = 'BEGIN')
        from delidata.probing_target
    """
    assert real.execute(opening).fetchall() == [(1_738, 471, 47)]
