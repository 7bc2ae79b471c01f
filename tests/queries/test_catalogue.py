"""The SQL files: path = name, a comment, a grain; created in the order in which they read each other."""

from pathlib import Path

import duckdb
import pytest

from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from talkhouse.queries.catalogue import DEFAULT_ROOT, Catalogue, catalogue
from talkhouse.queries.checks import checks, run
from talkhouse.queries.files import QueryFile
from talkhouse.queries.heads import CheckQuery, Doubt, LayoutQuery, ScoreQuery, ViewQuery, parse
from talkhouse.queries.views import check_schemes, create_split_views, create_views, fill_examples
from talkhouse.schema.errors import CatalogueError
from talkhouse.schema.sql_files import sql_of
from tests.data_files import data_of

HEAD = "-- A row is a thing.\n-- grain: a\n"


def test_every_file_of_ours_is_read() -> None:
    found = catalogue()
    queries = (*found.macros, *found.views, *found.examples, *found.checks)
    names = {query.path for query in (*queries, *found.scores, *found.metrics, *found.layouts, *found.printed)}
    assert names == set(DEFAULT_ROOT.glob("*/**/*.sql"))


def test_views_come_after_those_that_they_read(tmp_path: Path) -> None:
    files = {
        "toy/a.sql": HEAD + "select * from toy.b",
        "toy/b.sql": HEAD + "with x as (select 1 as a) select a from x where a in (select a from zoo.c)",
        "zoo/c.sql": HEAD + "select 1 as a",
    }
    found = catalogue([write(tmp_path, files)])
    assert [view.full_name for view in found.views] == ["zoo.c", "toy.b", "toy.a"]
    with duckdb.connect() as con:
        con.execute("create table examples (corpus_id varchar, task varchar, split varchar)")
        create_views(con, found)
        assert con.execute("from toy.a").fetchall() == [(1,)]


def test_views_for_bi_tools_live_in_one_schema(tmp_path: Path) -> None:
    files = {
        "toy/bi/moods.sql": HEAD + "select a from bi.things",
        "bi/things.sql": HEAD + "select 1 as a",
        "toy/a.sql": HEAD + "select 1 as a",
    }
    found = catalogue([write(tmp_path, files)])
    names = [view.full_name for view in found.views]
    assert sorted(names) == ["bi.things", "bi.toy_moods", "toy.a"]
    assert names.index("bi.things") < names.index("bi.toy_moods")
    with duckdb.connect() as con:
        create_views(con, found)
        assert con.execute("from bi.toy_moods").fetchall() == [(1,)]


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("a/toy/bi/moods.sql", "a/bi/toy_moods.sql"),
        ("a/toy/bi/moods_x.sql", "a/toy_moods/bi/x.sql"),
        ("a/toy/moods.sql", "b/toy/moods.sql"),
    ],
)
def test_two_views_of_one_name_are_refused(tmp_path: Path, first: str, other: str) -> None:
    write(tmp_path, {first: HEAD + "select 1 as a", other: HEAD + "select 2 as a"})
    with pytest.raises(CatalogueError, match=r"is also created by .*\.sql"):
        assert catalogue(sorted(tmp_path.iterdir())).views


def test_macros_come_after_those_that_they_call(tmp_path: Path) -> None:
    files = {
        "toy/macros/a.sql": "-- Twice and one.\n(x) as toy.b(x) + 1",
        "toy/macros/b.sql": "-- Twice a number.\n(x) as x * 2",
    }
    found = catalogue([write(tmp_path, files)])
    assert [macro.full_name for macro in found.macros] == ["toy.b", "toy.a"]
    with duckdb.connect() as con:
        create_views(con, found)
        assert con.execute("select toy.a(3)").fetchall() == [(7,)]


def test_a_cycle_is_named(tmp_path: Path) -> None:
    files = {"toy/a.sql": HEAD + "select * from toy.b", "toy/b.sql": HEAD + "select * from toy.a"}
    with pytest.raises(CatalogueError, match=r"cycle: toy\.\w -> toy\.\w -> toy\.\w"):
        assert catalogue([write(tmp_path, files)]).views


LABELS = "-- A row is a thing.\n-- grain: task\nselect task, labels, scheme from (from task_labels) order by task"


def test_a_line_in_the_head_of_a_task_view_gives_its_labels(tmp_path: Path) -> None:
    row = "select 'r' as record_id, 'train' as split, 0 as example_index, "
    files = {
        "toy/a.sql": "-- A row is a thing.\n-- grain: example_index\n-- label: mood\n-- scheme: toy.mood\n"
        + row
        + "'+' as mood",
        "toy/b.sql": "-- A row is a thing.\n-- grain: example_index\n-- labels: moods\n" + row + "['+', '-'] as moods",
        "toy/c.sql": "-- A row is a thing.\n-- grain: example_index\n" + row + "'+' as mood",
        "bi/labels.sql": LABELS,
    }
    found = catalogue([write(tmp_path, files)])
    with duckdb.connect() as con:
        create_views(con, found)
        assert con.execute("from bi.labels").fetchall() == [("a", ["+"], "toy.mood"), ("b", ["+", "-"], None)]


def test_without_such_a_line_there_are_no_labels(tmp_path: Path) -> None:
    found = catalogue([write(tmp_path, {"bi/labels.sql": LABELS})])
    with duckdb.connect() as con:
        create_views(con, found)
        assert con.execute("from bi.labels").fetchall() == []


@pytest.mark.parametrize(
    ("name", "sql", "reason"),
    [
        ("toy/a.sql", "select 1", "first line must be a comment"),
        ("toy/a.sql", "-- No full stop\n-- grain: a\nselect 1 as a", "first line must be a comment"),
        ("toy/a.sql", "-- A row.\nselect 1 as a", "no line '-- grain: ...'"),
        ("toy/a.sql", HEAD + "select from from", "syntax error"),
        ("toy/A-b.sql", HEAD + "select 1 as a", "lower case"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, name: str, sql: str, reason: str) -> None:
    with pytest.raises(CatalogueError) as caught:
        assert catalogue([write(tmp_path, {name: sql})]).views
    assert str(tmp_path / name) in str(caught.value)
    assert reason in str(caught.value)


def test_comments_survive_a_second_run_and_splits_get_views(tmp_path: Path) -> None:
    files = {
        "toy/macros/twice.sql": "-- Twice a number.\n(x) as x * 2",
        "toy/examples/task.sql": HEAD + "select 'r' as release, 'd-1' as split, 0::integer as example_index",
        "toy/task.sql": "-- It's a task.\n-- grain: n\nselect toy.twice(2) as n, split, null as standard_split, "
        "example_index, null as dialogue_id, null as native_id from main.examples",
    }
    found = catalogue([write(tmp_path, files)])
    with duckdb.connect() as con:
        con.execute(
            "create table examples "
            "(corpus_id varchar, task varchar, release varchar, split varchar, example_index integer)"
        )
        create_views(con, found)
        fill_examples(con, found, ["toy"])
        create_views(con, found)
        for _ in range(2):
            create_split_views(con, found, {"toy": ["train"]})
        comments = dict(con.execute("select view_name, comment from duckdb_views() where not internal").fetchall())
        assert comments == {
            "task": "It's a task.",
            "task_train": "The split train of toy.task. It's a task.",
            "task_d-1": "The split d-1 of toy.task. It's a task.",
        }
        assert con.execute('select n, split from toy."task_d-1"').fetchall() == [(4, "d-1")]
        assert con.execute("from toy.task_train").fetchall() == []


def test_the_hash_changes_with_the_sql(tmp_path: Path) -> None:
    first = catalogue([write(tmp_path / "one", {"toy/a.sql": HEAD + "select 1 as a"})])
    same = catalogue([write(tmp_path / "same", {"toy/a.sql": HEAD + "select 1 as a"})])
    assert first.hash == same.hash != catalogue([write(tmp_path / "other", {"toy/a.sql": HEAD + "select 2 as a"})]).hash


# What DuckDB says of the SQL in a file: the file and its line, what was expected and found, and no traceback.

DATA = data_of(__file__)

TASK = sql_of(__file__, "sql_errors_task")
EXAMPLE = DATA["example"]
FILES = {
    "toy/moods.sql": TASK,
    "toy/examples/moods.sql": EXAMPLE,
    "toy/macros/shout.sql": "-- A text in capitals.\n(word) as\n    upper(word)\n",
    "toy/checks/moods_are_known.sql": (
        "-- Every mood is known.\n-- severity: warn\nselect mood\nfrom toy.moods\nwhere mood <> 'GLAD'\n-- nor sad\n"
    ),
    "toy/scores/moods.sql": "-- It.\n-- predicts: label\n-- metrics: metrics.moods\n-- by: mood, title\nselect 1",
    "metrics/moods.sql": "-- How often the mood is right.\nselect 1",
    "bi/labels.sql": "-- A row is a label.\n-- grain: task\nselect task, labels\nfrom task_labels\n",
}
TABLES = DATA["tables"]


def run_all(found: Catalogue) -> list[int]:
    """Do with the files what a build does; return how many rows offend each check."""
    with duckdb.connect() as con:
        con.execute(TABLES)
        create_views(con, found)
        check_schemes(con, found, ["toy"])
        fill_examples(con, found, ["toy"])
        return [outcome.offending for outcome in run(con, [check for check in checks(found, ["toy"]) if check.query])]


def test_files_as_they_should_be(tmp_path: Path) -> None:
    assert run_all(catalogue([write(tmp_path, FILES)])) == [0]


MISTAKES = [
    ("toy/moods.sql", "examples.split", "examples.spilt", 7, "spilt", "one of: split"),
    ("toy/moods.sql", "toy.shout", "toy.shuot", 13, "toy.shuot", "one of: toy.shout"),
    ("toy/moods.sql", "main.examples", "main.exmaples", 14, "exmaples does not exist", "one of: examples"),
    ("toy/moods.sql", "from main.examples", "from from main.examples", 14, "syntax error", None),
    ("toy/moods.sql", "--   mood:", "--   moood:", 5, "a column 'moood'", "one of: mood"),
    ("toy/moods.sql", "split, example_index\n", "splits, example_index\n", 2, "grain: splits", "one of: split"),
    ("toy/moods.sql", "label: mood", "label: moods", 3, "label: moods", "one of: mood"),
    ("toy/moods.sql", "label: mood", "labels: moods", 3, "labels: moods", "one of: mood"),
    ("toy/moods.sql", "toy.mood\n", "toy.moood\n", 4, "scheme: toy.moood", "one of: toy.mood"),
    ("toy/moods.sql", "    null as standard_split,\n", "", 6, "a view without standard_split", "standard_split"),
    ("toy/examples/moods.sql", "dialogue_id,", "dialog_id,", 8, "dialog_id", "one of: dialogue_id"),
    ("toy/examples/moods.sql", "0::integer", "'none'::integer", 7, "Could not convert string 'none'", None),
    ("toy/examples/moods.sql", "dialogue_id,", "1 as turn,", 4, 'column with name "turn"', "one of: "),
    ("toy/moods.sql", "    examples.record_id,\n", "", 6, "a view without record_id", "record_id"),
    ("toy/macros/shout.sql", "upper(word)", "uper(word)", 3, "'uper'", "one of: upper"),
    ("toy/macros/shout.sql", "upper(word)", "upper(wrd)", 3, "wrd", None),
    ("toy/checks/moods_are_known.sql", "where mood", "where mod", 5, "mod", "one of: mood"),
    ("toy/checks/moods_are_known.sql", "toy.moods", "toy.mods", 4, "mods does not exist", "one of: "),
    ("toy/scores/moods.sql", "by: mood", "by: moood", 4, "by: moood", "one of: mood"),
    ("bi/labels.sql", "task, labels", "task, label", 3, "label", "one of: labels"),
]


@pytest.mark.parametrize(("name", "old", "new", "line", "found", "expected"), MISTAKES)
def test_a_mistake_is_told_with_its_file_and_line(
    tmp_path: Path, name: str, old: str, new: str, line: int, found: str, expected: str | None
) -> None:
    assert old in FILES[name]
    root = write(tmp_path, {**FILES, name: FILES[name].replace(old, new, 1)})
    with pytest.raises(CatalogueError) as caught:
        run_all(catalogue([root]))
    assert caught.value.where == f"{tmp_path / name}:{line}"
    assert found in str(caught.value.found)
    assert (expected or "") in str(caught.value.expected)
    assert "\n" not in str(caught.value.found)


def test_a_build_ends_with_it_and_leaves_no_file(tmp_path: Path) -> None:
    broken = {"toy/moods.sql": "-- A row is a talk.\n-- grain: mood\nselect text as mod\nfrom main.trns\n"}
    root = write(tmp_path / "queries", broken)
    with pytest.raises(CatalogueError, match=r"moods\.sql:4: the SQL file is broken\n  expected: one of: turns"):
        build(tmp_path / "w.duckdb", Silent(), query_roots=(root,))
    assert not (tmp_path / "w.duckdb").exists()


# The heads of SQL files: what no such file can have is refused with its line.

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
