"""Rows of the records of a block, however they were read: dialogues, turns, parts, speakers, labels and candidates."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec
import polars as pl
from msgspec import Raw
from msgspec.structs import asdict

from talkhouse.ingest.declared.declaration.model import ALL, Declaration, Splits
from talkhouse.ingest.declared.documents.document_format import RecordFields, given_back_by_records
from talkhouse.ingest.declared.identity import DialogueKey, Identity, digests, ids_within, line
from talkhouse.ingest.declared.labels import ParsedLabel
from talkhouse.ingest.declared.parsed_dialogue import ParsedDialogue, ParsedPart
from talkhouse.ingest.declared.record_files.content import RawRecord
from talkhouse.ingest.declared.shapes import Shapes, SplitObject
from talkhouse.ingest.declared.speakers import SPOKEN, Speakers
from talkhouse.ingest.declared.times import BadTimes
from talkhouse.ingest.declared.turn_tallies import TurnTallies
from talkhouse.ingest.decode import dump
from talkhouse.ingest.keys import Memory, Texts, digest_of
from talkhouse.ingest.outcomes import LoadedBatch, ReaderFinding, SourceLocation
from talkhouse.ingest.rows import Candidate, ColumnBatch, Dialogue, Part, Record, Row, Turn

CANDIDATE_SET = "completion"
"""The name of the list of answers that are compared."""

_FACTS = ("title", "domain", "language", "started_at")
"""The columns of a dialogue's row other than its keys."""

_WORDS = ("role", "speaker", "text")
_REST = (
    *("kind", "native_id", "said_at", "reply_to", "start_ms", "end_ms", "speaker_name", "is_bot"),
    *("extra", "parts", "key"),
)
"""What else a turn's rows hold; ``key`` stands for its shape."""

_TIME = pl.Datetime("us")
RECORDS: Mapping[str, Any] = dict.fromkeys(RecordFields.__struct_fields__, pl.String) | {"started_at": _TIME}
"""Columns of ``DecodedDialogues.records`` other than ``n``."""

TURNS: Mapping[str, Any] = {
    **dict.fromkeys((*_WORDS, "kind", "native_id"), pl.String),
    "said_at": _TIME,
    "reply_to": pl.Int32,
    "start_ms": pl.Int64,
    "end_ms": pl.Int64,
    "speaker_name": pl.String,
    "is_bot": pl.Boolean,
}
"""Columns of ``DecodedDialogues.turns`` that are fields of ``ParsedTurn``."""

CANDIDATES: Mapping[str, Any] = {
    **dict.fromkeys(("turn_index", "position", "item_index"), pl.Int32),
    "is_gold": pl.Boolean,
}
"""Columns of ``DecodedDialogues.candidates`` that are fields of ``ParsedCandidate``."""

_KEYS = {"dialogue_id": pl.String, "is_new": pl.Boolean, "is_same": pl.Boolean, "is_taken": pl.Boolean}


class OfRecord(NamedTuple):
    """What a record says that is no row of its dialogue."""

    shape: Mapping[str, Any]
    extra: Mapping[str, Raw]
    labels: Sequence[ParsedLabel] = ()


class DecodedDialogues(NamedTuple):
    """What some records of a block say, each by its place in the block, before the dialogues have keys."""

    records: pl.DataFrame
    """``n``, the place, and ``RECORDS``."""
    turns: pl.DataFrame
    """``n``, ``i``, ``TURNS``, ``rest``, what no column holds, as JSON, and ``shape``, its place in ``shapes``."""
    shapes: Sequence[Mapping[str, Any]]
    parts: Mapping[tuple[int, int], Sequence[ParsedPart]]
    """Those of turns, by ``n`` and ``i``."""
    of_records: Mapping[int, OfRecord]
    """Of records that were decoded together; of the others it is decided when the dialogue has its key."""
    candidates: pl.DataFrame = pl.DataFrame()
    """The same: ``n``, ``text``, ``CANDIDATES`` and ``extra``."""


class ReadRecord(NamedTuple):
    """What one record was read as, when nothing can be wrong any more."""

    split: SplitObject
    fields: RecordFields
    dialogue: ParsedDialogue
    taken: dict[str, str | None]
    labels: Sequence[ParsedLabel]
    findings: list[ReaderFinding]
    empty: Sequence[str] = ()
    """Where the turns without a text are."""

    def of_record(self, *, is_same: bool) -> OfRecord:
        """Return the content of the record's own row; ``is_same``: its dialogue is exactly the stored one."""
        extra = dict(self.dialogue.extra) if is_same else {}
        shape = self.split.shape(self.taken if is_same else given_back_by_records(self.taken), extra)
        return OfRecord(shape, extra, self.labels)


def dialogues_of(reads: Mapping[int, ReadRecord]) -> DecodedDialogues:
    """Return records that were read one by one as frames."""
    parsed = [(n, i, turn) for n, read in reads.items() for i, turn in enumerate(read.dialogue.turns)]
    shapes: dict[str, int] = {}
    numbers = [
        None if turn.shape is None else shapes.setdefault(msgspec.json.encode(turn.shape).decode(), len(shapes))
        for *_, turn in parsed
    ]
    turns = [
        *_laid_out([turn for *_, turn in parsed], TURNS),
        pl.Series("n", [n for n, *_ in parsed], pl.UInt32),
        pl.Series("i", [i for _, i, _ in parsed], pl.Int32),
        pl.Series("shape", numbers, pl.UInt32),
        pl.Series("rest", [dump(turn.extra) for *_, turn in parsed], pl.String),
    ]
    records = [*_laid_out([read.fields for read in reads.values()], RECORDS), pl.Series("n", list(reads), pl.UInt32)]
    parts = {(n, i): turn.parts for n, i, turn in parsed if turn.parts}
    known = [msgspec.json.decode(shape) for shape in shapes]
    return DecodedDialogues(pl.DataFrame(records), pl.DataFrame(turns), known, parts, {})


def _laid_out(rows: Sequence[object], kinds: Mapping[str, Any]) -> Iterator[pl.Series]:
    return (pl.Series(name, [getattr(row, name) for row in rows], kind) for name, kind in kinds.items())


def _completed(rows: pl.DataFrame, kinds: Mapping[str, Any]) -> pl.DataFrame:
    missing = [pl.lit(None, kind).alias(name) for name, kind in kinds.items() if name not in rows.columns]
    return rows.with_columns(missing) if missing else rows


class DialogueRows:
    """Makes the rows of one corpus, block by block; keeps its keys and speakers."""

    def __init__(
        self, declaration: Declaration, speakers: Speakers, splits: Splits, memory: Memory, tallies: TurnTallies
    ) -> None:
        self._corpus_id, self._splits, self._tallies = declaration.corpus_id, splits, tallies
        self.identity = Identity(declaration.corpus_id, memory)
        self._ids = declaration.dialogue.ids
        self._language = declaration.languages[0] if len(declaration.languages) == 1 else None
        self._speakers = speakers
        self._texts = Texts(declaration.corpus_id, memory)
        self.shapes = Shapes()
        """Those of the file that is read."""
        self.bad_times = BadTimes()
        """The same."""

    def batch(
        self,
        block: Sequence[RawRecord],
        location: SourceLocation,
        path: str,
        some: Sequence[DecodedDialogues],
        read: Callable[[int], ReadRecord],
    ) -> LoadedBatch | None:
        """Make the rows of a block; ``path`` is that of the file in keys.

        ``read`` returns what the record at a place is read as by itself. Of records that were decoded together, those
        are asked for that have the id of another: only now it is known what the two share.
        """
        some = [decoded for decoded in some if len(decoded.records)]
        if not some:
            return None
        records = pl.concat([decoded.records for decoded in some], how="diagonal")
        records = records.sort("n") if len(some) > 1 else records
        records = _completed(records, RECORDS)
        raws = [block[n] for n in records["n"]]
        records = records.with_columns(
            native_id=pl.coalesce("native_id", pl.Series([raw.key for raw in raws], dtype=pl.String)),
            language=pl.coalesce("language", pl.lit(self._language, pl.String)),
            record_id=pl.Series([self.identity.record_id(path, raw.record_index) for raw in raws]),
            record_index=pl.Series([raw.record_index for raw in raws], dtype=pl.Int64),
            source_pointer=pl.Series([raw.pointer for raw in raws], dtype=pl.String),
        )
        parts = {at: pieces for decoded in some for at, pieces in decoded.parts.items()}
        turns = self._turns(some, parts)
        keys = self._keys(records, turns, path, location.split)
        records = records.hstack(pl.DataFrame(keys, _KEYS, orient="row"))
        owners = records["n"].search_sorted(turns["n"])
        turns = turns.with_columns(records["dialogue_id"].gather(owners))
        if not records["is_new"].all():
            turns = turns.filter(records["is_new"].gather(owners))
        rows: list[Row] = []
        findings: list[ReaderFinding] = []
        own = {n: of_record for decoded in some for n, of_record in decoded.of_records.items()}
        extra, last = list[str | None](), None
        for n, raw, record_id, key in zip(records["n"], raws, records["record_id"], keys, strict=True):
            of_record, found = own.get(n), list[ReaderFinding]()
            if of_record is None or key.is_taken or not key.is_same:
                record = read(n)
                of_record, found, native_id = (
                    record.of_record(is_same=key.is_same),
                    [*filter(self._is_named, record.findings)],
                    record.fields.native_id,
                )
                rows += [] if n in own else self._candidates(record_id, key.dialogue_id, record.dialogue)
                if key.is_taken:
                    found.append(ReaderFinding("GF-04", f"the id {native_id!r:.100} has other words too"))
                if found:
                    place = replace(location, pointer=raw.pointer, record_index=raw.record_index, native_id=native_id)
                    findings += [place.finding(finding, record_id) for finding in found]
            is_as_before = of_record is last and not raw.cells
            extra.append(extra[-1] if is_as_before else self._record_extra(of_record, raw))
            last = None if raw.cells else of_record
            rows += [label.row(record_id, key.dialogue_id) for label in of_record.labels]
        rows += self._parts(turns, parts) if parts else ()
        turns = turns.with_columns(speaker_id=self._speakers.id("speaker"), is_new=pl.lit(value=True))
        turns = turns.rename({"n": "owner", "i": "turn_index", "speaker_name": "shown"})
        self._tallies.look(location.file, turns, turns)
        self._tallies.look_inside(location.file, extra)
        speakers = self._speakers.of_turns(turns[[*SPOKEN]])
        rows += speakers.rows
        dialogues = records if records["is_new"].all() else records.filter("is_new")
        batches = [
            self._records(records, extra, location),
            ColumnBatch(
                Dialogue, {"corpus_id": self._corpus_id}, dialogues[["dialogue_id", "native_id", *_FACTS]].to_dict()
            ),
            *speakers.batches,
            *self._candidates_together(some, records, rows),
            ColumnBatch(Turn, {}, turns[[*Turn.__struct_fields__]].to_dict()),
        ]
        filled = [batch for batch in batches if len(batch)]
        return LoadedBatch(location.file, len(records), sum(len(raw.raw) for raw in raws), rows, filled, findings)

    def _is_named(self, finding: ReaderFinding) -> bool:
        return finding.rule != "GF-09" or self.bad_times.is_named((finding.pointer or "").rpartition("/")[2])

    def _turns(
        self, some: Sequence[DecodedDialogues], parts: Mapping[tuple[int, int], Sequence[ParsedPart]]
    ) -> pl.DataFrame:
        """Join the turns of a block in order, and number their shapes and those of their parts."""
        shapes: list[Mapping[str, Any]] = []
        frames = []
        for decoded in some:
            shape = decoded.turns["shape"].cast(pl.UInt32)
            frames.append(decoded.turns.with_columns(shape + len(shapes)))
            shapes += decoded.shapes
        turns = pl.concat(frames, how="diagonal")
        turns = turns.sort("n", "i") if len(some) > 1 else turns
        turns = _completed(turns, {**TURNS, "parts": pl.String} if not parts else TURNS)
        used = turns["shape"].unique(maintain_order=True).drop_nulls()
        numbers = {place: shaped(self.shapes.number("message", shapes[place]), None) for place in used}
        keys = {place: digest_of(self._numbered("message", shapes[place])).hex() for place in used}
        # Looked up by their places: a join costs half a millisecond, however few the rows.
        number, key = (
            pl.Series(map(of_shapes.get, range(len(shapes))), dtype=pl.String).gather(turns["shape"])
            for of_shapes in (numbers, keys)
        )
        if parts:
            texts = [(n, i, self._parts_text(parts[n, i])) for n, i in sorted(parts)]
            of_parts = pl.DataFrame(texts, {"n": pl.UInt32, "i": pl.Int32, "parts": pl.String}, orient="row")
            turns = turns.join(of_parts, on=["n", "i"], how="left", maintain_order="left")
        extra = pl.lit(number)
        if "rest" in turns.columns:
            extra = pl.coalesce(extra.str.strip_suffix("}") + "," + pl.col("rest").str.slice(1), extra, "rest")
        return turns.with_columns(extra=extra, kind=pl.col("kind").fill_null("message"), key=pl.lit(key).fill_null(""))

    def _numbered(self, level: str, shape: Mapping[str, object]) -> bytes:
        return msgspec.json.encode((self.shapes.number(level, shape), shape))

    def _parts_text(self, pieces: Sequence[ParsedPart]) -> str:
        shapes = [None if piece.shape is None else Raw(self._numbered("part", piece.shape)) for piece in pieces]
        return msgspec.json.encode((pieces, shapes)).decode()

    def _keys(self, records: pl.DataFrame, turns: pl.DataFrame, path: str, split: str | None) -> list[DialogueKey]:
        """Return the keys of dialogues; those without an id are named by their place."""
        named = records
        if records["native_id"].null_count():
            named = records.filter(records["native_id"].is_not_null())
            turns = turns.filter(turns["n"].is_in(named["n"].implode()))
        hashes = self._hashes(named, turns) if len(named) else iter(())
        return [
            DialogueKey(self.identity.dialogue_without_id(path, index), is_new=True, is_same=True, is_taken=False)
            if native_id is None
            else self.identity.dialogue(native_id, *next(hashes), ids_within(self._ids, path, own or split or ALL))
            for native_id, index, own in records.select("native_id", "record_index", "split").iter_rows()
        ]

    def _hashes(self, records: pl.DataFrame, turns: pl.DataFrame) -> Iterator[tuple[bytes, bytes]]:
        """Hash who says what in each dialogue, and what else its rows hold.

        All shapes of a dialogue's rows count as used: a file that only repeats it is written with them too, so another
        file's rows say the same only where their shapes have the same numbers.
        """
        is_first = pl.col("n").ne_missing(pl.col("n").shift(1))
        # The first shape of each dialogue, which mostly is that of all, is hashed with its facts.
        first = dict(turns[["n", "key"]].filter(is_first).iter_rows())
        records = records.with_columns(key=pl.Series(map(first.get, records["n"]), dtype=pl.String))
        turns = turns.with_columns(
            kind=pl.when(pl.col("kind") != "message").then("kind"),
            key=pl.when(~is_first & pl.col("key").ne_missing(pl.col("key").shift(1))).then("key"),
        )
        turns = turns.select("n", words=line(turns, _WORDS), rest=line(turns, _REST))
        begins = records.with_columns(begins=line(records, (*_FACTS, "key")))["begins"]
        words = digests(records["n"], turns["n"], turns["words"])
        others = digests(records["n"], turns["n"], turns["rest"], begins)
        return zip(words, others, strict=True)

    def _record_extra(self, of_record: OfRecord, raw: RawRecord) -> str | None:
        number = self.shapes.number("record", of_record.shape)
        own = ({"shape": number} if number else {}) | ({"cells": raw.cells} if raw.cells else {})
        return dump(own | dict(of_record.extra))

    def _records(self, records: pl.DataFrame, extra: Sequence[str | None], location: SourceLocation) -> ColumnBatch:
        splits = [location.split if own is None else own for own in records["split"]]
        standard = {split: self._splits[split] for split in {*splits} if split is not None}
        names = ["record_id", "dialogue_id", "native_id", "record_index", "source_pointer"]
        columns = {
            **records[names].to_dict(),
            "extra": pl.Series(extra, dtype=pl.String),
            "split": pl.Series(splits, dtype=pl.String),
            "standard_split": pl.Series(map(standard.get, splits), dtype=pl.String),
        }
        shared = {
            "corpus_id": self._corpus_id,
            "subset": location.subset,
            "release": location.release,
            "source_file_id": location.file.id,
        }
        return ColumnBatch(Record, shared, columns)

    def _parts(self, turns: pl.DataFrame, parts: Mapping[tuple[int, int], Sequence[ParsedPart]]) -> Iterator[Part]:
        some = turns.drop_nulls("parts").select("n", "i", "dialogue_id")
        for n, turn_index, dialogue_id in some.iter_rows():
            for part_index, piece in enumerate(parts[n, turn_index]):
                columns = asdict(piece)
                shape, rest = columns.pop("shape"), columns.pop("extra")
                extra = shaped(self.shapes.number("part", shape) if shape else 0, rest)
                yield Part(dialogue_id, turn_index, part_index, **columns, extra=extra)

    def _candidates_together(
        self, some: Sequence[DecodedDialogues], records: pl.DataFrame, rows: list[Row]
    ) -> list[ColumnBatch]:
        """Return the candidates of records that were decoded together; a text that is new adds its row."""
        frames = [decoded.candidates for decoded in some if len(decoded.candidates)]
        if not frames:
            return []
        candidates = pl.concat(frames).join(records["n", "record_id", "dialogue_id"], on="n", maintain_order="left")
        text_ids = pl.Series(self._texts.ids(candidates["text"], rows), dtype=pl.String)
        shared = {"candidate_set": CANDIDATE_SET}
        return [ColumnBatch(Candidate, shared, {**candidates.drop("n", "text").to_dict(), "text_id": text_ids})]

    def _candidates(self, record_id: str, dialogue_id: str, dialogue: ParsedDialogue) -> list[Row]:
        rows: list[Row] = []
        for candidate in dialogue.candidates:
            number = self.shapes.number("candidate", candidate.shape) if candidate.shape else 0
            rows.append(
                Candidate(
                    record_id,
                    candidate.turn_index,
                    CANDIDATE_SET,
                    candidate.position,
                    candidate.item_index,
                    dialogue_id,
                    self._texts.id(candidate.text, rows),
                    source=candidate.source,
                    is_gold=candidate.is_gold,
                    extra=shaped(number, candidate.extra),
                )
            )
        return rows


def shaped(number: int | Mapping[str, Any], rest: Mapping[str, Raw] | None) -> str | None:
    """Write ``extra``: the number of a shape, unless it is 0, and what no column holds."""
    return dump({"shape": number} | dict(rest or {})) if number else dump(rest)
