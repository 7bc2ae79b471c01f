"""ConvoKit's files to dialogues and back, with their new names and the old ones."""

import json
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.ingest.declared.declaration.model import Annotations, Declaration, DialogueFields, TurnFields
from talkhouse.ingest.rows import Annotation, Dialogue, Record, Speaker, Turn
from talkhouse.schema.errors import SourceError
from tests.conftest import invented_examples
from tests.declared.records import ANY, same
from tests.declared.rows_loaded import Read, declared, read, restored

SAID = TurnFields(id=("id",), text=("text",), speaker=("speaker",), said_at=("timestamp",), reply_to=("reply-to",))


def convokit(**parts: Any) -> Declaration:
    usual = {"dialogue": DialogueFields(id=("conversation_id",)), "turn": SAID, "times": {"said_at": "unix"}}
    return declared("convokit", **usual | parts)


def utterances(*lines: dict[str, Any]) -> dict[str, bytes]:
    """Return a corpus of these utterances, all else of it empty."""
    raw = "".join(json.dumps(line) + "\n" for line in lines).encode()
    empty = {"speakers.json": b"{}", "conversations.json": b"{}", "corpus.json": b"{}", "index.json": b"{}"}
    return {"utterances.jsonl": raw} | empty


def utt(number: int, conversation: str, **others: Any) -> dict[str, Any]:
    """Make an utterance as ConvoKit's dump writes it."""
    own = {"id": f"u{number}", "conversation_id": conversation, "text": f"t{number}", "speaker": "ann"}
    return own | {"meta": {}, "reply-to": None, "timestamp": None, "vectors": []} | others


def is_restored(result: Read, files: dict[str, bytes]) -> bool:
    back = restored(result)
    lines = [back.get("utterances.jsonl", b"").splitlines(), files.get("utterances.jsonl", b"").splitlines()]
    documents = [name for name in files if name.endswith(".json")]
    pairs = [*zip(*lines, strict=False), *((back[name], files[name]) for name in documents)]
    return len(lines[0]) == len(lines[1]) and all(same(written.decode(), line.decode()) for written, line in pairs)


def test_the_five_files_become_records_and_come_back() -> None:
    files = utterances(
        utt(0, "c0", timestamp=1.5, meta={"f": "<##bin{0}&&@**>"}),
        utt(1, "c1", speaker="eve", timestamp="NOT_RECORDED"),
        {"reply_to": "u0"} | {key: value for key, value in utt(2, "c0", timestamp=7).items() if key != "reply-to"},
        utt(3, "c0", timestamp="8", **{"reply-to": "gone"}),
    )
    files |= {
        "speakers.json": b'{"ann": {"meta": {"age": 1.50}, "vectors": []}, "bob": {"age": 2}, "x/y": {}}',
        "conversations.json": b'{"c0": {"meta": {"won": true}, "vectors": ["v"]}, "c9": {}}',
        "corpus.json": b'{"name": "quay"}',
        "index.json": b'{"version": 1}',
        "meta.p": b"\x80\x04 never opened",
        "notes.txt": b"what is this",
    }
    result = read(convokit(), files)
    assert [(turn.dialogue_id, turn.reply_to, turn.said_at, turn.speaker_id) for turn in result.of(Turn)] == [
        ("quay:c0", None, datetime(1970, 1, 1, 0, 0, 1, 500_000), "quay:ann"),  # noqa: DTZ001 - the wall clock
        ("quay:c0", 0, datetime(1970, 1, 1, 0, 0, 7), "quay:ann"),  # noqa: DTZ001 - the wall clock
        ("quay:c0", None, datetime(1970, 1, 1, 0, 0, 8), "quay:ann"),  # noqa: DTZ001 - the wall clock
        ("quay:c1", None, None, "quay:eve"),
    ]
    assert [(row.record_id, row.dialogue_id, row.main_speaker_id, row.source_pointer) for row in result.of(Record)] == [
        ("quay/utterances.jsonl/0", "quay:c0", None, "/0"),
        ("quay/utterances.jsonl/1", "quay:c1", None, "/1"),
        ("quay/conversations.json/0", "quay:c0", None, "/c0"),
        ("quay/conversations.json/1", None, None, "/c9"),
        ("quay/corpus.json/0", None, None, ""),
        ("quay/index.json/0", None, None, ""),
        ("quay/speakers.json/0", None, "quay:ann", "/ann"),
        ("quay/speakers.json/1", None, "quay:bob", "/bob"),
        ("quay/speakers.json/2", None, "quay:x/y", "/x~1y"),
    ]
    assert {row.speaker_id for row in result.of(Speaker)} == {"quay:ann", "quay:bob", "quay:eve", "quay:x/y"}
    assert result.places == [
        ("GF-17", "meta.p#"),
        ("GF-07", "utterances.jsonl#/3/reply-to"),
        ("GF-09", "utterances.jsonl#/1/timestamp"),
    ]
    assert [(item.file.name, item.is_meant) for item in result.unrecognised] == [("meta.p", True), ("notes.txt", False)]
    del files["meta.p"], files["notes.txt"]
    assert is_restored(result, files)


def test_the_names_of_versions_before_are_known() -> None:
    old = [{"id": "x0", "root": "x0", "text": "a", "user": "ann", "reply_to": None, "timestamp": "1"}]
    files = {"utterances.json": json.dumps(old).encode(), "users.json": b'{"ann": {}}'}
    result = read(convokit(), files)
    assert result.turns("quay:x0") == [("speaker", "a")]
    assert [turn.extra for turn in result.of(Turn)] == ['{"timestamp":"1"}']
    assert is_restored(result, files)


def test_labels_in_meta_are_those_of_the_member() -> None:
    files = utterances(utt(0, "c0", meta={"mood": "calm", "bad": None}), utt(1, "c0", meta={"mood": "cross"}))
    files |= {"conversations.json": b'{"c0": {"won": "yes"}}', "speakers.json": b'{"ann": {"meta": {"age": 30}}}'}
    mood = Annotations("mood", 0, label=("meta", "mood"))
    won = Annotations("won", 0, on="dialogue", label=("meta", "won"))
    result = read(convokit(annotations=(mood, won, Annotations("age", 0, on="record", value=("meta", "age")))), files)
    assert [(row.scheme, row.record_id, row.turn_index, row.label, row.value) for row in result.of(Annotation)] == [
        ("quay.mood", "quay/utterances.jsonl/0", 0, "calm", None),
        ("quay.mood", "quay/utterances.jsonl/0", 1, "cross", None),
        ("quay.won", "quay/conversations.json/0", None, "yes", None),
        ("quay.age", "quay/speakers.json/0", None, None, 30.0),
    ]
    assert is_restored(result, files)


@invented_examples(30)
@given(st.permutations(range(6)))
def test_an_answer_stands_behind_what_it_answers_whatever_the_order_of_lines(order: list[int]) -> None:
    above = {1: 0, 2: 1, 3: 0, 4: 3, 5: 1}
    lines = [utt(n, "c", **({"reply-to": f"u{above[n]}"} if n in above else {})) for n in range(6)]
    files = utterances(*(lines[n] for n in order))
    result = read(convokit(), files)
    turns = [text for _, text in result.turns("quay:c")]
    assert sorted(turns) == [f"t{n}" for n in range(6)]
    assert all(turns.index(f"t{answer}") > turns.index(f"t{asked}") for answer, asked in above.items())
    assert {turn.text: turn.reply_to for turn in result.of(Turn)} == {
        f"t{n}": turns.index(f"t{above[n]}") if n in above else None for n in range(6)
    }
    assert not result.places
    assert is_restored(result, files)


def test_among_answers_the_time_counts_then_the_line() -> None:
    first, other = {"reply-to": "u0"}, {"reply-to": "u3"}
    files = utterances(
        utt(2, "c", timestamp=20, **first),
        utt(1, "c", timestamp=10, **first),
        utt(0, "c", timestamp=30),
        utt(3, "d"),
        utt(5, "d", timestamp=20, **other),
        utt(4, "d", timestamp=10, **other),
    )
    result = read(convokit(), files)
    assert [text for _, text in result.turns("quay:c")] == ["t0", "t1", "t2"]
    assert [text for _, text in result.turns("quay:d")] == ["t3", "t5", "t4"]  # u3 has no time
    assert is_restored(result, files)


def test_an_order_that_is_declared_counts_alone() -> None:
    files = utterances(utt(0, "c", meta={"n": 2}), utt(1, "c", meta={"n": 1}, **{"reply-to": "u0"}))
    result = read(convokit(turn=replace(SAID, order=("meta", "n"))), files)
    assert [text for _, text in result.turns("quay:c")] == ["t1", "t0"]
    assert result.places == [("GF-19", "utterances.jsonl#/1/reply-to")]
    assert is_restored(result, files)


def test_paths_may_lead_into_the_members_of_an_utterance() -> None:
    meta = {"who": {"name": "eve"}, "role": "guest", "at": "7", "ms": 5, "kind": "aside"}
    files = utterances(utt(0, "c", meta=meta), utt(1, "c", meta={"who": None}))
    turn = TurnFields(
        id=("id",),
        text=("text",),
        role=("meta", "role"),
        speaker=("meta", "who", "name"),
        said_at=("meta", "at"),
        kind=("meta", "kind"),
        start_ms=("meta", "ms"),
    )
    result = read(convokit(turn=turn, roles={"guest": "user"}), files)
    first, second = result.of(Turn)
    assert (first.role, first.speaker_id, first.kind, first.start_ms) == ("user", "quay:eve", "aside", 5)
    assert first.said_at == datetime(1970, 1, 1, 0, 0, 7)  # noqa: DTZ001 - the wall clock
    assert (second.role, second.speaker_id, second.kind, second.said_at) == ("speaker", None, "message", None)
    assert is_restored(result, files)


def test_an_utterance_without_a_conversation_is_in_that_of_the_root() -> None:
    def lost(number: int, **others: Any) -> dict[str, Any]:
        return {key: value for key, value in utt(number, "", **others).items() if key != "conversation_id"}

    files = utterances(
        utt(0, "c"),
        lost(1, **{"reply-to": "u0"}),
        lost(2, **{"reply-to": "u3"}),
        utt(3, "", conversation_id=None),
        lost(4, **{"reply-to": "gone"}),
        lost(5, **{"reply-to": "u6"}),
        lost(6, **{"reply-to": "u5"}),
    )
    result = read(convokit(), files)
    begin = "quay:__default_conversation__"
    assert [(turn.dialogue_id, turn.text) for turn in result.of(Turn)] == [
        *(("quay:c", "t0"), ("quay:c", "t1"), (f"{begin}u3", "t3"), (f"{begin}u3", "t2"), (f"{begin}u4", "t4")),
        *((f"{begin}u6", "t5"), (f"{begin}u6", "t6")),
    ]
    assert [place for place in result.places if place[0] == "GF-20"] == [
        ("GF-20", f"utterances.jsonl#/{line}/conversation_id") for line in (1, 3, 4, 5)
    ]
    assert is_restored(result, files)


def test_conversations_say_of_themselves_what_the_declaration_asks() -> None:
    files = utterances(utt(0, "c", meta={"fold": "dev"}), utt(1, "c"), utt(2, "d", meta={"fold": "test"}))
    files["conversations.json"] = (
        b'{"c": {"meta": {"fold": "train", "name": "Mole", "at": 1.5}}, "old": {"fold": "val"}, "bad": {"fold": {}}}'
    )
    fields = DialogueFields(
        ("conversation_id",), title=("meta", "name"), split=("meta", "fold"), started_at=("meta", "at")
    )
    result = read(convokit(dialogue=fields, times={"said_at": "unix", "started_at": "unix"}), files)
    assert [(row.title, row.started_at and row.started_at.microsecond) for row in result.of(Dialogue)] == [
        ("Mole", 500_000),
        (None, None),
    ]
    assert [(row.native_id, row.split, row.standard_split) for row in result.of(Record)][:2] == [
        ("c", "train", "train"),
        ("d", "test", "test"),
    ]
    assert result.places == [("GF-18", "utterances.jsonl#/0/meta/fold"), ("GF-01", "conversations.json#/bad/meta/fold")]
    assert is_restored(result, files)


def test_without_utterances_there_is_no_corpus() -> None:
    with pytest.raises(SourceError, match=r"utterances\.jsonl"):
        read(convokit(), {"speakers.json": b"{}"})


@pytest.mark.parametrize(
    ("line", "place"),
    [
        (b"[1]", "GF-01#/1"),
        (b'{"conversation_id": null, "text": "", "speaker": "ann"}', "GF-01#/1"),
        (b'{"id": "u1", "conversation_id": [], "text": "", "speaker": "ann"}', "GF-01#/1/conversation_id"),
        (b'{"id": "u1", "id": "u2"}', "TH-03#/1"),
        (b'{"id": "cut', "TH-01#/1"),
    ],
)
def test_a_line_of_no_conversation_refuses_the_utterances(line: bytes, place: str) -> None:
    files = utterances(utt(0, "c"))
    files["utterances.jsonl"] += line + b"\n"
    result = read(convokit(), files)
    assert [f"{item.rule}#{item.location.pointer}{item.at}" for item in result.rejected] == [place]
    assert restored(result)["utterances.jsonl"] == files["utterances.jsonl"]


def test_a_bad_text_refuses_its_conversation_and_other_bad_values_nothing() -> None:
    lines = [
        {"id": "u0", "conversation_id": "c", "text": "Is it open?", "speaker": "ann", "meta": {"mood": ["?"]}},
        {"id": "u1", "conversation_id": "d", "text": "In May.", "speaker": "bob"},
        {"id": "u2", "conversation_id": "c", "speaker": {}, "reply-to": "u0", "timestamp": []},
        {"id": "u3", "conversation_id": "d", "text": 1, "speaker": "ann"},
    ]
    files = {"utterances.jsonl": "".join(json.dumps(line) + "\n" for line in lines).encode()}
    result = read(convokit(annotations=(Annotations("mood", 0, on="turn", label=("meta", "mood")),)), files)
    assert result.turns("quay:c") == [("speaker", "Is it open?"), ("speaker", "")]
    assert [row.reply_to for row in result.of(Turn)] == [None, 0]
    assert result.places == [
        ("GF-01", "utterances.jsonl#/0/meta/mood"),
        ("GF-01", "utterances.jsonl#/2/speaker"),
        ("GF-01", "utterances.jsonl#/2/timestamp"),
        ("GF-22", "utterances.jsonl#/2"),
        ("GF-01", "utterances.jsonl#/1"),
    ]
    assert is_restored(result, files)


def test_a_bad_member_is_refused_alone() -> None:
    files = utterances(utt(0, "c")) | {"speakers.json": b'{"ann": 7, "bob": {"a": 1}}'}
    result = read(convokit(), files)
    assert result.places == [("GF-01", "speakers.json#/ann")]
    assert is_restored(result, files)


VALUES = {
    "id": st.sampled_from(["u0", "u1", 7, 7.5]),
    "conversation_id": st.sampled_from(["a", "b", 3]),
    "text": st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    "speaker": st.sampled_from(["ann", "", 4, None]),
    "reply-to": st.sampled_from(["u0", "u1", "7", 7, None]),
    "reply_to": st.sampled_from(["u0", None]),
    "timestamp": st.sampled_from([1, 1.5, "2", "NOT_RECORDED", None, 10**30, -1, True]),
}


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """Invent an utterance: members in any order, some absent, some unknown."""
    pairs = [f"{json.dumps(key)}:{json.dumps(draw(value))}" for key, value in VALUES.items() if draw(st.booleans())]
    there = {pair.partition(":")[0] for pair in pairs}
    needed = ("text",) if '"id"' in there else ("text", "conversation_id")
    pairs += [f'"{key}":"x"' for key in needed if f'"{key}"' not in there]
    others = draw(st.dictionaries(st.sampled_from(["meta", "shape", "shape_", "lines", ""]), ANY, max_size=2))
    pairs += [f"{json.dumps(key)}:{value}" for key, value in others.items()]
    return "{{{}}}\n".format(",".join(draw(st.permutations(pairs)))).encode()


@given(st.lists(lines(), max_size=4))
def test_any_utterances_come_back(drawn: list[bytes]) -> None:
    files = {"utterances.jsonl": b"".join(drawn)}
    result = read(convokit(), files)
    assert not result.rejected
    assert is_restored(result, files)
