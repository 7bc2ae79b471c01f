"""Pairs and preferences of one form that are read together become the rows that they become one by one."""

import json
from collections.abc import Iterable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.ingest.declared.declaration.model import (
    Annotations,
    Declaration,
    DialogueFields,
    PairFields,
    PreferenceFields,
)
from talkhouse.ingest.declared.documents import flat_records
from talkhouse.ingest.declared.documents.dialogue_rows import DecodedDialogues
from talkhouse.ingest.declared.documents.flat_records import FlatRecords
from tests.conftest import ONCE_BROKEN, invented_examples
from tests.declared.rows_loaded import declared, read_back
from tests.declared.test_typed import outcome

_TEXTS = ("a", "Is it\u2028far?", "é 😀", '"\\/', "\x00\x0b\x1f\x7f", "null", "1", " x ", "\ufeff", '\\"')
_OTHERS = (
    *("0", "-0", "1.50", "1e3", "9007199254740993", "1e400", "123456789012345678901", "9223372036854775808", "true"),
    *("null", "[]", '{"a": 1}', '[["q", "a"], ["", null]]', '[{"role": "user", "content": "x"}]', '""', '"2024-01-02"'),
)
_MALFORMED = ("NaN", '"\\ud800"', '{"a":1,"a":2}', "[1,]", '{"b":{"c":1,"\\u0063":2}}', "[" * 99 + "]" * 99)
_KEYS = ("id", "part", "t", "lang", "s", "h", "p", "q", "r", "began", "x", "shape", 'o"')


def _declarations() -> Iterable[Declaration]:
    fields = DialogueFields(id=("id",), title=("t",), language=("lang",), split=("part",))
    pair = PairFields(system=("s",), history=("h",), prompt=("p",), query=("q",), response=("r",))
    yield declared("pairs", dialogue=fields, pair=pair)
    yield declared("pairs", dialogue=DialogueFields(), pair=PairFields(prompt=("p",), response=("r",)))
    yield declared("pairs", dialogue=DialogueFields(id_parts=(("id",), ("part",))), pair=pair, languages=("en",))
    yield declared("pairs", dialogue=DialogueFields(id=("id",), may_lack_id=True, started_at=("began",)), pair=pair)
    yield declared("pairs", dialogue=DialogueFields(title=("p",)), pair=PairFields(prompt=("p",), response=("r",)))
    yield declared("pairs", dialogue=fields, pair=PairFields(prompt=("p",), query=("p",), response=("r",)))
    yield declared("pairs", dialogue=fields, pair=PairFields(prompt=("x", "a"), response=("r",)))
    good = Annotations("good", 1, on="response", label=("x",))
    yield declared("pairs", dialogue=fields, pair=pair, annotations=(good,))
    compared = PreferenceFields(prompt=("q",), chosen=("p",), rejected=("r",))
    yield declared("preference", dialogue=fields, preference=compared)
    yield declared("preference", dialogue=DialogueFields(), preference=replace(compared, prompt=("t",)))


class _Inventor:
    """Invents files whose records are mostly of a few forms."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._style = {"ensure_ascii": chance.random() < 0.5}
        self._strange = chance.choice([0, 0, 0.01, 0.05])
        self._forms = [self._form() for _ in range(chance.randint(1, 3))]

    def _form(self) -> dict[str, str]:
        keys = list({"p", "r", *self._chance.sample(_KEYS, self._chance.randint(0, 7))})
        self._chance.shuffle(keys)
        kinds = {"id": "id", "p": "text", "r": "text", "h": "null"}
        return {key: kinds.get(key) or self._chance.choice(["text", "text", "null", "id", "other"]) for key in keys}

    def file(self) -> bytes:
        lines = [self._record(number) for number in range(self._chance.randint(1, 30))]
        return "\n".join(lines).encode("utf-8", "surrogatepass")

    def _record(self, number: int) -> str:
        form = self._chance.choice(self._forms)
        members = [f"{json.dumps(key)}: {self._value(kind, number)}" for key, kind in form.items()]
        if self._chance.random() < self._strange:
            members.append(self._chance.choice(members))
        return "{" + ", ".join(members) + "}"

    def _value(self, kind: str, number: int) -> str:
        chance = self._chance
        if chance.random() < self._strange / 4:
            return chance.choice(_MALFORMED)
        if chance.random() < self._strange:
            return chance.choice(_OTHERS)
        match kind:
            case "id":
                return str(number) if chance.random() < 0.95 else json.dumps(f"same{number % 3}")
            case "text":
                return json.dumps(chance.choice(_TEXTS) if chance.random() < 0.8 else "", **self._style)
            case "null":
                return "null"
        return chance.choice(_OTHERS)


@invented_examples(300, ONCE_BROKEN)
@given(st.sampled_from(list(_declarations())), st.integers(0, 2**63), st.sampled_from([500, 4_000_000]))
def test_both_ways_give_the_same_rows(declaration: Declaration, seed: int, block: int) -> None:
    inventor = _Inventor(Random(seed))  # noqa: S311 - nothing secret
    files = {name: inventor.file() for name in ("a.jsonl", "b.jsonl")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flat_records, "_FEW", 1)
        quickly = outcome(declaration, files, carefully=False, block=block)
    assert quickly == outcome(declaration, files, carefully=True)


def test_those_of_a_form_that_many_have_are_read_together(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = PairFields(prompt=("p",), query=("q",), response=("r",))
    declaration = declared("pairs", dialogue=DialogueFields(id=("id",), split=("part",)), pair=pair)
    lines = [
        f'{{"id":{number},"p":"Is it far?","q":"{"near" * (number % 2)}","r":"No.","part":"dev","w":{number}.50}}'
        for number in range(1, 301)
    ]
    lines[200:200] = ['{"id":1000,"p":"a","q":"","r":"","part":"dev","w":1}', '{"id":1001,"p":"a","r":"b"}']
    together: list[int] = []
    decode = FlatRecords._of_form

    def spy(records: FlatRecords, *form: object) -> DecodedDialogues | None:
        decoded = decode(records, *form)  # type: ignore[arg-type]
        together.extend(decoded.of_records if decoded else ())
        return decoded

    monkeypatch.setattr(FlatRecords, "_of_form", spy)
    files = {"a.jsonl": "\n".join(lines).encode()}
    result = read_back(declaration, files)
    assert sorted(together) == [place for place in range(302) if place not in (200, 201)]
    assert [finding.rule for finding in result.findings] == ["GF-03"]
    assert outcome(declaration, files, carefully=False) == outcome(declaration, files, carefully=True)
