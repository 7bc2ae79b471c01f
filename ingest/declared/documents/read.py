"""Reads files whose records hold a dialogue each, whatever the format."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import msgspec
from msgspec import Raw
from talkhouse.ingest.declared.record_files.read import open_records

from talkhouse.ingest.declared.declaration.model import Declaration, Files
from talkhouse.ingest.declared.documents.gathered import Gathered
from talkhouse.ingest.declared.documents.labels import labels_of
from talkhouse.ingest.declared.documents.record_fields import (
    RecordFields,
    RecordFieldsReader,
    given_back_by_records,
    paths_of,
    take_label,
)
from talkhouse.ingest.declared.documents.talk import DocumentFormat, Piece, Said, Talk
from talkhouse.ingest.declared.identity import Identity
from talkhouse.ingest.declared.record_files.record import BadRawRecord, RawRecord
from talkhouse.ingest.declared.shapes import Shapes, Split, members_of, merged, wanted
from talkhouse.ingest.declared.speakers import Speakers
from talkhouse.ingest.declared.splits import ALL, Splits
from talkhouse.ingest.declared.values import kind_of
from talkhouse.ingest.decode import BadRecord, dump
from talkhouse.ingest.keys import digest, digest_of
from talkhouse.ingest.outcomes import FileEnvelope, Outcome, ReaderFinding, SourceLocation, reject
from talkhouse.ingest.rows import Candidate, Dialogue, Part, Participant, Record
from talkhouse.ingest.sources import SourceFile
from talkhouse.ingest.texts import Texts

DeclaredFile: TypeAlias = tuple[SourceFile, Files]
"""A file, and the ``[[files]]`` that it belongs to."""

CANDIDATE_SET = "completion"
"""The name of the list of answers that are compared."""


def read_documents(
    declaration: Declaration, document_format: DocumentFormat, files: Iterable[DeclaredFile]
) -> Iterator[Outcome]:
    """Read files in their order."""
    reader = _Reader(declaration, document_format)
    for file, entry in files:
        yield from reader.file(file, entry)


class _Reader:
    """Reads the records of one corpus; keeps its keys, shapes and speakers."""

    def __init__(self, declaration: Declaration, document_format: DocumentFormat) -> None:
        self._declaration = declaration
        self._format = document_format
        self._want = merged(document_format.wanted, wanted(paths_of(declaration)))
        self._fields = RecordFieldsReader(declaration)
        self._labels = labels_of(declaration)
        self._splits = Splits(declaration)
        self._identity = Identity(declaration.corpus_id)
        self._speakers = Speakers(declaration)
        self._shapes = Shapes()
        self._texts = Texts(declaration.corpus_id)

    def file(self, file: SourceFile, entry: Files) -> Iterator[Outcome]:
        """Read one file; what is wrong with it as a whole refuses it."""
        path = self._identity.file(file)
        place = SourceLocation(file, subset=entry.subset, release=entry.release, split=entry.split or ALL)
        records, gathered, count = open_records(file, self._declaration), Gathered(file), 0
        try:
            for raw in records:
                count += 1
                if (rejected := self._record(raw, place, path, gathered)) is not None:
                    yield rejected
                if gathered.is_enough and (batch := gathered.batch()):
                    yield batch
        except BadRecord as problem:
            yield reject(place, problem, file.read())
            return
        if batch := gathered.batch():
            yield batch
        yield FileEnvelope(file, records.envelope | self._shapes.envelope(), count)

    def _record(
        self, raw: RawRecord | BadRawRecord, of_file: SourceLocation, path: str, gathered: Gathered
    ) -> Outcome | None:
        """Gather the rows of one record; return it where it can't be loaded."""
        place = replace(of_file, pointer=raw.pointer, record_index=raw.record_index, size=len(raw.raw))
        if isinstance(raw, BadRawRecord):
            return reject(place, raw.problem, raw.raw)
        try:
            self._take(raw, place, path, gathered)
        except BadRecord as problem:
            return reject(place, problem, raw.raw)
        return None

    def _take(self, raw: RawRecord, place: SourceLocation, path: str, gathered: Gathered) -> None:
        if raw.raw[:1] != b"{":
            raise BadRecord("GF-01", f"the record is {kind_of(Raw(raw.raw))}, not an object")
        split = Split(members_of(raw.raw), self._want)
        taken: dict[str, str | None] = {}
        findings: list[ReaderFinding] = []
        fields = self._fields.read(split, taken, findings)
        talk = self._format.read(split)
        native_id = fields.native_id if fields.native_id is not None else raw.key
        dialogue_id, is_new, is_same = self._key(native_id, fields, talk, path, raw.record_index, findings)
        for labels in self._labels:
            take_label(labels.spec, split, taken)
        taken |= talk.taken
        extra = talk.extra if is_same else {}
        shape = split.shape(taken if is_same else given_back_by_records(taken), extra)
        record = self._row(raw, replace(place, native_id=native_id), path, dialogue_id, fields, shape, extra)
        labelled = [row for labels in self._labels for row in labels.rows(split.members, talk, record, findings)]
        # Nothing can be wrong any more: rows are gathered only now.
        if is_new:
            self._dialogue(dialogue_id, native_id, fields, talk, gathered)
        gathered.rows += labelled
        self._candidates(record, talk, gathered)
        gathered.findings += [place.finding(found, record.record_id) for found in (*findings, *talk.findings)]
        gathered.add(record, place.size)

    def _key(
        self,
        native_id: str | None,
        fields: RecordFields,
        talk: Talk,
        path: str,
        number: int,
        findings: list[ReaderFinding],
    ) -> tuple[str, bool, bool]:
        """Return the dialogue's key, whether it is new, and whether its rows give back what this record says of it."""
        if native_id is None:
            return self._identity.dialogue_without_id(path, number), True, True
        words = digest(*(part for said in talk.said for part in (said.role, said.speaker or "", said.text)))
        key = self._identity.dialogue(native_id, words, self._rest(fields, talk))
        if key.is_taken:
            findings.append(ReaderFinding("GF-04", f"the id {native_id!r:.100} is taken by other words"))
        return key.dialogue_id, key.is_new, key.is_same

    def _rest(self, fields: RecordFields, talk: Talk) -> bytes:
        """Hash what a dialogue's rows hold beside its words."""
        known = (fields.title, fields.domain, fields.language, fields.started_at)
        turns = [
            (
                self._shapes.number("message", said.shape) if said.shape else None,
                said.kind,
                said.native_id,
                said.said_at,
                said.reply_to,
                said.start_ms,
                said.end_ms,
                said.extra,
                said.parts,
            )
            for said in talk.said
        ]
        return digest_of(msgspec.json.encode((known, turns)))

    def _row(
        self,
        raw: RawRecord,
        place: SourceLocation,
        path: str,
        dialogue_id: str,
        fields: RecordFields,
        shape: Mapping[str, Any],
        extra: dict[str, Raw],
    ) -> Record:
        number = self._shapes.number("record", shape)
        own = {"shape": number} if number else {}
        cells = {"cells": raw.cells} if raw.cells else {}
        if fields.split is not None:
            place = replace(place, split=fields.split)
        record_id = self._identity.record_id(path, raw.record_index)
        standard = self._splits[place.split] if place.split is not None else None
        record = place.record(record_id, dialogue_id, standard_split=standard)
        record.extra = dump(own | cells | extra)
        return record

    def _dialogue(
        self, dialogue_id: str, native_id: str | None, fields: RecordFields, talk: Talk, gathered: Gathered
    ) -> None:
        gathered.dialogues.append(
            Dialogue(
                dialogue_id,
                self._declaration.corpus_id,
                native_id,
                fields.domain,
                fields.title,
                fields.language,
                fields.started_at,
            )
        )
        speakers = self._people(dialogue_id, talk.said, gathered)
        extra = [self._turn_extra(dialogue_id, index, said, gathered) for index, said in enumerate(talk.said)]
        gathered.turns(talk.said, speakers, extra)

    def _people(self, dialogue_id: str, said: list[Said], gathered: Gathered) -> list[str | None]:
        """Add the speakers of a dialogue, and return that of each turn."""
        ids: dict[str, str] = {}
        for turn in said:
            if turn.speaker is not None and turn.speaker not in ids:
                known = self._speakers.of(
                    dialogue_id, turn.speaker, turn.role, is_bot=turn.is_bot, shown_name=turn.speaker_name
                )
                ids[turn.speaker] = known.row.speaker_id
                gathered.rows += [known.row] if known.is_new else []
                gathered.rows.append(Participant(dialogue_id, known.row.speaker_id, turn.role))
        return [ids[turn.speaker] if turn.speaker is not None else None for turn in said] if ids else [None] * len(said)

    def _turn_extra(self, dialogue_id: str, turn_index: int, said: Said, gathered: Gathered) -> str | None:
        """Return ``extra`` of a turn, and add its parts."""
        for index, piece in enumerate(said.parts or ()):
            gathered.rows.append(self._part(dialogue_id, turn_index, index, piece))
        number = self._shapes.number("message", said.shape) if said.shape else 0
        if not number and not said.extra:
            return None
        return dump(({"shape": number} if number else {}) | (said.extra or {}))

    def _part(self, dialogue_id: str, turn_index: int, part_index: int, piece: Piece) -> Part:
        number = self._shapes.number("part", piece.shape) if piece.shape else 0
        return Part(
            dialogue_id,
            turn_index,
            part_index,
            piece.field,
            piece.kind,
            piece.start_index,
            piece.end_index,
            piece.name,
            piece.call_id,
            piece.arguments,
            piece.uri,
            piece.mime_type,
            piece.text,
            dump(({"shape": number} if number else {}) | (piece.extra or {})),
        )

    def _candidates(self, record: Record, talk: Talk, gathered: Gathered) -> None:
        for offered in talk.offered:
            number = self._shapes.number("candidate", offered.shape) if offered.shape else 0
            gathered.rows.append(
                Candidate(
                    record.record_id,
                    offered.turn_index,
                    CANDIDATE_SET,
                    offered.position,
                    offered.item_index,
                    record.dialogue_id,
                    self._texts.id(offered.text, gathered.rows),
                    is_gold=offered.is_gold,
                    extra=dump(({"shape": number} if number else {}) | (offered.extra or {})),
                )
            )
