"""Takes a record apart by a format and puts it together again, as the tables would hold it between."""

import dataclasses
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from hypothesis import strategies as st
from msgspec import Raw

from talkhouse.ingest import rows
from talkhouse.ingest.declared.declaration.model import Declaration, Format
from talkhouse.ingest.declared.documents.talk import DocumentFormat, Piece, Talk
from talkhouse.ingest.declared.shapes import KnownShapes, Shapes, Split, join, members_of
from talkhouse.ingest.decode import BadRecord, dump, literals
from talkhouse.ingest.stored_record import StoredRecord


def declared(of: Format, **parts: Any) -> Declaration:
    """Declare a corpus of a format; ``parts`` are fields of the declaration."""
    declaration = Declaration("teas", "", "teas/corpus.toml", "Teas", of, ())
    return dataclasses.replace(declaration, **parts)


def read(of: DocumentFormat, record: object) -> Talk:
    """Read a record, given as a value or as JSON text."""
    return of.read(_split(of, record))


def written(of: DocumentFormat, record: object) -> tuple[bytes, StoredRecord]:
    """Write a record again from the rows that it became; return its JSON text and these rows."""
    split = _split(of, record)
    talk = of.read(split)
    shapes = Shapes()
    extra = dict(talk.extra)
    shape = split.shape(talk.taken, extra)
    stored = StoredRecord(
        file=rows.FileRow("f", "teas", "f.jsonl", None, "data", "", 0, datetime.now(UTC), None, None, 1, 1, 0, None),
        record=rows.Record("teas/f.jsonl/0", "teas", "d", None, None, None, None, None, None, 0, "f", "/0"),
        dialogue=rows.Dialogue("d", "teas"),
    )
    stored.loaded.extra = dump(_with_shape(shapes, "record", shape, extra))
    for index, said in enumerate(talk.said):
        kept = _with_shape(shapes, "message", said.shape, said.extra)
        stored.turns.append(rows.Turn("d", index, None, said.role, said.kind, said.text, extra=dump(kept)))
        stored.parts.extend(_part(index, place, piece, shapes) for place, piece in enumerate(said.parts or ()))
    texts: dict[str, str] = {}
    for offered in talk.offered:
        text_id = f"teas:{len(texts)}"
        texts[text_id] = offered.text
        kept = _with_shape(shapes, "candidate", offered.shape, offered.extra)
        place = ("completion", offered.position, offered.item_index)
        stored.candidates.append(
            rows.Candidate(
                "teas/f.jsonl/0", offered.turn_index, *place, "d", text_id, is_gold=offered.is_gold, extra=dump(kept)
            )
        )
    stored = dataclasses.replace(stored, texts=texts)
    known = KnownShapes(literals(dump(shapes.envelope())))
    back = literals(stored.loaded.extra)
    return join(known.of("record", back), back, lambda hole: of.write(hole, stored, known)), stored


def same(raw: bytes, other: bytes) -> bool:
    """Tell whether two JSON texts are equal in every value, the order of keys, and how numbers are written."""
    return _ordered(raw) == _ordered(other)


def is_named_or_comes_back(of: DocumentFormat, record: bytes) -> bool:
    """Tell whether a record is refused by a rule of the formats, or equal when it is written again."""
    try:
        back, _ = written(of, record)
    except BadRecord as problem:
        return problem.rule in {"GF-01", "GF-10"}
    return same(back, record)


def _ordered(raw: bytes | Raw) -> object:
    match bytes(raw)[:1]:
        case b"{":
            return [(key, _ordered(value)) for key, value in members_of(raw).items()]
        case b"[":
            return ["list", *map(_ordered, msgspec.json.decode(raw, type=list[Raw]))]
        case b'"':
            return ("text", msgspec.json.decode(raw))
    return bytes(raw)


def _split(of: DocumentFormat, record: object) -> Split:
    raw = record if isinstance(record, bytes) else msgspec.json.encode(record)
    return Split(members_of(msgspec.json.format(raw, indent=-1)), of.wanted)


def _part(turn_index: int, part_index: int, piece: Piece, shapes: Shapes) -> rows.Part:
    columns = msgspec.structs.asdict(piece)
    kept = _with_shape(shapes, "part", columns.pop("shape"), columns.pop("extra"))
    return rows.Part("d", turn_index, part_index, **columns, extra=dump(kept))


def _with_shape(
    shapes: Shapes, level: str, shape: Mapping[str, Any] | None, extra: Mapping[str, Raw] | None
) -> dict[str, Any]:
    number = 0 if shape is None else shapes.number(level, shape)
    return (dict(extra or {})) | ({"shape": number} if number else {})


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
"""Short texts of any letters, astral ones too."""

LITERALS = st.one_of(
    st.sampled_from([b"null", b"true", b"1.50", b"-0", b"1E3", b"[]", b"{}", b'{"b": [1.0, null], "a": ""}']),
    TEXTS.map(msgspec.json.encode),
)
"""JSON texts that a member may have which no format knows."""


@st.composite
def records(draw: st.DrawFn, members: Mapping[str, st.SearchStrategy[Any]]) -> bytes:
    """Invent an object as JSON text: each of these members or none, others too, in any order.

    A member's value is given as a value or as a ``Raw``; ``...`` is one that is absent.
    """
    pairs = [(key, value) for key, values in members.items() if (value := draw(values)) is not ...]
    names = st.one_of(TEXTS, st.sampled_from(["shape", "mark", "fields", "shape_", "role"])).filter(
        lambda name: name not in members
    )
    pairs += [(key, Raw(value)) for key, value in draw(st.dictionaries(names, LITERALS, max_size=3)).items()]
    return msgspec.json.encode(dict(draw(st.permutations(pairs))))


MUTATIONS: st.SearchStrategy[Any] = st.sampled_from(
    [..., None, 1, True, "", [], {}, [[]], [["a"]], [["a", "b"]], [{}], [None], {"a": "b"}]
)


def mutated(members: Mapping[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[bytes]:
    """Invent such an object with one member of another type."""
    return st.sampled_from(list(members)).flatmap(lambda key: records({**members, key: MUTATIONS}))
