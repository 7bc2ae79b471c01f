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
from talkhouse.build.progress import Silent
from talkhouse.build.run import build
from talkhouse.ingest.corpora.dbdc3 import CORPUS
from talkhouse.ingest.corpora.dbdc3.format import family, folder_facts
from talkhouse.restore.write_back import write_back
from tests.conftest import Build, invented_builds

# The rules of the challenge's script, written from its description and not from our SQL.


def distribution(labels: list[str]) -> list[float]:
    """Share of O, T and X; every other label is ignored."""
    counts = [labels.count("O"), labels.count("T"), labels.count("X")]
    return [count / sum(counts) for count in counts]


def strict(share: list[float], threshold: float) -> str:
    best = max(share)
    winner = "OTX"[share.index(best)]
    return winner if best >= threshold else "O"


def lenient(share: list[float], threshold: float) -> str:
    breakdown = share[1] + share[2]
    if share[0] >= breakdown and share[0] >= threshold:
        return "O_l"
    return "X_l" if breakdown >= share[0] and breakdown >= threshold else "O_l"


def test_worked_example(build_data: Build, tmp_path: Path) -> None:
    """The published rows for dialogue d1, at the thresholds 0, 0.5 and 0.6."""
    (tmp_path / "data").mkdir()
    raw = Path(__file__).parent / "golden" / "worked_example" / "raw"
    (tmp_path / "data" / "dbdc3").symlink_to(raw, target_is_directory=True)
    con = build_data(tmp_path / "data", follow_links=True)
    share = "prob_o, prob_t, prob_x"
    rows = con.execute(
        f"select turn_index, utterance, context, prob_o, prob_t, prob_x, label, label_at_half, "
        f"dbdc3.strict_label({share}, 0.6), lenient_label, dbdc3.lenient_label({share}, 0.5) "
        "from dbdc3.breakdown_detection order by example_index"
    ).fetchall()
    assert rows == [
        (2, "Bananas?", ["Hello.", "hi"], 0.2, 0.3, 0.5, "X", "X", "O", "X_l", "X_l"),
        (4, "", ["Hello.", "hi", "Bananas?", "what"], 0.5, 10 / 30, 5 / 30, "O", "O", "O", "O_l", "O_l"),
    ]


def test_macros_follow_the_script_for_every_count_and_threshold(con: duckdb.DuckDBPyConnection) -> None:
    """All distributions of 30 votes, at every threshold that is a multiple of 0.05, and at 0.9 in doubles."""
    counts = [(o, t, 30 - o - t) for o in range(31) for t in range(31 - o)]
    thresholds = [round(0.05 * step, 2) for step in range(21)]
    expected = []
    for o, t, x in counts:
        share = distribution(["O"] * o + ["T"] * t + ["X"] * x)
        expected += [(o, t, x, th, strict(share, th), lenient(share, th)) for th in thresholds]
    query = """
        select o, t, 30 - o - t as x, threshold,
            dbdc3.strict_label(o / 30, t / 30, (30 - o - t) / 30, threshold),
            dbdc3.lenient_label(o / 30, t / 30, (30 - o - t) / 30, threshold)
        from range(31) as os(o), range(31) as ts(t), (select unnest(?::double[]) as threshold)
        where o + t <= 30
        order by o, t, threshold
    """
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


OLDER = Path(__file__).parent / "golden" / "older_japanese" / "raw"


def test_the_older_japanese_archives_load_as_they_are_named(build_data: Build, tmp_path: Path) -> None:
    data = tmp_path / "data" / "dbdc3"
    for folder in OLDER.iterdir():
        shutil.make_archive(str(data / folder.name), "zip", folder)
    con = build_data(tmp_path / "data")
    found = con.execute("""
        select release, language, split, standard_split, subset, name, count(*)
        from main.records join main.dialogues using (dialogue_id)
            left join main.participants using (dialogue_id)
            left join main.speakers using (speaker_id)
        where role = 'system' and release is not null
        group by all
        order by all
    """).fetchall()
    second = [
        ("dbdc2", "ja", split, standard, bot, bot, 1)
        for split, standard in (("dev", "validation"), ("eval", "test"))
        for bot in ("DCM", "DIT", "IRS")
    ]
    assert found == [
        ("chat_dialogue_corpus", "ja", "dev", "validation", "init100", "DCM", 1),
        ("chat_dialogue_corpus", "ja", "dev", "validation", "rest1046", "DCM", 2),
        ("dbdc1", "ja", "dev", "validation", "DCM", "DCM", 1),
        ("dbdc1", "ja", "eval", "test", "DCM", "DCM", 1),
        *second,
    ]
    findings = (
        "select rule, source_file_id, detail from meta.findings where rule not in ('TH-05', 'TH-08') order by all"
    )
    assert con.execute(findings).fetchall() == [
        (
            "DB-09",
            "dbdc3/en.zip!test/IRIS_50/iris_60001.log.json",
            "the place of the logs in 'en/test/IRIS_50' does not say the release",
        ),
        (
            "DB-09",
            "dbdc3/somewhere.zip!6400000001.log.json",
            "the place of the logs in 'somewhere' does not say the release, language, split, bot",
        ),
    ]


def test_a_talk_is_one_row_however_often_it_is_published(con: duckdb.DuckDBPyConnection) -> None:
    published = """
        select count(*), count(distinct release), count(distinct dialogue_id)
        from main.records
        where native_id = 'CIC9001' and release is not null
    """
    assert con.execute(published).fetchall() == [(3, 3, 1)]
    assert con.execute("select count(*) from main.dialogues where native_id = 'CIC9001'").fetchall() == [(1,)]
    background = """
        select count(distinct background), count(background) = count(*)
        from dbdc3.breakdown_detection
        where native_id = 'CIC9001'
    """
    assert con.execute(background).fetchall() == [(1, True)]


@pytest.mark.slow
def test_paragraphs_given_twice_are_both_kept(build_data: Build, tmp_path: Path) -> None:
    raw = Path(__file__).parent / "golden" / "releases" / "raw"
    shutil.copytree(raw, tmp_path / "data" / "dbdc3")
    for form in ("zip", "gztar"):
        packed = tmp_path / "data" / "dbdc3" / "DBDC3_context"
        shutil.make_archive(str(packed), form, packed.parent, "DBDC3_context")
    con = build_data(tmp_path / "data")
    kept = "select count(*), count(distinct record_id) from main.records where subset = 'context'"
    assert con.execute(kept).fetchall() == [(4, 4)]
    restored = write_back(con, CORPUS, tmp_path / "out", archives=True).files
    assert {path.relative_to((tmp_path / "out").resolve()).parts[0] for path in restored} == {
        "CIC_json_data",
        "DBDC3",
        "DBDC3_context",
        "DBDC3_context.tar.gz",
        "DBDC3_context.zip",
    }


@pytest.mark.slow
def test_a_refused_file_keeps_its_byte_order_mark(build_data: Build, tmp_path: Path) -> None:
    raw = Path(__file__).parent / "golden" / "worked_example" / "raw"
    shutil.copytree(raw, tmp_path / "data" / "dbdc3")
    broken = b'\xef\xbb\xbf{"turns": ['
    (tmp_path / "data" / "dbdc3" / "x.log.json").write_bytes(broken)
    con = build_data(tmp_path / "data")
    assert con.execute("select raw from meta.quarantine").fetchall() == [(broken,)]
    write_back(con, CORPUS, tmp_path / "out")
    assert (tmp_path / "out" / "x.log.json").read_bytes() == broken


@pytest.mark.slow
def test_a_file_given_twice_makes_its_examples_once(build_data: Build, tmp_path: Path) -> None:
    raw = Path(__file__).parent / "golden" / "worked_example" / "raw" / "DBDC3"
    shutil.copytree(raw, tmp_path / "data" / "dbdc3" / "DBDC3")
    shutil.make_archive(str(tmp_path / "data" / "dbdc3" / "DBDC3"), "zip", raw.parent, "DBDC3")
    con = build_data(tmp_path / "data")
    assert con.execute("select count(*) from main.records").fetchall() == [(2,)]
    assert con.execute("select count(*) from dbdc3.breakdown_detection").fetchall() == [(2,)]
    assert con.execute("select count(*) from meta.findings where rule = 'DB-03'").fetchall() == [(1,)]


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
MAYBE = st.sampled_from(["", None])
LABEL = st.fixed_dictionaries(
    {"breakdown": st.sampled_from(["O", "T", "X", "?"])},
    optional={
        "annotator-id": TEXT | st.none(),
        "ungrammatical-sentence": MAYBE | st.just("O"),
        "comment": MAYBE | TEXT,
    },
)
TIME = st.sampled_from(["", None, "2017-08-30 16:48:20", "2017-8-30", "2017-02-30 00:00:00"])
TURN_OPTIONS = {
    "turn-index": st.integers(-1, 5) | st.just(1.0) | st.none(),
    "time": TIME,
    "annotation-id": TEXT | st.none(),
    "x-new": st.none() | TEXT | st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=2),
}
SYSTEM = st.fixed_dictionaries(
    {"speaker": st.sampled_from(["S", "B"]), "utterance": TEXT, "annotations": st.lists(LABEL, max_size=4)},
    optional=TURN_OPTIONS,
)
USER = st.fixed_dictionaries(
    {"speaker": st.just("U"), "utterance": TEXT},
    optional={"annotations": st.none() | st.lists(LABEL, max_size=2), **TURN_OPTIONS},
)
LOG = st.fixed_dictionaries(
    {"dialogue-id": st.sampled_from(["CIC1", "iris_1", "7"]), "turns": st.lists(SYSTEM | USER, max_size=4)},
    optional={
        "group-id": MAYBE | TEXT,
        "speaker-id": MAYBE | TEXT,
        "x-new": st.dictionaries(TEXT, st.none() | TEXT, max_size=2),
    },
)


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
def test_invented_logs_give_the_script_s_rows_and_come_back_equal(
    logs: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
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
        write_back(con, CORPUS, folder / "out")
    for path in raw.rglob("*.json"):
        came = json.loads(path.read_text(encoding="utf-8"))
        went = json.loads((folder / "out" / path.relative_to(raw)).read_text(encoding="utf-8"))
        assert json.dumps(went) == json.dumps(came)
