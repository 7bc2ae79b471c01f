"""The views of turns with those around them, and of personas by split, say what plain Python makes of the tables."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from talkhouse.load.base_copy import open_template
from talkhouse.queries.catalogue import catalogue
from tests.queries.bi_rows import A_CORPUS, Row, by, grouped, read, records_of, total


def words(text: str | None) -> set[str]:
    return set(re.findall(r"[^\W\d_]{5,}", (text or "").lower()))


def test_a_turn_stands_between_the_one_before_and_the_one_after(con: duckdb.DuckDBPyConnection) -> None:
    turns = by(read(con, "from bi.turns"), "dialogue_id", "turn_index")
    pairs = by(read(con, "from bi.turn_pairs"), "dialogue_id", "turn_index")
    assert pairs.keys() == turns.keys()
    for (dialogue_id, index), pair in pairs.items():
        here = turns[dialogue_id, index]
        assert {name: pair[name] for name in pair.keys() & here.keys()} == {
            name: here[name] for name in pair.keys() & here.keys()
        }
        for side, other in (("previous", index - 1), ("next", index + 1)):
            beside = turns.get((dialogue_id, other), dict[str, Any]())
            for name in ("speaker_name", "role", "kind", "text", "word_count"):
                assert pair[f"{side}_{name}"] == beside.get(name)
        assert pair["gap_seconds"] == seconds(turns.get((dialogue_id, index - 1)), here)
        assert pair["next_gap_seconds"] == seconds(here, turns.get((dialogue_id, index + 1)))
    assert {pair["is_same_speaker"] for pair in pairs.values()} == {True, False, None}
    assert any(pair["gap_seconds"] for pair in pairs.values())


def seconds(before: dict[str, Any] | None, after: dict[str, Any] | None) -> float | None:
    if not before or not after:
        return None
    if before["said_at"] and after["said_at"]:
        return float(round((after["said_at"] - before["said_at"]).total_seconds(), 3))
    if before["end_ms"] is not None and after["start_ms"] is not None:
        return float(after["start_ms"] - before["end_ms"]) / 1000
    return None


def test_a_labelled_turn_has_the_labels_before_and_after_it(con: duckdb.DuckDBPyConnection) -> None:
    votes = read(con, "from bi.label_counts where scheme_kind = 'single_label' and persona_set is null")
    counts = grouped([row for row in votes if row["turn_index"] is not None], "record_id", "scheme", "turn_index")
    found = by(read(con, "from bi.labelled_turns"), "record_id", "scheme", "turn_index")
    assert found.keys() == counts.keys()
    for key, rows in counts.items():
        first = min(rows, key=lambda row: (-row["vote_count"], row["label"]))
        mine = found[key]
        assert (mine["label"], mine["vote_count"]) == (first["label"], first["vote_count"])
        assert mine["is_tied"] == (sum(row["vote_count"] == first["vote_count"] for row in rows) > 1)
    for (record_id, scheme), rows in grouped(list(found.values()), "record_id", "scheme").items():
        labels = [row["label"] for row in sorted(rows, key=lambda row: row["turn_index"])]
        for row, before, after in zip(
            sorted(rows, key=lambda row: row["turn_index"]), [None, *labels], [*labels[1:], None], strict=False
        ):
            assert (row["previous_label"], row["next_label"]) == (before, after), (record_id, scheme)


def test_a_turn_counts_once_in_the_default_publication(con: duckdb.DuckDBPyConnection) -> None:
    rows = read(con, "from bi.labelled_turns")
    default = Counter((row["scheme"], row["dialogue_id"], row["turn_index"]) for row in rows if row["is_default"])
    assert set(default.values()) == {1}
    assert default.keys() == {(row["scheme"], row["dialogue_id"], row["turn_index"]) for row in rows}
    assert len(rows) > len(default)


def test_personas_of_two_splits_are_those_that_people_of_both_have(con: duckdb.DuckDBPyConnection) -> None:
    uses = read(
        con,
        "select corpus_id, split, persona_uses.* from main.persona_uses "
        "inner join main.records using (record_id) where persona_uses.speaker_id is not null",
    )
    known = read(con, "select persona_id, corpus_id, text, image_file from main.personas")
    alike = grouped(known, "corpus_id", "text", "image_file").values()
    first = {row["persona_id"]: min(persona["persona_id"] for persona in rows) for rows in alike for row in rows}
    assert any(persona_id != other for persona_id, other in first.items()), "ids differ where a score does"
    uses = [use | {"persona_id": first[use["persona_id"]]} for use in uses]
    of_split = {key: {row["persona_id"] for row in rows} for key, rows in grouped(uses, "corpus_id", "split").items()}
    shared = by(read(con, "from bi.shared_personas"), "corpus_id", "split", "other_split")
    assert shared.keys() == {
        (*split, other[1]) for split in of_split for other in of_split if split[0] == other[0] and split != other
    }
    for (corpus_id, split, other), row in shared.items():
        mine = [use for use in uses if (use["corpus_id"], use["split"]) == (corpus_id, split)]
        common = of_split[corpus_id, split] & of_split[corpus_id, other]
        assert (row["persona_count"], row["shared_count"]) == (len(of_split[corpus_id, split]), len(common))
        assert row["dialogue_count"] == len({use["dialogue_id"] for use in mine})
        assert row["sharing_dialogue_count"] == len({use["dialogue_id"] for use in mine if use["persona_id"] in common})
    assert {row["shared_count"] > 0 for row in shared.values()} == {True, False}
    splits = by(read(con, "from bi.persona_splits"), "corpus_id", "split", "persona_id")
    assert splits.keys() == {(*key, persona_id) for key, personas in of_split.items() for persona_id in personas}
    for (corpus_id, _, persona_id), row in splits.items():
        count = sum(persona_id in personas for (of_corpus, _), personas in of_split.items() if of_corpus == corpus_id)
        assert (row["split_count"], row["is_shared"]) == (count, count > 1)
    speakers = by(read(con, "from bi.speaker_personas"), "corpus_id", "split", "speaker_id")
    people = grouped(uses, "corpus_id", "split", "speaker_id")
    assert {key: row["persona_count"] for key, row in speakers.items()} == {
        key: len({use["persona_id"] for use in rows}) for key, rows in people.items()
    }


def test_a_turn_shares_words_with_the_persona_of_who_says_it(con: duckdb.DuckDBPyConnection) -> None:
    uses = read(con, "select persona_uses.*, text from main.persona_uses inner join main.personas using (persona_id)")
    of_person = grouped(uses, "record_id", "speaker_id")
    rows = read(con, "from bi.persona_words")
    assert rows
    for row in rows:
        persona = words(" ".join(use["text"] for use in of_person[row["record_id"], row["speaker_id"]]))
        spoken = words(row["text"])
        assert (row["persona_word_count"], row["word_count"]) == (len(persona), len(spoken))
        assert row["shared_word_count"] == len(persona & spoken)
        assert row["shared_words"] == (", ".join(sorted(persona & spoken)) or None)
    assert any(row["shared_words"] for row in rows)


# The views for BI tools of single corpora say what plain Python makes of their tables.


def test_breakdowns_by_position_are_means_over_talks(con: duckdb.DuckDBPyConnection) -> None:
    key = ("release", "is_default", "split", "language", "subset")
    groups = defaultdict(list)
    records = records_of(con)
    for (record_id,), rows in grouped(read(con, "from dbdc3.breakdown_detection"), "record_id").items():
        for row in rows:
            row["is_default"] = records[record_id]["is_default"]
        for position, row in enumerate(sorted(rows, key=lambda row: row["turn_index"])):
            groups[*(row[name] for name in key), position].append(row)
    found = by(read(con, "from bi.dbdc3_breakdown_by_position"), *key, "position")
    assert found.keys() == groups.keys()
    for key, row in found.items():
        mine = groups[key]
        assert row["turn_count"] == len(mine)
        for label in "otx":
            assert row[f"{label}_count"] == total(mine, f"count_{label}")
        assert row["share_t"] == pytest.approx(sum(turn["prob_t"] for turn in mine) / len(mine))
        assert row["breakdown_rate"] == pytest.approx(sum(turn["label"] == "X" for turn in mine) / len(mine))
        assert row["breakdown_rate_at_half"] == pytest.approx(
            sum(turn["label_at_half"] == "X" for turn in mine) / len(mine)
        )
        assert row["lenient_breakdown_rate"] == pytest.approx(
            sum(turn["lenient_label"] == "X_l" for turn in mine) / len(mine)
        )
        shares = [[turn["prob_o"], turn["prob_t"], turn["prob_x"]] for turn in mine]
        entropy = [-sum(share * math.log2(share) for share in of_turn if share) for of_turn in shares]
        assert row["mean_entropy"] == pytest.approx(sum(entropy) / len(mine))
        assert row["bot"] == {"TKTK": "TickTock", "json": "TickTock"}.get(
            row["subset"][:4], row["subset"].split("_")[0]
        )


def test_a_share_of_zero_adds_no_entropy(toy: duckdb.DuckDBPyConnection) -> None:
    """Two dialogues at one position: all annotators say O, and half say O and half X."""
    for number, labels in enumerate((["O", "O"], ["O", "X"])):
        dialogue, record = f"dbdc3:{number}", f"dbdc3/r/{number}"
        for table, columns, *rows in (
            ("dialogues", "dialogue_id, corpus_id", (dialogue, "dbdc3")),
            ("turns", "dialogue_id, turn_index, role, kind, text", (dialogue, 0, "system", "message", "Well.")),
            (
                "records",
                "record_id, corpus_id, dialogue_id, split, record_index, source_file_id, source_pointer",
                (record, "dbdc3", dialogue, "dev", number, "f", ""),
            ),
            (
                "examples",
                "corpus_id, task, split, example_index, record_id, dialogue_id, turn_index",
                ("dbdc3", "breakdown_detection", "dev", number, record, dialogue, 0),
            ),
            (
                "annotations",
                "record_id, dialogue_id, turn_index, scheme, annotator_index, item_index, label",
                *((record, dialogue, 0, "dbdc3.breakdown", index, 0, label) for index, label in enumerate(labels)),
            ),
        ):
            marks = ", ".join("?" for _ in columns.split(","))
            toy.executemany(f"insert into main.{table} ({columns}) values ({marks})", rows)
    (row,) = read(toy, "from bi.dbdc3_breakdown_by_position")
    assert (row["turn_count"], row["share_o"], row["share_t"], row["mean_entropy"]) == (2, 0.75, 0, 0.5)


def shares(rows: list[Row], groups: set[str], part: str, whole: str) -> dict[Any, float]:
    """Add up both counts for each group and divide, as a chart does."""
    columns = sorted(groups)
    return {
        key: total(mine, part) / total(mine, whole) for key, mine in grouped(rows, *columns).items() if columns or mine
    }


def test_votes_of_any_group_can_be_taken_from_the_utterances(con: duckdb.DuckDBPyConnection) -> None:
    query = "from bi.mantis_utterances where role = 'agent' and post_id is not null and comment_id is null"
    answers = grouped(read(con, query), "split", "site")
    for row in read(con, "from bi.mantis_answer_votes"):
        votes = sorted(answer["votes"] for answer in answers[row["split"], row["site"]] if answer["votes"] is not None)
        assert (row["voted_count"], row["vote_sum"]) == (len(votes), sum(votes))
        assert row["median_votes"] == votes[math.ceil(len(votes) / 2) - 1]


# Views of what hangs on a turn: spans, parts and their responses, replies, several speakers.

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
