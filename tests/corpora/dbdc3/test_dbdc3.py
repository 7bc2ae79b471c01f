"""DBDC3: the challenge's labels at any threshold, paths, bots, and logs of every shape there and back."""

import json
import shutil
from pathlib import Path, PurePosixPath
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import talkhouse
from talkhouse.ingest.corpora.dbdc3.format import family, folder_facts
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from tests.conftest import Build, invented_builds
from tests.corpora.dbdc3.test_round_trip import LOG
from tests.data_files import data_of

# The rules of the challenge's script, written from its description and not from our SQL.


def distribution(labels: list[str]) -> list[float]:
    """Share of O, T and X; every other label is ignored."""
    counts = [labels.count("O"), labels.count("T"), labels.count("X")]
    return [count / sum(counts) for count in counts]


def strict(share: list[float], threshold: float) -> str:
    best = max(share)
    return "OTX"[share.index(best)] if best >= threshold else "O"


def lenient(share: list[float], threshold: float) -> str:
    breakdown = share[1] + share[2]
    if share[0] >= breakdown and share[0] >= threshold:
        return "O_l"
    return "X_l" if breakdown >= share[0] and breakdown >= threshold else "O_l"


def test_macros_follow_the_script_for_every_count_and_threshold(con: duckdb.DuckDBPyConnection) -> None:
    """All distributions of 30 votes, at every threshold that is a multiple of 0.05, and at 0.9 in doubles."""
    counts = [(o, t, 30 - o - t) for o in range(31) for t in range(31 - o)]
    thresholds = [round(0.05 * step, 2) for step in range(21)]
    expected = []
    for o, t, x in counts:
        share = distribution(["O"] * o + ["T"] * t + ["X"] * x)
        expected += [(o, t, x, th, strict(share, th), lenient(share, th)) for th in thresholds]
    query = data_of(__file__)["query"]
    assert con.execute(query, [thresholds]).fetchall() == expected
    assert lenient(distribution(["O"] * 3 + ["T"] * 5 + ["X"] * 22), 0.9) == "O_l", "doubles, not exact arithmetic"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("DBDC3/DBDC3/dbdc3/en/dev/CIC_115/CIC1.log.json", ("dbdc3", "en", "dev", "CIC_115")),
        ("dbdc3_revised/jp/eval/DCM/1.log.json", ("dbdc3_revised", "ja", "eval", "DCM")),
        ("iris_100/IRIS_json_data/iris_1.log.json", ("dev_zips", "en", "dev", "IRIS_json_data")),
        ("data/dev/ticktock_100/json_data_100/x.log.json", ("dev_zips", "en", "dev", "json_data_100")),
        ("DBDC4_dev_20190312/en/IRIS/x.log.json", ("DBDC4_dev_20190312", "en", "dev", "IRIS")),
        ("DBDC2_ref/DBDC2_ref/DIT/x.log.json", ("dbdc2", "ja", "eval", "DIT")),
        ("dbdc1/ja/dev/x.log.json", ("dbdc1", "ja", "dev", "DCM")),
        ("en/test/YI_50/x.log.json", (None, "en", "eval", "YI_50")),
        ("train/IRIS_50/x.log.json", ("train", None, None, "IRIS_50")),
        (
            "projectnextnlp-chat-dialogue-corpus/json/rest1046/1.log.json",
            ("chat_dialogue_corpus", "ja", "dev", "rest1046"),
        ),
        ("dbdc5/japanese/development/x.log.json", ("dbdc5", "ja", "dev", None)),
        ("init100/x.log.json", ("chat_dialogue_corpus", "ja", "dev", "init100")),
        ("x.log.json", (None, None, None, None)),
    ],
)
def test_what_paths_say(path: str, expected: tuple[str | None, ...]) -> None:
    assert tuple(folder_facts(PurePosixPath(path).parent)) == expected


@pytest.mark.parametrize(
    ("dialogue_id", "subset", "name"),
    [
        ("iris_00014", "IRIS_json_data", "IRIS"),
        ("ticktock_00003", "json_data_100", "TickTock"),
        ("x17", "TKTK_50", "TickTock"),
        ("CIC0100", "CIC_115", "CIC"),
        ("YIT0039", "YI_50", "YI"),
        ("1502868469", "DCM", "DCM"),
        ("1502868469", "IRS", "IRS"),
        ("1404365812", "init100", "DCM"),
        ("1404365812", None, None),
    ],
)
def test_bots_come_from_a_fixed_table(dialogue_id: str, subset: str | None, name: str | None) -> None:
    found = family(dialogue_id, subset)
    assert (found.name if found else None) == name


@pytest.mark.slow
def test_a_file_given_twice_makes_its_examples_once(build_data: Build, tmp_path: Path) -> None:
    raw = Path(__file__).parent / "golden" / "worked_example" / "raw" / "DBDC3"
    shutil.copytree(raw, tmp_path / "data" / "dbdc3" / "DBDC3")
    shutil.make_archive(str(tmp_path / "data" / "dbdc3" / "DBDC3"), "zip", raw.parent, "DBDC3")
    con = build_data(tmp_path / "data")
    assert con.execute("select count(*) from main.records").fetchall() == [(2,)]
    assert con.execute("select count(*) from dbdc3.breakdown_detection").fetchall() == [(2,)]
    assert con.execute("select count(*) from meta.findings where rule = 'DB-03'").fetchall() == [(1,)]


def expected_rows(log: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return the rows of the task for one log: annotated turns of anybody but U, in order."""
    found = []
    for index, turn in enumerate(log["turns"]):
        labels = [label["breakdown"] for label in turn.get("annotations") or []]
        if turn["speaker"] == "U" or not set(labels) & set("OTX"):
            continue
        share = distribution(labels)
        before = [earlier["utterance"] for earlier in log["turns"][:index]]
        found.append(
            (index, before, turn["utterance"], *share, strict(share, 0.0), strict(share, 0.5), lenient(share, 0.0))
        )
    return found


@pytest.mark.slow
@invented_builds(15)
@given(logs=st.lists(LOG, min_size=1, max_size=6))
def test_logs_give_the_rows_of_the_script(logs: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("logs")
    raw = folder / "data" / "dbdc3"
    for number, log in enumerate(logs):
        path = raw / f"release_{number % 2}" / "en" / "dev" / f"subset_{number}" / "x.log.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(log, ensure_ascii=bool(number % 2)), encoding="utf-8")
    build(folder / "w.duckdb", Silent(), data=folder / "data")
    with talkhouse.open(folder / "w.duckdb") as con:
        for number, log in enumerate(logs):
            rows = con.execute(
                "select turn_index, context, utterance, prob_o, prob_t, prob_x, label, label_at_half, lenient_label "
                "from dbdc3.breakdown_detection where release = ? and subset = ? order by example_index",
                [f"release_{number % 2}", f"subset_{number}"],
            ).fetchall()
            assert rows == expected_rows(log)
