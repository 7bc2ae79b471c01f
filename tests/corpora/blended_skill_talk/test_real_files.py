"""Blended Skill Talk: what the rules give on the publisher's own files, all or some of them (set TALKHOUSE_DATA)."""

import ast
import json
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import pytest

import talkhouse
from talkhouse.ingest.corpora.blended_skill_talk import CORPUS
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from tests.corpora.blended_skill_talk.rules import Topicifier, acts, clean_acts, contexts
from tests.corpora.blended_skill_talk.test_blended_skill_talk import columns, numbered, write_json
from tests.data_files import data_of

pytestmark = pytest.mark.slow

EPISODES = {"train": (4_819, 27_018), "valid": (1_009, 5_651), "test": (980, 5_482)}
"""Episodes and examples of the whole release, from ParlAI's tests."""

SAFE_IN_TRAIN = 3_890

ED, WOW = "empathetic_dialogues", "wizard_of_wikipedia"

TOPICIFIED = {
    "convai2_persona_topicifier": {"train": (17_878, 131_438), "valid": (1_000, 7_801), "test": (1_000, 7_801)},
    "ed_persona_topicifier": {"train": (39_057, 64_636), "valid": (2_769, 5_738), "test": (2_547, 5_259)},
    "wow_persona_topicifier": {"train": (18_430, 74_092), "valid": (981, 3_939), "test": (965, 3_865)},
}
"""Episodes and examples of the persona topicifier's teachers, from ParlAI's tests before they were taken out."""

FIRST_ACTS: dict[str, list[tuple[Any, ...]]] = {
    "train": [
        (ED, 5, 191, "47a28c008eec", "3fd75cca636b", " ", False, None),
        (ED, 1, 16, "6708a248baaf", "f3b25c272091", " ", False, None),
        (ED, 1, 52, "20bf599a7b04", "70a8daf962a3", " ", False, None),
        (ED, 1, 33, "7e5e7f0fb1ff", "ee1de0061984", " ", False, None),
        (ED, 1, 45, "fba339ffc385", "6782554c3410", " ", False, None),
    ],
    "valid": [
        (WOW, 6, 283, "94bbdd57c482", "c2ae05867aef", "", False, "0b5402a00a32"),
        (WOW, 1, 53, "3bce52ac06dc", "f990ab11c03d", "", False, "5013e1154af3"),
        (WOW, 1, 49, "ea6381f51ac7", "99a76f5b23fb", "", False, "aac85de5cbcd"),
        (WOW, 1, 71, "a2cc2004dbc0", "4ce09e076805", "", False, "0550cd7ffa17"),
        (WOW, 1, 55, "48255526fdb1", "f5cec2dfb2c3", "", False, "0fd38dcf14e9"),
    ],
    "test": [
        (WOW, 6, 228, "9638c9143256", "d235d01c13f3", "wizard_of_wikipedia", False, "ade9ce7609e8"),
        (WOW, 1, 93, "194b3a393e7e", "5e80c9e13d1b", "", False, "0b4097e07164"),
        (WOW, 1, 136, "b00a65c21292", "0d3dde5d5239", "", True, "67b264576e5a"),
        (ED, 5, 213, "3339e163349f", "927d6fe07e82", "", False, "c544553f4acf"),
        (ED, 1, 125, "a99286a9d2eb", "d28799d1841c", "", False, "75698db141e7"),
    ],
}
"""The first acts of each split as ParlAI's regression files have them: data set, lines and characters of the text,
hashes of text and label, chosen suggestion, end of episode, hash of the last candidate with its blank."""


def published(folder: Path, split: str) -> list[dict[str, Any]]:
    path = folder / f"{split}.json"
    if not path.is_file():
        pytest.skip(f"there is no {path.name}")
    found: list[dict[str, Any]] = json.loads(path.read_bytes())
    return found


def text_of(folder: Path, name: str) -> str:
    path = folder / name
    if not path.is_file():
        pytest.skip(f"there is no {name}")
    return path.read_bytes().decode()


def lines_of(folder: Path, name: str) -> list[str]:
    return text_of(folder, name).removesuffix("\n").split("\n")


def mark(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]


@pytest.mark.parametrize("split", FIRST_ACTS)
def test_the_first_acts_are_those_of_the_reference(split: str, real: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """As many of the five as the file has episodes for."""
    published(folder, split)
    wanted = "context_dataset, text, label, guided_chosen_suggestion, episode_done, label_candidates"
    found: list[tuple[Any, ...]] = [
        (name, text.count("\n") + 1, len(text), mark(text), mark(label), *rest, some and mark(some[-1]))
        for name, text, label, *rest, some in columns(real, "guided_response", wanted, split)
    ]
    assert found[: len(FIRST_ACTS[split])] == FIRST_ACTS[split][: len(found)]


@pytest.mark.parametrize("split", EPISODES)
def test_every_act_is_that_of_the_rules(split: str, real: duckdb.DuckDBPyConnection, folder: Path) -> None:
    episodes = published(folder, split)
    for view, rule in (("guided_response", acts), ("guided_response_clean", clean_acts)):
        expected = [act for episode in episodes for act in rule(episode)]
        found = columns(real, view, ", ".join(expected[0]), split)
        assert [dict(zip(expected[0], row, strict=True)) for row in found] == expected, view
    if len(episodes) >= EPISODES[split][0]:
        assert (len(episodes), len(expected)) == EPISODES[split]


def test_acts_are_those_that_the_reference_code_made(real: duckdb.DuckDBPyConnection, real_data: Path) -> None:
    """Its rows may be in a folder 'expected' next to TALKHOUSE_DATA, for files with just these episodes."""
    path = real_data.parent / "expected" / "blended_skill_talk.guided_response.jsonl"
    if not path.is_file():
        pytest.skip(f"there is no {path}")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row["turn_index"] = row.pop("turn_index@seeds")
    for split in {row["split"] for row in rows}:
        expected = [row for row in rows if row["split"] == split]
        found = columns(real, "guided_response", ", ".join(rows[0]), split)[: len(expected)]
        assert [dict(zip(rows[0], row, strict=True)) for row in found] == expected


@pytest.mark.parametrize("split", EPISODES)
def test_safe_contexts_are_those_of_the_rules(split: str, real: duckdb.DuckDBPyConnection, folder: Path) -> None:
    episodes = published(folder, split)
    lines = lines_of(folder, "safe_personas.txt")
    found = columns(real, "persona_context", "free_context, guided_context, is_safe", split)
    assert found == [contexts(episode, lines) for episode in episodes]
    if split == "train" and len(episodes) >= EPISODES[split][0]:
        assert sum(is_safe for *_, is_safe in found) == SAFE_IN_TRAIN


@pytest.mark.parametrize(
    ("name", "subset", "count", "repeated"),
    [
        ("persona_list.txt", "persona_list", 17_878, 310),
        ("topic_to_persona_list.txt", "topic_to_persona_list", 1_469, 0),
        ("safe_personas.txt", "safe_personas", 16_434, 599),
    ],
)
def test_lists_are_counted_with_their_repetitions(
    name: str, subset: str, count: int, repeated: int, real: duckdb.DuckDBPyConnection, folder: Path
) -> None:
    text_of(folder, name)
    assert real.execute(
        "select count(*) from main.records where corpus_id = ? and subset = ?", [CORPUS.id, subset]
    ).fetchall() == [(count,)]
    distinct = data_of(__file__)["distinct"]
    if subset != "topic_to_persona_list":
        assert real.execute(distinct, [subset]).fetchall() == [(count - repeated,)]


def test_every_topic_and_persona_is_chosen_by_the_rules(folder: Path, tmp_path: Path) -> None:
    """The published lists, with an invented episode for each topic and each persona."""
    published_personas, lines = text_of(folder, "persona_list.txt"), lines_of(folder, "topic_to_persona_list.txt")
    topics = [(topic, ast.literal_eval("[" + rest)) for topic, rest in [line.split(": [", 1) for line in lines]]
    chooser = Topicifier(published_personas, topics)
    personas = [persona.strip().split("\n") for persona in chooser.personas]
    raw = tmp_path / "data" / "blended_skill_talk"
    (raw / "convai2").mkdir(parents=True)
    for name in ("persona_list.txt", "topic_to_persona_list.txt"):
        shutil.copy(folder / name, raw)
    episodes = numbered([(persona, ["hi"]) for persona in personas])
    (raw / "convai2" / "valid_self_original.txt").write_text(episodes, encoding="utf-8")
    turns = [{"speaker": "1_Apprentice", "text": "hi"}, {"speaker": "0_Wizard", "text": "hello"}]
    asked = [{"chosen_topic": topic, "dialog": turns, "persona": ""} for topic, _ in topics]
    write_json(raw / "wizard_of_wikipedia" / "valid_random_split.json", asked)
    build(tmp_path / "w.duckdb", Silent(), data=tmp_path / "data")
    with talkhouse.open(tmp_path / "w.duckdb") as con:
        found = columns(con, "convai2_persona_topicifier", "text", "valid")
        assert found == [(chooser.with_topic("\n".join([*persona, "hi"])),) for persona in personas]
        found = columns(con, "wow_persona_topicifier", "text", "valid")
        assert found == [(chooser.with_persona(f"{topic}\nhi"),) for topic, _ in topics]


@pytest.mark.parametrize(("task", "split"), [(task, split) for task in TOPICIFIED for split in EPISODES])
def test_the_topicifier_makes_as_many_examples_as_published(
    task: str, split: str, real: duckdb.DuckDBPyConnection
) -> None:
    """Episodes and examples, where the files of a split are given whole; train is the default variant of ED's."""
    variant = "and variant = 'both_sides'" if (task, split) == ("ed_persona_topicifier", "train") else ""
    query = f"select count(distinct record_id), count(*) from blended_skill_talk.{task} where split = ? {variant}"
    found = real.execute(query, [split]).fetchall()[0]
    if found[0] < TOPICIFIED[task][split][0]:
        pytest.skip(f"{task} of {split} is not given whole")
    assert found == TOPICIFIED[task][split]
