"""human_annotations.json: a row belongs to the turn at its place in its dialogue, or to none."""

import json
from pathlib import Path
from typing import Any

import talkhouse
from talkhouse.ingest.corpora.blended_skill_talk import CORPUS
from tests.corpora.blended_skill_talk.clauses import MODES, ROW
from tests.corpora.blended_skill_talk.test_restore import EPISODE
from tests.corpora.unusual import assert_same, built, json_text, restored

DIALOG = ["a", "b", "a", "c", "d", "e"]
"""Its first four turns are annotated; one text stands there twice."""

RUNS: list[tuple[int, list[tuple[str, int | None]]]] = [
    (1, [("a", 2), ("b", 3), ("a", 4), ("c", 5)]),
    (0, [("a", None), ("a", None), ("b", None), ("c", 5)]),  # not in order
    (2, [("a", None), ("b", 3)]),
    (9, [("a", None)]),  # past the end
    (2, [("a", None), ("c", None)]),  # interrupted
    (3, [("a", None), ("b", 3), ("a", None), ("c", 5), ("d", 6)]),  # one too many
    (4, [("a", None), ("B", None), ("a", None), ("c", 5)]),  # other words
]
"""For each row of a run of an ``internal_id``: the words, and the turn that is certain to be meant."""


def test_a_row_belongs_to_the_turn_at_its_place_if_that_is_certain(tmp_path: Path) -> None:
    turns = [[place % 2, text] for place, text in enumerate(DIALOG)]
    by_turn = {"suggestions": EPISODE["suggestions"] * 3, "chosen_suggestions": [""] * len(DIALOG)}
    episodes = [EPISODE | by_turn | {"dialog": turns} for _ in range(5)]
    rows: list[dict[str, Any]] = [
        ROW | {"internal_id": number, "text": text, MODES[place % 4]: False}
        for number, run in RUNS
        for place, (text, _) in enumerate(run)
    ]
    texts = {"valid.json": json_text(episodes, "plain"), "human_annotations.json": json_text({"data": rows}, "plain")}
    path = built(tmp_path, CORPUS, texts)
    with talkhouse.open(path) as con:
        query = """
            select distinct on (record_id) native_id::integer, dialogue_id, turn_index, text,
            from blended_skill_talk.human_annotation order by record_id.split('/')[-1]::integer
        """
        assert con.execute(query).fetchall() == [
            (number, None if turn is None else f"blended_skill_talk:valid:{number}", turn, text)
            for number, run in RUNS
            for text, turn in run
        ]
        query = "select label from blended_skill_talk.human_annotation order by example_index"
        labels = [label for (label,) in con.execute(query).fetchall()]
        assert labels == [json.dumps(row[name]) for row in rows for name in MODES]
    restored(CORPUS, path, tmp_path / "out")
    for name, text in texts.items():
        assert_same(text, (tmp_path / "out" / name).read_bytes())
