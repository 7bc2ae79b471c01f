"""Views of what hangs on a turn: spans, parts and their responses, replies, several speakers."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from talkhouse.load.base_copy import open_template
from talkhouse.queries.catalogue import catalogue
from tests.queries.bi_rows import A_CORPUS, by, read

TURNS: list[tuple[Any, ...]] = [
    ("toy:a", 0, "toy:ann", "user", "A\N{GRINNING FACE}b\N{COMBINING ACUTE ACCENT}c tea?", None),
    ("toy:a", 1, "toy:bot", "assistant", "", 0),
    ("toy:a", 2, None, "tool", "", 1),
    ("toy:a", 3, None, "user", "Thanks!", 0),
]
SAID = str(TURNS[0][4])


def part(turn: int, index: int, kind: str, **columns: Any) -> dict[str, Any]:
    return {"dialogue_id": "toy:a", "turn_index": turn, "part_index": index, "field": "f", "kind": kind, **columns}


PARTS = [
    part(0, 0, "text", start_index=1, end_index=3),
    part(0, 1, "uri", uri="https://example.org/tea.png", mime_type="image/png"),
    part(1, 0, "reasoning", text="Which tea?"),
    part(1, 1, "tool_call", name="kettle", call_id="1", arguments='{"cups": 2.50}'),
    part(1, 2, "tool_call", name="kettle", call_id="2", text="{cups"),
    part(2, 0, "tool_call_response", call_id="2", text="second"),
    part(2, 1, "tool_call_response", call_id="1", text="first"),
    part(3, 0, "tool_call", name="kettle", call_id="1", arguments="null"),
    part(3, 1, "tool_call_response", call_id="1", text="again"),
    part(3, 2, "tool_call", name="kettle"),
    part(3, 3, "tool_call_response", text="nobody's"),
]


@pytest.fixture(scope="module")
def tea(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """A warehouse of one dialogue, which two subsets publish."""
    path = tmp_path_factory.mktemp("tea") / "w.duckdb"
    with open_template(path, catalogue(), {}) as con:
        con.execute(A_CORPUS)
        con.execute(
            "insert into main.schemes (scheme, description, target, kind) "
            "values ('toy.slot', 'A slot.', 'turn', 'structure')"
        )
        con.execute("insert into main.labels values ('toy.slot', 'shop.city', 'Of the shop.', 'shop', 0)")
        con.execute("insert into main.dialogues (dialogue_id, corpus_id, language) values ('toy:a', 'toy', 'en')")
        for name in ("ann", "bob", "bot"):
            kind = "bot" if name == "bot" else "human"
            con.execute(
                "insert into main.speakers values (?, 'toy', null, ?, ?, false, null)", [f"toy:{name}", name, kind]
            )
        columns = "dialogue_id, turn_index, speaker_id, role, text, reply_to, kind"
        con.executemany(f"insert into main.turns ({columns}) values (?, ?, ?, ?, ?, ?, 'message')", TURNS)
        con.execute("insert into main.turn_speakers values ('toy:a', 3, 0, 'toy:ann'), ('toy:a', 3, 1, 'toy:bob')")
        for row in PARTS:
            places = ", ".join("?" for _ in row)
            con.execute(f"insert into main.parts ({', '.join(row)}) values ({places})", list(row.values()))
        for index, subset in enumerate(("one", "two")):
            con.execute(
                "insert into main.records (record_id, corpus_id, dialogue_id, release, split, standard_split, subset, "
                "record_index, source_file_id, source_pointer) "
                "values (?, 'toy', 'toy:a', 'r', 'train', 'train', ?, ?, 'f', '')",
                [f"toy/{subset}", subset, index],
            )
        con.executemany(
            "insert into main.annotations (record_id, turn_index, scheme, annotator_index, dialogue_id, item_index, "
            "label, start_index, end_index) values ('toy/one', 0, 'toy.slot', 0, 'toy:a', ?, ?, ?, ?)",
            [(0, "shop.city", 1, 4), (1, "shop.city", 4, 4), (2, "other", None, None)],
        )
        yield con


def test_a_span_has_its_words_by_code_points(tea: duckdb.DuckDBPyConnection) -> None:
    found = by(read(tea, "from bi.spans"), "item_index")
    assert found.keys() == {0, 1}
    for row in found.values():
        assert row["span"] == SAID[row["start_index"] : row["end_index"]]
        assert tea.execute("select text[start_index + 1 : end_index] = span from bi.spans").fetchall()[0] == (True,)
    assert (found[0]["span"], found[0]["label_meaning"]) == (
        "\N{GRINNING FACE}b\N{COMBINING ACUTE ACCENT}",
        "Of the shop.",
    )
    assert (found[0]["release"], found[0]["standard_split"], found[0]["role"]) == ("r", "train", "user")


def test_parts_have_their_words_and_calls_their_responses(tea: duckdb.DuckDBPyConnection) -> None:
    rows = read(tea, "from bi.parts")
    assert Counter(row["subset"] for row in rows) == {"one": len(PARTS), "two": len(PARTS)}
    assert {row["is_first_in_split"] for row in rows if row["subset"] == "two"} == {False}
    found = by([row for row in rows if row["subset"] == "one"], "turn_index", "part_index")
    assert found[0, 0]["text"] == SAID[1:3]
    assert found[1, 0]["text"] == "Which tea?"
    assert found[1, 1]["arguments"] == '{"cups": 2.50}'
    answers = {
        key: (row["response_turn_index"], row["response_part_index"], row["response"]) for key, row in found.items()
    }
    assert {key: answer for key, answer in answers.items() if answer[2] is not None} == {
        (1, 1): (2, 1, "first"),
        (1, 2): (2, 0, "second"),
        (3, 0): (3, 1, "again"),
    }


def test_replies_name_what_they_answer(tea: duckdb.DuckDBPyConnection) -> None:
    rows = read(tea, "from bi.replies where subset = 'one' order by turn_index")
    assert [(row["turn_index"], row["reply_to"], row["distance"]) for row in rows] == [(1, 0, 1), (2, 1, 1), (3, 0, 3)]
    assert [(row["speaker_name"], row["reply_to_speaker_name"]) for row in rows] == [
        ("bot", "ann"),
        (None, "bot"),
        (None, "ann"),
    ]
    assert [row["reply_to_text"] for row in rows] == [SAID, "", SAID]


def test_who_speak_together_are_speakers_each(tea: duckdb.DuckDBPyConnection) -> None:
    named = defaultdict(list)
    for row in read(tea, "from bi.turn_speakers order by turn_index, position"):
        named[row["turn_index"]].append((row["speaker_name"], row["speaker_count"]))
    assert named == {0: [("ann", 1)], 1: [("bot", 1)], 3: [("ann", 2), ("bob", 2)]}
    assert tea.execute("select speaker_count from bi.dialogues").fetchall() == [(3,)]
    assert tea.execute("select distinct speaker_count, turn_count from bi.record_dialogues").fetchall() == [(3, 4)]
    shares = by(read(tea, "from bi.speaker_shares where subset = 'one'"), "speaker_name")
    assert {name: row["turn_count"] for name, row in shares.items()} == {"ann": 2, "bob": 1, "bot": 1}
    assert {row["dialogue_turn_count"] for row in shares.values()} == {4}


def test_acts_that_occur_twice_count_once(tea: duckdb.DuckDBPyConnection) -> None:
    counts = "select label, vote_count, annotator_count, scheme_kind from bi.label_counts order by label"
    assert tea.execute(counts).fetchall() == [("other", 1, 1, "structure"), ("shop.city", 1, 1, "structure")]
    (scheme,) = read(tea, "from bi.schemes")
    assert (scheme["unit_count"], scheme["used_label_count"], scheme["why_not_compared"]) == (
        1,
        2,
        "parts of a structure",
    )
