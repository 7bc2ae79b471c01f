"""Records as JSON texts and as values, invented or given: read by a format, and written again without an engine."""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import msgspec
from hypothesis import strategies as st
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration, Format
from talkhouse.ingest.declared.documents.parsed_record import (
    DocumentFormat,
    ParsedCandidate,
    ParsedDialogue,
    ParsedPart,
    ParsedTurn,
)
from talkhouse.ingest.declared.shapes import KnownShapes, Shapes, SplitObject, join, members_of
from talkhouse.ingest.declared.speakers import Speakers, speaker_kind
from talkhouse.ingest.decode import BadRecord, dump, literals
from talkhouse.ingest.rows import Candidate, FileRow, Part, Record, Speaker, Turn
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
    """Write lists of JSON texts."""
    return st.lists(items, max_size=most).map(lambda texts: "[" + ",".join(texts) + "]")


ANY = st.recursive(
    SCALARS, lambda inner: lists(inner) | objects(st.dictionaries(NAMES, inner, max_size=3)), max_leaves=5
)


def with_others(
    required: dict[str, st.SearchStrategy[str]], optional: dict[str, st.SearchStrategy[str]]
) -> st.SearchStrategy[str]:
    """Write objects with members that have to be there, others that may, and some that nobody knows."""
    known = st.fixed_dictionaries(required, optional=optional)
    extra = st.dictionaries(NAMES, ANY, max_size=2)
    nobody = extra.map(lambda more: {name: text for name, text in more.items() if name not in required | optional})
    return objects(st.builds(lambda own, more: {**more, **own}, known, nobody))


DIALOGUE = "corpus:0"
_THEN = datetime(2026, 1, 1, tzinfo=UTC)


def read_text(form: DocumentFormat, record: str) -> ParsedDialogue:
    """Read one record."""
    return form.read(SplitObject(members_of(record.encode()), form.wanted))


def written(form: DocumentFormat, declaration: Declaration, record: str) -> str:
    """Read a record, put it into rows, and write it from them."""
    return rows_and_text(form, declaration, record)[1]


def rows_and_text(form: DocumentFormat, declaration: Declaration, record: str) -> tuple[StoredRecord, str]:
    """Read a record; return its rows, and what is written from them."""
    split = SplitObject(members_of(record.encode()), form.wanted)
    talk = form.read(split)
    shapes, extra = Shapes(), dict[str, Raw](talk.extra)
    shape = split.shape(talk.taken, extra)
    stored = StoredRecord(
        file=_file(), record=Record("c/0", "c", DIALOGUE, None, None, None, None, None, None, 0, "", "")
    )
    speakers, of_corpus = Speakers(declaration), dict[str, Speaker]()
    for index, said in enumerate(talk.turns):
        speaker_id = None
        if said.speaker is not None:
            if declaration.speaker.scope == "corpus":
                speaker, _ = speakers.of_corpus(said.speaker, said.role, is_bot=said.is_bot, shown=said.speaker_name)
            else:
                speaker = Speaker.within(DIALOGUE, said.speaker, speaker_kind(said.role, is_bot=said.is_bot))
                if said.speaker_name is not None:
                    speaker.native_id, speaker.name = said.speaker, said.speaker_name
            of_corpus.setdefault(speaker.speaker_id, speaker)
            speaker_id = speaker.speaker_id
        stored.turns.append(_turn(index, said, speaker_id, shapes))
        stored.parts.extend(_part(index, number, piece, shapes) for number, piece in enumerate(said.parts or ()))
    for number, offered in enumerate(talk.candidates):
        stored.candidates.append(_candidate(offered, str(number), shapes))
    texts = {str(number): offered.text for number, offered in enumerate(talk.candidates)}
    stored = replace(stored, speakers=of_corpus, texts=texts)
    known = KnownShapes(literals(msgspec.json.encode(shapes.envelope()).decode()))
    stored.loaded.extra = dump(extra)
    return stored, join(
        shape, literals(stored.loaded.extra), lambda placeholder: form.write(placeholder, stored, known)
    ).decode()


def same(first: str, second: str) -> bool:
    """Tell whether two JSON texts are equal in values, order of keys, and the literals of numbers."""
    return bool(_literal(first) == _literal(second))


class _Number(str):
    """The literal of a number, which no text equals."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Number) and str(self) == str(other)


def _literal(text: str) -> Any:

    return json.loads(
        text,
        parse_int=lambda number: ("number", number),
        parse_float=lambda number: ("number", number),
        object_pairs_hook=list,
    )


def _file() -> FileRow:
    return FileRow("c/a.jsonl", "c", "c/a.jsonl", None, "jsonl", "", 0, _THEN, None, None, 1, 1, 0, None)


def _turn(index: int, said: ParsedTurn, speaker_id: str | None, shapes: Shapes) -> Turn:
    return Turn(
        DIALOGUE,
        index,
        speaker_id,
        said.role,
        said.kind,
        said.text,
        said.native_id,
        said.said_at,
        _extra(said.shape, said.extra, "message", shapes),
        said.reply_to,
        said.start_ms,
        said.end_ms,
    )


def _candidate(offered: ParsedCandidate, text_id: str, shapes: Shapes) -> Candidate:
    return Candidate(
        "c/0",
        offered.turn_index,
        "completion",
        offered.position,
        offered.item_index,
        DIALOGUE,
        text_id,
        is_gold=offered.is_gold,
        extra=_extra(offered.shape, offered.extra, "candidate", shapes),
    )


def _part(turn: int, index: int, piece: ParsedPart, shapes: Shapes) -> Part:
    columns = {name: getattr(piece, name) for name in piece.__struct_fields__ if name not in ("shape", "extra")}
    return Part(DIALOGUE, turn, index, **columns, extra=_extra(piece.shape, piece.extra, "part", shapes))


def _extra(shape: Any, extra: dict[str, Raw] | None, level: str, shapes: Shapes) -> str | None:
    number = 0 if shape is None else shapes.number(level, shape)
    return dump({**({"shape": number} if number else {}), **(extra or {})})


def declared(of: Format, **parts: Any) -> Declaration:
    """Declare a corpus of a format; ``parts`` are fields of the declaration."""
    return dataclasses.replace(Declaration("teas", "", "teas/corpus.toml", "Teas", of, ()), **parts)


def read(of: DocumentFormat, record: object) -> ParsedDialogue:
    """Read a record."""
    return read_text(of, json.dumps(record))


def stored(of: DocumentFormat, record: object) -> StoredRecord:
    """Return the rows of a record, which has to come back from them."""
    text = json.dumps(record)
    rows, back = rows_and_text(of, declared("pairs"), text)
    assert same(back, text), back
    return rows


def comes_back(of: DocumentFormat, text: str) -> bool:
    """Tell whether a record is equal when it is written again."""
    return same(written(of, declared("pairs"), text), text)


def is_named_or_comes_back(of: DocumentFormat, text: str) -> bool:
    """Tell whether a record is refused by a rule of the formats, or equal when it is written again."""
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
