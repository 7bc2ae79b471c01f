"""Rows of records that were decoded many at a time (``typed``): the same as the reader makes, as columns."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import msgspec
import polars as pl
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.declared.documents.dialogue_rows import DialogueRows, rest_of, shaped
from talkhouse.ingest.declared.documents.gathered import Gathered
from talkhouse.ingest.declared.documents.record_fields import RecordFields
from talkhouse.ingest.declared.documents.typed import Layout, Typed
from talkhouse.ingest.declared.identity import Identity
from talkhouse.ingest.declared.record_files.record import RawRecord
from talkhouse.ingest.declared.shapes import members_of
from talkhouse.ingest.declared.splits import Splits
from talkhouse.ingest.declared.times import ISO, UNIX, read_time
from talkhouse.ingest.decode import BadRecord, check, check_depth, decoder, dump
from talkhouse.ingest.keys import digest_of
from talkhouse.ingest.outcomes import SourceLocation
from talkhouse.ingest.rows import ColumnBatch, Dialogue, Participant, Record, Row, Turn

_OBJECTS = decoder(list[dict[str, Raw]])
_FACTS = ("title", "domain", "language", "started_at")
_VARYING = ("native_id", "said_at", "kind", "start_ms", "end_ms")
"""Columns that turns may have beside who says what."""


class FilePlace(NamedTuple):
    """The file that is read."""

    location: SourceLocation
    path: str
    """What the keys of its records begin with, behind the corpus."""


class _Taken(NamedTuple):
    place: int
    """Among the records of the form."""
    raw: RawRecord
    dialogue_id: str
    native_id: str | None
    fields: RecordFields
    extra: str | None
    turn_extra: list[str | None] | None
    """None where no turn has any."""


class TypedRows:
    """The records of one form in a block, taken one after the other in the order of the file."""

    def __init__(
        self,
        typed: Typed,
        declaration: Declaration,
        place: FilePlace,
        identity: Identity,
        rows: DialogueRows,
        splits: Splits,
    ) -> None:
        """``identity``, ``rows`` and ``splits`` are the reader's."""
        self._typed, self._declaration, self._place = typed, declaration, place
        self._identity, self._rows, self._splits = identity, rows, splits
        self._language = declaration.languages[0] if len(declaration.languages) == 1 else None
        self._form = declaration.times.get("started_at", ISO)
        self._records = {name: typed.records[name].to_list() for name in typed.records.columns}
        self._holes = [hole for hole in RecordFields.__struct_fields__ if hole in self._records and hole != "native_id"]
        self._usual = RecordFields(language=self._language)
        turns = typed.turns
        self._varying: dict[str, list[Any]] = {
            name: (turns[name].cast(pl.Int64) if name == "said_at" else turns[name]).to_list()
            for name in _VARYING
            if name in turns.columns
        }
        self._layouts = turns["layout"].to_list() if len(typed.layouts) > 1 else None
        self._has_rest = any(layout.rest for layout in (typed.layout, *typed.layouts))
        self._same: bytes | None = None
        self._cast = self._people()
        self._taken: list[_Taken] = []
        self._people_rows: list[Row] = []
        self._participants: list[tuple[str, str, str]] = []

    def _people(self) -> Mapping[int, list[tuple[str, str]]]:
        """Return the speakers of each record, in order, with their roles."""
        cast = defaultdict[int, list[tuple[str, str]]](list)
        if "speaker" in self._typed.turns.columns:
            named = self._typed.turns.select("n", "speaker", "ours").drop_nulls("speaker")
            for n, name, role in named.unique(["n", "speaker"], keep="first", maintain_order=True).iter_rows():
                cast[n].append((name, role))
        return cast

    def take(self, place: int, raw: RawRecord) -> bool:
        """Take the record at a place of the block; return whether its rows are made here.

        One whose id is taken already is the reader's, and so is one with something in ``extra`` that is malformed.
        """
        number = self._typed.places.get(place)
        if number is None:
            return False
        native_id = self._records["native_id"][number] if "native_id" in self._records else raw.key
        first, count = self._records["first"][number], self._records["count"][number]
        turns = slice(first, first + count)
        layouts = self._layouts[turns] if self._layouts is not None else None
        try:
            fields = self._fields(number) if self._holes else self._usual
            extra, rest = self._rest(raw, layouts or [0] * count) if self._has_rest else ({}, [])
        except BadRecord:
            return False
        numbers = [self._number("message", self._typed.layouts[one]) for one in dict.fromkeys(layouts or (0,))]
        if native_id is None:
            dialogue_id: str | None = self._identity.dialogue_without_id(self._place.path, raw.record_index)
        else:
            said = self._said(fields, [both for _, both in numbers], layouts, rest, turns)
            dialogue_id = self._identity.first(native_id, digest_of(self._records["words"][number]), said)
        if dialogue_id is None:
            return False
        shape, _ = self._number("record", self._typed.layout)
        own: dict[str, Any] = ({"shape": shape} if shape else {}) | ({"cells": raw.cells} if raw.cells else {})
        turn_extra = None
        if rest or any(of_turn for of_turn, _ in numbers):
            shapes = [self._number("message", self._typed.layouts[one])[0] for one in layouts or [0] * count]
            turn_extra = list(map(shaped, shapes, rest or [None] * count))
        self._taken.append(_Taken(number, raw, dialogue_id, native_id, fields, dump(own | extra), turn_extra))
        for name, role in self._cast.get(self._records["n"][number], ()):
            known = self._rows.speakers.of(dialogue_id, name, role)
            self._people_rows += [known.row] if known.is_new else []
            self._participants.append((dialogue_id, known.row.speaker_id, role))
        return True

    def _fields(self, number: int) -> RecordFields:
        """Return what a record says of its dialogue; BadRecord for a time that is written otherwise than most."""
        fields = RecordFields(language=self._language)
        for hole in self._holes:
            value = self._records[hole][number]
            if hole == "started_at" and value is not None:
                value, how = read_time(value, self._form, is_number=self._form in UNIX)
                if how != self._typed.layout.how(hole):
                    raise BadRecord("GF-09", "a time that is written otherwise")
            if value is not None:
                setattr(fields, hole, value)
        return fields

    def _rest(self, raw: RawRecord, layouts: Sequence[int]) -> tuple[dict[str, Raw], list[dict[str, Raw] | None]]:
        """Return what no column takes of a record and of each message; BadRecord where that can't be kept."""
        layout, each = self._typed.layout, [one.rest for one in self._typed.layouts]
        check_depth(raw.raw)
        members = members_of(raw.raw)
        extra = {name: _checked(members[key]) for name, key in layout.rest}
        if not any(each):
            return extra, []
        messages = zip(_OBJECTS.decode(members[self._typed.list_key]), layouts, strict=True)
        return extra, [{name: _checked(one[key]) for name, key in each[number]} or None for one, number in messages]

    def _said(
        self,
        fields: RecordFields,
        shapes: Sequence[bytes],
        layouts: Sequence[int] | None,
        rest: Sequence[dict[str, Raw] | None],
        turns: slice,
    ) -> bytes:
        """Hash what the rows hold beside who says what, as ``DialogueRows.rest`` does."""
        columns: dict[str, Sequence[Any]] = {
            name: self._varying[name][turns] for name in _VARYING if name in self._varying
        }
        if columns or rest or layouts or self._holes:
            numbers = [*dict.fromkeys(layouts or ())]
            columns |= {"extra": rest} | ({"shape": list(map(numbers.index, layouts or ()))} if len(shapes) > 1 else {})
            return rest_of(fields, shapes, columns)
        if self._same is None:
            self._same = rest_of(fields, shapes, {})
        return self._same

    def _number(self, level: str, layout: Layout) -> tuple[Any, bytes]:
        """Return the number of a shape, and both as JSON."""
        if layout.numbered is None:
            number = self._rows.shapes.number(level, layout.shape)
            layout.numbered = number, msgspec.json.encode((number, layout.shape))
        return layout.numbered

    def add(self, gathered: Gathered) -> None:
        """Add the rows of the records that were taken."""
        taken, location = self._taken, self._place.location
        if not taken:
            return
        fields, ids = [one.fields for one in taken], [one.dialogue_id for one in taken]
        native, split = (
            [one.native_id for one in taken],
            [location.split if one.split is None else one.split for one in fields],
        )
        shared = {"corpus_id": self._declaration.corpus_id}
        of_file = {"source_file_id": location.file.id, "subset": location.subset, "release": location.release}
        records = {
            "record_id": [self._identity.record_id(self._place.path, one.raw.record_index) for one in taken],
            "dialogue_id": ids,
            "native_id": native,
            "split": split,
            "standard_split": [None if one is None else self._splits[one] for one in split],
            "record_index": [one.raw.record_index for one in taken],
            "source_pointer": [one.raw.pointer for one in taken],
            "extra": [one.extra for one in taken],
        }
        facts = {name: [getattr(one, name) for one in fields] for name in _FACTS}
        gathered.columns += [
            ColumnBatch(Record, shared | of_file, records),
            ColumnBatch(Dialogue, shared, {"dialogue_id": ids, "native_id": native, **facts}),
            ColumnBatch(Turn, {}, self._turns(ids)),
        ]
        if self._participants:
            columns = zip(*self._participants, strict=True)
            named = dict(zip(("dialogue_id", "speaker_id", "role"), columns, strict=True))
            gathered.columns.append(ColumnBatch(Participant, {}, named))
        gathered.rows += self._people_rows
        gathered.count(len(taken), sum(len(one.raw.raw) for one in taken))

    def _turns(self, ids: Sequence[str]) -> dict[str, Any]:
        turns, there = self._typed.turns, set(self._typed.turns.columns)
        if len(ids) < len(self._typed.records):
            taken = self._typed.records["n"].gather([one.place for one in self._taken])
            turns = turns.filter(turns["n"].is_in(taken.implode()))
        turns = turns.with_columns(pl.Series("dialogue_id", ids, pl.String).gather(turns["n"].rle_id()))
        is_within = self._declaration.speaker.scope == "dialogue"
        begin = pl.col("dialogue_id") + "/" if is_within else pl.lit(f"{self._declaration.corpus_id}:")
        made = turns.select(
            "dialogue_id",
            "text",
            turn_index="i",
            role="ours",
            speaker_id=begin + pl.col("speaker") if "speaker" in there else pl.lit(None, pl.String),
            kind=pl.col("kind").fill_null("message") if "kind" in there else pl.lit("message"),
            **{name: pl.col(name) for name in _VARYING if name in there and name != "kind"},
        )
        if all(one.turn_extra is None for one in self._taken):
            return made.to_dict()
        counts = self._records["count"]
        extra = [one.turn_extra or [None] * counts[one.place] for one in self._taken]
        return made.to_dict() | {"extra": pl.Series([*chain.from_iterable(extra)], dtype=pl.String)}


def _checked(raw: Raw) -> Raw:
    """Return what goes to ``extra``; BadRecord where an object in it has a key twice."""
    if bytes(raw)[:1] in (b"{", b"["):
        check(bytes(raw))
    return raw
