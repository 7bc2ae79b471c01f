"""Scores of the examples for which an expression is true: chosen, predicted, marked, and kept apart from others."""

import json
from pathlib import Path

import duckdb
import pytest

import talkhouse
from talkhouse.schema.errors import QueryFailed, UsageError
from talkhouse.scores.comparison import compare
from talkhouse.scores.options import Baseline
from talkhouse.scores.saved_runs import path_for, save, saved
from talkhouse.scores.score import Scored, score
from talkhouse.scores.task import ScoreRequest, task
from talkhouse.scores.workspace import ScoringWorkspace
from tests.commands import run
from tests.samples import RELEASES
from tests.talkhouse.scores.invented import score_once

TASK, RELEASE = f"{RELEASES}.breakdown_detection", RELEASES
WHERE = "label <> 'O' and turn_index > 0"


def of_eval(where: str | None, **options: object) -> ScoreRequest:
    return ScoreRequest(
        (), **{"baseline": Baseline.ORACLE, "split": "eval", "release": RELEASE, "where": where, **options}
    )  # type: ignore[arg-type]


def test_only_the_examples_of_which_it_is_true_are_scored(con: duckdb.DuckDBPyConnection) -> None:
    query = f"select count(*) from {TASK} where split = 'eval' and release = '{RELEASE}' and {WHERE}"
    ((examples,),) = con.execute(query).fetchall()
    scored = score_once(con, task(TASK), of_eval(WHERE), [0.0])
    assert scored.rows == examples > 0
    assert not any(metric.official for metric in scored.metrics)
    assert [warning for warning in scored.warnings if WHERE in warning]
    assert len(scored.chosen.where_fingerprint or "") == 32


@pytest.mark.slow
@pytest.mark.parametrize(
    ("request_", "error", "words"),
    [
        (of_eval("lable = 'O'"), UsageError, "one of its columns: label"),
        (of_eval("turn_index > 900"), UsageError, f"no row of {TASK} is left"),
        (of_eval("subset = 'DCM'", subsets=["YI_50"]), UsageError, f"no row of {TASK} is left"),
        (of_eval("label::integer = 1"), QueryFailed, "can't be computed for every row"),
        (of_eval("exists (from 'a.csv')"), UsageError, "--where can't use 'a.csv'"),
        (of_eval(None, subsets=["nix"]), UsageError, "no examples of the subset 'nix'"),
    ],
)
def test_what_leaves_nothing_is_refused(
    con: duckdb.DuckDBPyConnection, request_: ScoreRequest, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        score_once(con, task(TASK), request_)


def keep(warehouse: Path, name: str, where: str | None) -> Scored:
    with talkhouse.open(warehouse) as con, ScoringWorkspace(con) as workspace:
        scored = score(workspace, task(TASK), of_eval(where, baseline=Baseline.RANDOM, keep=True))
        save(workspace, scored, name, warehouse)
        return scored


@pytest.mark.slow
def test_runs_are_compared_where_the_expressions_leave_the_same_examples(warehouse: Path) -> None:
    keep(warehouse, "a", "label <> 'O'")
    keep(warehouse, "b", "label in ('T', 'X')")
    keep(warehouse, "other", "label = 'X'")
    keep(warehouse, "all", None)
    assert saved(warehouse)[0]["run"] == "all"
    assert {run["run"]: run["where_expression"] for run in saved(warehouse)}["b"] == "label in ('T', 'X')"
    with talkhouse.open(warehouse) as con:
        assert compare(con, warehouse, ("a", "b")).metrics
        for name in ("other", "all"):
            with pytest.raises(UsageError, match="they differ in where fingerprint"):
                compare(con, warehouse, ("a", name))


@pytest.mark.slow
def test_a_file_of_before_is_read_and_written(warehouse: Path) -> None:
    keep(warehouse, "before", None)
    with duckdb.connect(path_for(warehouse)) as con:
        con.execute("drop view comparison")
        con.execute("alter table runs drop column where_expression")
        con.execute("alter table runs drop column where_fingerprint")
        con.execute("update format set version = 1")
    assert [run["where_fingerprint"] for run in saved(warehouse)] == [None]
    keep(warehouse, "after", "label = 'X'")
    assert [(run["run"], run["where_expression"]) for run in saved(warehouse)] == [
        *(("before", None), ("after", "label = 'X'"))
    ]


@pytest.mark.slow
def test_the_template_has_them_and_predictions_of_all_are_taken(warehouse: Path) -> None:
    one_split = ["score", TASK, "--split", "eval", "--release", RELEASE, "--db", str(warehouse)]
    for name, where in (("part.jsonl", ["--where", WHERE]), ("all.jsonl", [])):
        assert run(*one_split, "--template", name, *where, cwd=warehouse.parent).returncode == 0
        path = warehouse.parent / name
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        predictions = [row | {"label": "X", "prob_o": 0, "prob_t": 0, "prob_x": 1} for row in rows]
        path.write_text("".join(f"{json.dumps(row)}\n" for row in predictions))
    part, everything = (
        json.loads(run(*one_split, name, "--where", WHERE, "--json", cwd=warehouse.parent).stdout)
        for name in ("part.jsonl", "all.jsonl")
    )
    assert part["rows"] == len((warehouse.parent / "part.jsonl").read_text().splitlines()) == everything["rows"] > 0
    assert part["metrics"] == everything["metrics"]
    assert (part["where"], part["where_fingerprint"]) == (WHERE, everything["where_fingerprint"])
