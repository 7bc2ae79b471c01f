"""The three task files and the two files of image addresses to rows: one record per dialogue of a file."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw

from ingest import decode, json_members
from ingest.corpora.mpchat.dialogue import Talks
from ingest.corpora.mpchat.elements import Elements, Lists, People
from ingest.corpora.mpchat.envelope import check_unknown, split_file
from ingest.corpora.mpchat.files import FILES, Kind, check_lengths, element_lists, oddly_empty
from ingest.corpora.mpchat.format import CORPUS, SPLITS, ResponseTalk, Talk
from ingest.corpora.mpchat.given import Files, Given
from ingest.corpora.mpchat.images import KINDS, read_images
from ingest.corpora.mpchat.lists import candidate_block, persona_block, text_block, votes
from ingest.corpora.mpchat.odd_elements import grouped
from ingest.corpora.mpchat.rejected_examples import answers_first, refusals
from ingest.corpora.mpchat.warnings import missing_personas, talk_oddities
from ingest.outcomes import FileEnvelope, Loaded, Outcome, ReaderFinding, Rejected, SourceLocation, Unrecognised, reject
from ingest.rows import ColumnBatch, Record, Row
from ingest.sources import SourceFile
from ingest.texts import Texts

_RELEASED = 100
"""Dialogues after which the memory of those that are done is given back."""


def read(files: list[SourceFile]) -> Iterator[Outcome]:
    """Read every file in path order."""
    reader = _Reader()
    for file in files:
        if file.name in FILES:
            yield from reader.file(file)
        elif file.name in KINDS:
            yield from read_images(file, reader.files)
        else:
            yield Unrecognised(file, f"none of {', '.join((*FILES, *KINDS))}")


class _Reader:
    """Reads the files of one build; keeps keys and hashes of what it has given out."""

    def __init__(self) -> None:
        self.files = Files()
        self._people = People()
        self._talks = Talks(self._people)
        self._elements = Elements(self._people)
        self._texts = Texts(CORPUS)

    def file(self, file: SourceFile) -> Iterator[Outcome]:
        """Give every dialogue of a file, then what the file is beside them."""
        held, kind = file.hold(), FILES[file.name]
        try:
            fields, lists = split_file(held.view)
        except decode.BadRecord as bad:
            place = SourceLocation(file, subset=kind.subset, size=file.size)
            yield reject(place, bad, bytes(held.view))
            return
        given = self.files.take(file, kind.subset)
        yield from given.notes()
        unknown = {decode.pointer(name): Raw(bytes(fields[name])) for name in fields if name not in SPLITS}
        done = 0
        for name, pieces in lists.items():
            for index, piece in enumerate(pieces):
                raw = bytes(piece)
                done += len(raw)
                place = SourceLocation(file, f"/{name}/{index}", kind.subset, None, name, index, size=len(raw))
                yield self._dialogue(given, place, kind, raw)
                if index % _RELEASED == 0:
                    held.release(done)
        records = sum(map(len, lists.values()))
        extra = {"fields": list(fields), "orders": list(self._elements.orders), "unknown": unknown}
        yield FileEnvelope(file, {key: value for key, value in extra.items() if value}, records)

    def _dialogue(self, given: Given, place: SourceLocation, kind: Kind, raw: bytes) -> Loaded | Rejected:
        """Turn one dialogue into its record."""
        name = place.split or ""
        try:
            talk, fields, unknown = _decoded(raw, kind)
            check_lengths(talk, name)
            lists = list(element_lists(kind, talk))
            fresh = self._elements.check(lists)
        except decode.BadRecord as bad:
            return reject(place, bad, raw)
        rows: list[Row] = []
        notes = list(grouped(self._elements.settle(fresh, rows)))
        dialogue_id, is_new, is_variant = self._talks.assign(talk)
        if is_new:
            self._talks.rows(dialogue_id, talk, rows)
        extra = {
            "fields": fields,
            "lists": oddly_empty(kind, talk),
            "differs": self._talks.differs(dialogue_id, talk),
            "unknown": unknown,
            "repeats": given.repeats,
        }
        record = _record(given, place, dialogue_id, self._people.id(talk.main_author, rows), extra)
        rows.append(record)
        used = {(one.field.set_name, one.turn_index): self._elements.used(one) for one in lists if one.raws}
        first = answers_first(talk, used)
        column_batches = list(self._lists(record, talk, used, first, rows))
        notes += talk_oddities(kind, talk, name, lists)
        notes += missing_personas(talk, used)
        notes += refusals(kind, talk, name, used, first)
        if is_variant:
            detail = f"other words than an earlier thread with these first and last messages; kept as {dialogue_id}"
            notes.append(ReaderFinding("MP-12", detail))
        return Loaded(place, rows, notes, column_batches)

    def _lists(
        self, record: Record, talk: Talk, used: Lists, first: set[int], rows: list[Row]
    ) -> Iterator[ColumnBatch]:
        """Give the rows of all lists: long ones as column_batches, votes and new texts among the others."""
        for (_, turn), one in used.items():
            if one.elements.field.is_candidates:
                yield candidate_block(record, one, is_answer_first=turn in first)
            else:
                yield persona_block(record, one)
            rows += votes(record, one)
        if isinstance(talk, ResponseTalk):
            for turn, texts in enumerate(talk.nrp_candidate_responses or ()):
                if texts:
                    ids = self._texts.ids(texts, rows)
                    yield text_block(record, turn, ids, is_answer_first=turn in first)


def _decoded(raw: bytes, kind: Kind) -> tuple[Talk, list[str], dict[str, Raw]]:
    """Decode one dialogue; gives it with its keys in published order and the fields that no documentation names."""
    pieces = json_members.fields(raw)
    known = _FIELDS[kind.subset]
    unknown = {decode.pointer(key): piece for key, piece in pieces.items() if key not in known}
    for place, piece in unknown.items():
        check_unknown(place, bytes(piece))
    text = msgspec.json.encode({key: pieces[key] for key in pieces if key in known}) if unknown else raw
    try:
        talk = decode.decoder(kind.talk).decode(text)
    except msgspec.ValidationError as error:
        bad = decode.shape_problem(error, "MP-02")
        rule = "MP-11" if bad.pointer.startswith("/messages/") else "MP-02"
        raise decode.BadRecord(rule, bad.detail, bad.pointer) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise decode.json_problem(raw, error) from error
    return talk, list(pieces), unknown


_FIELDS = {kind.subset: {field.name for field in msgspec.structs.fields(kind.talk)} for kind in FILES.values()}


def _record(
    given: Given, place: SourceLocation, dialogue_id: str, main_speaker_id: str, extra: dict[str, Any]
) -> Record:
    return Record(
        record_id=f"{given.prefix}/{place.split}/{place.record_index}",
        corpus_id=CORPUS,
        dialogue_id=dialogue_id,
        native_id=None,
        main_speaker_id=main_speaker_id,
        subset=place.subset,
        release=None,
        split=place.split,
        standard_split=SPLITS[place.split or ""],
        record_index=place.record_index or 0,
        source_file_id=place.file.id,
        source_pointer=place.pointer,
        extra=decode.dump({key: value for key, value in extra.items() if value}),
    )
