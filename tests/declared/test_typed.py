"""Records that are decoded many at a time become the rows that they become one by one."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
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
from talkhouse.ingest.declared.documents import document_files
from talkhouse.ingest.declared.documents.dialogue_rows import DecodedDialogues
from talkhouse.ingest.declared.documents.messages import CHAT
from talkhouse.ingest.declared.documents.typed import Typed, typed_dialogues
from talkhouse.ingest.declared.labels import Labels
from talkhouse.ingest.declared.record_files.content import CAREFULLY
from talkhouse.ingest.rows import Annotation, Turn
from tests.conftest import ONCE_BROKEN, invented_examples
from tests.data_files import data_of
from tests.declared.rows_loaded import declared, everything, read, restored

_TEXTS = ("", "a", "Is it\u2028far?", "é 😀", '"\\/', "\x00\x0b\x1f\x7f", "null", "1", " x ", "\ufeff")
_ROLES = ("user", "assistant", "system", "user", "assistant", "narrator", "function_call", "")
_TIMES = (
    *("2024-01-02T03:04:05Z", "2024-01-02T03:04:06Z", "2024-01-02 03:04:05", "2024-02-30T00:00:00Z"),
    *("1700000000", ""),
)
_IDS = ("same", "3", "", "same~")
"""Ids that other records have too, or dialogues whose id others have."""
_LITERALS = (
    *("1", "-0", "1.50", "1e3", "9007199254740993", "1e400", "123456789012345678901"),
    *("true", "null", "[]", '{"a": 1}'),
)
_MALFORMED = (
    *("NaN", '"\\ud800"', '{"a":1,"a":2}', "[1,]", '{"b":{"c":1,"\\u0063":2}}', "\xff", '"\xff"'),
    "[" * 99 + "]" * 99,
)

_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "role": _ROLES,
    "content": _TEXTS,
    "name": ("Ann", "Bo", "Ann", ""),
    "time": _TIMES,
    "uid": ("1", "2", "3", "4", "5", "6", "7", ""),
    "sort": ("message", "aside", ""),
    "note": _TEXTS,
}
_CALL = '{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}'
_PARTS: Mapping[str, tuple[str, ...]] = {
    "tool_calls": (
        *(f"[{_CALL}]", f"[{_CALL}]", f"[{_CALL}, {_CALL}]", "[]", "null", '"x"'),
        '[{"id": "c2", "function": {"arguments": {"a": 1.50}}}]',
    ),
    "tool_call_id": ('"c1"', '"c1"', '"c2"'),
    "reasoning": ('"hm"', '""', "1"),
}


def _declarations() -> Iterable[Declaration]:
    ids = DialogueFields(id=("id",), turns=("messages",), title=("title",), started_at=("began",), system=("intro",))
    turn = TurnFields(role=("role",), text=("content",), speaker=("name",), said_at=("time",))
    more = replace(turn, speaker=None, said_at=None, id=("uid",), kind=("sort",), start_ms=("from",), end_ms=("to",))
    yield declared("chat", dialogue=ids, turn=turn, speaker=SpeakerFields("dialogue"))
    yield declared("chat", dialogue=DialogueFields(turns=("messages",)), turn=turn)
    yield declared("dialogue", dialogue=ids, turn=more, roles={"user": "visitor", "narrator": "visitor"})
    yield declared(
        "sharegpt",
        dialogue=ids,
        turn=TurnFields(("uid",), ("content",), ("role",), ("role",), ("time",)),
        times={"said_at": "unix"},
    )
    yield declared("dialogue", dialogue=ids, turn=TurnFields(text=("content",), speaker=("name",), reply_to=("uid",)))
    mood = Annotations("mood", 1, label=("note",), missing_values=("a",))
    weight = Annotations("weight", 2, on="record", label=("weight",), missing_values=("1.50",))
    place = Annotations("place", 3, start=("from",), end=("to",), label=("name",), turn=("uid",))
    yield declared("chat", dialogue=ids, turn=replace(turn, id=("uid",)), annotations=(mood, weight))
    yield declared("dialogue", dialogue=ids, turn=TurnFields(text=("content",)), annotations=(place, weight))
    yield declared("chat", dialogue=ids, turn=turn, annotations=(replace(weight, on="response"),))


class _Inventor:
    """Invents files whose records are mostly of a few forms."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._style = {"ensure_ascii": chance.random() < 0.5, "separators": chance.choice([None, (",", ":")])}
        self._forms = [self._form() for _ in range(chance.randint(1, 3))]
        self._strange = chance.choice([0, 0.01, 0.02, 0.1])

    def _form(self) -> list[tuple[str, str]]:
        keys = [
            "role",
            "content",
            *self._chance.sample(
                sorted((_MEMBERS.keys() | _PARTS.keys()) - {"role", "content"}), self._chance.randint(0, 4)
            ),
        ]
        keys += self._chance.sample(["from", "to", "Note", "weight", "it's", 'x") as d --'], self._chance.randint(0, 2))
        if self._chance.random() < 0.3:
            self._chance.shuffle(keys)
        return [(key, self._chance.choice(["text"] * 7 + ["literal", "null"])) for key in keys]

    def file(self, name: str) -> tuple[str, bytes]:
        lines = [self._record(number) for number in range(self._chance.randint(1, 24))]
        text = "\n".join(lines)
        if self._chance.random() < 0.2:
            name, text = f"{name}.json", f"[{', '.join(lines)}]"
        else:
            name = f"{name}.jsonl"
        return name, text.encode("utf-8", "surrogatepass").replace("\xff".encode(), b"\xff")

    def _record(self, number: int) -> str:
        chance = self._chance
        ids = (
            [str(number), f'"{number}"', '"same"', self._text(_IDS)]
            if chance.random() < self._strange
            else [f'"{number}"']
        )
        members = {"id": chance.choice(ids)}
        if chance.random() < 0.8:
            members |= {"title": self._text(_TEXTS), "began": self._text(_TIMES[:2])}
        if chance.random() < self._strange:
            members |= {"intro": self._text(_TEXTS)}
        messages = [self._message() for _ in range(chance.randint(0 if chance.random() < self._strange else 1, 5))]
        members["messages"] = f"[{', '.join(messages)}]"
        if chance.random() < 0.2:
            members["weight"] = chance.choice(_LITERALS)
        return self._object(members)

    def _message(self) -> str:
        return self._object({key: self._value(key, kind) for key, kind in self._chance.choice(self._forms)})

    def _value(self, key: str, kind: str) -> str:
        chance = self._chance
        if chance.random() < self._strange:
            return chance.choice((*_MALFORMED, *_LITERALS, self._text(_TEXTS)))
        usual = _MEMBERS.get(key, ("1", "2"))
        if key in _PARTS:
            return chance.choice(_PARTS[key])
        if key in ("from", "to"):
            return str(chance.randint(-5, 5) if chance.random() < 0.99 else 10**30)
        if kind == "text" or key == "role":
            return self._text(usual[:2] if chance.random() > self._strange else usual)
        return "null" if kind == "null" else chance.choice(_LITERALS[:1] if chance.random() < 0.8 else _LITERALS)

    def _text(self, texts: tuple[str, ...]) -> str:
        return json.dumps(self._chance.choice(texts), **self._style)

    def _object(self, members: Mapping[str, str]) -> str:
        pairs = [f"{json.dumps(key)}: {value}" for key, value in members.items()]
        if self._chance.random() < self._strange / 4:
            pairs.append(pairs[0])
        return "{" + ", ".join(pairs) + ("," if self._chance.random() < self._strange / 4 else "") + "}"


def outcome(
    declaration: Declaration, files: Mapping[str, bytes], *, carefully: bool, block: int = 4_000_000, least: int = 0
) -> tuple[Any, ...]:
    """Read files one way or the other; return all that was made of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document_files, "_BLOCK", block)
        patch.setattr(document_files, "_LEAST", least)
        patch.setenv(CAREFULLY, "1") if carefully else patch.delenv(CAREFULLY, raising=False)
        result = read(declaration, files)
    return everything(result)


@invented_examples(150, ONCE_BROKEN)
@given(
    st.sampled_from(list(_declarations())), st.integers(0, 2**63), st.sampled_from([1_000, 4_000_000]), st.booleans()
)
def test_both_ways_give_the_same_rows(declaration: Declaration, seed: int, block: int, is_mixed: bool) -> None:
    inventor = _Inventor(Random(seed))  # noqa: S311 - nothing secret
    files = dict(inventor.file(name) for name in ("a", "b"))
    least = block + 100 if is_mixed else 0  # of several blocks, some are too small to be decoded
    result = outcome(declaration, files, carefully=False, block=block, least=least)
    assert result == outcome(declaration, files, carefully=True)


def _trees() -> Iterable[Declaration]:
    ids = DialogueFields(id=("id",), turns=("root",), title=("title",))
    turn = TurnFields(role=("role",), text=("content",), id=("uid",), replies=("replies",))
    yield declared("tree", dialogue=ids, turn=turn)
    yield declared("tree", dialogue=ids, turn=replace(turn, id=None, said_at=("time",), speaker=("name",)))
    yield declared("tree", dialogue=ids, turn=replace(turn, start_ms=("from",)))
    yield declared("tree", dialogue=DialogueFields(turns=("root",)), turn=replace(turn, reply_to=("above",)))
    yield declared("tree", dialogue=ids, turn=turn, annotations=(Annotations("mood", 1, label=("note",)),))


class _TreeInventor(_Inventor):
    """Invents trees whose messages are mostly of a few forms."""

    def __init__(self, chance: Random) -> None:
        super().__init__(chance)
        self._above = chance.choice(["parent_id", "above", None])
        self._no_replies = chance.choice(["[]", "[]", "null", " [ ]", None])

    def _record(self, number: int) -> str:
        members = {"id": f'"{number}"', "root": self._tree(0, None), "title": self._text(_TEXTS)}
        if self._chance.random() < self._strange:
            members["root"] = self._chance.choice([f"[{members['root']}]", "[]", "null", '"x"'])
        return self._object(members)

    def _tree(self, depth: int, above: str | None) -> str:
        chance, form = self._chance, self._chance.choice(self._forms)
        uid = str(chance.randint(1, 10**6)) if chance.random() < 0.98 else "1"
        members = {key: self._value(key, kind) for key, kind in form} | {"uid": f'"{uid}"'}
        if self._above:
            members[self._above] = json.dumps(above if chance.random() > self._strange else "2")
        replies = [self._tree(depth + 1, uid) for _ in range(chance.randint(0, 3 - depth))]
        written = f"[{', '.join(replies)}]" if replies else self._no_replies
        if chance.random() < self._strange / 4:
            written = chance.choice(["{}", "[1]", '"x"'])
        return self._object(members | ({"replies": written} if written else {}))


@invented_examples(150, ONCE_BROKEN)
@given(st.sampled_from(list(_trees())), st.integers(0, 2**63), st.sampled_from([1_000, 4_000_000]))
def test_trees_read_both_ways_give_the_same_rows(declaration: Declaration, seed: int, block: int) -> None:
    inventor = _TreeInventor(Random(seed))  # noqa: S311 - nothing secret
    files = dict(inventor.file(name) for name in ("a", "b"))
    result = outcome(declaration, files, carefully=False, block=block)
    assert result == outcome(declaration, files, carefully=True)


_PLAIN = (
    '{"id": "%s", "messages": '
    '[{"role": "user", "content": "Is it far?", "name": "Ann", "time": "2024-01-02T03:04:05Z"}]}'
)
_AMONG = data_of(__file__)["among"]


def test_what_is_written_otherwise_is_read_by_itself_in_its_place() -> None:
    lines = [line for number, other in enumerate(_AMONG) for line in (_PLAIN % number, other)]
    files = {"a.jsonl": "\n".join([*lines, _PLAIN % 3, *(_PLAIN % number for number in range(20, 40))]).encode()}
    declaration = next(iter(_declarations()))
    taken: list[bytes] = []

    def spy(typed: Typed, labels: Sequence[Labels]) -> DecodedDialogues:
        result = typed_dialogues(typed, labels)
        taken.extend(typed.block[n].raw for n in result.of_records)
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document_files, "typed_dialogues", spy)
        slowly = outcome(declaration, files, carefully=False, least=150_000)
        assert not taken
        quickly = outcome(declaration, files, carefully=False)
    assert {(_PLAIN % number).encode() for number in (*range(len(_AMONG)), *range(20, 40))} <= set(taken)
    assert not [raw for raw in taken for name in "abdhij" if f'"id": "{name}"'.encode() in raw]
    assert quickly == slowly == outcome(declaration, files, carefully=True)
    _, findings, rejected, _ = quickly
    assert [rule for rule, *_ in findings] == ["GF-02", "GF-05", "GF-04", "GF-25"]
    assert [rule for rule, *_ in rejected] == ["GF-01", "TH-01", "TH-02", "GF-01", "TH-04", "TH-03"]


_JUDGED = (
    '{"messages": [{"role": "user", "content": "Tea?"}, {"role": "assistant", "content": "Yes."}], "good": true}',
    '{"messages": [{"role": "assistant", "content": "Tea?"}, {"role": "user", "content": "Yes."}], "good": false}',
    '{"messages": [{"role": "user", "content": "Tea?"}, {"role": "user", "content": "Hm."}], "good": false}',
)


@pytest.mark.parametrize("carefully", [False, True])
def test_a_label_of_the_response_is_about_the_last_message_of_the_assistant(carefully: bool) -> None:
    good = Annotations("good", 1, on="response", label=("good",))
    declaration = declared("chat", dialogue=DialogueFields(turns=("messages",)), turn=CHAT, annotations=(good,))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CAREFULLY, "1") if carefully else patch.delenv(CAREFULLY, raising=False)
        result = read(declaration, {"a.jsonl": "\n".join(_JUDGED * 4).encode()})
    labels = [(label.turn_index, label.label) for label in result.of(Annotation)]
    assert Counter(labels) == {(1, "true"): 4, (0, "false"): 4, (None, "false"): 4}


_ORDERS = (
    '{"id":"%s","messages":[{"role":"user","content":"a"}]}',
    '{"id":"%s","messages":[{"content":"a","role":"user"}]}',
)


def test_a_file_numbers_its_own_shapes() -> None:
    declaration = declared("chat", dialogue=DialogueFields(id=("id",), turns=("messages",)), turn=CHAT)
    first, second = _ORDERS
    files = {
        "a.jsonl": "\n".join([first % 1, second % 2, second % 4]).encode(),
        "b.jsonl": "\n".join([second % 3, first % 1, second % 2, first % 4]).encode(),
        "c.jsonl": "\n".join([second % 5, first % 6]).encode(),
    }
    result, alone = read(declaration, files), read(declaration, {"c.jsonl": files["c.jsonl"]})
    assert restored(result) == files
    assert result.files["quay/c.jsonl"].extra == alone.files["quay/c.jsonl"].extra
    of_c = {("quay:5", None), ("quay:6", '{"shape":1}')}
    turns = {(turn.dialogue_id, turn.extra) for turn in result.of(Turn)}
    assert turns == {("quay:1", None), ("quay:2", '{"shape":1}'), ("quay:3", None), ("quay:4", '{"shape":1}'), *of_c}
