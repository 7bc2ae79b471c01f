"""The heads of SQL files: what no such file can have is refused with its line."""

from pathlib import Path

import pytest

from talkhouse.queries.catalogue import catalogue
from talkhouse.queries.files import QueryFile
from talkhouse.queries.heads import CheckQuery, Doubt, LayoutQuery, ScoreQuery, ViewQuery, parse
from talkhouse.schema.errors import CatalogueError

GRAIN = "-- grain: mood"
SCORE = "-- predicts: label\n-- metrics: metrics.moods"
VIEW = "-- A row is a talk.\n-- grain: mood\n-- label: mood\nselect 'glad' as mood"
METRIC = "-- How often the mood is right.\nselect 'kappa', metrics.named('accuracy'), 'F1 (' || class || ')'"


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_a_head_becomes_values_of_their_types(tmp_path: Path) -> None:
    path = tmp_path / "moods.sql"
    path.write_text(
        "-- The predicted mood.\n-- predicts: label, prob_glad?\n-- metrics: metrics.moods, toy.moods\n"
        "-- thresholds: 0, 0.5\n-- official: accuracy (glad), none too\n-- doubt: map > 0.99: it is: too good\n"
        "-- A comment for whoever reads the file: none of its words is a key.\n\nselect 1\n"
    )
    score = parse(QueryFile("toy", path.name, path.read_text(), path), ScoreQuery)
    assert (score.full_name, score.comment) == ("toy.moods", "The predicted mood.")
    assert (score.sql, score.sql_line) == ("select 1", 9)
    assert score.predicts == ("label", "prob_glad?")
    assert score.metrics == ("metrics.moods", "toy.moods")
    assert score.thresholds == (0.0, 0.5)
    assert score.official == ("accuracy (glad)", "none too")
    assert score.doubt == Doubt("map", 0.99, "it is: too good")
    assert (score.by, score.tasks, score.pooled, score.remark) == ((), (), None, None)


def test_the_lines_about_columns_are_of_views(tmp_path: Path) -> None:
    path = tmp_path / "moods.sql"
    path.write_text(f"-- A row is a talk.\n{GRAIN}\n--   mood: How it sounds.\n--   grain: Of salt.\nselect 1")
    assert parse(QueryFile("toy", path.name, path.read_text(), path), ViewQuery).columns == {
        "mood": "How it sounds.",
        "grain": "Of salt.",
    }


@pytest.mark.parametrize(
    ("name", "head", "line", "expected", "found"),
    [
        ("toy/moods.sql", f"{GRAIN}\n-- lable: mood", 3, "one of: label", "the key 'lable'"),
        ("toy/moods.sql", f"{GRAIN}\n--lable: mood", 3, "one of: label", "the key 'lable'"),
        ("toy/moods.sql", f"{GRAIN}\n-- Label: mood", 3, "one of: label", "the key 'Label'"),
        ("toy/moods.sql", f"{GRAIN}\n{GRAIN}", 3, "each key once", "'grain' twice"),
        ("toy/moods.sql", f"{GRAIN}\n--   mood: One.\n--   mood: Two.", 4, "each key once", "'mood' twice"),
        ("toy/moods.sql", f"{GRAIN}\n-- label: a, b", 3, "a column", "label: a, b"),
        ("toy/moods.sql", f"{GRAIN}\n-- label:", 3, "a column", "label: "),
        ("toy/moods.sql", f"{GRAIN}\n-- label: a\n-- labels: b", 4, "one of them", "a label and labels"),
        ("toy/moods.sql", f"{GRAIN}\n-- meanings: glad; sad", 3, "label = its meaning", "meanings: glad; sad"),
        ("toy/moods.sql", f"{GRAIN}\n-- scheme: moods", 3, "a scheme: corpus.name", "scheme: moods"),
        ("toy/moods.sql", f"{GRAIN}\n-- scheme: toy.m'd", 3, "a scheme: corpus.name", "scheme: toy.m'd"),
        ("toy/moods.sql", "-- grain: mood, ", 2, "columns, separated by commas", "grain: mood,"),
        ("toy/examples/moods.sql", "", 1, "its grain: columns", "no line '-- grain: ...'"),
        ("toy/examples/moods.sql", f"{GRAIN}\n-- label: mood", 3, "one of: grain", "the key 'label'"),
        ("toy/macros/mood.sql", GRAIN, 2, "a comment without a key", "the key 'grain'"),
        ("metrics/mood.sql", "-- official: none", 2, "a comment without a key", "the key 'official'"),
        ("toy/printed/moods.sql", "-- thresholds: 0", 2, "a comment without a key", "the key 'thresholds'"),
        ("checks/mood.sql", "-- severity: fatal", 2, "error or warn", "severity: fatal"),
        ("toy/checks/mood.sql", "-- serverity: warn", 2, "one of: severity", "the key 'serverity'"),
        ("toy/checks/mood.sql", "-- rule: toy.mood", 1, "its severity: error or warn", "no line '-- severity: ...'"),
        ("toy/scores/moods.sql", f"{SCORE}\n-- offical: none", 4, "one of: official", "the key 'offical'"),
        ("toy/scores/moods.sql", f"{SCORE}\n-- thresholds: 0, half", 4, "numbers, separated", "thresholds: 0, half"),
        ("toy/scores/moods.sql", f"{SCORE}\n-- thresholds: null", 4, "numbers, separated", "thresholds: null"),
        ("toy/scores/moods.sql", f"{SCORE}\n-- doubt: map > much: why", 4, "metric > number", "doubt: map > much: why"),
        ("toy/scores/moods.sql", f"{SCORE}\n-- doubt: 0.99", 4, "metric > number: reason", "doubt: 0.99"),
        ("toy/scores/moods.sql", "-- predicts: mood\n-- metrics: metrics.moods", 2, "columns, sep", "predicts: mood"),
        ("toy/scores/moods.sql", "-- predicts: label", 1, "its metrics: files of metrics", "no line '-- metrics: ...'"),
        ("toy/scores/moods.sql", "-- predicts: label\n-- metrics: moods", 3, "files of metrics", "metrics: moods"),
        ("toy/layouts/lines.sql", "-- reads: tables", 2, "one of: documents, lines, score_rows", "reads: tables"),
    ],
)
def test_a_line_that_can_not_be_is_refused_with_its_number(
    tmp_path: Path, name: str, head: str, line: int, expected: str, found: str
) -> None:
    write(tmp_path, {name: f"-- A row is a talk.\n{head}\nselect 1 as mood"})
    with pytest.raises(CatalogueError) as caught:
        catalogue([tmp_path])
    assert caught.value.where == f"{tmp_path / name}:{line}"
    assert expected in str(caught.value.expected)
    assert found in str(caught.value.found)


@pytest.mark.parametrize(
    ("name", "head", "line", "expected", "found"),
    [
        ("toy/scores/moods.sql", "-- predicts: label\n-- metrics: metrics.mods", 3, "metrics.moods", "metrics.mods"),
        ("toy/scores/moods.sql", f"{SCORE}\n-- official: accuracy, F1 (glad), kapa", 4, "kappa, accuracy", "kapa"),
        ("toy/scores/moods.sql", f"{SCORE}\n-- doubt: acuracy > 0.9: too good", 4, "accuracy, kappa", "acuracy"),
        ("toy/scores/mods.sql", SCORE, 1, "toy.moods", "toy.mods"),
        ("toy/scores/all.sql", f"{SCORE}\n-- tasks: moods, mods", 4, "toy.moods", "toy.mods"),
        ("toy/layouts/lines.sql", "-- reads: lines\n-- tasks: mods", 3, "none exists", "toy.mods"),
        ("toy/printed/moods.sql", "", 1, "none exists", "toy.moods"),
    ],
)
def test_an_unknown_name_is_refused(tmp_path: Path, name: str, head: str, line: int, expected: str, found: str) -> None:
    files = {"toy/moods.sql": VIEW, "metrics/moods.sql": METRIC}
    write(tmp_path, {**files, name: f"-- The predicted mood.\n{head}\nselect 1"})
    with pytest.raises(CatalogueError, match=rf"{found}\n") as caught:
        catalogue([tmp_path])
    assert (caught.value.where, caught.value.expected) == (f"{tmp_path / name}:{line}", f"one of: {expected}")


def test_ours_are_read_as_their_kinds() -> None:
    found = catalogue()
    assert {type(check) for check in found.checks} == {CheckQuery}
    assert {type(layout) for layout in found.layouts} == {LayoutQuery}
    assert {check.severity for check in found.checks} == {"error", "warn"}
    assert all(score.oracle for score in found.scores)
    assert {score.full_name for score in found.scores if score.official and score.official != ("none",)}
