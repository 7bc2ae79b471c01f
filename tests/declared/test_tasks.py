"""The tasks of a declaration: which examples they have, and what their views say of them."""

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

import talkhouse
from talkhouse.ingest.declared.declaration.model import Task
from tests.declared.talks_in_files import build_talks, declared

TASKS = (
    Task("reply", "next_turn", 1, role="bot"),
    Task("turn", "next_turn", 1),
    Task("mood", "turn_label", 1, scheme="mood"),
    Task("topic", "dialogue_label", 1, scheme="topic"),
    Task("score", "dialogue_label", 1, scheme="score"),
    Task("place", "spans", 1, scheme="place"),
    Task("better", "preference", 1),
)

TEA = [["user", "Tea?"], ["bot", "Yes 🥶, in the hall."], ["bot", ""], ["user", "Where?"]]
"""In train and in test."""

FILES: dict[str, list[Any]] = {
    "train.json": [
        {
            "id": "tea",
            "turns": TEA,
            "labels": [
                [0, "mood", 0, 0, "calm"],
                [0, "mood", 1, 0, "calm"],
                [1, "mood", 1, 0, "cross"],
                [1, "mood", 0, 0, "calm"],
                [2, "mood", 0, 0, "cross"],
                [None, "topic", 0, 0, "tea"],
                [None, "score", 0, 0, 1.5],
            ],
        },
        {"id": "none", "turns": [], "labels": [[None, "topic", 0, 0, "silence"]]},
        {
            "id": "pair",
            "turns": [["user", "Best?"], ["bot", "A"], ["bot", "B"]],
            "at": 1,
            "answers": [["A", "B"], ["C"]],
        },
        {"id": "half", "turns": [["user", "Best?"], ["bot", "A"]], "at": 1, "answers": [["A"]]},
    ],
    "test.json": [
        {"id": "tea", "turns": TEA, "labels": [[0, "mood", 0, 0, "cross"]]},
        {"id": "milk", "turns": [["bot", "Milk?"]], "labels": [[None, "topic", 0, 0, "milk"]]},
    ],
    "labels.json": [
        {
            "id": "tea",
            "labels": [
                [1, "place", 1, 0, "thing", 4, 5],
                [1, "place", 0, 1, "room", 10, 18],
                [1, "place", 0, 0, "room", 14, 18],
            ],
        }
    ],
    "labels_more.json": [{"id": "milk", "labels": [[0, "mood", 0, 0, "calm"], [0, "mood", 1, 0, "cross"]]}],
}


@pytest.fixture(scope="module")
def con(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    path = build_talks(tmp_path_factory.mktemp("salon"), FILES, declared(*TASKS))
    with talkhouse.open(path) as opened:
        yield opened


def rows(con: duckdb.DuckDBPyConnection, task: str, *columns: str) -> list[tuple[Any, ...]]:
    select = ", ".join(("example_index", "native_id", *columns))
    return con.execute(f"select {select} from salon.{task} order by example_index").fetchall()


def test_a_reply_is_each_turn_of_the_role_with_all_before_it(con: duckdb.DuckDBPyConnection) -> None:
    assert rows(con, "reply_train", "turn_index", "context", "context_roles", "response") == [
        (0, "tea", 1, ["Tea?"], ["user"], "Yes 🥶, in the hall."),
        (1, "tea", 2, ["Tea?", "Yes 🥶, in the hall."], ["user", "bot"], ""),
        (2, "pair", 1, ["Best?"], ["user"], "A"),
        (3, "pair", 2, ["Best?", "A"], ["user", "bot"], "B"),
        (4, "half", 1, ["Best?"], ["user"], "A"),
    ]
    assert rows(con, "reply_test", "turn_index", "context", "context_roles", "response")[2:] == [
        (2, "milk", 0, [], [], "Milk?")
    ]


def test_without_a_role_each_turn_after_the_first_is_said_next(con: duckdb.DuckDBPyConnection) -> None:
    assert rows(con, "turn_test", "turn_index") == [(0, "tea", 1), (1, "tea", 2), (2, "tea", 3)]


def test_the_label_of_a_turn_is_what_more_than_half_say(con: duckdb.DuckDBPyConnection) -> None:
    assert rows(con, "mood_train", "turn_index", "context", "utterance", "labels", "label") == [
        (0, "tea", 0, [], "Tea?", ["calm", "calm"], "calm"),
        (1, "tea", 1, ["Tea?"], "Yes 🥶, in the hall.", ["calm", "cross"], None),
        (2, "tea", 2, ["Tea?", "Yes 🥶, in the hall."], "", ["cross"], "cross"),
    ]


def test_labels_are_the_record_s_own_and_those_of_files_of_labels(con: duckdb.DuckDBPyConnection) -> None:
    assert rows(con, "mood_test", "turn_index", "labels", "label") == [
        (0, "tea", 0, ["cross"], "cross"),
        (1, "milk", 0, ["calm", "cross"], None),
    ]


def test_a_dialogue_without_turns_has_a_label_too(con: duckdb.DuckDBPyConnection) -> None:
    columns = ("standard_split", "turn_index", "context", "utterance", "labels", "label")
    assert rows(con, "topic_train", *columns) == [
        (0, "tea", "train", None, [text for _, text in TEA], None, ["tea"], "tea"),
        (1, "none", "train", None, [], None, ["silence"], "silence"),
    ]
    assert rows(con, "topic_test", "context", "label") == [(0, "milk", ["Milk?"], "milk")]


def test_a_number_is_a_label_too(con: duckdb.DuckDBPyConnection) -> None:
    assert rows(con, "score", "split", "labels", "label") == [(0, "tea", "train", ["1.5"], "1.5")]


def test_spans_of_a_file_of_labels_are_of_every_record_of_the_dialogue(con: duckdb.DuckDBPyConnection) -> None:
    spans = [
        {"start_index": 14, "end_index": 18, "label": "room", "text": "hall"},
        {"start_index": 10, "end_index": 18, "label": "room", "text": "the hall"},
        {"start_index": 4, "end_index": 5, "label": "thing", "text": "🥶"},
    ]
    for split in ("train", "test"):
        assert rows(con, f"place_{split}", "turn_index", "utterance", "spans") == [(0, "tea", 1, TEA[1][1], spans)]


def test_a_preference_has_both_answers(con: duckdb.DuckDBPyConnection) -> None:
    columns = ("turn_index", "context", "context_roles", "chosen", "rejected")
    assert rows(con, "better", *columns) == [(0, "pair", 1, ["Best?"], ["user"], ["A", "B"], ["C"])]
