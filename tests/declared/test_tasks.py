"""Declared tasks: their examples, what their views say, scores by the metrics of their kind, a page and charts."""

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import talkhouse
from talkhouse.ingest.declared.declaration.model import DeclaredTask
from talkhouse.queries.views import MOST_SPLITS
from talkhouse.scores.options import Baseline
from talkhouse.scores.score import Scored
from talkhouse.scores.task import ScoreRequest, task
from talkhouse.scores.workspace import BadPredictions
from talkhouse.warehouse.opened import Warehouse
from tests.commands import run
from tests.declared.talks_in_files import build_talks, declared
from tests.talkhouse.scores.invented import score_once

pytestmark = pytest.mark.slow

TASKS = (
    DeclaredTask("reply", "next_turn", 1, role="bot"),
    DeclaredTask("turn", "next_turn", 1),
    DeclaredTask("mood", "turn_label", 1, scheme="mood"),
    DeclaredTask("topic", "dialogue_label", 1, scheme="topic"),
    DeclaredTask("score", "dialogue_label", 1, scheme="score"),
    DeclaredTask("place", "spans", 1, scheme="place"),
    DeclaredTask("better", "preference", 1),
)

DECLARED = declared(*TASKS, title="A *salon*", description="Talks over tea.")
"""In every build here, so that the template of its views is made once."""

TEA = [["user", "Tea?"], ["bot", "Yes 🥶, in the hall."], ["bot", ""], ["user", "Where?"]]
"""In train and in test."""

MOODS = [(0, 0, "calm"), (0, 1, "calm"), (1, 1, "cross"), (1, 0, "calm"), (2, 0, "cross")]
"""Turn, annotator and label of each in train."""
PLACES = [[1, "place", 1, 0, "thing", 4, 5], [1, "place", 0, 1, "room", 10, 18], [1, "place", 0, 0, "room", 14, 18]]
OF_TEA = [[turn, "mood", annotator, 0, label] for turn, annotator, label in MOODS]
OF_TEA += [[None, "topic", 0, 0, "tea"], [None, "score", 0, 0, 1.5]]
BEST = [["user", "Best?"], ["bot", "A"], ["bot", "B"]]
FILES: dict[str, list[Any]] = {
    "train.json": [
        {"id": "tea", "turns": TEA, "labels": OF_TEA},
        {"id": "none", "turns": [], "labels": [[None, "topic", 0, 0, "silence"]]},
        {"id": "pair", "turns": BEST, "at": 1, "answers": [["A", "B"], ["C"]]},
        {"id": "half", "turns": BEST[:2], "at": 1, "answers": [["A"]]},
    ],
    "test.json": [
        {"id": "tea", "turns": TEA, "labels": [[0, "mood", 0, 0, "cross"]]},
        {"id": "milk", "turns": [["bot", "Milk?"]], "labels": [[None, "topic", 0, 0, "milk"]]},
    ],
    "labels.json": [{"id": "tea", "labels": PLACES}],
    "labels_more.json": [{"id": "milk", "labels": [[0, "mood", 0, 0, "calm"], [0, "mood", 1, 0, "cross"]]}],
}


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_talks(tmp_path_factory.mktemp("salon"), FILES, DECLARED)


@pytest.fixture(scope="module")
def con(warehouse: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with talkhouse.open(warehouse) as opened:
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


def test_labels_of_any_annotators_are_put_together(tmp_path: Path) -> None:
    draw = random.Random(32)  # noqa: S311
    files: dict[str, list[Any]] = {"train.json": [], "test.json": [], "labels.json": []}
    expected: dict[tuple[Any, ...], str | None] = {}
    for number in range(40):
        turns = [["user", str(turn)] for turn in range(draw.randint(0, 4))]
        of_file = votes(draw, len(turns))
        files["labels.json"].append({"id": str(number), "labels": of_file})
        for split in draw.sample(["train", "test"], draw.randint(1, 2)):
            own = votes(draw, len(turns))
            files[f"{split}.json"].append({"id": str(number), "turns": turns, "labels": own})
            expected |= {(split, str(number), *each): label for *each, label in labelled(own, of_file)}
    shuffled = {name: draw.sample(records, len(records)) for name, records in files.items()}
    with talkhouse.open(build_talks(tmp_path, shuffled, DECLARED)) as con:
        found = con.execute("select split, native_id, turn_index, labels, label from salon.mood").fetchall()
        order = con.execute("select native_id from salon.mood_train order by example_index").fetchall()
    assert {(split, key, turn, tuple(labels)): label for split, key, turn, labels, label in found} == expected
    assert len(found) == len(expected)
    positions = {record["id"]: position for position, record in enumerate(shuffled["train.json"])}
    assert [positions[key] for (key,) in order] == sorted(positions[key] for (key,) in order)


def votes(draw: random.Random, turns: int) -> list[list[Any]]:
    """Draw labels: turn, scheme, annotator, item, label, each place at most once."""
    places = [(turn, annotator, item) for turn in range(turns) for annotator in range(3) for item in range(2)]
    chosen = draw.sample(places, draw.randint(0, len(places)))
    return [[turn, "mood", annotator, item, draw.choice(["calm", "cross"])] for turn, annotator, item in chosen]


def labelled(own: list[list[Any]], of_file: list[list[Any]]) -> Iterator[tuple[int, tuple[str, ...], str | None]]:
    """Yield each turn with its labels in order, and the one that more than half of them are."""
    # Of one annotator and item, a record in "labels.json" stands before those in "test.json" and "train.json".
    votes = [
        (turn, annotator, item, place, label)
        for place, several in ((0, of_file), (1, own))
        for turn, _, annotator, item, label in several
    ]
    for turn in sorted({each[0] for each in votes}):
        labels = tuple(each[-1] for each in sorted(votes) if each[0] == turn)
        ((label, count),) = Counter(labels).most_common(1)
        yield turn, labels, label if count * 2 > len(labels) else None


def test_a_column_of_ids_taken_for_splits_makes_no_view_of_each(tmp_path: Path) -> None:
    files = {f"s{number}.json": [{"id": str(number), "turns": TEA}] for number in range(MOST_SPLITS + 1)}
    with talkhouse.open(build_talks(tmp_path, files, DECLARED)) as con:
        rows = con.execute("select view_name from duckdb_views() where view_name like 'reply%' order by all").fetchall()
        ((splits,),) = con.execute("select count(distinct split) from salon.reply").fetchall()
    assert rows == [("reply",), ("reply_test",), ("reply_train",)]
    assert splits == MOST_SPLITS + 1


def scored(con: duckdb.DuckDBPyConnection, name: str, *paths: Path, **options: Any) -> Scored:
    return score_once(con, task(f"salon.{name}", Warehouse(con).catalogue), ScoreRequest(paths, **options))


def values(scored: Scored, slice_: str | None = None) -> dict[str, float | None]:
    return {metric.name: metric.value for metric in scored.metrics if metric.slice == slice_}


def predicted(tmp_path: Path, *rows: dict[str, Any]) -> Path:
    path = tmp_path / "predicted.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", [each.name for each in TASKS])
def test_no_metric_of_a_declared_task_is_official(con: duckdb.DuckDBPyConnection, name: str) -> None:
    shown = scored(con, name, baseline=Baseline.ORACLE, split="train")
    assert shown.metrics
    assert not any(metric.official for metric in shown.metrics)
    assert str(shown.task.query.remark).startswith("no metric is official: the task comes from corpus.toml")


def test_labels_without_a_majority_are_not_scored(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    rows = [{"example_index": index, "label": "calm"} for index in range(3)]
    shown = values(scored(con, "mood", predicted(tmp_path, *rows), split="train"))
    assert shown["accuracy"] == 0.5
    assert shown["F1 macro"] == pytest.approx(1 / 3)
    assert shown["recall (cross)"] == 0


def test_where_no_example_has_a_majority_there_is_no_number(tmp_path: Path) -> None:
    torn = {"id": "a", "turns": [["user", "Hi"]], "labels": [[0, "mood", 0, 0, "calm"], [0, "mood", 1, 0, "cross"]]}
    with talkhouse.open(build_talks(tmp_path, {"train.json": [torn]}, DECLARED)) as con:
        assert scored(con, "mood", baseline=Baseline.MAJORITY).metrics == []


def test_an_unknown_label_is_refused_where_labels_are_declared(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    rows = [{"example_index": index, "label": "angry"} for index in range(3)]
    with pytest.raises(BadPredictions, match=r"'angry' \(3 rows\)"):
        scored(con, "mood", predicted(tmp_path, *rows), split="train")
    assert values(scored(con, "topic", predicted(tmp_path, *rows[:2]), split="train"))["accuracy"] == 0


def test_spans_are_right_where_start_end_and_label_are(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    spans = {"example_index": 0, "labels": ["14:18:room", "4:5:room", "4:5:room"]}
    shown = values(scored(con, "place", predicted(tmp_path, spans), split="test"))
    assert shown["precision"] == 0.5
    assert shown["recall"] == pytest.approx(1 / 3)
    assert shown["F1"] == pytest.approx(0.4)
    assert shown["recall (thing)"] == 0


def test_what_is_no_span_is_refused(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    path = predicted(tmp_path, {"example_index": 0, "labels": ["4:5:room", "4-5"]})
    with pytest.raises(BadPredictions, match="a span that is not START:END:LABEL: 4-5"):
        scored(con, "place", path, split="test")


@pytest.mark.parametrize(
    ("prediction", "accuracy"),
    [
        ({"scores": [0.5, 0.25]}, 1),
        ({"scores": [-2, 0]}, 0),
        ({"scores": [1, 1]}, 0.5),
        ({"ranking": [0]}, 1),
        ({"ranking": [1]}, 0),
    ],
)
def test_a_preference_is_two_scores_or_a_choice(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, prediction: dict[str, list[float]], accuracy: float
) -> None:
    path = predicted(tmp_path, {"example_index": 0, **prediction})
    assert values(scored(con, "better", path)) == {"accuracy": accuracy}


def test_generated_turns_are_compared_with_what_was_said(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    rows = [{"example_index": index, "text": "yes 🥶 in hall"} for index in range(3)]
    shown = scored(con, "reply", predicted(tmp_path, *rows), split="test", by=["turn_index"])
    assert values(shown, "turn_index=1")["f1"] == 1
    assert values(shown)["f1"] == pytest.approx(1 / 3)


def test_a_template_is_filled_in_and_scored_with_intervals(warehouse: Path, tmp_path: Path) -> None:
    empty, filled = tmp_path / "empty.csv", tmp_path / "filled.csv"
    run("score", "salon.topic", "--template", empty, "--split", "train", "--db", warehouse)
    head, *rows = empty.read_text(encoding="utf-8").splitlines()
    assert head.endswith('"turn_index","label","view_fingerprint"')
    filled.write_text("\n".join([head, *(row.replace(",,,", ',,"tea",') for row in rows)]), encoding="utf-8")
    shown = run("score", "salon.topic", filled, "--interval", "--json", "--db", warehouse).stdout
    (accuracy,) = [metric for metric in json.loads(shown)["metrics"] if metric["name"] == "accuracy"]
    assert (accuracy["value"], accuracy["low"], accuracy["high"]) == (0.5, 0, 1)


def test_its_page_is_drawn(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("streamlit", reason="Streamlit is not installed")
    from tests.talkhouse.dashboard.pages import draw

    monkeypatch.setenv("TALKHOUSE_DB", str(warehouse))
    page = draw("salon")
    assert not page.exception
    assert not page.error
    assert page.title[0].value == r"A \*salon\*"
    assert {metric.label: metric.value for metric in page.metric} == {
        "Dialogues": "5",
        "Turns": "10",
        "Labels": "14",
        "Examples": "29",
    }


def test_its_charts_are_in_the_report(warehouse: Path, tmp_path: Path) -> None:
    run("report", "--output", tmp_path / "report.html", "--db", warehouse)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    for title in ("Turns by role", "Labels of mood", "Examples of each task by split", "Agreement of the annotators"):
        assert title in text
