"""ConvoKit's files to dialogues and back, with their new names and the old ones."""

import json
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.ingest.declared.declaration.model import Declaration, DialogueFields, TurnFields
from talkhouse.ingest.rows import Record, Speaker, Turn
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


def test_without_utterances_there_is_no_corpus() -> None:
    with pytest.raises(SourceError, match=r"utterances\.jsonl"):
        read(convokit(), {"speakers.json": b"{}"})


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
