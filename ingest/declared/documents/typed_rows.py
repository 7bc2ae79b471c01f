"""Rows of records that were decoded many at a time (``typed``): the same as the reader makes one by one."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import msgspec
import polars as pl
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.declared.documents.dialogue_rows import FACTS, REST, DialogueRows, record_extra, shaped
from talkhouse.ingest.declared.documents.gathered import Gathered
from talkhouse.ingest.declared.documents.labels import Given, Labels
from talkhouse.ingest.declared.documents.member_parts import read_member
from talkhouse.ingest.declared.documents.replies_and_calls import results_without_calls
from talkhouse.ingest.declared.documents.talk import Piece, Said, Talk
from talkhouse.ingest.declared.documents.typed import Typed
from talkhouse.ingest.declared.identity import Identity, digests, lines
from talkhouse.ingest.declared.record_files.record import RawRecord
from talkhouse.ingest.declared.roles import speaker_kind
from talkhouse.ingest.declared.shapes import Members, members_of
from talkhouse.ingest.declared.splits import Splits
from talkhouse.ingest.decode import BadRecord, check, check_depth, decoder, pointer
from talkhouse.ingest.outcomes import ReaderFinding, SourceLocation
from talkhouse.ingest.rows import ColumnBatch, Dialogue, Participant, Record, Speaker, Turn

_OBJECTS = decoder(list[dict[str, Raw]])

First: TypeAlias = tuple[int, int, Callable[[], object]]
"""Something that is seen for the first time in a turn of a record, which its file or corpus numbers in order."""


class _More(NamedTuple):
    """What is not in columns of one record."""

    extra: Mapping[str, Raw]
    rest: Sequence[Mapping[str, Raw] | None]
    """``extra`` of each message; empty where columns take all."""
    parts: Sequence[Sequence[Piece] | None]
    """The parts of each message; empty where none has any."""
    labels: Sequence[Given]


class TypedRows:
    """The records of one form in a block."""

    def __init__(
        self,
        typed: Typed,
        block: Sequence[RawRecord],
        path: str,
        declaration: Declaration,
        rows: DialogueRows,
        labels: Sequence[Labels],
    ) -> None:
        """``path`` is that of the file in keys; ``rows`` and ``labels`` are the reader's.

        Records in which something is malformed, or that have findings, are left to the reader.
        """
        self._layout, self._layouts, self._list_key = typed.layout, typed.layouts, typed.list_key
        self.records, self._turns = typed.records, typed.turns
        self._block, self._path, self._declaration, self._rows, self._labels = block, path, declaration, rows, labels
        self._more: dict[int, _More] = {}
        self._parts_texts: dict[int, list[str | None]] = {}
        self._rest = [one.rest for one in self._layouts]
        self._has_turns_to_read = bool(labels or any(self._rest) or any(one.parts for one in self._layouts))
        if self._has_turns_to_read or self._layout.rest:
            self._read_more()
        self._add_keys()

    def _add_keys(self) -> None:
        """Add the keys, and of facts that no record gives, what the declaration says."""
        languages = self._declaration.languages
        usual: dict[str, Any] = {name: pl.lit(None, pl.String) for name in FACTS}
        usual["started_at"] = pl.lit(None, pl.Datetime("us"))
        usual["language"] = pl.lit(languages[0] if len(languages) == 1 else None, pl.String)
        raws, corpus_id = [self._block[n] for n in self.records["n"]], self._declaration.corpus_id
        native_id = pl.Series([raw.key for raw in raws], dtype=pl.String)
        if "native_id" in self.records.columns:
            native_id = self.records["native_id"].fill_null(native_id)
        index = pl.Series([raw.record_index for raw in raws], dtype=pl.Int64)
        self.records = self.records.with_columns(
            **{name: value for name, value in usual.items() if name not in self.records.columns},
            native_id=native_id,
            record_index=index,
            source_pointer=pl.Series([raw.pointer for raw in raws], dtype=pl.String),
            record_id=f"{corpus_id}/{self._path}/" + index.cast(pl.String),
            dialogue_id=f"{corpus_id}:" + native_id.fill_null(f"{self._path}/" + index.cast(pl.String)),
        )

    def leave(self, places: set[int]) -> None:
        """Leave records to the reader."""
        if places:
            left = pl.Series(list(places), dtype=pl.UInt32).implode()
            self.records = self.records.filter(~self.records["n"].is_in(left))
            self._turns = self._turns.filter(~self._turns["n"].is_in(left))

    def _read_more(self) -> None:
        """Read what is not in columns, and leave the records to the reader in which that can't be kept."""
        by_record = self._turns.group_by("n", maintain_order=True).agg(
            "layout", *(name for name in ("text", "native_id") if name in self._turns.columns)
        )
        kept: dict[int, list[Raw]] = {}
        for n, forms, *said in by_record.iter_rows():
            kept[n] = []
            try:
                self._more[n] = self._more_of(self._block[n].raw, kept[n], forms, *said)
            except (BadRecord, msgspec.DecodeError):
                continue
        if not _may_be_kept(chain.from_iterable(kept.values())):
            self._more = {n: more for n, more in self._more.items() if _may_be_kept(kept[n])}
        self.leave(set(self.records["n"]) - self._more.keys())

    def _more_of(
        self,
        raw: bytes,
        kept: list[Raw],
        forms: Sequence[int],
        texts: Sequence[str],
        native_ids: Sequence[str | None] = (),
    ) -> _More:
        """Read what is not in columns, and add it to ``kept``; BadRecord where there is something to find in it."""
        check_depth(raw)
        members = members_of(raw)
        extra = {name: members[key] for name, key in self._layout.rest}
        kept += extra.values()
        if not self._has_turns_to_read:
            return _More(extra, (), (), ())
        messages: list[Members] = _OBJECTS.decode(members[self._list_key])
        rest = [
            {name: one[key] for name, key in self._rest[form]} or None
            for one, form in zip(messages, forms, strict=True)
        ]
        parts = [
            [piece for key in self._layouts[form].parts for piece in _pieces(key, one[key])] or None
            for one, form in zip(messages, forms, strict=True)
        ]
        kept += [raw for one in rest if one for raw in one.values()]
        kept += [one[key] for one, form in zip(messages, forms, strict=True) for key in self._layouts[form].parts]
        if next(results_without_calls([Said("", "", "", parts=one) for one in parts if one]), None):
            raise BadRecord("GF-16", "a result of no call")
        labels = self._given(members, messages, texts, native_ids) if self._labels else []
        return _More(extra, rest if any(rest) else (), parts if any(parts) else (), labels)

    def _given(
        self, members: Members, messages: Sequence[Members], texts: Sequence[str], native_ids: Sequence[str | None]
    ) -> list[Given]:
        """Return the labels of a record."""
        at, findings = pointer(self._list_key), list[ReaderFinding]()
        said = [Said("", text, f"{at}/{index}") for index, text in enumerate(texts)]
        for one, native_id in zip(said, native_ids, strict=False):
            one.native_id = native_id
        talk = Talk(said, messages=dict(enumerate(messages)))
        given = [one for labels in self._labels for one in labels.given(members, talk, findings)]
        if findings:
            raise BadRecord("GF-01", "a label that has to be looked at")
        return given

    def firsts(self, gathered: Gathered) -> Iterator[First]:
        """Yield what is numbered, or known, from the first record on that has it: shapes, parts' shapes, speakers."""
        if self.records.is_empty():
            return
        number, turns = self._rows.shapes.number, self._turns
        yield self.records["n"][0], -1, partial(number, "record", self._layout.shape)
        for n, i, form in turns.select("n", "i", "layout").unique("layout", keep="first").iter_rows():
            yield n, i, partial(number, "message", self._layouts[form].shape)
        for n, dialogue_id in self.records.select("n", "dialogue_id").iter_rows() if self._more else ():
            if self._more[n].parts:
                yield n, -1, partial(self._add_parts, n, dialogue_id, gathered)
        if "speaker" in turns.columns and self._declaration.speaker.scope != "dialogue":
            named = turns.select("n", "i", "ours", "speaker").drop_nulls("speaker")
            for n, i, role, name in named.unique("speaker", keep="first").iter_rows():
                yield n, i, partial(self._rows.speaker, "", Said(role, "", "", speaker=name), gathered)

    def _add_parts(self, n: int, dialogue_id: str, gathered: Gathered) -> None:
        parts = self._more[n].parts
        self._parts_texts[n] = [self._rows.parts_text(pieces) if pieces else None for pieces in parts]
        for turn_index, pieces in enumerate(parts):
            if pieces:
                gathered.rows += self._rows.parts(dialogue_id, turn_index, pieces)

    def add(self, identity: Identity, splits: Splits, location: SourceLocation, gathered: Gathered) -> None:
        """Add the rows of all records; what they number has been numbered."""
        if self.records.is_empty():
            return
        self._turns = self._all_turns()
        self._add_to(identity)
        for n, *keys in self.records.select("n", "record_id", "dialogue_id").iter_rows() if self._labels else ():
            gathered.rows += [given.row(*keys) for given in self._more[n].labels]
        corpus = {"corpus_id": self._declaration.corpus_id}
        dialogues = self.records.select("dialogue_id", "native_id", *FACTS)
        turns = self._turns.select(*(name for name in Turn.__struct_fields__ if name in self._turns.columns))
        gathered.add_columns(
            [
                self._records(splits, location),
                ColumnBatch(Dialogue, corpus, dialogues.to_dict()),
                *self._people(),
                ColumnBatch(Turn, {}, turns.to_dict()),
            ],
            sum(len(self._block[n].raw) for n in self.records["n"]),
        )

    def _all_turns(self) -> pl.DataFrame:
        """Return the turns with all columns that the table has."""
        turns = self._turns
        forms = turns["layout"].unique()
        shapes = [self._layouts[form].shape for form in forms]
        numbers = [self._rows.shapes.number("message", shape) for shape in shapes]
        of_forms = pl.DataFrame(
            {
                "layout": forms,
                "extra": pl.Series([shaped(number, None) for number in numbers], dtype=pl.String),
                "shape": [self._rows.shape_key(shape) for shape in shapes],
            }
        )
        turns = turns.join(of_forms, on="layout", maintain_order="left")
        if any(more.rest for more in self._more.values()):
            number_of = dict(zip(forms, numbers, strict=True))
            rest = self._per_turn({n: more.rest for n, more in self._more.items()})
            extra = [shaped(number_of[form], one) for form, one in zip(turns["layout"], rest, strict=True)]
            turns = turns.with_columns(extra=pl.Series(extra, dtype=pl.String))
        if self._parts_texts:
            turns = turns.with_columns(parts=pl.Series(self._per_turn(self._parts_texts), dtype=pl.String))
        there, is_within = set(turns.columns), self._declaration.speaker.scope == "dialogue"
        dialogue_id = self.records["dialogue_id"].gather(turns["n"].rle_id())
        begin = dialogue_id + "/" if is_within else pl.lit(f"{self._declaration.corpus_id}:")
        return turns.with_columns(
            dialogue_id.alias("dialogue_id"),
            turn_index="i",
            role="ours",
            speaker_id=begin + pl.col("speaker") if "speaker" in there else pl.lit(None, pl.String),
            kind=pl.col("kind").fill_null("message") if "kind" in there else pl.lit("message"),
        )

    def _per_turn(self, by_record: Mapping[int, Sequence[Any]]) -> list[Any]:
        """Lay out for turns what there is of some records."""
        runs = self._turns["n"].rle().struct.unnest()
        return [one for count, n in runs.iter_rows() for one in by_record.get(n) or [None] * count]

    def _add_to(self, identity: Identity) -> None:
        """Keep the hashes of what the dialogues say, for records to come that have the same ids."""
        turns, owners = self._turns, self._turns["n"]
        is_first = (owners != owners.shift(1)).fill_null(value=True)
        facts = self.records.with_columns(shape=turns["shape"].filter(is_first))
        rest = turns.with_columns(
            kind=pl.when(pl.col("kind") != "message").then("kind"),
            shape=pl.when(~is_first & (pl.col("shape") != pl.col("shape").shift(1))).then("shape"),
        )
        words = digests("", owners, lines(_texts(turns, ("role", "speaker", "text"))))
        others = digests(lines(_texts(facts, (*FACTS, "shape"))), owners, lines(_texts(rest, REST)))
        for native_id, *both in zip(self.records["native_id"], words, others, strict=True):
            if native_id is not None:
                identity.dialogue(native_id, *both)

    def _records(self, splits: Splits, location: SourceLocation) -> ColumnBatch:
        """Return the rows of the records."""
        number = self._rows.shapes.number("record", self._layout.shape)
        extra = [
            record_extra(number, self._block[n].cells, self._more[n].extra if self._more else {})
            for n in self.records["n"]
        ]
        shared = {
            "corpus_id": self._declaration.corpus_id,
            "subset": location.subset,
            "release": location.release,
            "source_file_id": location.file.id,
        }
        columns = self.records.select(
            "record_id", "dialogue_id", "native_id", "record_index", "source_pointer"
        ).to_dict()
        columns["extra"] = pl.Series(extra, dtype=pl.String)
        if "split" in self.records.columns:
            columns["split"] = self.records["split"]
            columns["standard_split"] = pl.Series([splits[name] for name in columns["split"]], dtype=pl.String)
        elif location.split is not None:
            shared |= {"split": location.split, "standard_split": splits[location.split]}
        return ColumnBatch(Record, shared, columns)

    def _people(self) -> Iterator[ColumnBatch]:
        """Yield who takes part, and of names that mean somebody in one dialogue only, who that is."""
        if "speaker" not in self._turns.columns:
            return
        people = self._turns.drop_nulls("speaker").unique(["n", "speaker"], keep="first", maintain_order=True)
        yield ColumnBatch(Participant, {}, people.select("dialogue_id", "speaker_id", "role").to_dict())
        if self._declaration.speaker.scope == "dialogue":
            kinds = {role: speaker_kind(role) for role in people["role"].unique()}
            kind = pl.col("role").replace_strict(kinds, return_dtype=pl.String)
            speakers = people.select("speaker_id", name="speaker", kind=kind)
            shared = {"corpus_id": self._declaration.corpus_id, "is_anonymous": True}
            yield ColumnBatch(Speaker, shared, speakers.to_dict())


def _texts(rows: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return columns as texts, times in microseconds; those that are not there are null."""
    there = {
        name: rows[name].cast(pl.Int64) if rows[name].dtype == pl.Datetime else rows[name] for name in rows.columns
    }
    return rows.select((there[name] if name in there else pl.lit(None)).cast(pl.String).alias(name) for name in names)


def _pieces(key: str, raw: Raw) -> list[Piece]:
    pieces = read_member(key, raw)
    if pieces is None:
        raise BadRecord("GF-01", "no parts")
    return pieces


def _may_be_kept(raws: Iterable[Raw]) -> bool:
    """Whether no object in any of the texts has a key twice, and all else is as ``check`` wants it."""
    try:
        check(b"[" + b",".join(map(bytes, raws)) + b"]")
    except BadRecord:
        return False
    return True
