"""Rows of records that were decoded many at a time (``typed``): the same as the reader makes one by one."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import msgspec
import polars as pl
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.declared.documents.dialogue_rows import DialogueRows, rest_of, shaped, words_of
from talkhouse.ingest.declared.documents.gathered import Gathered
from talkhouse.ingest.declared.documents.labels import Given, Labels
from talkhouse.ingest.declared.documents.member_parts import read_member
from talkhouse.ingest.declared.documents.record_fields import RecordFields, label_hole
from talkhouse.ingest.declared.documents.replies_and_calls import results_without_calls
from talkhouse.ingest.declared.documents.talk import Piece, Said, Talk
from talkhouse.ingest.declared.documents.typed import Typed
from talkhouse.ingest.declared.record_files.record import RawRecord
from talkhouse.ingest.declared.shapes import Members, members_of
from talkhouse.ingest.declared.times import ISO, UNIX, read_time
from talkhouse.ingest.decode import BadRecord, check, check_depth, decoder, pointer
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.rows import ColumnBatch, Turn

_OBJECTS = decoder(list[dict[str, Raw]])
_VARYING = ("native_id", "said_at", "kind", "start_ms", "end_ms")
"""Columns that turns may have beside who says what."""


class TypedRecord(NamedTuple):
    """A record that was decoded, before its dialogue has a key."""

    place: int
    """Among those of its form."""
    fields: RecordFields
    extra: dict[str, Raw]
    """What no column takes of it."""
    rest: list[dict[str, Raw] | None]
    """The same of each message; empty where columns take all."""
    parts: list[list[Piece] | None]
    """The parts of each message; empty where none has any."""
    labels: list[Given]
    layouts: Sequence[int]
    """Those of the messages; of only one form, none."""
    turns: slice


class TypedRows:
    """The records of one form in a block, to be taken in the order of the file."""

    def __init__(self, typed: Typed, declaration: Declaration, rows: DialogueRows, labels: Sequence[Labels]) -> None:
        """``rows`` and ``labels`` are the reader's."""
        self.layout = typed.layout
        self._typed, self._declaration, self._rows, self._labels = typed, declaration, rows, labels
        self._language = declaration.languages[0] if len(declaration.languages) == 1 else None
        self._form = declaration.times.get("started_at", ISO)
        self._records = {column.name: column.to_list() for column in typed.records}
        self._holes = [hole for hole in RecordFields.__struct_fields__ if hole in self._records]
        turns = typed.turns
        self._varying: dict[str, list[Any]] = {
            name: (turns[name].cast(pl.Int64) if name == "said_at" else turns[name]).to_list()
            for name in _VARYING
            if name in turns.columns
        }
        self._said = [turns[name].to_list() if name in turns.columns else [] for name in ("ours", "speaker", "text")]
        self._layouts = turns["layout"].to_list() if len(typed.layouts) > 1 else []
        layouts = typed.layouts
        self._has_more = bool(labels or any(one.rest or one.parts for one in (typed.layout, *layouts)))
        self._has_turns_to_read = bool(labels or any(one.rest or one.parts for one in layouts))
        self._same: bytes | None = None
        self._cast = self._people()
        self._taken: list[TypedRecord] = []
        self._ids: list[str] = []

    def _people(self) -> Mapping[int, list[tuple[str, str]]]:
        """Return the speakers of each record, in order, with their roles."""
        cast = defaultdict[int, list[tuple[str, str]]](list)
        if "speaker" in self._typed.turns.columns:
            named = self._typed.turns.select("n", "speaker", "ours").drop_nulls("speaker")
            for n, name, role in named.unique(["n", "speaker"], keep="first", maintain_order=True).iter_rows():
                cast[n].append((name, role))
        return cast

    def read(self, number: int, raw: RawRecord) -> TypedRecord | None:
        """Return the record at a place of the block; None where it is the reader's.

        That is so where it was not decoded, and where something in ``extra`` is malformed or there is a finding.
        """
        place = self._typed.places.get(number)
        if place is None:
            return None
        first, count = self._records["first"][place], self._records["count"][place]
        turns = slice(first, first + count)
        try:
            fields = self._fields(place)
            if fields.native_id is None:
                fields.native_id = raw.key
            record = TypedRecord(place, fields, {}, [], [], [], self._layouts[turns], turns)
            return self._with_more(record, raw) if self._has_more else record
        except BadRecord:
            return None

    def _fields(self, place: int) -> RecordFields:
        """Return what a record says of its dialogue; BadRecord for a time that is written otherwise than most."""
        fields = RecordFields(language=self._language)
        for hole in self._holes:
            value = self._records[hole][place]
            if hole == "started_at":
                value, how = read_time(value, self._form, is_number=self._form in UNIX)
                if how != self.layout.how(hole):
                    raise BadRecord("GF-09", "a time that is written otherwise")
            setattr(fields, hole, value)
        return fields

    def _with_more(self, record: TypedRecord, raw: RawRecord) -> TypedRecord:
        """Add what is not in columns; BadRecord where that can't be kept, or there is something to find in it."""
        check_depth(raw.raw)
        members, forms = members_of(raw.raw), self._typed.layouts
        extra = {name: _checked(members[key]) for name, key in self.layout.rest}
        if not self._has_turns_to_read:
            return record._replace(extra=extra)
        messages: list[Members] = _OBJECTS.decode(members[self._typed.list_key])
        both = [(one, forms[form]) for one, form in zip(messages, record.layouts or [0] * len(messages), strict=True)]
        rest = [{name: _checked(one[key]) for name, key in form.rest} or None for one, form in both]
        parts = [[piece for key in form.parts for piece in _pieces(key, one[key])] or None for one, form in both]
        if next(results_without_calls([Said("", "", "", parts=one) for one in parts if one]), None):
            raise BadRecord("GF-16", "a result of no call")
        return record._replace(extra=extra, rest=rest, parts=parts, labels=self._given(record, members, messages))

    def _given(self, record: TypedRecord, members: Members, messages: Sequence[Members]) -> list[Given]:
        """Return the labels of a record."""
        at, findings = pointer(self._typed.list_key), list[ReaderFinding]()
        said = [Said("", text, f"{at}/{index}") for index, text in enumerate(self._said[2][record.turns])]
        for one, native_id in zip(said, self._varying.get("native_id", [])[record.turns], strict=False):
            one.native_id = native_id
        talk = Talk(said, messages=dict(enumerate(messages)))
        given = [one for labels in self._labels for one in labels.given(members, talk, findings)]
        is_none = (
            self._records[label_hole(labels.spec)][record.place] in labels.spec.missing_values
            for labels in self._labels
            if label_hole(labels.spec) in self._records
        )
        if findings or any(is_none):
            raise BadRecord("GF-01", "a label that has to be looked at")
        return given

    def words(self, record: TypedRecord) -> bytes:
        """Hash who says what."""
        roles, speakers, texts = (column[record.turns] for column in self._said)
        return words_of(roles, speakers, texts)

    def rest(self, record: TypedRecord) -> bytes:
        """Hash what the rows hold beside the words, as ``DialogueRows.rest`` does."""
        varying = {name: column[record.turns] for name, column in self._varying.items()}
        numbers = list(dict.fromkeys(record.layouts)) or [0]
        shapes = [self._number(one)[1] for one in numbers]
        if not varying and not self._has_more and len(self._holes) < 2 and not self._layouts:
            self._same = self._same or rest_of(record.fields, shapes, {})
            return self._same
        columns = varying | {"extra": record.rest} | self._rows.part_columns(record.parts)
        if len(numbers) > 1:
            columns["shape"] = [numbers.index(one) for one in record.layouts]
        return rest_of(record.fields, shapes, columns)

    def _number(self, number: int) -> tuple[Any, bytes]:
        """Return the number of a layout's shape in the file, and both as JSON."""
        layout = self._typed.layouts[number]
        if layout.numbered is None:
            shape_number = self._rows.shapes.number("message", layout.shape)
            layout.numbered = shape_number, msgspec.json.encode((shape_number, layout.shape))
        return layout.numbered

    def take(self, record: TypedRecord, dialogue_id: str, gathered: Gathered) -> None:
        """Add the rows of a dialogue, but for its turns, which are added together (``add_turns``)."""
        self._taken.append(record)
        self._ids.append(dialogue_id)
        for number in dict.fromkeys(record.layouts or (0,)):
            self._number(number)
        for turn_index, pieces in enumerate(record.parts):
            gathered.rows += self._rows.parts(dialogue_id, turn_index, pieces or ())
        for name, role in self._cast.get(self._records["n"][record.place], ()):
            self._rows.add_speaker(dialogue_id, Said(role, "", "", speaker=name), gathered)

    def add_turns(self, gathered: Gathered) -> None:
        """Add the turns of all dialogues that were taken."""
        if not self._taken:
            return
        turns, there = self._typed.turns, set(self._typed.turns.columns)
        if len(self._taken) < len(self._typed.records):
            taken = self._typed.records["n"].gather([one.place for one in self._taken])
            turns = turns.filter(turns["n"].is_in(taken.implode()))
        turns = turns.with_columns(pl.Series("dialogue_id", self._ids, pl.String).gather(turns["n"].rle_id()))
        is_within = self._declaration.speaker.scope == "dialogue"
        begin = pl.col("dialogue_id") + "/" if is_within else pl.lit(f"{self._declaration.corpus_id}:")
        columns = turns.select(
            "dialogue_id",
            "text",
            turn_index="i",
            role="ours",
            speaker_id=begin + pl.col("speaker") if "speaker" in there else pl.lit(None, pl.String),
            kind=pl.col("kind").fill_null("message") if "kind" in there else pl.lit("message"),
            **{name: pl.col(name) for name in _VARYING if name in there and name != "kind"},
        ).to_dict()
        extra = pl.Series(list(chain.from_iterable(map(self._extra, self._taken))), dtype=pl.String)
        gathered.columns.append(ColumnBatch(Turn, {}, columns | {"extra": extra}))

    def _extra(self, record: TypedRecord) -> Iterator[str | None]:
        """Yield ``extra`` of each turn of a record."""
        count = record.turns.stop - record.turns.start
        if not record.rest and not record.layouts and not self._number(0)[0]:
            return iter([None] * count)
        shapes = [self._number(number)[0] for number in record.layouts or [0] * count]
        return map(shaped, shapes, record.rest or [None] * count)


def _pieces(key: str, raw: Raw) -> list[Piece]:
    pieces = read_member(key, _checked(raw))
    if pieces is None:
        raise BadRecord("GF-01", "no parts")
    return pieces


def _checked(raw: Raw) -> Raw:
    """Return what goes to ``extra``; BadRecord where an object in it has a key twice."""
    if bytes(raw)[:1] in (b"{", b"["):
        check(bytes(raw))
    return raw
