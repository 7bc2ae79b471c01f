"""Records as JSON texts and as values, invented or given: read by a format, and written again without an engine."""

import dataclasses
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec
from hypothesis import strategies as st
from msgspec import Raw

from talkhouse.ingest.declared.declaration import read_declaration
from talkhouse.ingest.declared.declaration.model import Declaration, Format
from talkhouse.ingest.declared.documents.document_format import DocumentFormat
from talkhouse.ingest.declared.parsed_dialogue import ParsedDialogue
from talkhouse.ingest.declared.shapes import KnownShapes, Shapes, SplitObject, join, members_of
from talkhouse.ingest.declared.speakers import Speakers
from talkhouse.ingest.decode import BadRecord, dump, literals
from talkhouse.ingest.keys import Memory
from talkhouse.ingest.rows import Candidate, FileRow, Part, Record, Row, Speaker, Turn
from talkhouse.ingest.stored_record import StoredRecord

LETTERS = st.text(st.sampled_from('ab "\\/\n\x00é\u2028😀'), max_size=6)
TEXTS = st.builds(lambda text, is_ascii: json.dumps(text, ensure_ascii=is_ascii), LETTERS, st.booleans())
NUMBERS = st.sampled_from(["0", "-0", "7", "1.50", "1e3", "-2.0E-5", "9007199254740993", "1" + "0" * 30, "1e999"])
SCALARS = TEXTS | NUMBERS | st.sampled_from(["null", "true", "false"])
NAMES = st.sampled_from(
    ["shape", "fields", "mark_", "cells", "a", "b", "", "😀", "id", "type", "value", "text", "weight"]
)


def objects(members: st.SearchStrategy[dict[str, str]]) -> st.SearchStrategy[str]:
    """Write objects: members as JSON texts, in any order."""

    def write(pairs: dict[str, str], order: list[int]) -> str:
        names = sorted(pairs, key=lambda name: order[list(pairs).index(name) % len(order)])
        return "{" + ", ".join(f"{json.dumps(name)}: {pairs[name]}" for name in names) + "}"

    return st.builds(write, members, st.permutations(range(12)))


def lists(items: st.SearchStrategy[str], *, most: int = 3) -> st.SearchStrategy[str]:
    return st.lists(items, max_size=most).map(lambda texts: "[" + ",".join(texts) + "]")


ANY = st.recursive(
    SCALARS, lambda inner: lists(inner) | objects(st.dictionaries(NAMES, inner, max_size=3)), max_leaves=5
)


def with_others(
    required: dict[str, st.SearchStrategy[str]], optional: dict[str, st.SearchStrategy[str]]
) -> st.SearchStrategy[str]:
    """Write objects with required members, optional ones, and some unknown ones."""
    known = st.fixed_dictionaries(required, optional=optional)
    extra = st.dictionaries(NAMES, ANY, max_size=2)
    nobody = extra.map(lambda more: {name: text for name, text in more.items() if name not in required | optional})
    return objects(st.builds(lambda own, more: {**more, **own}, known, nobody))


DIALOGUE = "corpus:0"
R = TypeVar("R", bound=Row)
_THEN = datetime(2026, 1, 1, tzinfo=UTC)


def read_text(form: DocumentFormat, record: str) -> ParsedDialogue:
    return form.read(SplitObject(members_of(record.encode()), form.wanted))


def rows_and_text(form: DocumentFormat, declaration: Declaration, record: str) -> tuple[StoredRecord, str]:
    """Read a record; return its rows, and what is written from them."""
    split = SplitObject(members_of(record.encode()), form.wanted)
    parsed = form.read(split)
    shapes, extra = Shapes(), dict[str, Raw](parsed.extra)
    shape = split.shape(parsed.taken, extra)
    file = FileRow("c/a.jsonl", "c", "c/a.jsonl", None, "jsonl", "", 0, _THEN, None, None, 1, 1, 0, None)
    record_row = Record("c/0", "c", DIALOGUE, None, None, None, None, None, None, 0, "", "", extra=dump(extra))
    texts = {str(number): candidate.text for number, candidate in enumerate(parsed.candidates)}
    stored = StoredRecord(file, record_row, speakers={}, texts=texts)
    speakers, is_within = Speakers(declaration, Memory()), declaration.speaker.scope == "dialogue"
    for index, turn in enumerate(parsed.turns):
        own: dict[str, Any] = {"dialogue_id": DIALOGUE, "turn_index": index, "speaker_id": None}
        if turn.speaker is not None:
            speaker, _ = speakers.of_corpus(turn.speaker, turn.role, is_bot=turn.is_bot, shown=turn.speaker_name)
            if is_within:
                speaker = Speaker.within(DIALOGUE, turn.speaker, speaker.kind)
            own["speaker_id"] = speaker.speaker_id
            stored.speakers.setdefault(speaker.speaker_id, speaker)
        stored.turns.append(_row(Turn, turn, "message", shapes, own))
        for number, part in enumerate(turn.parts or ()):
            own = {"dialogue_id": DIALOGUE, "turn_index": index, "part_index": number}
            stored.parts.append(_row(Part, part, "part", shapes, own))
    for number, candidate in enumerate(parsed.candidates):
        own = {"record_id": "c/0", "candidate_set": "completion", "dialogue_id": DIALOGUE, "text_id": str(number)}
        stored.candidates.append(_row(Candidate, candidate, "candidate", shapes, own))
    known = KnownShapes(literals(msgspec.json.encode(shapes.envelope()).decode()))
    filled = join(shape, literals(record_row.extra), lambda placeholder: form.write(placeholder, stored, known))
    return stored, filled.decode()


def _row(kind: type[R], parsed: Any, level: str, shapes: Shapes, own: dict[str, Any]) -> R:
    columns = {name: getattr(parsed, name) for name in kind.__struct_fields__ if hasattr(parsed, name)}
    number = 0 if parsed.shape is None else shapes.number(level, parsed.shape)
    return kind(**columns | own | {"extra": dump({**({"shape": number} if number else {}), **(parsed.extra or {})})})


def same(first: str, second: str) -> bool:
    """Whether two JSON texts are equal in values, order of keys, and the literals of numbers."""
    return bool(_literal(first) == _literal(second))


def _literal(text: str) -> Any:
    number = "a number: {}".format
    return json.loads(text, parse_int=number, parse_float=number, object_pairs_hook=lambda pairs: ("object", pairs))


def declared(of: Format, **parts: Any) -> Declaration:
    """Declare a corpus of a format; ``parts`` are fields of the declaration."""
    return dataclasses.replace(Declaration("teas", "", "teas/corpus.toml", "Teas", of, ()), **parts)


def in_toml(text: str) -> Declaration:
    return read_declaration("teas", f'title = "Teas"\n{text}', "teas/corpus.toml")


PAIRS = declared("pairs")


def read(of: DocumentFormat, record: object) -> ParsedDialogue:
    return read_text(of, json.dumps(record))


def stored(of: DocumentFormat, record: object) -> StoredRecord:
    """Return the rows of a record, which has to come back from them."""
    text = json.dumps(record)
    rows, back = rows_and_text(of, PAIRS, text)
    assert same(back, text), back
    return rows


def comes_back(of: DocumentFormat, text: str, declaration: Declaration = PAIRS) -> bool:
    """Whether a record is equal when it is written again."""
    return same(rows_and_text(of, declaration, text)[1], text)


def is_named_or_comes_back(of: DocumentFormat, text: str) -> bool:
    """Whether a record is refused by a rule of the formats, or equal when it is written again."""
    try:
        return comes_back(of, text)
    except BadRecord as problem:
        return problem.rule in {"GF-01", "GF-10"}


_ODD = ("null", "1", "true", '""', "[]", "{}", "[[]]", '[["a"]]', '[["a", "b"]]', "[{}]", "[null]", '{"a": "b"}')


def with_mutation(members: Mapping[str, st.SearchStrategy[str]]) -> st.SearchStrategy[str]:
    """Write objects that have these members, but one of them otherwise or not at all."""

    def mutate(name: str) -> st.SearchStrategy[str]:
        others = {other: texts for other, texts in members.items() if other != name}
        return with_others(others, {name: st.sampled_from(_ODD)})

    return st.sampled_from(list(members)).flatmap(mutate)
