"""human_annotations.json in layouts that it may have: rules find modes, turns and dialogues, and nothing is lost."""

import json
from pathlib import Path
from typing import Any

import pytest

from talkhouse.ingest.corpora.blended_skill_talk import CORPUS
from talkhouse.ingest.registry import sample_of
from talkhouse.restore.write_back import write_back
from tests.conftest import Build

EPISODES: list[dict[str, Any]] = json.loads((sample_of(CORPUS) / "valid.json").read_text(encoding="utf-8"))
DIALOG = [text for _, text in EPISODES[0]["dialog"]]
FIRST = "blended_skill_talk:valid:0"

FOUND = [(FIRST, 3, "knowledge"), (FIRST, 3, "empathy"), (FIRST, 2, "personal_situations")]
"""Turn 1 of the first dialogue shows two modes, turn 0 one; the seeds stand before them in the tables."""

LAYOUTS: dict[str, tuple[Any, list[tuple[str | None, int | None, str]]]] = {
    "numbers": (
        [
            {"episode_idx": 0, "turn_idx": 1, "modes": ["knowledge", "empathy"]},
            {"episode_idx": 0, "turn_idx": 0, "modes": ["Personal Situations"]},
        ],
        FOUND,
    ),
    "words": (
        [{"utterance": DIALOG[1], "know": 1, "empathetic": 1}, {"utterance": DIALOG[0], "personalSituation": 1}],
        FOUND,
    ),
    "keys of objects": ({"0": {"1": ["knowledge", "empathy"], "0": ["personal_situation"]}}, FOUND),
    "named keys": ({"episode_0": {"turn_1": {"know": 1, "empathy": 1}, "turn_0": {"situation": 1}}}, FOUND),
    "whole dialogues": (
        [
            {
                "dialog": [
                    {"text": DIALOG[0], "annotation": "personal_situation"},
                    {"text": DIALOG[1], "labels": {"uses_knowledge": True, "uses-empathy": True}},
                ]
            }
        ],
        [FOUND[2], *FOUND[:2]],
    ),
    "a list for each dialogue": (
        [[["personal situations"], ["knowledge", "empathy"]], *([] for _ in EPISODES[1:])],
        [FOUND[2], *FOUND[:2]],
    ),
    "annotators": (
        [{"conversation_id": "0", "turn_id": "1", "annotator_1": {"know": True}, "annotator_2": {"empathy": True}}],
        FOUND[:2],
    ),
    "a turn that is not there": ([{"dialog_id": 0, "turn": 99, "mode": "know"}], [(FIRST, None, "knowledge")]),
    "a number that no column holds": ({"9" * 5000: {"know": 1}}, [(None, None, "knowledge")]),
    "no dialogue": ([{"turn": 4, "mode": "know"}], [(None, 4, "knowledge")]),
}


@pytest.mark.parametrize(
    "layout", [pytest.param(name, marks=[] if name == "words" else pytest.mark.slow) for name in LAYOUTS]
)
def test_modes_and_turns_are_found_however_they_are_told(layout: str, build_data: Build, tmp_path: Path) -> None:
    content, expected = LAYOUTS[layout]
    folder = tmp_path / "data" / CORPUS.id
    folder.mkdir(parents=True)
    (folder / "valid.json").write_text(json.dumps(EPISODES))
    (folder / "human_annotations.json").write_text(json.dumps(content))
    con = build_data(tmp_path / "data")
    query = "select dialogue_id, turn_index, mode from blended_skill_talk.human_annotation order by example_index"
    assert con.execute(query).fetchall() == expected
    write_back(con, CORPUS, tmp_path / "out")
    assert json.loads((tmp_path / "out" / "human_annotations.json").read_text()) == content


def test_what_is_not_understood_is_named(build_data: Build, tmp_path: Path) -> None:
    folder = tmp_path / "data" / CORPUS.id
    folder.mkdir(parents=True)
    (folder / "human_annotations.json").write_text(json.dumps([{"know": 1, "qz": 7, "who": "A1"}]))
    con = build_data(tmp_path / "data")
    ((detail,),) = con.execute("select detail from meta.findings where rule = 'BS-11'").fetchall()
    assert detail.startswith("1 labels of modes found, 0 of them on turns of the validation file")
    assert detail.endswith("; not understood, and kept: 'qz', 'who'")
