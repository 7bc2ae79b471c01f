"""Outputs of the publishers' own programs on invented predictions; they may lie next to TALKHOUSE_DATA."""

import json
import math
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import talkhouse
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from talkhouse.scores.score import Scored, printed, score
from talkhouse.scores.task import ScoreRequest, task
from talkhouse.scores.workspace import BadPredictions, ScoringWorkspace
from tests.data_files import data_of
from tests.talkhouse.scores.invented import Invented, score_once

FOLDER = Path(os.environ.get("TALKHOUSE_DATA") or "no data").parent / "expected" / "scoring"
pytestmark = pytest.mark.skipif(
    not (FOLDER / "expected.jsonl").is_file(), reason=f"there is no {FOLDER}: the reference programs' outputs"
)


def expected(corpus: str, name: str = "", every: int = 1) -> list[Any]:
    """Return the outputs for a corpus and task: one of every so many for the slow lane, the others for the long one."""
    if not (FOLDER / "expected.jsonl").is_file():
        return []
    rows = [json.loads(line) for line in (FOLDER / "expected.jsonl").read_text(encoding="utf-8").splitlines()]
    wanted = [row for row in rows if row["corpus"] == corpus and name in ("", row.get("task"))]
    lanes = [pytest.mark.slow, *[pytest.mark.long] * (every - 1)]
    return [pytest.param(row, marks=lanes[place % every]) for place, row in enumerate(wanted)]


def values(done: Scored) -> dict[str, float]:
    return {metric.name: metric.value for metric in done.metrics if metric.slice is None and metric.value is not None}


GOLDS = ("yi50_eval", "iris_last50")
FULL = data_of(__file__)["full"]
COUNTS = {
    "files": "File Num",
    "rows": "System Utterance Num",
    "gold_o": "O Label Num",
    "gold_t": "T Label Num",
    "gold_x": "X Label Num",
}


@pytest.fixture(scope="session")
def dbdc3(tmp_path_factory: pytest.TempPathFactory, real_data: Path) -> Iterator[dict[str, duckdb.DuckDBPyConnection]]:
    found = {}
    for gold in GOLDS:
        folder = tmp_path_factory.mktemp(gold)
        for line in (FOLDER / "dbdc3" / gold / "gold.tsv").read_text(encoding="utf-8").splitlines()[1:]:
            archive, member, _ = line.split("\t")
            with zipfile.ZipFile(real_data / "dbdc3" / archive) as opened:
                opened.extract(member, folder / "data" / "dbdc3")
        build(folder / "w.duckdb", Silent(), data=folder / "data")
        found[gold] = talkhouse.open(folder / "w.duckdb")
    yield found
    for con in found.values():
        con.close()


def name_of(row: dict[str, Any]) -> str:
    return f"{row.get('gold', '')} {row['predictions']} {row.get('threshold', '')}".strip()


@pytest.mark.parametrize("row", expected("dbdc3", every=4), ids=name_of)
def test_breakdown_detection(row: dict[str, Any], dbdc3: dict[str, duckdb.DuckDBPyConnection]) -> None:
    con, wanted = dbdc3[row["gold"]], task("dbdc3.breakdown_detection")
    folder = FOLDER / "dbdc3" / row["gold"]
    request = ScoreRequest([folder / f"{row['predictions']}.predictions.zip"], as_printed=True)
    if "stops" in row:
        with pytest.raises(BadPredictions):
            score_once(con, wanted, request, [row["threshold"]])
        return
    with ScoringWorkspace(con) as workspace:
        done = score(workspace, wanted, request, [row["threshold"]])
        lines = printed(workspace, done)
    found = values(done)
    assert {key: found[name] for key, name in COUNTS.items()} == row["counts"]
    for key, name in FULL.items():
        value = math.nan if row["values"][key] is None else row["values"][key]
        assert found[name] == pytest.approx(value, rel=0, abs=1e-12, nan_ok=True), name
    shown = "default" if row["threshold"] == 0 else f"{row['threshold']}"
    assert lines == (folder / f"{row['predictions']}.t{shown}.out").read_bytes().decode()
    if shown == "default":
        assert repr(score_once(con, wanted, request).metrics) == repr(done.metrics)  # NaN is not equal to itself


CANDIDATES = {
    "next_response_prediction": "candidates",
    "grounding_persona_prediction": "candidate_ids",
    "speaker_identification": "candidate_texts",
}


@pytest.mark.parametrize("row", expected("mpchat", every=3), ids=lambda row: f"{row['predictions']} {row['torch']}")
def test_candidates_in_an_array(row: dict[str, Any], invented: Invented) -> None:
    """The three tasks have the same metrics: which of them has a case does not matter."""
    examples, candidates = (int(part[1:]) for part in row["predictions"].split("_")[-2:])
    name = sorted(CANDIDATES)[len(row["predictions"]) % 3]
    lists = {CANDIDATES[name]: [f"candidate {index}" for index in range(candidates)]}
    invented.replace(f"mpchat.{name}", [{**lists, "gold_position": 0} for _ in range(examples)])
    request = ScoreRequest([FOLDER / "mpchat" / f"{row['predictions']}.npy"])
    if "nan" in row["predictions"]:
        with pytest.raises(BadPredictions, match="finite"):
            score_once(invented.con, task(f"mpchat.{name}"), request)
        return
    done = score_once(invented.con, task(f"mpchat.{name}"), request)
    assert values(done).keys() == row["values"].keys()
    for metric in done.metrics:
        value = row["values"][metric.name]
        if done.tied:
            assert not metric.official
            assert metric.worst is not None
            assert metric.best is not None
            assert metric.worst - 1e-12 <= value <= metric.best + 1e-12
        else:
            assert metric.official
            assert metric.value == pytest.approx(value, rel=0, abs=1e-12)


@pytest.mark.parametrize("row", expected("mantis", "response_ranking"), ids=name_of)
def test_lines_of_scores(row: dict[str, Any], invented: Invented) -> None:
    invented.replace_blocks("response_ranking_10", 300, 11)
    done = score_once(
        invented.con,
        task("mantis.response_ranking_10"),
        ScoreRequest([FOLDER / "mantis" / f"{row['predictions']}.tsv"], layout="mantis"),
    )
    found = values(done)
    for key, value in row["expected_over_ties"].items():
        name = {"map": "map", "ndcg_10": "ndcg"}.get(key, key.replace("_", "@"))
        if name in found:
            assert found[name] == pytest.approx(value, rel=0, abs=1e-12), name
    if not done.tied:
        reference = row["transformers_cl_seed42"]
        assert found["map"] == pytest.approx(reference["map"], rel=0, abs=1e-12)
        assert found["ndcg"] == pytest.approx(reference["ndcg_10"], rel=0, abs=1e-12)
        for name in ("R_10@1", "R_10@2", "R_10@5", "R_2@1"):
            assert found[name] == pytest.approx(row["transformer_rankers"][name], rel=0, abs=1e-12), name


@pytest.mark.parametrize("row", expected("mantis", "intent_prediction"), ids=name_of)
def test_intents(row: dict[str, Any], invented: Invented, tmp_path: Path) -> None:
    gold = (FOLDER / "mantis" / "intents.gold.jsonl").read_text(encoding="utf-8").splitlines()
    invented.replace("mantis.intent_prediction", [{"intents": json.loads(line)["intents"]} for line in gold])
    source = FOLDER / "mantis" / f"intents.{row['predictions']}.predictions.jsonl"
    path = tmp_path / "labels.jsonl"
    path.write_text(source.read_text(encoding="utf-8").replace('"intents"', '"labels"'), encoding="utf-8")
    found = values(score_once(invented.con, task("mantis.intent_prediction"), ScoreRequest([path], unknown="wrong")))
    for key, name in (("accuracy", "accuracy"), ("f1_micro", "F1 micro"), ("f1_macro", "F1 macro")):
        assert found[name] == pytest.approx(row["values"][key], rel=0, abs=1e-12), name


@pytest.mark.parametrize("name", ["guided_response", "guided_response_clean"])
@pytest.mark.parametrize("row", expected("blended_skill_talk"), ids=name_of)
def test_guided_response(row: dict[str, Any], name: str, invented: Invented) -> None:
    gold = (FOLDER / "blended_skill_talk" / "gold.jsonl").read_text(encoding="utf-8").splitlines()
    wanted = [{key: row[key] for key in ("label", "label_candidates")} for row in [json.loads(line) for line in gold]]
    invented.replace(f"blended_skill_talk.{name}", wanted)
    path = FOLDER / "blended_skill_talk" / f"{row['predictions']}.predictions.jsonl"
    done = score_once(invented.con, task(f"blended_skill_talk.{name}"), ScoreRequest([path]))
    found = {metric.name: metric for metric in done.metrics}
    for key, value in row["values"].items():
        assert found[key].value == pytest.approx(value, rel=0, abs=1e-12), key
        if not key.startswith("inter"):
            assert found[key].of == row["denominators"][key], key
    if row["agent_rank"]:
        assert found["rank"].value == pytest.approx(row["agent_rank"]["rank"], rel=0, abs=1e-12)
        assert found["mrr"].value == pytest.approx(row["agent_rank"]["mrr"], rel=0, abs=1e-12)
        assert found["mrr"].of == row["agent_rank"]["n"]
