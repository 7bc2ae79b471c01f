"""Reads ConvoKit corpora: utterances as rows, and each member of the files about speakers and conversations."""

from collections.abc import Iterator

import polars as pl
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration, Files
from talkhouse.ingest.declared.documents.labels import Labels
from talkhouse.ingest.declared.documents.talk import Talk
from talkhouse.ingest.declared.identity import Identity
from talkhouse.ingest.declared.record_files import open_records
from talkhouse.ingest.declared.record_files.content import BadRawRecord, RawRecord
from talkhouse.ingest.declared.record_files.json_files import Form
from talkhouse.ingest.declared.rows.batch import Build
from talkhouse.ingest.declared.rows.convokit_files import (
    LEVEL,
    ConversationFacts,
    Kind,
    check_utterances,
    kind_of,
    utterance_columns,
    with_meta,
)
from talkhouse.ingest.declared.rows.read_file import read_file
from talkhouse.ingest.declared.shapes import Shapes, Split, members_of
from talkhouse.ingest.declared.shapes import kind_of as kind_of_value
from talkhouse.ingest.declared.speakers import NO_ROLE
from talkhouse.ingest.decode import BadRecord, dump
from talkhouse.ingest.outcomes import (
    FileEnvelope,
    Loaded,
    Outcome,
    ReaderFinding,
    SourceLocation,
    Unrecognised,
    reject,
)
from talkhouse.ingest.rows import Record, Row
from talkhouse.ingest.sources import SourceFile


def read_convokit(declaration: Declaration, entries: list[tuple[SourceFile, Files]]) -> Iterator[Outcome]:
    """Read utterances first, for the other files name their conversations and speakers.

    What ``[dialogue]`` asks of conversations is looked up before. Raises SourceError where there are no utterances.
    """
    check_utterances(declaration, entries)
    kinds = [(kind_of(file.path), file, entry) for file, entry in entries]
    talks = [(file, entry) for kind, file, entry in kinds if kind == "utterances"]
    known, facts = _Conversations(), ConversationFacts(declaration)
    facts.read(file for kind, file, _ in kinds if kind == "conversations")
    build = Build(
        declaration,
        utterance_columns(declaration),
        Identity(declaration.corpus_id),
        known,
        has_several_files=len(talks) > 1,
        labels_inside=[Labels(spec, declaration) for spec in declaration.annotations if spec.on == "turn"],
        conversations=facts,
    )
    for file, entry in talks:
        yield from read_file(build, file, entry)
    members = _MemberFiles(build, known, facts)
    for kind, file, entry in kinds:
        match kind:
            case "utterances":
                pass
            case None:
                yield Unrecognised(file, "not a file of a ConvoKit corpus")
            case _:
                yield from members.read(kind, file, entry)


class _Conversations:
    """The keys of the conversations that were read, by their ids."""

    def __init__(self) -> None:
        self._keys: dict[str, str] = {}

    def add_rows(self, dialogues: pl.DataFrame, _: pl.DataFrame) -> None:
        """Remember the dialogues of a batch of rows."""
        for native_id, key in dialogues.select("native_id", "dialogue_id").iter_rows():
            self._keys.setdefault(native_id, key)

    def find(self, native_id: str) -> str | None:
        """Return the key of a conversation; None where nobody said a word in it."""
        return self._keys.get(native_id)


class _MemberFiles:
    """The files about speakers, conversations, and the corpus as a whole."""

    def __init__(self, build: Build, known: _Conversations, facts: ConversationFacts) -> None:
        self._build, self._known, self._facts = build, known, facts
        self._declaration = build.declaration
        specs = [Labels(spec, self._declaration) for spec in self._declaration.annotations]
        self._labels: dict[Kind, list[Labels]] = {
            "conversations": [labels for labels in specs if labels.spec.on == "dialogue"],
            "speakers": [labels for labels in specs if labels.spec.on == "record"],
        }

    def read(self, kind: Kind, file: SourceFile, entry: Files) -> Iterator[Outcome]:
        """Read one file: a record for each member, or one for the whole."""
        path, shapes = self._build.identity.file(file), Shapes()
        form: Form = "file" if kind == "whole" else "member"
        try:
            members = open_records(file, self._declaration, form)
            count = 0
            for member in members:
                count += 1
                location = SourceLocation(
                    file,
                    member.pointer,
                    entry.subset,
                    entry.release,
                    record_index=member.record_index,
                    native_id=None if isinstance(member, BadRawRecord) else member.key,
                    size=len(member.raw),
                )
                yield self._member(kind, path, location, member, shapes)
        except BadRecord as bad:
            yield reject(SourceLocation(file, size=file.size), bad, file.read())
            return
        yield FileEnvelope(file, members.envelope | shapes.envelope(), count)

    def _member(
        self, kind: Kind, path: str, location: SourceLocation, member: RawRecord | BadRawRecord, shapes: Shapes
    ) -> Outcome:
        """Make the record of a member."""
        if isinstance(member, BadRawRecord):
            return reject(location, member.problem, member.raw)
        if member.raw[:1] != b"{":
            bad = BadRecord("GF-01", f"{kind_of_value(Raw(member.raw))}, not an object")
            return reject(location, bad, member.raw)
        extra: dict[str, Raw] = {}
        number = shapes.number(LEVEL, Split(members_of(member.raw), {}).shape({}, extra))
        kept = ({"shape": number} if number else {}) | extra
        rows: list[Row] = []
        key = member.key or ""
        record = location.record(
            self._build.identity.record_id(path, member.record_index),
            self._known.find(key) if kind == "conversations" else None,
            main_speaker_id=self._speaker(key, rows) if kind == "speakers" else None,
        )
        record.extra = dump(kept)
        findings: list[ReaderFinding] = []
        try:
            if kind == "conversations":
                self._facts.of(member.raw, findings)
            rows += self._labels_of(kind, member, record, findings)
        except BadRecord as bad:
            return reject(location, bad, member.raw)
        return Loaded(location, [*rows, record], findings)

    def _speaker(self, name: str, rows: list[Row]) -> str | None:
        """Return the key of the speaker whom a member is about; adds the row of one who says nothing."""
        if self._declaration.speaker.scope == "dialogue":
            return None
        row, is_new = self._build.speakers.of("", name, NO_ROLE)
        if is_new:
            rows.append(row)
        return row.speaker_id

    def _labels_of(self, kind: Kind, member: RawRecord, record: Record, findings: list[ReaderFinding]) -> Iterator[Row]:
        """Make the labels that a member has."""
        said = with_meta(member.raw)
        for labels in self._labels.get(kind, ()):
            for given in labels.given(said, Talk([]), findings):
                yield given.row(record.record_id, record.dialogue_id)
