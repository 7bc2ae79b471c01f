"""The SQL files: path = name, a comment, a grain; created in the order in which they read each other."""

from pathlib import Path

import duckdb
import pytest

from talkhouse.queries.catalogue import DEFAULT_ROOT, catalogue
from talkhouse.queries.views import create_split_views, create_views, fill_examples
from talkhouse.schema.errors import CatalogueError
from tests.queries.test_heads import write

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
