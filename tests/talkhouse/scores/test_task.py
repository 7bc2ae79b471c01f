"""A corpus brings its own SQL: what is wrong with it names the file, and what it brings is offered."""

from collections.abc import Callable
from pathlib import Path

import pytest

from talkhouse.cli.terminal import completion
from talkhouse.queries.catalogue import catalogue
from talkhouse.queries.files import DEFAULT_ROOT
from talkhouse.schema.errors import CatalogueError, UsageError
from talkhouse.schema.sql_files import sql_of
from talkhouse.scores.options import Baseline, layout_names
from talkhouse.scores.score import printed, score
from talkhouse.scores.task import ScoreRequest, task
from talkhouse.scores.workspace import ScoringWorkspace
from tests.commands import run as start
from tests.data_files import data_of
from tests.talkhouse.scores.invented import Invented, score_once

SCORES = sql_of(__file__, "task_scores")
METRICS = """-- The share of right moods.
select slice, [metrics.share('accuracy', true, count_if(is_right), count(*))] as results,
from sliced
group by slice
"""
LAYOUT = """-- A mood a line.
-- reads: lines
-- tasks: mood
select keys.split, keys.example_index, lines.line as label, 'line ' || lines.line_index as key
from lines left join keys on keys.example_index = lines.line_index
"""
PRINTED = """-- The line that the script of nobody prints.
select name || ' ' || value as line
from results
"""
VIEW = """-- The moods.
-- grain: split, example_index
select split, example_index, label from main.examples
"""
FILES = {
    "mood": VIEW,
    "scores/mood": SCORES,
    "metrics/moods": METRICS,
    "layouts/moodlines": LAYOUT,
    "printed/mood": PRINTED,
}
NAMES = {name.partition("/")[0]: name for name in FILES}
GOLD = ["+", "-", "+"]
Toy = Callable[..., tuple[Path, Path]]


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    """Write the files of an invented corpus, with changes of their text."""

    def write(**changes: tuple[str, str]) -> tuple[Path, Path]:
        for name, text in FILES.items():
            path = tmp_path / "queries" / "toy" / f"{name}.sql"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace(*changes.get(name.partition("/")[0], ("", ""))), encoding="utf-8")
        return DEFAULT_ROOT, tmp_path / "queries"

    return write


@pytest.fixture(scope="module")
def moods(invented: Invented) -> Invented:
    invented.con.execute("create schema toy")
    invented.replace("toy.mood", [{"label": label} for label in GOLD])
    return invented


def test_a_corpus_brings_its_own_layout(toy: Toy, moods: Invented, tmp_path: Path) -> None:
    wanted = task("toy.mood", catalogue(toy()))
    path = tmp_path / "moods.txt"
    path.write_text("+\n+\n+\n")
    for layout in ("auto", "moodlines"):
        done = score_once(moods.con, wanted, ScoreRequest([path], layout=layout))
        assert [(metric.name, metric.count, metric.of, metric.official) for metric in done.metrics] == [
            ("accuracy", 2, 3, True)
        ]
    with pytest.raises(UsageError, match="no predictions in the layout 'moodline'") as caught:
        score_once(moods.con, wanted, ScoreRequest([path], layout="moodline"))
    assert caught.value.expected == "one of: moodlines, auto, table"


def test_the_layouts_of_the_catalogue_are_offered() -> None:
    names = sorted({layout.name for layout in catalogue().layouts})
    assert layout_names() == names
    shown = start("score", "--help")
    assert all(name in shown.stdout for name in names)


class Context:
    """What was typed before TAB."""

    def __init__(self, **params: str) -> None:
        self.params = params


def test_the_shell_completes_layouts() -> None:
    context = Context(name="mpchat.speaker_identification")
    assert completion.layouts(context, None, "") == ["auto", "table", "mpchat"]  # type: ignore[arg-type]
    assert completion.layouts(Context(), None, "d") == ["dbdc3"]  # type: ignore[arg-type]


BROKEN: list[tuple[str, str, str, str, str]] = data_of(__file__)["broken"]
"""The folder, what is written there, what instead of it, the line that the error names, and what it says."""


@pytest.mark.parametrize(("folder", "text", "instead", "line", "message"), BROKEN)
def test_what_is_wrong_with_a_file_names_it(
    folder: str, text: str, instead: str, line: str, message: str, toy: Toy, moods: Invented, tmp_path: Path
) -> None:
    roots = toy(**{folder: (text, instead)})
    path = tmp_path / "moods.txt"
    path.write_text("+\n+\n+\n")
    request = ScoreRequest((), baseline=Baseline.ORACLE) if "oracle" in text else ScoreRequest([path])
    with ScoringWorkspace(moods.con) as workspace, pytest.raises(CatalogueError, match=message) as caught:
        print_scores(workspace, roots, request)
    assert str(caught.value.where).endswith(f"/queries/toy/{folder}/{Path(NAMES[folder]).name}.sql{line}")
    assert caught.value.next_step
    assert "talkhouse_scores_" not in str(caught.value)


def print_scores(workspace: ScoringWorkspace, roots: tuple[Path, Path], request: ScoreRequest) -> None:
    printed(workspace, score(workspace, task("toy.mood", catalogue(roots)), request))


def test_the_tables_of_a_run_are_gone_with_it(moods: Invented) -> None:
    with ScoringWorkspace(moods.con) as workspace:
        first, second = (workspace.create("rows", f"select {number} as number") for number in (1, 2))
        assert [moods.con.execute(f"from {table}").fetchall() for table in (first, second)] == [[(1,)], [(2,)]]
        assert len(workspace.tables()) == 2
        workspace.clear()
        assert workspace.tables() == []
    assert not moods.con.execute(
        "select 1 from duckdb_databases() where starts_with(database_name, 'talkhouse_scores')"
    ).fetchall()
