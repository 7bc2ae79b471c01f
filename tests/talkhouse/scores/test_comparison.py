"""Saved runs: stored next to the warehouse, and compared if they are of the same examples."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import talkhouse
from talkhouse.schema.errors import UsageError
from talkhouse.scores.comparison import compare
from talkhouse.scores.options import Baseline
from talkhouse.scores.saved_runs import path_for, save, saved
from talkhouse.scores.score import Scored, score
from talkhouse.scores.task import ScoreRequest, task
from talkhouse.scores.workspace import ScoringWorkspace
from tests.commands import run as start


@pytest.fixture
def con(warehouse: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with talkhouse.open(warehouse) as opened:
        yield opened


SPLITS = {"mpchat": "test", "mantis": "test", "dbdc3": "eval"}


def keep(
    con: duckdb.DuckDBPyConnection, run: str, warehouse: Path, name: str, kind: Baseline, *thresholds: float
) -> Scored:
    corpus = name.partition(".")[0]
    release = "dbdc3" if corpus == "dbdc3" else None
    request = ScoreRequest((), baseline=kind, keep=True, split=SPLITS.get(corpus), release=release)
    with ScoringWorkspace(con) as workspace:
        done = score(workspace, task(name), request, thresholds)
        assert save(workspace, done, run, warehouse) == path_for(warehouse)
    return done


def test_runs_are_kept_beside_the_warehouse(con: duckdb.DuckDBPyConnection, warehouse: Path) -> None:
    before = warehouse.read_bytes()
    assert saved(warehouse) == []
    done = keep(con, "usual", warehouse, "delidata.outcome", Baseline.MAJORITY)
    keep(con, "drawn", warehouse, "delidata.outcome", Baseline.RANDOM)
    runs = saved(warehouse, "delidata.outcome")
    assert [run["run"] for run in runs] == ["usual", "drawn"]
    assert [(metric["name"], metric["value"]) for metric in runs[0]["metrics"]] == [
        (metric.name, metric.value) for metric in done.metrics
    ]
    assert saved(warehouse, "delidata.change_of_mind") == []
    for name in ("usual", "Usual"):
        with pytest.raises(UsageError, match=f"there is a run '{name}' already"):
            save(ScoringWorkspace(con), done, name, warehouse)
    assert len(saved(warehouse)) == 2
    assert warehouse.read_bytes() == before
    with duckdb.connect(path_for(warehouse), read_only=True) as opened:
        assert opened.execute(
            "select count(*) from duckdb_columns() where comment is null and table_name in ('runs', 'metrics')"
        ).fetchall() == [(0,)]
        assert opened.execute(
            "select count(*) from examples_delidata_outcome where saved_run = 'usual'"
        ).fetchall() == [(done.rows,)]


COMPARED = (
    pytest.param("delidata.change_of_mind", marks=pytest.mark.slow),
    pytest.param("mpchat.next_response_prediction", marks=pytest.mark.slow),
    pytest.param("mantis.response_ranking_10", marks=pytest.mark.long),
    pytest.param("dbdc3.breakdown_detection", marks=pytest.mark.long),
)


@pytest.mark.parametrize("name", COMPARED)
def test_a_run_differs_from_its_copy_in_nothing(con: duckdb.DuckDBPyConnection, warehouse: Path, name: str) -> None:
    for run, kind in (("a", Baseline.RANDOM), ("b", Baseline.RANDOM), ("best's", Baseline.ORACLE)):
        keep(con, run, warehouse, name, kind)
    found = compare(con, warehouse, ("a", "b"))
    assert found.metrics
    for metric in found.metrics:
        assert metric.difference is None or (metric.difference, metric.p_value) == (0, 1)
        # The sample of MPChat has one dialogue in this split.
        assert metric.low in (0, None)
        assert metric.low == metric.high
    found, back = compare(con, warehouse, ("a", "best's")), compare(con, warehouse, ("best's", "a"))
    for there, other in zip(found.metrics, back.metrics, strict=True):
        backwards = (other.name, other.second, other.first, other.p_value)
        assert (there.name, there.first, there.second, there.p_value) == backwards
        assert there.low is None or there.low == pytest.approx(-(other.high or 0), abs=1e-12)


@pytest.mark.slow
def test_each_threshold_is_compared(con: duckdb.DuckDBPyConnection, warehouse: Path) -> None:
    name = "dbdc3.breakdown_detection"
    keep(con, "a", warehouse, name, Baseline.RANDOM, 0.0, 0.5)
    keep(con, "b", warehouse, name, Baseline.MAJORITY, 0.0, 0.5)
    keep(con, "other", warehouse, name, Baseline.MAJORITY, 0.5)
    found = compare(con, warehouse, ("a", "b"))
    assert [metric.threshold for metric in found.metrics if metric.name == "Accuracy"] == [0.0, 0.5]
    assert all(metric.official for metric in found.metrics if metric.name == "Accuracy")
    with pytest.raises(UsageError, match="they differ in thresholds"):
        compare(con, warehouse, ("a", "other"))


@pytest.mark.slow
def test_what_can_not_be_compared(con: duckdb.DuckDBPyConnection, warehouse: Path) -> None:
    with pytest.raises(UsageError, match="there is no run 'usual'"):
        compare(con, warehouse, ("usual", "drawn"))
    keep(con, "usual", warehouse, "delidata.outcome", Baseline.MAJORITY)
    keep(con, "other", warehouse, "delidata.probing_target", Baseline.MAJORITY)
    with pytest.raises(UsageError, match="there is no run 'usul'") as caught:
        compare(con, warehouse, ("usul", "other"))
    assert caught.value.expected == "one of: usual, other"
    with pytest.raises(UsageError, match="a run can't be compared with itself"):
        compare(con, warehouse, ("usual", "usual"))
    with pytest.raises(UsageError, match="they differ in task"):
        compare(con, warehouse, ("usual", "other"))
    keep(con, "moved", warehouse, "delidata.outcome", Baseline.RANDOM)
    with duckdb.connect(path_for(warehouse)) as opened:
        opened.execute("update runs set view_fingerprint = 'another' where run = 'moved'")
    with pytest.raises(UsageError, match="they differ in view fingerprint"):
        compare(con, warehouse, ("usual", "moved"))


@pytest.mark.slow
def test_runs_of_an_older_file_stay_and_can_not_be_compared(con: duckdb.DuckDBPyConnection, warehouse: Path) -> None:
    """A file without intervals, examples and the hash of metrics."""
    keep(con, "old", warehouse, "delidata.outcome", Baseline.MAJORITY)
    with duckdb.connect(path_for(warehouse)) as opened:
        opened.execute("drop view comparison")
        opened.execute("alter table runs drop column metrics_sha256")
        opened.execute("alter table metrics drop column low")
        opened.execute("alter table metrics drop column high")
        opened.execute("drop table examples_delidata_outcome")
    (before,) = saved(warehouse)
    keep(con, "new", warehouse, "delidata.outcome", Baseline.RANDOM)
    keep(con, "changed", warehouse, "delidata.outcome", Baseline.RANDOM)
    after = saved(warehouse)[0]
    assert before["run"] == after["run"] == "old"
    assert [metric["value"] for metric in after["metrics"]] == [metric["value"] for metric in before["metrics"]]
    with pytest.raises(UsageError, match="the run 'old' can't be compared: it was saved before examples were kept"):
        compare(con, warehouse, ("old", "new"))
    with duckdb.connect(path_for(warehouse)) as opened:
        opened.execute("update runs set metrics_sha256 = 'other' where run = 'changed'")
    with pytest.raises(UsageError, match="the run 'changed' can't be compared: its metrics have changed since"):
        compare(con, warehouse, ("new", "changed"))


NAME = "delidata.probing_target"


def saved_by_command(folder: Path) -> dict[str, dict[str, Any]]:
    """Save two baselines with their intervals; return the printed rows by the name of the run."""
    found = {}
    for run in ("majority", "random"):
        shown = start("score", NAME, "--baseline", run, "--interval", "--save", run, "--json", cwd=folder)
        found[run] = json.loads(shown.stdout)
    return found


@pytest.mark.usefixtures("warehouse")
def test_the_commands(tmp_path: Path) -> None:
    found = saved_by_command(tmp_path)
    assert found["random"]["interval"] == {
        "level": 0.95,
        "method": "percentile bootstrap",
        "resamples": 1000,
        "seed": 20171101,
        "unit": "dialogue",
        "units": 4,
    }
    assert all(metric["low"] <= metric["value"] <= metric["high"] for metric in found["random"]["metrics"])
    (run, *_) = json.loads(start("scores", NAME, "--json", cwd=tmp_path).stdout)
    (metric, *_), first = run["metrics"], found["majority"]["metrics"][0]
    values = {name: found[name]["official"]["F1 macro"] for name in found}
    assert run["official"] == {"F1 macro": values["majority"]}
    assert (metric["low"], metric["high"]) == (first["low"], first["high"])
    data = json.loads(start("scores", "--compare", "majority", "random", "--json", cwd=tmp_path).stdout)
    assert (data["first"], data["second"], data["task"]) == ("majority", "random", NAME)
    assert data["test"]["method"] == "paired approximate randomisation"
    assert all(0 < metric["p_value"] <= 1 for metric in data["metrics"])
    assert data["official"].keys() == {"F1 macro"}
    assert data["official"]["F1 macro"]["difference"] == values["random"] - values["majority"]
    assert start("scores", NAME, "--compare", "majority", "random", cwd=tmp_path).returncode == 2


@pytest.mark.slow
@pytest.mark.usefixtures("warehouse")
def test_what_the_commands_print(tmp_path: Path) -> None:
    with_intervals = saved_by_command(tmp_path)["random"]
    del with_intervals["interval"]
    without = json.loads(start("score", NAME, "--baseline", "random", "--json", cwd=tmp_path).stdout)
    assert without.pop("interval") is None
    for metric in with_intervals["metrics"]:
        metric["low"] = metric["high"] = None
    assert without == with_intervals
    shown = start("scores", "--compare", "majority", "random", cwd=tmp_path)
    assert "p-value" in shown.stdout
    assert "among many, some are small by chance" in shown.stdout
    shown = start("score", NAME, "--baseline", "random", "--interval", cwd=tmp_path)
    assert "95 % interval" in shown.stdout
    assert "4 dialogues, seed 20171101; fewer than 30 give intervals that are too short" in shown.stdout
    one_dialogue = ("mpchat.speaker_identification", "--split", "test")
    shown = start("score", *one_dialogue, "--baseline", "random", "--interval", cwd=tmp_path)
    assert "no intervals: all examples are of one dialogue" in shown.stdout
