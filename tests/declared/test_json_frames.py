"""Rows of one form that are read together become the rows that they become one by one."""

import json
from collections.abc import Iterable, Mapping
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.ingest.declared.declaration.model import (
    Annotations,
    Declaration,
    DialogueFields,
    SpeakerFields,
    TurnFields,
)
from talkhouse.ingest.declared.record_files.content import CAREFULLY, RawRecord
from talkhouse.ingest.declared.rows import json_frames
from talkhouse.ingest.declared.rows.json_frames import JsonFrames
from tests.conftest import ONCE_BROKEN, invented_examples
from tests.data_files import data_of
from tests.declared.rows_loaded import declared, everything, read, restored

_TEXTS = ("", "a", "Is it\u2028far?", "é 😀", '"\\/', "\x00\x0b\x1f\x7f", "null", "1", " x ", "user", "a/b%")
_TIMES = (
    *("2024-01-02T03:04:05Z", "2024-01-02T03:04:06Z", "2024-01-02T03:04:05.25Z", "2024-01-02T03:04:05+01:00"),
    *("2024-01-02 03:04", "2024-02-30", "3/4/24, 9:05 PM", "03/04/24, 09:05 PM", "", "1700000000"),
)
_MOMENTS = ("1:02.5", "0:00:03", "2", "1:70")
_LITERALS = ("1", "-0", "1.50", "1e3", "1700000000", "1700000000.25", "123456789012345678901", "true", "false")
_OTHERS = ("null", "[]", '{"a": 1}', '{"n": 2, "t": "x"}', "[1, \n 2]")
_MALFORMED = ("NaN", '"\\ud800"', '{"a":1,"a":2}', "[1,]")
_KEYS = data_of(__file__)["keys"]


def _declarations() -> Iterable[Declaration]:
    turn = TurnFields(
        text=("text",), id=("id",), speaker=("who",), role=("who",), said_at=("at",), reply_to=("to",), kind=("kind",)
    )
    dialogue = DialogueFields(id=("d",), title=("e",), started_at=("began",))
    people = SpeakerFields("dialogue", name=("name",), is_bot=("bot",))
    mood = Annotations("mood", 1, label=("mood",), missing_values=("", "a"))
    columns = Annotations("rated", 2, columns=("x", "shape"))
    yield declared(dialogue=dialogue, turn=turn, speaker=people)
    yield declared(dialogue=dialogue, turn=turn, times={"said_at": "%m/%d/%y, %I:%M %p", "began": "unix"})
    yield declared(dialogue=dialogue, turn=turn, times={"said_at": "unix", "started_at": "unix_ms"})
    yield declared(
        dialogue=DialogueFields(id_parts=(("d",), ("e",))),
        turn=TurnFields(text=("text",), order=("place",), start_ms=("from",), end_ms=("to",)),
        annotations=(mood, columns),
        times={"start_ms": "%M:%S"},
    )
    yield declared(dialogue=DialogueFields(id=("d",)), turn=TurnFields(text=("text",), order=("x", "n")))
    yield declared("convokit", dialogue=DialogueFields(id=("d",)), turn=turn)
    yield declared("convokit", dialogue=DialogueFields(id=("d",)), turn=turn, annotations=(mood,))


class _Inventor:
    """Invents files whose rows are mostly of a few forms."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._strange = chance.choice([0, 0, 0.01, 0.05])
        self._forms = [self._form() for _ in range(chance.randint(1, 3))]

    def _form(self) -> list[tuple[str, str]]:
        chance = self._chance
        keys = ["d", "id", "text", *chance.sample([*_KEYS, "root", "user", "reply_to"], chance.randint(0, 8))]
        keys = list(dict.fromkeys(keys))
        chance.shuffle(keys)
        usual = {
            "d": "id",
            "e": "text",
            "id": "number",
            "text": "text",
            "at": "time",
            "began": "time",
            "from": "moment",
        }
        kinds = ["text", "literal", "null", "number", "other"]
        return [(key, usual[key] if key in usual and chance.random() < 0.8 else chance.choice(kinds)) for key in keys]

    def file(self) -> bytes:
        lines = [self._row(number) for number in range(self._chance.randint(1, 40))]
        return "\n".join(lines).encode("utf-8", "surrogatepass") + b"\n"

    def _row(self, number: int) -> str:
        form = self._chance.choice(self._forms)
        members = [f"{json.dumps(key)}: {self._value(key, kind, number)}" for key, kind in form]
        if self._chance.random() < self._strange:
            self._chance.shuffle(members)
        return "{" + ", ".join(members[: None if self._chance.random() > self._strange else -1]) + "}"

    def _value(self, key: str, kind: str, number: int) -> str:
        chance = self._chance
        if chance.random() < self._strange / 4:
            return chance.choice(_MALFORMED)
        if chance.random() < self._strange:
            kind = chance.choice(["text", "literal", "null", "other", "time"])
        match kind:
            case "id":
                return json.dumps(f"d{number // 3}")
            case "number":
                return str(number)
            case "text":
                return json.dumps(chance.choice(_TEXTS if key == "text" else _TEXTS[1:3]), ensure_ascii=False)
            case "time":
                return json.dumps(chance.choice(_TIMES[:2] if chance.random() < 0.7 else _TIMES))
            case "moment":
                return json.dumps(chance.choice(_MOMENTS))
            case "literal":
                return chance.choice(_LITERALS[:1] if chance.random() < 0.7 else _LITERALS)
            case "null":
                return "null"
        return chance.choice(_OTHERS).replace("\n", "")


def outcome(declaration: Declaration, files: Mapping[str, bytes], *, carefully: bool, rows: int) -> tuple[Any, ...]:
    """Read files one way or the other, so many rows a frame; return all that was made of them, and them again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_frames, "_ROWS", rows)
        patch.setattr(json_frames, "_FEW", 2)
        patch.setenv(CAREFULLY, "1") if carefully else patch.delenv(CAREFULLY, raising=False)
        result = read(declaration, files)
    return everything(result), restored(result)


@invented_examples(300, ONCE_BROKEN)
@given(st.sampled_from(list(_declarations())), st.integers(0, 2**63), st.sampled_from([5, 20_000]))
def test_both_ways_give_the_same_rows(declaration: Declaration, seed: int, rows: int) -> None:
    inventor = _Inventor(Random(seed))  # noqa: S311 - nothing secret
    names = ("utterances.jsonl",) if declaration.format == "convokit" else ("a.jsonl", "b.jsonl")
    files = {name: inventor.file() for name in names}
    assert outcome(declaration, files, carefully=False, rows=rows) == outcome(
        declaration, files, carefully=True, rows=rows
    )


_ROW = '{"d":"d%s","text":"Is it far?","at":"2024-01-02T03:04:05Z","to":%s,"n":%s}'
_AMONG = (
    '{"d":"d1","text":null,"at":"2024-01-02T03:04:05Z","to":null,"n":1}',
    '{"d":"d1","text":"a","at":"2024-01-02T03:04:05","to":null,"n":1}',
    '{"d":"d1","text":"a","at":"2024-01-02T03:04:05Z","to":[],"n":1}',
    '{"text":"a","d":"d1","at":"2024-01-02T03:04:05Z","to":null,"n":1}',
)


def test_only_rows_that_are_written_otherwise_are_read_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    turn = TurnFields(text=("text",), said_at=("at",), reply_to=("to",))
    declaration = declared(dialogue=DialogueFields(id=("d",)), turn=turn)
    lines = [_ROW % (number, "null" if number % 3 else 7, number) for number in range(400)]
    raw = "\n".join([*lines[:200], *_AMONG, *lines[200:]]).encode()
    single: list[bytes] = []
    one_by_one = JsonFrames._row

    def spy(frames: JsonFrames, record: RawRecord) -> dict[str, Any]:
        single.append(record.raw)
        return one_by_one(frames, record)

    monkeypatch.setattr(JsonFrames, "_row", spy)
    result = read(declaration, {"a.jsonl": raw})
    assert single == [line.encode() for line in _AMONG]
    assert restored(result) == {"a.jsonl": raw}
    monkeypatch.setenv(CAREFULLY, "1")
    assert everything(read(declaration, {"a.jsonl": raw})) == everything(result)
    assert len(single) == len(_AMONG) * 2 + len(lines)


def test_a_row_that_refuses_a_file_comes_before_what_is_wrong_behind_it() -> None:
    rows = [*(_ROW % (number, "null", number) for number in range(200)), '{"text":"lost"}', "{"]
    refused = read(declared(), {"a.jsonl": "\n".join(rows).encode()}).rejected
    assert [(item.rule, item.at) for item in refused] == [("GF-01", "/200")]
