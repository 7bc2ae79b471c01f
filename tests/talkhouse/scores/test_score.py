"""Scoring on the sample: publishers' layouts, files, baselines, templates, saved runs, and what an export says."""

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

import talkhouse
from talkhouse.export.export import export, write_rows
from talkhouse.export.selection import NO_FILTERS, Filters
from talkhouse.ingest.registry import corpora
from talkhouse.queries.catalogue import catalogue
from talkhouse.schema.errors import UsageError
from talkhouse.scores.examples import choose, choose_all, create_examples
from talkhouse.scores.metrics import examples_query, set_threshold
from talkhouse.scores.options import Baseline
from talkhouse.scores.predictions import create_baseline, template
from talkhouse.scores.score import Scored, printed, score
from talkhouse.scores.task import ScoreRequest, task
from talkhouse.scores.workspace import ScoringTable, ScoringWorkspace
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.rows_hash import task_hashes
from tests.commands import run as start
from tests.talkhouse.scores.invented import Invented, score_once

TASKS = [query.full_name for query in catalogue().scores]
SPLITS = {
    name: max(corpus.splits, key=lambda split: corpus.splits[split] == "test") for name, corpus in corpora().items()
}


@pytest.fixture(scope="module")
def con(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    path = tmp_path_factory.mktemp("score") / "talkhouse.duckdb"
    shutil.copyfile(sample, path)
    with talkhouse.open(path) as opened:
        yield opened


def of(name: str) -> dict[str, str]:
    corpus = name.partition(".")[0]
    return {"split": SPLITS[corpus]} | ({"release": "dbdc3"} if corpus == "dbdc3" else {})


def baseline(con: duckdb.DuckDBPyConnection, name: str, kind: Baseline) -> Scored:
    return score_once(con, task(name), ScoreRequest((), baseline=kind, **of(name)), task(name).query.thresholds[:1])  # type: ignore[arg-type]


@contextmanager
def predictions(con: duckdb.DuckDBPyConnection, name: str, kind: Baseline) -> Iterator[ScoringTable]:
    wanted = task(name)
    with ScoringWorkspace(con) as workspace:
        chosen = choose(con, wanted, Filters(**of(name)))
        if wanted.query.thresholds:
            set_threshold(con, wanted.query.thresholds[0])
        yield create_baseline(workspace, wanted, create_examples(workspace, wanted, chosen), kind)


@pytest.mark.parametrize("name", TASKS)
def test_the_right_answers_have_the_best_scores(name: str, con: duckdb.DuckDBPyConnection) -> None:
    found = {metric.name: metric.value for metric in baseline(con, name, Baseline.ORACLE).metrics}
    for metric, value in found.items():
        if metric.startswith(("JS", "Mean squared")):
            assert value == 0, metric
        elif metric in {
            "recall@1",
            "map",
            "ndcg",
            "mrr",
            "accuracy",
            "F1 macro",
            "Accuracy",
            "f1",
            "hits@1",
            "ROC AUC",
        }:
            assert value == 1, metric


FORMATS = {
    "csv": "dbdc3.breakdown_detection",
    "tsv": "delidata.change_of_mind",
    "jsonl": "mpchat.next_response_prediction",
    "parquet": "mantis.intent_prediction",
    "arrow": "mantis.response_ranking_10",
}


_TURNS = [*FORMATS, *FORMATS]
CASES = [
    *((name, [suffix]) for suffix, name in FORMATS.items()),
    *((name, _TURNS[place % len(FORMATS) :][:2]) for place, name in enumerate(TASKS)),
]


@pytest.mark.parametrize(
    ("name", "formats"), [pytest.param(*case, marks=[pytest.mark.slow] * (len(case[1]) > 1)) for case in CASES]
)
def test_a_table_gives_what_its_baseline_gives(
    name: str, formats: list[str], con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    first = baseline(con, name, Baseline.RANDOM)
    for suffix in formats:
        path = tmp_path / f"predictions.{suffix}"
        with predictions(con, name, Baseline.RANDOM) as table:
            write_rows(con, f"select * from {table}", path)
        found = score_once(con, task(name), ScoreRequest([path]), task(name).query.thresholds[:1])
        assert found.metrics == first.metrics, suffix


@pytest.mark.slow
def test_label_files_are_matched_by_place(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    first = baseline(con, "dbdc3.breakdown_detection", Baseline.RANDOM)
    with predictions(con, "dbdc3.breakdown_detection", Baseline.RANDOM) as table:
        rows = con.execute(
            f"select records.native_id, keys.turn_index, baseline.* from {table} as baseline "
            "inner join main.examples as keys using (release, split, example_index) "
            "inner join main.records using (record_id) where task = 'breakdown_detection' order by all"
        ).fetchall()
    folder = tmp_path / "labels"
    folder.mkdir()
    for native_id in {row[0] for row in rows}:
        turns = [
            {
                "turn-index": row[1],
                "labels": [{"breakdown": row[5], "prob-O": row[6], "prob-T": row[7], "prob-X": str(row[8])}],
            }
            for row in rows
            if row[0] == native_id
        ]
        text = json.dumps({"dialogue-id": native_id, "turns": turns})
        (folder / f"{native_id}.labels.json").write_text(text, encoding="utf-8")
    for path in (folder, Path(shutil.make_archive(str(tmp_path / "labels"), "zip", folder))):
        request = ScoreRequest([path], split="eval", release="dbdc3")
        assert score_once(con, task("dbdc3.breakdown_detection"), request, [0.0]).metrics == first.metrics


def test_a_score_a_line_of_the_published_file(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    first = baseline(con, "mantis.response_ranking_50", Baseline.RANDOM)
    with predictions(con, "mantis.response_ranking_50", Baseline.RANDOM) as table:
        rows = con.execute(
            f"select row_index, baseline.score from mantis.response_ranking_50 inner join {table} as baseline "
            "using (split, example_index)"
        ).fetchall()
    lines = ["0"] * (max(row for row, _ in rows) + 1)
    for row, value in rows:
        lines[row] = repr(value)
    (tmp_path / "preds.txt").write_text("\n".join(lines), encoding="utf-8")
    request = ScoreRequest([tmp_path / "preds.txt"], split="test")
    assert score_once(con, task("mantis.response_ranking_50"), request).metrics == first.metrics


@pytest.mark.slow
def test_a_world_log_is_checked_by_the_texts_of_the_teacher(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    rows = con.execute(
        "select text, label, label_candidates, record_id from blended_skill_talk.guided_response "
        "where split = 'test' order by example_index"
    ).fetchall()
    pairs = [
        [{"text": text}, {"text": label, "text_candidates": [label.strip(), *reversed(candidates)]}]
        for text, label, candidates, _ in rows
    ]
    for pair in pairs:
        pair[1]["text_candidates"] = list(dict.fromkeys(candidate.strip() for candidate in pair[1]["text_candidates"]))
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"dialog": pairs}) + "\n", encoding="utf-8")
    wanted = task("blended_skill_talk.guided_response")
    found = {
        metric.name: metric.value for metric in score_once(con, wanted, ScoreRequest([path], split="test")).metrics
    }
    assert (found["hits@1"], found["f1"], found["accuracy"]) == (1, 1, 1)
    pairs[0][0]["text"] += "!"
    path.write_text(json.dumps({"dialog": pairs}) + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match="episode 0, pair 0"):
        score_once(con, wanted, ScoreRequest([path], split="test"))


def test_a_template_has_the_keys_and_the_fingerprint(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    wanted = task("delidata.probing_target")
    chosen = choose_all(con, wanted, NO_FILTERS)
    with ScoringWorkspace(con) as workspace:
        query = template(wanted, create_examples(workspace, wanted, chosen))
        write_rows(con, query, tmp_path / "empty.parquet")
    path = tmp_path / "filled.parquet"
    duckdb.execute(f"copy (select * replace ('Solution' as label) from '{tmp_path / 'empty.parquet'}') to '{path}'")
    assert score_once(con, wanted, ScoreRequest([path])).chosen.fingerprint == chosen.fingerprint
    with pytest.raises(UsageError, match="exists already"):
        write_rows(con, query, tmp_path / "empty.parquet")


def test_what_each_example_scores(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    with ScoringWorkspace(con) as workspace:
        done = score(
            workspace, task("mantis.response_ranking_10"), ScoreRequest((), baseline=Baseline.RANDOM, split="test")
        )
        query = examples_query(workspace, done.task, done.turns[0].scored)
        write_rows(con, query, tmp_path / "examples.parquet")
    query = f"select avg(map), avg(ndcg), count(*), any_value(candidate) from '{tmp_path / 'examples.parquet'}'"
    ((mean, gain, count, text),) = duckdb.execute(query).fetchall()
    found = {metric.name: metric for metric in done.metrics}
    assert (mean, gain, count) == (
        pytest.approx(found["map"].value),
        pytest.approx(found["ndcg"].value),
        found["map"].of,
    )
    assert text


@pytest.mark.slow
def test_slices_are_scored_alone(con: duckdb.DuckDBPyConnection) -> None:
    request = ScoreRequest((), baseline=Baseline.RANDOM, by=("subset", "language"), split="eval", release="dbdc3")
    done = score_once(con, task("dbdc3.breakdown_detection"), request, [0.0])
    parts = {metric.slice: metric.value for metric in done.metrics if metric.name == "System Utterance Num"}
    assert sum(value or 0 for name, value in parts.items() if name and name.startswith("subset=")) == parts[None]
    subset = next(name for name in parts if name and name.startswith("subset=")).removeprefix("subset=")
    alone = ScoreRequest((), baseline=Baseline.ORACLE, subsets=(subset,), split="eval", release="dbdc3")
    assert score_once(con, task("dbdc3.breakdown_detection"), alone).rows == parts[f"subset={subset}"]
    other = ScoreRequest((), baseline=Baseline.ORACLE, by=("colour",), split="eval", release="dbdc3")
    with pytest.raises(UsageError, match="no column 'colour'"):
        score_once(con, task("dbdc3.breakdown_detection"), other)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "by"), [("dbdc3.breakdown_detection", "subset"), ("delidata.change_of_mind", "label")]
)
def test_slices_have_intervals_of_their_own(con: duckdb.DuckDBPyConnection, name: str, by: str) -> None:
    request = ScoreRequest(
        (), baseline=Baseline.RANDOM, by=(by,), split=of(name)["split"], release=of(name).get("release")
    )
    plain, drawn = (score_once(con, task(name), replace(request, interval=wanted)).metrics for wanted in (False, True))
    assert [replace(metric, low=None, high=None) for metric in drawn] == plain
    assert len({metric.slice for metric in plain}) > 2
    ends = {(metric.slice, metric.low, metric.high) for metric in drawn if metric.name.casefold() == "accuracy"}
    assert len({(low, high) for _, low, high in ends}) > 1


def test_what_a_script_prints_has_no_interval(con: duckdb.DuckDBPyConnection) -> None:
    request = ScoreRequest((), baseline=Baseline.ORACLE, split="eval", release="dbdc3", as_printed=True, interval=True)
    with pytest.raises(UsageError, match="the script prints no intervals"):
        score_once(con, task("dbdc3.breakdown_detection"), request)


def test_an_export_names_the_fingerprint(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    done = baseline(con, "mpchat.speaker_identification", Baseline.ORACLE)
    for name, split in (("speaker_identification", "test"), ("speaker_identification_test", None)):
        output = tmp_path / f"{name}.jsonl"
        export(Warehouse(con), f"mpchat.{name}", output, filters=Filters(split))
        manifest = json.loads(output.with_name(f"{output.name}.manifest.json").read_text(encoding="utf-8"))
        (hashes,) = task_hashes(con, Warehouse(con).database, tasks=["mpchat.speaker_identification"])[:1]
        assert (hashes.split, manifest["content_id"]) == ("test", None)
        assert manifest["view_fingerprints"] == [
            {
                "release": None,
                "split": "test",
                "view_fingerprint": done.chosen.fingerprint,
                "rows_hash": hashes.hash,
                "content_hash": hashes.content_hash,
            }
        ]
    export(Warehouse(con), "main.turns", tmp_path / "turns.jsonl", limit=1)
    assert json.loads((tmp_path / "turns.jsonl.manifest.json").read_text())["view_fingerprints"] == []


def test_a_challenge_is_scored_by_subset_and_at_both_thresholds(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    wanted = task("dbdc3.breakdown_detection")
    request = ScoreRequest((), baseline=Baseline.ORACLE, split="eval", release="dbdc3")
    done = score_once(con, wanted, request)
    assert done.thresholds == [0, 0.5]
    accuracies = [
        (metric.threshold, metric.slice, metric.value) for metric in done.metrics if metric.name == "Accuracy"
    ]
    assert [accuracy for accuracy in accuracies if accuracy[1] is None] == [
        (0, None, 1),
        (0.5, None, 1),
    ]  # Each with its own oracle.
    subsets = [name for limit, name, _ in accuracies if limit == 0 and name]
    assert len(subsets) > 2
    with ScoringWorkspace(con) as workspace:
        lines = printed(workspace, score(workspace, wanted, replace(request, as_printed=True), [0.0, 0.5])).splitlines()
    assert [line for line in lines if line.startswith("Accuracy")] == ["Accuracy : \t\t1.000000 (26/26)"] * 2
    # Predictions of all subsets are taken where one of them is scored.
    with predictions(con, "dbdc3.breakdown_detection", Baseline.ORACLE) as table:
        write_rows(con, f"select * from {table}", tmp_path / "all.csv")
    subset = subsets[0].removeprefix("subset=")
    alone = score_once(con, wanted, ScoreRequest([tmp_path / "all.csv"], subsets=(subset,)), [0.5])
    assert {metric.slice for metric in alone.metrics} == {None}
    assert alone.rows < done.rows


def test_what_is_too_good_is_doubted(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    with predictions(con, "mantis.response_ranking_10", Baseline.ORACLE) as table:
        write_rows(con, f"select * from {table}", tmp_path / "oracle.csv")
    assert (
        "artefacts of quoting"
        in score_once(con, task("mantis.response_ranking_10"), ScoreRequest([tmp_path / "oracle.csv"])).warnings[0]
    )


def test_only_types_are_scored_as_published(con: duckdb.DuckDBPyConnection) -> None:
    request = ScoreRequest((), baseline=Baseline.ORACLE, as_published=True)
    assert "None and 0 are two classes" in score_once(con, task("delidata.deliberation_type"), request).warnings[0]
    with pytest.raises(UsageError, match="is scored as published anyway"):
        score_once(con, task("delidata.probing_target"), request)
    with pytest.raises(UsageError, match="these are other classes"):
        score_once(con, task("delidata.deliberation_type"), replace(request, keep=True))


def test_a_log_may_have_candidates_that_are_alike(invented: Invented, tmp_path: Path) -> None:
    """The first of two like texts is the first of the two candidates, and blanks at the ends do not count."""
    candidates = ["tea", "milk ", "tea"]
    invented.replace(
        "blended_skill_talk.guided_response", [{"text": "What?", "label": "milk ", "label_candidates": candidates}]
    )
    path = tmp_path / "log.jsonl"
    acts = [{"text": "What?"}, {"text": "tea", "text_candidates": ["tea", "milk", " tea"]}]
    path.write_text(json.dumps({"dialog": [acts]}) + "\n", encoding="utf-8")
    done = score_once(invented.con, task("blended_skill_talk.guided_response"), ScoreRequest([path]))
    found = {metric.name: metric.value for metric in done.metrics}
    assert (found["hits@1"], found["hits@5"], found["rank"], done.tied) == (0, 1, 2, 0)


# What ``score`` prints: the official metrics, and all numbers with ``--all``, at the width of a terminal.

EVAL = ("dbdc3.breakdown_detection", "--release", "dbdc3", "--split", "eval")


def shown(sample: Path, *arguments: str) -> str:
    done = start("score", *arguments, "--baseline", "random", "--db", sample, env={"COLUMNS": "80"})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_official_metrics_are_printed(sample: Path) -> None:
    text = shown(sample, *EVAL)
    lines = text.splitlines()
    assert lines[0] == "dbdc3.breakdown_detection dbdc3 eval: 26 examples, official metrics"
    assert len(lines) < 60
    assert max(map(len, lines)) <= 80
    assert "Recall (O)" not in text
    assert "subset=" not in text
    assert lines[-1] == "with --all: 18 more metrics and counts, and the numbers by subset"


def test_official_values_come_first_in_json(sample: Path) -> None:
    data = json.loads(start("score", *EVAL, "--baseline", "majority", "--json", "--db", sample).stdout)
    with talkhouse.open(sample) as con:
        query = "select prob_o, prob_t, prob_x from dbdc3.breakdown_detection_eval where release = 'dbdc3'"
        votes = con.execute(query).fetchall()
    labels = Counter(max(range(3), key=lambda label: (row[label], -label)) for row in votes)
    assert data["official"]["Accuracy"] == max(labels.values()) / len(votes)
    assert (next(iter(data)), len(data["official"]), data["official_threshold"]) == ("official", 18, 0)
    found = start("score", "delidata.change_of_mind", "--baseline", "random", "--json", "--db", sample)
    assert json.loads(found.stdout)["official"] == {}


def test_all_numbers_are_printed(sample: Path) -> None:
    text = shown(sample, *EVAL, "--all")
    assert "Recall (O)" in text
    assert "subset=" in text
    assert "with --all" not in text
    assert len(text.splitlines()) > 200


@pytest.mark.slow
def test_slices_that_are_asked_for_are_printed(sample: Path) -> None:
    text = shown(sample, *EVAL, "--by", "subset", "--threshold", "0")
    assert "subset=" in text
    assert text.splitlines()[-1] == "with --all: 18 more metrics and counts"


@pytest.mark.parametrize(
    ("name", "metric", "hidden"),
    [
        ("delidata.change_of_mind", "average precision", "precision (+)"),
        ("delidata.probing_generation", "bleu-4", "bleu-1"),
    ],
)
def test_a_task_without_official_metrics_shows_its_main_ones(sample: Path, name: str, metric: str, hidden: str) -> None:
    text = shown(sample, name)
    assert "official metrics" not in text
    assert "no metric is official" in text
    assert metric in text
    assert hidden not in text


@pytest.mark.slow
def test_ranks_under_ties_are_printed_with_their_bounds(sample: Path) -> None:
    done = start("score", "mantis.response_ranking_10", "--baseline", "uniform", "--split", "test", "--db", sample)
    assert "map" in done.stdout
    assert "best" in done.stdout
    assert "ties at the right candidate" in done.stdout
    assert "official metrics" not in done.stdout
