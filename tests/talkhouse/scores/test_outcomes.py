"""Where one system or two are right: counted again from the raw files, and as the metrics have it."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

import talkhouse
from talkhouse.schema.errors import UsageError
from talkhouse.scores.options import Baseline
from talkhouse.scores.outcomes import TWO, create_outcomes, outcomes_of_runs, system_of
from talkhouse.scores.saved_runs import path_for, save
from talkhouse.scores.score import Scored, score
from talkhouse.scores.task import ScoreRequest, task
from talkhouse.scores.workspace import ScoringWorkspace
from tests.commands import run as start
from tests.predictions import BREAKDOWNS, OF_EVALUATION, gold, predict
from tests.samples import GROUPS, PICTURES, POSTS, RELEASES, SUGGESTIONS


def test_two_systems_are_right_where_the_raw_files_say_so(sample: Path, tmp_path: Path) -> None:
    right = gold()
    assert len(right) > 20
    first, second = (predict(tmp_path / name, [*right], seed) for seed, name in enumerate(("a.csv", "b.csv")))
    output = tmp_path / "outcomes.jsonl"
    options = [*OF_EVALUATION, "--threshold", "0", "--beside", tmp_path / "b.csv"]
    done = start("score", BREAKDOWNS, tmp_path / "a.csv", *options, "--outcomes", output, "--json", "--db", sample)
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    counted = Counter(TWO[2 * (first[key][0] != label) + (second[key][0] != label)] for key, label in right.items())
    assert Counter(row["outcome"] for row in rows) == counted
    by_label = Counter((label, first[key][0], second[key][0]) for key, label in right.items())
    assert Counter((row["gold"], row["first"], row["second"]) for row in rows) == by_label
    for row in rows:
        key = row["record_id"], row["turn_index"]
        assert (row["first_sure"], row["second_sure"]) == pytest.approx((first[key][1], second[key][1]))
    metrics = json.loads(done.stdout)["metrics"]
    (accuracy,) = (metric for metric in metrics if metric["name"] == "Accuracy" and metric["slice"] is None)
    assert accuracy["count"] == counted[TWO[0]] + counted[TWO[1]]


Keep = Callable[..., Scored]


@pytest.fixture
def keep(warehouse: Path) -> Keep:
    """Score a baseline, and save it as a run."""

    def saved(con: duckdb.DuckDBPyConnection, name: str, kind: Baseline, run: str, **options: Any) -> Scored:
        with ScoringWorkspace(con) as workspace:
            scored = score(workspace, task(name), ScoreRequest((), baseline=kind, keep=True, **options))
            save(workspace, scored, run, warehouse)
        return scored

    return saved


KINDS = [
    (BREAKDOWNS, "Accuracy", {"release": RELEASES, "split": "eval"}),
    (f"{GROUPS}.outcome", "accuracy", {}),
    (f"{GROUPS}.deliberation_type", "accuracy", {}),
    (f"{GROUPS}.probing_generation", "accuracy", {}),
    (f"{POSTS}.response_ranking_10", "recall@1", {"split": "test"}),
    (f"{POSTS}.intent_prediction", None, {}),
    (f"{PICTURES}.next_response_prediction", "recall@1", {"split": "val"}),
    (f"{SUGGESTIONS}.guided_response", "accuracy", {"split": "valid"}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "metric", "options"), KINDS)
def test_each_kind_of_task_has_outcomes(
    warehouse: Path, keep: Keep, name: str, metric: str | None, options: dict[str, Any]
) -> None:
    with talkhouse.open(warehouse) as con:
        for kind in (Baseline.RANDOM, Baseline.ORACLE):
            scored = keep(con, name, kind, kind.value, **options)
            with ScoringWorkspace(con) as workspace:
                table = outcomes_of_runs(workspace, warehouse, [kind.value])
                at = "where threshold is null or threshold = 0"
                query = f"select count(*), count_if(first_is_right) from {table} {at}"
                ((rows, right),) = con.execute(query).fetchall()
            of_all = [metric for metric in scored.metrics if not metric.slice and not metric.threshold]
            values = [each.value for each in of_all if each.name == metric]
            assert [right / rows] == pytest.approx(values) or metric is None
        assert metric is not None or right == rows
        with ScoringWorkspace(con) as workspace:
            both = outcomes_of_runs(workspace, warehouse, ["random", "oracle"])
            assert con.execute(f"select count(*) from {both} where outcome = 'only the first'").fetchall() == [(0,)]


@pytest.mark.slow
def test_a_run_keeps_what_its_files_gave(warehouse: Path, tmp_path: Path) -> None:
    keys = [*gold()]
    with talkhouse.open(warehouse) as con, ScoringWorkspace(con) as first, ScoringWorkspace(con) as other:
        found = []
        for seed, workspace in enumerate((first, other)):
            predict(tmp_path / "p.csv", keys, seed)
            request = ScoreRequest([tmp_path / "p.csv"], release=RELEASES, split="eval", keep=True)
            found.append(score(workspace, task(BREAKDOWNS), request))
            save(workspace, found[-1], f"run {seed}", warehouse)
        fresh = con.sql(
            f"from {create_outcomes(first, task(BREAKDOWNS), [system_of(first, both) for both in found])}"
        ).fetchall()
        assert len(fresh) == 2 * len(keys)
        with ScoringWorkspace(con) as workspace:
            stored = con.sql(f"from {outcomes_of_runs(workspace, warehouse, ['run 0', 'run 1'])}").fetchall()
        assert stored == fresh
        # A run of an older Talkhouse kept labels, and no probabilities.
        with duckdb.connect(path_for(warehouse)) as store:
            store.execute(f"drop table answers_{BREAKDOWNS.replace('.', '_')}")
        with ScoringWorkspace(con) as workspace:
            table = outcomes_of_runs(workspace, warehouse, ["run 0", "run 1"])
            ((answered, sure),) = con.sql(f"select count(first), count(first_sure) from {table}").fetchall()
        assert (answered, sure) == (len(fresh), 0)


@pytest.mark.slow
def test_what_a_changed_file_of_runs_has_is_refused(warehouse: Path, keep: Keep) -> None:
    name = f"{GROUPS}.outcome"
    with talkhouse.open(warehouse) as con:
        keep(con, name, Baseline.RANDOM, "a")
        keep(con, name, Baseline.MAJORITY, "b")

        def refused(*changes: str, names: Sequence[str] = ("a", "b")) -> str:
            with duckdb.connect(path_for(warehouse)) as store:
                for change in changes:
                    store.execute(change)
            with ScoringWorkspace(con) as workspace, pytest.raises(UsageError) as caught:
                outcomes_of_runs(workspace, warehouse, names)
            return str(caught.value)

        assert "there is no run 'c'" in refused(names=["c"])
        rows = f"examples_{name.replace('.', '_')}"
        of_b = f"delete from {rows} where saved_run = 'b'"
        assert "not of the same examples" in refused(f"{of_b} and example_index = 0")
        assert "no rows of its examples" in refused(of_b, names=["b"])
        assert "the file of saved runs was changed" in refused(
            f"alter table {rows} drop column example_index", names=["a"]
        )
        assert "not those of this warehouse" in refused("update runs set view_fingerprint = 'another'", names=["a"])


@pytest.mark.slow
def test_options_that_go_together(sample: Path, tmp_path: Path) -> None:
    done = start("score", BREAKDOWNS, "--baseline", "majority", "--beside", tmp_path / "b.csv", "--db", sample)
    assert (done.returncode, "--beside goes with --outcomes or --open" in done.stderr) == (2, True)
    done = start("scores", "--open", "--db", sample)
    assert (done.returncode, "--open goes with --compare" in done.stderr) == (2, True)
