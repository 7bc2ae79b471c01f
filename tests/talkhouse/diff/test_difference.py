"""Two small states, compared by SQL and by plain Python: every count, and what may never be taken for the same."""

import math
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.diff.as_data import as_data
from talkhouse.diff.difference import ALL, Wanted, difference
from talkhouse.diff.states import State, opened_states
from tests.conftest import ONCE_BROKEN, invented_builds
from tests.talkhouse.diff.invented import Rows, Talk, examples_of, rows_of, written
from tests.talkhouse.diff.plain import expected

COUNTED = ("before", "after", "removed", "added", "changed", "moved", "moved_in", "moved_out", "renumbered")


def diffed(before: Path, after: Path, wanted: Wanted = ALL, **options: Any) -> dict[str, Any]:
    """Return the difference of two files as data."""
    with opened_states(State(before, "before"), State(after, "after"), **options) as sides:
        return as_data(difference(sides, wanted), wanted.limit)


def compared(folder: Path, before: Rows, after: Rows) -> dict[str, Any]:
    """Compare two states, and hold every count against that of plain Python."""
    found = diffed(written(folder / "before.duckdb", before), written(folder / "after.duckdb", after))
    counted = expected(*({**rows, "mood": examples_of(rows)} for rows in (before, after)))
    counts = {table["table"].removeprefix("main."): table for table in found["tables"]}
    counts |= {f"mood {task['split']}": task for task in found["tasks"]}
    shown = {
        name: {change: table.get(change, 0) for change in COUNTED if table.get(change, 0)}
        for name, table in counts.items()
        if name != "corpora"
    }
    assert shown == {name: dict(count) for name, count in counted.items() if name != "mood"}
    for table in (*found["tables"], *found["tasks"]):
        moved = table.get("moved_in", 0) - table.get("moved_out", 0)
        assert table["before"] - table["removed"] + moved + table["added"] == table["after"]
    assert found["equal"] == all(not table[name] for table in counts.values() for name in COUNTED[2:] if name in table)
    return found


TEXTS = st.sampled_from(["", " ", "Yes.", "No.", "No", "Tea?", "\u00e9", "e\u0301"])
TURNS = st.lists(st.tuples(st.sampled_from(["ada", "bob"]), TEXTS), max_size=4).map(tuple)
LABELS = st.tuples(st.sampled_from([None, "", "X", "O"]), st.sampled_from([None, 0.0, -0.0, math.nan, 0.5]))
TALKS = st.builds(
    Talk,
    TURNS,
    st.sampled_from([("train",), ("valid",), ("train", "valid")]),
    st.lists(LABELS, max_size=3).map(tuple),
    st.sampled_from([None, "{}", '{"a": 1}', '{"a":1}']),
)


@st.composite
def states(draw: st.DrawFn) -> tuple[list[Talk], list[Talk]]:
    """Invent a state, and one that others were put into, or that lost some, or in which some say something else."""
    before = draw(st.lists(TALKS, max_size=5))
    rest = [talk for talk in before if draw(st.integers(0, 3))]
    after = []
    for talk in draw(st.permutations(rest)) if draw(st.booleans()) else rest:
        other = draw(TALKS)
        part = draw(st.sampled_from(["none", "none", "turns", "splits", "labels", "last"]))
        turns = (*talk.turns[:-1], *other.turns[-1:]) if part == "last" else talk.turns
        after.append(
            Talk(
                other.turns if part == "turns" else turns,
                other.splits if part == "splits" else talk.splits,
                other.labels if part == "labels" else talk.labels,
                talk.extra,
            )
        )
    for talk in draw(st.lists(TALKS, max_size=2)):
        after.insert(draw(st.integers(0, len(after))), talk)
    return before, after


@given(states())
@invented_builds(30, ONCE_BROKEN)
@pytest.mark.slow
def test_every_count_is_that_of_plain_python(
    tmp_path_factory: pytest.TempPathFactory, both: tuple[list[Talk], list[Talk]]
) -> None:
    compared(tmp_path_factory.mktemp("states"), *map(rows_of, both))


TALK = Talk((("ada", "Tea?"), ("bob", "Yes."), ("ada", "Good.")), ("train",), (("O", 0.5), ("X", 0.0)))
SECOND = Talk((("ada", "Rain."), ("bob", "No."), ("bob", "Snow.")), ("train",), (("X", None),))
THIRD = Talk((("bob", "Late?"), ("ada", "Soon.")), ("valid",), (("O", 1.0), ("O", None)))


def counts(found: dict[str, Any], name: str) -> dict[str, int]:
    """Return the counts that are not 0 of a table, or of a task's split as in ``toy.mood train``."""
    every = [(table["table"], table) for table in found["tables"]]
    every += [(f"{task['task']} {task['split']}", task) for task in found["tasks"]]
    return {change: entry[change] for key, entry in every if key == name for change in COUNTED[2:] if entry.get(change)}


def test_a_record_in_front_changes_nothing(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        rows_of([TALK, SECOND]),
        rows_of([THIRD, Talk((("ada", "New."),), labels=(("X", None),)), TALK, SECOND]),
    )
    assert counts(found, "main.turns") == {"added": 3, "renumbered": 6}
    assert counts(found, "main.annotations") == {"added": 3, "renumbered": 3}
    assert counts(found, "toy.mood train") == {"added": 1, "renumbered": 3}
    assert found["renumbered"] == [
        {"kind": "dialogue", "corpus": "toy", "rows": 2},
        {"kind": "record", "corpus": "toy", "rows": 2},
    ]
    (train,) = (task for task in found["tasks"] if task["split"] == "train")
    assert train["verdict"] == "renumbered"


@pytest.mark.slow
def test_an_id_that_is_given_to_something_else_is_written_otherwise(tmp_path: Path) -> None:
    found = compared(tmp_path, rows_of([THIRD, SECOND, TALK]), rows_of([TALK, THIRD]))
    (gone,) = (
        change
        for change in found["changes"]
        if change["relation"] == "main.dialogues" and change["change"] == "removed"
    )
    assert gone["key"] == {"dialogue_id": "toy:train:0 (before)"}
    assert gone["key_before"] == {"dialogue_id": "toy:train:0"}


@pytest.mark.slow
def test_two_dialogues_that_change_places_are_moved(tmp_path: Path) -> None:
    """The rows of records are equal, and each is about the other dialogue."""
    other = Talk(THIRD.turns, ("train",), THIRD.labels)
    found = compared(tmp_path, rows_of([TALK, THIRD]), rows_of([other, Talk(TALK.turns, ("valid",), TALK.labels)]))
    assert counts(found, "main.records") == {"moved": 2}


@pytest.mark.slow
def test_equal_is_identical(tmp_path: Path) -> None:
    """No value is taken for another, wherever it stands."""
    before = [Talk((("ada", "\u00e9"), ("bob", "No."), ("ada", "")), labels=((None, 0.0), ("", None)), extra='{"a":1}')]
    after = [
        Talk((("ada", "e\u0301"), ("bob", "No. "), ("ada", "")), labels=(("", -0.0), (None, None)), extra='{"a": 1}')
    ]
    found = compared(tmp_path, rows_of(before), rows_of(after))
    tables = {table["table"]: table["columns"] for table in found["tables"] if table["columns"]}
    assert tables == {
        "main.annotations": {"label": 2, "value": 1},
        "main.dialogues": {"extra": 1},
        "main.turns": {"text": 2},
    }
    (task,) = found["tasks"]
    assert task["columns"] == {"text": 2, "label": 2, "value": 1}
    assert task["labels"] == [{"before": None, "after": "", "rows": 1}, {"before": "", "after": None, "rows": 1}]


@pytest.mark.slow
def test_two_equal_rows_exchanged_for_two_others_are_seen(tmp_path: Path) -> None:
    """An exclusive or of hashes is blind to pairs."""
    for name in ("before", "after"):
        with duckdb.connect(written(tmp_path / f"{name}.duckdb", rows_of([TALK]))) as con:
            con.execute(
                "insert into meta.findings by name select 'toy' as corpus_id, 'warn' as severity, 'it' as detail, "
                f"'{name}' as rule, range::integer as finding_index from range(2)"
            )
    found = diffed(tmp_path / "before.duckdb", tmp_path / "after.duckdb")
    assert counts(found, "meta.findings") == {"removed": 2, "added": 2}
    assert not found["equal"]


@pytest.mark.slow
def test_keys_that_two_rows_have_do_not_upset_the_counts(tmp_path: Path) -> None:
    """Somebody has put rows in twice, which no build does; and a task that has no view."""
    before = written(tmp_path / "before.duckdb", rows_of([TALK, SECOND]))
    after = written(tmp_path / "after.duckdb", rows_of([SECOND]))
    for path in (before, after):
        with duckdb.connect(path) as con:
            for table in ("dialogues", "turns", "records", "annotations"):
                con.execute(f"insert into main.{table} from main.{table}")
            con.execute("insert into main.examples by name select * replace ('unseen' as task) from main.examples")
    found = diffed(before, after)
    assert {task["task"] for task in found["tasks"]} == {"toy.mood"}
    for counted in found["tables"]:
        assert counted["before"] - counted["removed"] + counted["added"] == counted["after"]
