"""Talkhouse in Python: each method gives what its command gives, a notebook shows it, a new open is the new build."""

import ast
import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
import sqlalchemy
from polars.testing import assert_frame_equal

import talkhouse as th
from tests import outside
from tests.commands import run
from tests.samples import RELEASES
from tests.talkhouse.cli.test_imports import LIBRARIES
from tests.test_docs import blocks

TASK = f"{RELEASES}.breakdown_detection"
CHOSEN = {"split": "eval", "release": RELEASES}
OPTIONS = ("--split", "eval", "--release", RELEASES)
PAGE = (Path(__file__).parents[3] / "docs" / "python.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_page_on_python_runs_without_anything_private(tmp_path: Path) -> None:
    programs = blocks(PAGE, "python")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(programs)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(ast.parse(programs[0]).body) == 2 + 9  # with two imports
    assert "from talkhouse" not in PAGE.replace("`", "")


def test_rows_and_scores_are_those_of_the_commands(warehouse: Path, tmp_path: Path) -> None:
    exported = run("export", TASK, *OPTIONS, "--output", "rows.parquet", "--db", warehouse, cwd=tmp_path)
    assert exported.returncode == 0, exported.stderr
    with th.warehouse(warehouse) as opened:
        rows = opened[TASK].rows("eval", release=RELEASES)
        assert_frame_equal(rows, pl.read_parquet(tmp_path / "rows.parquet"))
        score = opened[TASK].score(predictions(rows, tmp_path), **CHOSEN)
    # The warehouse is closed, and the score still is what it was.
    arguments = ("score", TASK, *OPTIONS, "mine.parquet", "--json", "--examples", "e.parquet", "--db", warehouse)
    shown = json.loads(run(*arguments, cwd=tmp_path).stdout)
    assert score.official == shown["official"]
    assert as_shown(score) == metrics_of(shown)
    examples = pl.read_parquet(tmp_path / "e.parquet")
    assert_frame_equal(score.examples.select(examples.columns), examples)
    right = score.examples.select(pl.col("is_right").mean()).item()
    assert (right, set(score.examples["prediction"])) == (score.official["Accuracy"], {"O"})
    assert "<script" not in score._repr_html_()


def predictions(rows: pl.DataFrame, folder: Path) -> pl.DataFrame:
    mine = rows.select("example_index", label=pl.lit("O"), prob_o=0.6, prob_t=0.3, prob_x=0.1)
    mine.write_parquet(folder / "mine.parquet")
    return mine


def as_shown(score: th.Score) -> list[dict[str, object]]:
    return score.metrics.rename({"metric": "name"}).to_dicts()


def metrics_of(shown: dict[str, Any]) -> list[dict[str, object]]:
    names = ("name", "value", "slice", "threshold", "official", "low", "high")
    return [{name: metric[name] for name in names} for metric in shown["metrics"]]


@pytest.mark.slow
def test_intervals_and_differences_are_those_of_the_commands(warehouse: Path, tmp_path: Path) -> None:
    with th.warehouse(warehouse) as opened:
        task = opened[TASK]
        mine = predictions(task.rows("eval", release=RELEASES), tmp_path)
        score = task.score(mine, interval=True, threshold=0, **CHOSEN)
        base = task.score(baseline="uniform", threshold=0, **CHOSEN)
        forms = (mine.to_pandas(), mine.to_arrow(), mine.to_dicts(), tmp_path / "mine.parquet")
        assert [task.score(form, **CHOSEN).official for form in forms] == [score.official] * 4
    arguments = ("score", TASK, *OPTIONS, "--threshold", "0", "--json", "--db", warehouse)
    shown = run(*arguments, "mine.parquet", "--interval", "--save", "mine", cwd=tmp_path).stdout
    assert as_shown(score) == metrics_of(json.loads(shown))
    assert score.metrics["low"].drop_nulls().len() > 10
    assert run(*arguments, "--baseline", "uniform", "--save", "base", cwd=tmp_path).returncode == 0
    compared = json.loads(run("scores", "--compare", "mine", "base", "--json", "--db", warehouse).stdout)["metrics"]
    names = {None: None, "mine": "first", "base": "second"}
    shown_there = [{**metric, "better": names[metric["better"]]} for metric in compared]
    assert [metric.pop("is_lower_better") for metric in shown_there].count(True) > 1
    assert score.against(base).rename({"metric": "name"}).to_dicts() == shown_there


@pytest.mark.slow
def test_every_scored_task_has_examples_with_what_the_system_says(sample: Path) -> None:
    with th.warehouse(sample) as opened, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scored = opened._open.catalogue.scores
        for query in scored:
            task = opened[query.full_name]
            release = next(iter(task.releases), None)
            split = opened.tasks().filter(pl.col("release").eq_missing(release), task=task.name)["split"][0]
            score = task.score(baseline="oracle", split=split, release=release)
            shown = score.examples
            assert 0 < shown.height <= score.data["rows"], task.name
            assert shown["is_right"].null_count() == 0, task.name
            assert shown["prediction"].null_count() < shown.height, task.name
    assert len(scored) > 10


@pytest.mark.slow
def test_what_commands_say_is_said_in_python(warehouse: Path, tmp_path: Path) -> None:
    with th.warehouse(warehouse) as opened:
        status = json.loads(run("status", "--json", "--db", warehouse).stdout)["corpora"]
        counted = opened.corpora()
        assert counted["corpus"].to_list() == [corpus["corpus_id"] for corpus in status]
        for name in ("turns", "examples", "quarantined"):
            assert counted[name].to_list() == [corpus[name] for corpus in status]
        tasks = opened.tasks()
        assert tasks.columns == ["task", "release", "split", "standard_split", "examples"]
        assert (tasks["examples"].sum(), tasks["task"].n_unique()) == (counted["examples"].sum(), 20)
        found = opened.search("lighthouse", limit=100)
        shown = json.loads(run("search", "lighthouse", "--json", "--db", warehouse).stdout)
        assert found["text"].to_list() == [hit["text"] for hit in shown]
        ranked = json.loads(run("search", "lighthouse", "--rank", "--json", "--db", warehouse).stdout)
        assert opened.search("lighthouse", rank=True)["score"].to_list() == [hit["score"] for hit in ranked]
        with pytest.warns(UserWarning, match="more are found with a higher limit"):
            assert opened.search("lighthouse", limit=1).height == 1
        for form in ("bibtex", "csl", "text"):
            assert opened.cite(RELEASES, form) == run("cite", RELEASES, "--format", form, "--db", warehouse).stdout
        path = opened.export(TASK, tmp_path / "mine.csv", **CHOSEN, columns=["label"])
        assert run(
            "export", TASK, *OPTIONS, "--columns", "label", "--output", "their.csv", "--db", warehouse, cwd=tmp_path
        )
        assert path.read_bytes() == (tmp_path / "their.csv").read_bytes()
        assert (opened.export(RELEASES, tmp_path / "package", for_="huggingface") / "README.md").exists()
        with pytest.warns(UserWarning, match="choose one with --release"):
            opened[TASK].rows("dev")


@pytest.mark.slow
def test_what_is_wrong_is_said(warehouse: Path) -> None:
    with th.warehouse(warehouse) as opened:
        task = opened[TASK]
        with pytest.raises(KeyError, match="no task") as unknown:
            opened[TASK[:-3]]
        assert isinstance(unknown.value, th.TalkhouseError)
        assert TASK in str(unknown.value)
        for wrong in (
            lambda: opened.sql("from main.dialoges"),
            lambda: opened.sql("create table a as select 1"),
            lambda: opened.sql("select 1; select 2"),
            lambda: opened.dialogue("nothing"),
            lambda: opened.search("a", place="here"),
            lambda: opened.cite(RELEASES, "harvard"),
            lambda: opened.export(TASK, "a.csv", colums=["label"]),
            lambda: task.rows("nowhere"),
            lambda: task.score(**CHOSEN),
            lambda: task.score(5, **CHOSEN),
            lambda: task.score([{"example_index": 0, "label": "O"}], **CHOSEN),
            lambda: task.score(baseline="best", **CHOSEN),
            lambda: task.score(baseline="oracle", **CHOSEN).against(
                task.score(baseline="oracle", split="dev", release=RELEASES)
            ),
        ):
            with pytest.raises(th.TalkhouseError):
                wrong()
    with pytest.raises(th.TalkhouseError, match="closed"):
        opened.tasks()


@pytest.mark.slow
def test_a_notebook_shows_texts_as_they_are(warehouse: Path) -> None:
    hostile = "<script>alert('$1$')</script>\u202e&amp;"
    with duckdb.connect(warehouse) as con:
        con.execute("update main.turns set text = ?", [hostile])
        con.execute("update main.corpora set title = ?", [hostile])
    with th.warehouse(warehouse) as opened:
        rows = opened[TASK].rows(**CHOSEN)
        dialogue = opened.dialogue(rows["dialogue_id"][0])
        assert [message["content"] for message in dialogue.messages()] == [hostile] * len(dialogue.data["turns"])
        for shown in (opened._repr_html_(), dialogue._repr_html_()):
            assert "<script" not in shown
            assert "&lt;script&gt;" in shown
            assert "\\u202e&amp;amp;" in shown
            assert "prefers-color-scheme: dark" in shown
            assert "mathjax_ignore" in shown


@pytest.mark.slow
def test_a_new_open_is_the_new_build_and_guarded_as_asked(tmp_path: Path) -> None:
    path, steps = tmp_path / "w.duckdb", list[tuple[str, int, int]]()
    assert run("build", "--db", path, "--corpus", RELEASES).returncode == 0
    plain, guarded, old = duckdb.connect(path, read_only=True), th.open(path), th.warehouse(path)
    earlier = old.sql("from main.corpora")
    assert (old.is_current(), "published since" in old._repr_html_()) == (True, False)
    report = th.build(db=path, on_progress=lambda *step: steps.append(step))
    assert (report.path, report.unchanged_since, report.corpora.height, bool(steps)) == (path, None, 5, True)
    assert (old.is_current(), "published since" in old._repr_html_()) == (False, True)
    engine = sqlalchemy.create_engine(f"talkhouse:///{path}")
    with th.warehouse(path) as new, engine.connect() as con:
        assert len(con.execute(sqlalchemy.text("from main.corpora")).fetchall()) == new.corpora().height == 5
        assert (len(earlier.fetchall()), old.corpora().height, new.is_current()) == (1, 1, True)
    trusted = th.open(path, unsafe=True)
    trusted.execute(f"copy (select 1) to '{tmp_path / 'a.csv'}'")
    for another in (guarded, th.open(path), old.con):
        with pytest.raises(duckdb.Error):
            another.execute(f"copy (select 1) to '{tmp_path / 'b.csv'}'")
    release = th.release("first", db=path, store=tmp_path / "store")
    assert (len(release.content_id), (release.path / "release.json").exists()) == (64, True)
    plain.close()


def test_reading_alone_imports_duckdb_alone(sample: Path) -> None:
    program = f"""
import sys
import talkhouse as th
assert "typing" not in sys.modules and "duckdb" not in sys.modules
th.open({str(sample)!r}).execute("from main.corpora")
with th.warehouse({str(sample)!r}) as warehouse:
    assert warehouse.sql("from main.corpora").fetchall()
print({LIBRARIES!r} & sys.modules.keys())
"""
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{program}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "{'duckdb'}\n", done.stderr


NOTEBOOK = """
import sys
from nbclient import NotebookClient
from nbformat import v4

cells = [f"import talkhouse; warehouse = talkhouse.warehouse({sys.argv[1]!r})", "warehouse", "warehouse.tasks().height"]
notebook = v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in cells])
NotebookClient(notebook).execute()
print(*("".join(output["data"]) for cell in notebook.cells for output in cell.outputs), sep="\\n")
"""


@pytest.mark.packages
def test_it_works_in_a_notebook_without_widgets(sample: Path) -> None:
    """There, DuckDB refuses every word about its progress bar."""
    uv = ["uv", "run", "--project", str(Path(__file__).parents[3]), "--with", "nbclient", "--with", "ipykernel"]
    shown = outside.run([*uv, "python", "-c", NOTEBOOK, str(sample)], sample.parent)
    assert "text/html" in shown
