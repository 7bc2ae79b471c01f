"""What DuckDB says of the SQL in a file: the file and its line, what was expected and found, and no traceback."""

from pathlib import Path

import duckdb
import pytest

from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from talkhouse.queries.catalogue import Catalogue, catalogue
from talkhouse.queries.checks import checks, run
from talkhouse.queries.views import check_schemes, create_views, fill_examples
from talkhouse.schema.errors import CatalogueError
from talkhouse.schema.sql_files import sql_of
from tests.data_files import data_of
from tests.queries.test_heads import write

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
