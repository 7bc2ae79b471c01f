"""MPChat: the worked example to the character, one thread in three files, and invented dialogues there and back."""

import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import talkhouse
from talkhouse.ingest.corpora.mpchat import CORPUS
from talkhouse.ingest.progress import Silent
from talkhouse.load.request import QuarantineLimit
from talkhouse.load.run import build
from tests.conftest import Build, invented_builds
from tests.corpora.mpchat.rules import LIMIT, TASKS, Json
from tests.corpora.unusual import assert_comes_back
from tests.data_files import data_of
from tests.lanes import first_quick

HERE = Path(__file__).parent
COLUMNS = data_of(__file__)["columns"]
"""The published columns of each task, without those that say where an example stands."""


def found(con: duckdb.DuckDBPyConnection, task: str, split: str) -> list[tuple[Any, ...]]:
    query = f"select {COLUMNS[task]} from mpchat.{task} where split = ? order by example_index"
    return con.execute(query, [split]).fetchall()


@pytest.fixture
def case(build_data: Build, tmp_path: Path) -> Any:
    def run(name: str) -> duckdb.DuckDBPyConnection:
        shutil.copytree(HERE / name / "raw", tmp_path / "data" / "mpchat")
        return build_data(tmp_path / "data")

    return run


@pytest.mark.parametrize("rule", first_quick(["MP-03", "MP-04", "MP-05"]))
def test_a_rejected_example_is_a_finding_and_no_row(rule: str, case: Any) -> None:
    con = case(f"broken/{rule}")
    rejected = "select record_id, task, turn_index from meta.findings where severity = 'reject_example'"
    rows = con.execute(rejected).fetchall()
    assert {task for _, task, _ in rows} == set(TASKS)
    for record_id, task, turn_index in rows:
        query = (
            "select count(*) from main.examples where record_id = ? and task = ? and turn_index is not distinct from "
        )
        query += "coalesce(?, turn_index)"
        assert con.execute(query, [record_id, task, turn_index]).fetchall() == [(0,)]
    assert con.execute("select count(*) from main.examples").fetchall()[0][0] > 0


@pytest.mark.slow
def test_longer_lists_are_cut_and_a_response_list_is_not(case: Any) -> None:
    con = case("broken/MP-04")
    assert con.execute("select len(candidate_ids) from mpchat.grounding_persona_prediction").fetchall() == [(100,)]
    assert con.execute("select len(candidate_texts) from mpchat.speaker_identification").fetchall() == [(100,)]
    assert con.execute("select count(*) from mpchat.next_response_prediction").fetchall() == [(0,)]
    query = "select max(position) from main.candidates group by record_id, candidate_set order by all"
    assert con.execute(query).fetchall() == [(98,)] * 3 + [(100,)] * 3


@pytest.mark.slow
def test_a_persona_of_a_rejected_dialogue_is_still_there_for_the_next(build_data: Build, tmp_path: Path) -> None:
    folder = tmp_path / "data" / "mpchat"
    folder.mkdir(parents=True)
    mug, nameless = element("m", "mug"), {"id": "x", "title": "no picture"}
    dialogues = [
        dialogue_of(["ann"], ["one"], "a") | {"candidate_personas": [mug, nameless]},
        dialogue_of(["ann"], ["two"], "b") | {"candidate_personas": [mug]},
    ]
    (folder / "mpchat_nrp.json").write_text(json.dumps({"train": dialogues, "val": [], "test": []}))
    con = build_data(tmp_path / "data")
    assert con.execute("select rule from meta.quarantine").fetchall() == [("MP-06",)]
    assert con.execute("select persona_text from mpchat.next_response_prediction").fetchall() == [("mug",)]


# Invented dialogues.


def element(native_id: str, title: str) -> Json:
    return {"id": native_id, "title": title, "file_name": f"{native_id}.jpg", "created_utc": 1}


def dialogue_of(authors: list[str], messages: list[str], suffix: str) -> Json:
    ids = [f"{suffix}{turn}" for turn in range(len(messages))]
    dialogue = {"main_author": "ann", "authors": authors, "messages": messages, "message_ids": ids, "has_image": False}
    return dialogue | {"candidate_personas": [element("m", "mug")]}


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NUMBER = st.integers(-5, 2**40) | st.floats(allow_nan=False, allow_infinity=False) | st.none()
ID = st.sampled_from(["a", "b", "c", "d~1", "", "é/~"])
ELEMENT = st.fixed_dictionaries(
    {"id": ID, "title": TEXT, "file_name": TEXT},
    optional={
        "score": NUMBER,
        "created_utc": NUMBER,
        "created_utcs": NUMBER,
        "author": TEXT | st.none(),
        "direct_url": TEXT | st.none(),
        "subreddit": TEXT | st.none(),
        "label_overall": st.sampled_from(["E", "I", "(strong) E", "?", None]),
        "label_per_worker": st.lists(
            st.tuples(TEXT | st.none() | st.integers(0, 3), st.sampled_from([0, 1, 1.0, True, None])).map(list),
            max_size=3,
        )
        | st.none(),
        "x new": st.none() | TEXT | st.lists(NUMBER, max_size=2),
        "fields": st.integers(0, 3),
    },
).flatmap(lambda item: st.permutations(list(item)).map(lambda order: {name: item[name] for name in order}))
POOL = st.lists(ELEMENT, min_size=3, max_size=8)
AUTHOR = st.sampled_from(["ann", "bob", "é '\""])
SIZE = st.sampled_from([1, 1, 2, 3, 0, 4, 5, 6])
COUNT = st.sampled_from([LIMIT] * 6 + [LIMIT - 1, LIMIT + 1, 0])


@st.composite
def shared_fields(draw: st.DrawFn) -> Json:
    authors = draw(st.lists(AUTHOR, min_size=1, max_size=4))
    dialogue: Json = {"main_author": draw(st.sampled_from([*authors, *authors, "ann"])), "authors": authors}
    dialogue["messages"] = draw(st.lists(TEXT, min_size=len(authors), max_size=len(authors)))
    dialogue["has_image"] = draw(st.booleans())
    if dialogue["has_image"] or draw(st.booleans()):
        dialogue["file_name"] = draw(TEXT)
    optional = {
        "message_ids": st.lists(st.sampled_from(["p", "q", "r~"]), min_size=len(authors), max_size=len(authors)),
        "created_utcs": st.lists(NUMBER, min_size=len(authors), max_size=len(authors)),
        "subreddit": TEXT,
        "direct_url": TEXT,
    }
    for name, values in optional.items():
        if draw(st.booleans()):
            dialogue[name] = draw(st.none() | values)
    if draw(st.booleans()):
        dialogue["x/new"] = draw(st.dictionaries(TEXT, NUMBER, max_size=2))
    return dialogue


@st.composite
def dialogues(draw: st.DrawFn, subset: str, split: str, pool: list[Json]) -> Json:
    """Draw a dialogue of one of the files; most make examples, some break a rule that rejects one."""
    dialogue = draw(shared_fields())
    some = lambda: [draw(st.sampled_from(pool)) for _ in range(draw(SIZE))]  # noqa: E731
    if draw(st.booleans()):
        dialogue["all_personas"] = draw(st.none() | st.just(pool))
    has_candidates = draw(st.sampled_from([split != "train"] * 9 + [split == "train"]))
    fill: dict[str, Any] = {"nrp": _responses, "gpp": _groundings, "si": _speakers}
    fill[subset](draw, dialogue, some, pool, has_candidates=has_candidates)
    return {name: dialogue[name] for name in draw(st.permutations(list(dialogue)))}


def _per_turn(draw: st.DrawFn, dialogue: Json, some: Any) -> list[Any]:
    return [draw(st.sampled_from([None, []])) if draw(st.integers(0, 4)) == 4 else some() for _ in dialogue["messages"]]


def _responses(draw: st.DrawFn, dialogue: Json, some: Any, _: list[Json], *, has_candidates: bool) -> None:
    dialogue["candidate_personas"] = some()
    if draw(st.booleans()):
        dialogue["grounded_personas"], dialogue["ungrounded_personas"] = _per_turn(draw, dialogue, some), None
    if has_candidates:
        others = draw(st.lists(TEXT, min_size=1, max_size=3))
        dialogue["nrp_candidate_responses"] = [
            ([draw(st.sampled_from([text] * 5 + ["no"])), *others * LIMIT])[: draw(COUNT)]
            for text in dialogue["messages"]
        ]


def _groundings(draw: st.DrawFn, dialogue: Json, some: Any, pool: list[Json], *, has_candidates: bool) -> None:
    gold = [draw(st.sampled_from([None, *pool])) for _ in dialogue["messages"]]
    dialogue["gpp_grounded_persona"], dialogue["gpp_candidate_personas"] = gold, _per_turn(draw, dialogue, some)
    if has_candidates:
        firsts = [draw(st.sampled_from([persona] * 5 + [pool[0]])) or pool[0] for persona in gold]
        dialogue["gpp_candidate_authors_candidate_personas"] = [[own, *pool * LIMIT][: draw(COUNT)] for own in firsts]


def _speakers(draw: st.DrawFn, dialogue: Json, some: Any, pool: list[Json], *, has_candidates: bool) -> None:
    main = dialogue["si_main_author_candidate_personas"] = some()
    if has_candidates:
        first = draw(st.sampled_from([main] * 5 + [pool[:1]]))
        others = [pool[at : at + 2] for at in range(len(pool) - 1)] + ([[]] if draw(st.integers(0, 9)) == 0 else [])
        dialogue["si_candidate_authors_candidate_personas"] = [first, *others * LIMIT][: draw(COUNT)]


@st.composite
def corpora(draw: st.DrawFn) -> dict[str, dict[str, list[Json]]]:
    pool = draw(POOL)
    return {
        subset: {
            split: draw(st.lists(dialogues(subset, split, pool), min_size=1, max_size=3))
            for split in ("train", "val", "test")
        }
        for subset in ("nrp", "gpp", "si")
    }


@pytest.mark.slow
@invented_builds(15)
@given(files=corpora())
def test_invented_dialogues_give_the_rows_of_the_rules_and_come_back_equal(
    files: dict[str, dict[str, list[Json]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("dialogues")
    raw = folder / "data" / "mpchat"
    raw.mkdir(parents=True)
    (raw / "dialog_image_urls.json").write_text("{}")
    texts = {f"mpchat_{subset}.json": json.dumps(splits) for subset, splits in files.items()}
    for name, text in texts.items():
        (raw / name).write_text(text)
    build(folder / "w.duckdb", Silent(), data=folder / "data", limit=QuarantineLimit("0"))
    with talkhouse.open(folder / "w.duckdb") as con:
        for task, (subset, rows) in TASKS.items():
            for split, some in files[subset].items():
                expected = [row for dialogue in some for row in rows(dialogue, split)]
                assert found(con, task, split) == expected, (task, split)
        assert_comes_back(con, CORPUS, {name: text.encode() for name, text in texts.items()}, folder / "out")
