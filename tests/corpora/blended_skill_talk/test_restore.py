"""Blended Skill Talk: invented files with unusual texts, numbers and defects come back equal, record by record."""

import dataclasses
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import talkhouse
from talkhouse.ingest.corpora.blended_skill_talk import CORPUS
from talkhouse.ingest.stored_record import StoredRecord
from talkhouse.restore.write_back import write_back
from tests.conftest import Build, invented_builds
from tests.corpora.blended_skill_talk.clauses import MODES, ROW
from tests.corpora.blended_skill_talk.rules import MODELS
from tests.corpora.unusual import (
    BOM,
    JSON,
    STYLES,
    TEXT,
    UNKNOWN,
    assert_comes_back,
    assert_same,
    at,
    built,
    damaged,
    json_text,
    laid_out,
    literal,
    parsed,
    restored,
)

Member = tuple[bytes, bool]
"""The JSON of a record, and whether it was damaged."""

EPISODES = {"train.json": "episodes/train", "valid.json": "episodes/valid"}
CACHED = {
    f"ed_persona_topicifier__{split}__{variant}.json": f"ed_persona_topicifier/{variant}/{split}"
    for split, variant in (("train", "both_sides"), ("test", "experiencer_only"))
}
HUMANS = {"human_annotations.json": "human_annotations/valid"}
WIZARDS = {"wizard_of_wikipedia/valid_topic_split.json": "wizard_of_wikipedia/topic_split/valid"}


def shuffled(value: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return value.flatmap(
        lambda item: st.permutations(list(item)).map(lambda order: {name: item[name] for name in order})
    )


SUGGESTED = shuffled(
    st.builds(lambda texts, unknown: texts | unknown, st.fixed_dictionaries(dict.fromkeys(MODELS, TEXT)), UNKNOWN)
)


@st.composite
def episodes(draw: st.DrawFn) -> dict[str, Any]:
    """Invent an episode that the reference code reads, with anything in the fields that it does not read."""
    count = draw(st.integers(0, 4))
    by_turn = lambda odd, even: [draw(odd if turn % 2 else even) for turn in range(count)]  # noqa: E731
    texts = st.lists(TEXT, max_size=3)
    needed = {
        "personas": [draw(texts), draw(st.lists(TEXT, min_size=2, max_size=3)), *draw(st.lists(texts, max_size=2))],
        "context_dataset": draw(st.sampled_from(["convai2", "empathetic_dialogues"]) | TEXT),
        "free_turker_utterance": draw(TEXT),
        "guided_turker_utterance": draw(TEXT),
        "dialog": [
            [draw(st.just(turn % 2) | JSON), draw(TEXT), *draw(st.just([]) | st.lists(JSON))] for turn in range(count)
        ],
        "suggestions": by_turn(SUGGESTED, st.just({}) | JSON),
        "chosen_suggestions": by_turn(TEXT | st.sampled_from([*MODELS, "", " "]), TEXT | JSON),
    }
    carried = ("suggestion_orders", "workers", "bad_workers", "acceptability_violations", "hit_ids", "assignment_ids")
    sizes = st.integers(count // 2, count // 2 + 2)
    optional = {
        **dict.fromkeys(carried, JSON),
        "additional_context": TEXT | JSON,
        "chosen_suggestion_texts": st.lists(TEXT | JSON, min_size=count, max_size=count) | JSON,
        "label_candidates": sizes.flatmap(lambda size: st.lists(texts, min_size=size, max_size=size)),
    }
    return needed | draw(st.fixed_dictionaries({}, optional=optional)) | draw(UNKNOWN)


CANDIDATES = st.none() | st.lists(TEXT, max_size=3)
OF_ENTRY = ("situation", "emotion", "prepend_ctx", "prepend_cand", "deepmoji_ctx", "deepmoji_cand")
ENTRY = st.builds(
    lambda known, unknown: known | unknown,
    st.fixed_dictionaries(
        {"text": TEXT, "labels": st.lists(TEXT, max_size=2), "episode_done": JSON, "label_candidates": CANDIDATES},
        optional=dict.fromkeys(OF_ENTRY, JSON),
    ),
    UNKNOWN,
)
TURN = st.builds(
    lambda turn, unknown: turn | unknown,
    st.fixed_dictionaries({"speaker": TEXT, "text": TEXT}, optional={"checked_sentence": JSON}),
    UNKNOWN,
)
WIZARD = st.fixed_dictionaries(
    {"dialog": st.lists(TURN, min_size=1, max_size=3)}, optional={"chosen_topic": TEXT, "persona": JSON}
)


HUMAN = st.builds(
    lambda number, seen, token, text: (
        {"internal_id": number} | dict(zip(MODES, seen, strict=True)) | {"classifier_prediction": token, "text": text}
    ),
    *(st.integers(0, 3), st.tuples(*[st.booleans()] * 4), TEXT, TEXT),
)


@st.composite
def members(draw: st.DrawFn, value: st.SearchStrategy[Any]) -> list[Member]:
    """Write a file's members as JSON; one in eight or so is damaged."""
    found = []
    for item in draw(st.lists(value, min_size=1, max_size=7)):
        raw = json_text(item, draw(STYLES))
        is_damaged = b"{" in raw and draw(st.integers(0, 7)) == 0
        found.append((draw(damaged(raw)) if is_damaged else raw, is_damaged))
    return found


def file_text(name: str, some: list[Member], between: str) -> bytes:
    items = b"[" + between.encode().join(raw for raw, _ in some) + b"]"
    return b'{"data":' + items + b" }" if name in HUMANS else items


SETTINGS = invented_builds(10)
GOOD = {"convai2/valid_self_original.txt": b"1 hello\tyou\n"}
"""Something that is loaded, for a build of nothing but broken files stops."""


@SETTINGS
@given(
    some=st.fixed_dictionaries(
        {
            **dict.fromkeys(EPISODES, members(shuffled(episodes()))),
            **dict.fromkeys(CACHED, members(st.lists(shuffled(ENTRY), max_size=3))),
            **dict.fromkeys(WIZARDS, members(shuffled(WIZARD))),
            **dict.fromkeys(HUMANS, members(HUMAN)),
        }
    ),
    between=st.sampled_from([",", ", ", " ,\r\n\t"]),
    bom=st.sampled_from([b"", BOM]),
)
@pytest.mark.slow
def test_unusual_json_comes_back_equal(
    some: dict[str, list[Member]], between: str, bom: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("unusual")
    texts = {name: bom + file_text(name, raws, between) for name, raws in some.items()}
    written = restored(CORPUS, built(folder, CORPUS, texts | GOOD), folder / "out")
    for name, text in texts.items():
        assert_same(text, (folder / "out" / name).read_bytes())
    for name, subset in (EPISODES | CACHED | WIZARDS | HUMANS).items():
        for index, (raw, is_damaged) in enumerate(some[name]):
            record = written.get(f"blended_skill_talk/{subset}/{index}")
            assert record or is_damaged, "unusual, and not wrong"
            if record:
                assert parsed(record.raw) == parsed(at(texts[name].removeprefix(bom), record.pointer)) == parsed(raw)


ENDING = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", "\n\n", "\t", "|", "||", "||\n"])
LINE = (
    TEXT
    | st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)).map(lambda item: f"{item[0]}: {item[1]!r}")
    | st.tuples(st.integers(-1, 3), TEXT, TEXT, TEXT).map(lambda item: f"{item[0]} {item[1]}\t{item[2]}\t\t{item[3]}|b")
    | TEXT.map(lambda text: f"your persona: {text}")
    | TEXT.map(lambda text: f"1 {text}")
)
TEXT_FILE = st.builds(
    lambda lines, tail: "".join(map("".join, lines)) + tail,
    st.lists(st.tuples(LINE, ENDING), max_size=8),
    st.sampled_from(["", "x", " ", "\x1c"]),
)
TEXT_FILES = (
    *("persona_list.txt", "topic_to_persona_list.txt", "safe_personas.txt"),
    *("convai2/train_self_original.txt", "copy/persona_list.txt"),
)


@pytest.mark.slow
@SETTINGS
@given(
    some=st.fixed_dictionaries(dict.fromkeys(TEXT_FILES, TEXT_FILE)),
    bom=st.sampled_from([b"", BOM]),
    broken=st.sampled_from([b"", b"", b"\xff", b"\xed\xa0\x80"]),
)
def test_unusual_text_comes_back_byte_for_byte(
    some: dict[str, str], bom: bytes, broken: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("unusual")
    texts = {name: bom + text.encode() for name, text in some.items()}
    texts["safe_personas.txt"] += broken
    written = restored(CORPUS, built(folder, CORPUS, texts | GOOD), folder / "out")
    for name, text in texts.items():
        assert (folder / "out" / name).read_bytes() == text
    for record in written.values():
        if record.path in some:
            assert record.raw in pieces(record.path, some[record.path], int(record.pointer[1:])), record.path


def pieces(name: str, text: str, index: int) -> list[bytes]:
    """List the texts that a record with this pointer can have, as the file's separators have it."""
    if name.endswith("persona_list.txt") and "topic" not in name:
        return [[persona for persona in text.strip().split("||") if persona][index].encode()]
    lines = text.removesuffix("\n").split("\n")
    if "/" not in name:
        return [lines[index].encode()]
    ranges = ((start, end) for start in range(len(lines)) for end in range(start, len(lines)))
    return ["\n".join(lines[start : end + 1]).encode() for start, end in ranges]


EPISODE = {
    "personas": [["a"], ["b", "c"]],
    "context_dataset": "convai2",
    "free_turker_utterance": "d",
    "guided_turker_utterance": "e",
    "dialog": [[0, "f"], [1, "g"]],
    "suggestions": [{}, dict.fromkeys(MODELS, "h")],
    "chosen_suggestions": ["", ""],
}
PLAIN = json_text(EPISODE, "compact")
ENVELOPES = {
    "no comma": b"[" + PLAIN + b" " + PLAIN + b"]",
    "a comma too many": b"[" + PLAIN + b",]",
    "another bracket": b"[" + PLAIN + b"}",
    "something behind": b"[" + PLAIN + b"] x",
    "a NUL behind": b"[" + PLAIN + b"]\x00",
    "a comment": b"[" + PLAIN + b"/* */]",
}
"""Files that are malformed outside of their records."""


@pytest.mark.slow
def test_a_file_that_is_malformed_around_its_records_is_rejected_whole(build_data: Build, tmp_path: Path) -> None:
    texts = {f"{index}/train.json": text for index, text in enumerate(ENVELOPES.values())}
    texts |= {"z/train.json": b" [" + PLAIN + b" ,\r\n" + PLAIN + b"] \n", "z/valid.json": b"[ ]"}
    con = build_data(laid_out(tmp_path, CORPUS, texts))
    rejected = con.execute("select source_file_id, pointer, rule from meta.quarantine").fetchall()
    broken = {f"blended_skill_talk/{index}/train.json" for index in range(len(ENVELOPES))}
    assert set(rejected) == {(name, "", "TH-01") for name in broken}
    assert_comes_back(con, CORPUS, texts, tmp_path / "out")


def changed(**fields: Any) -> bytes:
    return json_text(EPISODE | fields, "plain")


TWICE = PLAIN.replace(b'{"convai2":"h"', b'{"convai2":"lost","convai2":"h"')
NO_UTF8 = PLAIN.replace(b'{"convai2":', b'{"x": "\xff", "convai2":')
HUGE = literal("1e400")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        (TWICE, None),
        (NO_UTF8, "TH-02"),
        (changed(personas=[["a"], ["b", "c"], []]), None),
        (changed(personas=[[], ["b", "c"], [], ["d"], [], []]), None),
        (changed(additional_context=HUGE, workers=[HUGE]), None),
    ],
    ids=["a suggestion twice", "no UTF-8 in a suggestion", "an empty persona", "empty personas", "huge numbers"],
)
def test_odd_parts_of_an_episode_load_or_not(raw: bytes, rule: str | None, build_data: Build, tmp_path: Path) -> None:
    text = b"[" + raw + b", " + PLAIN + b"]"
    con = build_data(laid_out(tmp_path, CORPUS, {"train.json": text}))
    assert con.execute("select rule, pointer from meta.quarantine").fetchall() == ([(rule, "/0")] if rule else [])
    assert_comes_back(con, CORPUS, {"train.json": text}, tmp_path / "out")


@pytest.mark.slow
def test_what_nothing_reads_of_other_files_is_kept_or_rejected(build_data: Build, tmp_path: Path) -> None:
    cached = b'[[{"text": "a", "labels": [], "episode_done": true, "situation": "\xff"}], []]'
    wizard = b'[{"dialog": [{"speaker": "a", "text": "\\ud83d\\ude00", "x": 1e400}]}]'
    texts = {"ed_persona_topicifier__test__experiencer_only.json": cached, "wizard_of_wikipedia/train.json": wizard}
    con = build_data(laid_out(tmp_path, CORPUS, texts))
    assert con.execute("select rule, pointer from meta.quarantine").fetchall() == [("TH-02", "/0")]
    assert_comes_back(con, CORPUS, texts, tmp_path / "out")


def test_a_file_is_written_record_by_record(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    counts = dict(con.execute("select source_file_id[20:], records_in from meta.source_files").fetchall())
    pieces_of: Counter[str] = Counter()

    def counted(records: Iterable[StoredRecord]) -> Iterator[tuple[str, bytes]]:
        for name, piece in CORPUS.write(records):
            pieces_of[name] += 1
            yield name, piece

    write_back(con, dataclasses.replace(CORPUS, write=counted), tmp_path)
    assert len(pieces_of) > 10
    assert all(pieces_of[name] >= counts[name] for name in pieces_of)


# human_annotations.json: a row belongs to the turn at its place in its dialogue, or to none.

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
