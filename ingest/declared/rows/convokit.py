"""Reads ConvoKit corpora: utterances as rows, and each member of the files about speakers and conversations."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import PurePosixPath
from typing import Literal, TypeAlias

import polars as pl
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import ISO, Declaration, Files, RecordForm
from talkhouse.ingest.declared.labels import Labels
from talkhouse.ingest.declared.parsed_dialogue import ParsedDialogue
from talkhouse.ingest.declared.record_files import open_records
from talkhouse.ingest.declared.record_files.content import BadRawRecord, RawRecord
from talkhouse.ingest.declared.rows.batch import RowsBuild
from talkhouse.ingest.declared.rows.columns import (
    DOMAIN,
    ID,
    LANGUAGE,
    REPLY_TO,
    SPEAKER,
    SPLIT,
    STARTED_AT,
    TITLE,
    Placeholder,
    RowColumns,
    columns_of,
)
from talkhouse.ingest.declared.rows.read_rows import read_file
from talkhouse.ingest.declared.shapes import LITERAL, Members, SplitObject, is_null, members_of, text_of
from talkhouse.ingest.declared.speakers import NO_ROLE, Speakers
from talkhouse.ingest.declared.times import read_time
from talkhouse.ingest.declared.whole_records import WholeRecords
from talkhouse.ingest.decode import BadRecord, pointer
from talkhouse.ingest.keys import Memory
from talkhouse.ingest.outcomes import Outcome, ReaderFinding, Unrecognised
from talkhouse.ingest.rows import Record, Row
from talkhouse.ingest.sources import SourceFile
from talkhouse.schema.errors import SourceError

Kind: TypeAlias = Literal["utterances", "conversations", "speakers", "whole"]

_KINDS: dict[str, Kind] = {
    "utterances.jsonl": "utterances",
    "utterances.json": "utterances",
    "conversations.json": "conversations",
    "speakers.json": "speakers",
    "users.json": "speakers",
    "corpus.json": "whole",
    "index.json": "whole",
}
_OLD: dict[Placeholder, tuple[str, ...]] = {ID: ("root",), SPEAKER: ("user",), REPLY_TO: ("reply_to",)}
"""Other names of columns: those of versions before, and the one that ConvoKit's documentation has."""


def file_kind(path: PurePosixPath) -> Kind | None:
    """Return the kind of a file, or None if it is not ConvoKit's."""
    return _KINDS.get(path.name)


def utterance_columns(declaration: Declaration) -> RowColumns:
    """Return the columns for an utterance's members, by their new names or the old ones."""
    columns = columns_of(replace(declaration, annotations=()))
    declared = {*columns.inside, *columns.fallbacks}
    taken = {name for names in columns.placeholders.values() for name in names}
    placeholders = {
        placeholder: (
            *names,
            *(name for name in _OLD.get(placeholder, ()) if name not in taken and placeholder not in declared),
        )
        for placeholder, names in columns.placeholders.items()
    }
    return RowColumns(placeholders, inside=columns.inside, fallbacks=columns.fallbacks, has_default_ids=True)


def check_utterances(declaration: Declaration, files: Iterable[tuple[SourceFile, Files]]) -> None:
    """Raise SourceError where no file has utterances: without them there are no dialogues."""
    names = [file.name for file, _ in files]
    if not any(_KINDS.get(name) == "utterances" for name in names):
        raise SourceError(
            "a ConvoKit corpus without its utterances",
            where=declaration.corpus_id,
            expected="utterances.jsonl (before version 3, utterances.json)",
            found=", ".join(sorted(names)[:10]) or "no files",
            next_step="copy the whole folder that ConvoKit's dump wrote",
        )


_META = "meta"


def with_meta(raw: bytes) -> Members:
    """Return the metadata of an object: its ``meta``, or the object itself if it has none."""
    members = members_of(raw)
    return members if _META in members else {_META: Raw(raw)}


_KEY = "native_id"


class ConversationFacts:
    """What conversations are called, of which split they are, and so on."""

    def __init__(self, declaration: Declaration) -> None:
        self._declaration = declaration
        fields = declaration.dialogue
        paths = {
            TITLE: fields.title,
            DOMAIN: fields.domain,
            LANGUAGE: fields.language,
            SPLIT: fields.split,
            STARTED_AT: fields.started_at,
        }
        self._paths = {placeholder: path for placeholder, path in paths.items() if path}
        self._form = declaration.times.get(STARTED_AT, ISO)
        self._known: pl.DataFrame | None = None

    def read(self, files: Iterable[SourceFile]) -> None:
        """Read what files of conversations say; what is wrong in them is reported when they are loaded."""
        if not self._paths:
            return
        columns = defaultdict[str, list[str | datetime | None]](list)
        for file in files:
            try:
                for member in open_records(file, self._declaration, "member"):
                    if not isinstance(member, BadRawRecord) and member.raw[:1] == b"{":
                        self._add(member.key or "", member.raw, columns)
            except BadRecord:
                continue
        types = {
            placeholder: pl.Datetime("us") if placeholder == STARTED_AT else pl.String for placeholder in self._paths
        }
        known = [pl.Series(name, columns[name], types.get(name, pl.String)) for name in (_KEY, *self._paths)]
        self._known = pl.DataFrame(known).unique(_KEY, keep="first", maintain_order=True)

    def _add(self, key: str, raw: bytes, columns: defaultdict[str, list[str | datetime | None]]) -> None:
        try:
            facts = self.read_facts(raw, [])
        except BadRecord:
            return
        columns[_KEY].append(key)
        for placeholder in self._paths:
            columns[placeholder].append(facts.get(placeholder))

    def read_facts(self, raw: bytes, findings: list[ReaderFinding]) -> dict[Placeholder, str | datetime | None]:
        """Return the facts that a conversation states; raises BadRecord GF-01 for what is no text or number."""
        facts: dict[Placeholder, str | datetime | None] = {}
        conversation = SplitObject(with_meta(raw), {}) if self._paths else None
        for placeholder, path in self._paths.items():
            found: Raw | None = conversation.find(path) if conversation is not None else None
            if found is None or is_null(found):
                continue
            at = pointer(*path)
            text, suffix = text_of(found, at, f"'{path[-1]}'")
            facts[placeholder] = text
            if placeholder == STARTED_AT:
                facts[placeholder] = read_time(text, self._form, is_number=suffix == LITERAL).value
                if facts[placeholder] is None:
                    detail = f"{text!r:.100} is not a time of the declared time_format"
                    findings.append(ReaderFinding("GF-09", detail, pointer=at))
        return facts

    def over(self, facts: pl.DataFrame, native_ids: pl.Series) -> pl.DataFrame:
        """Return the facts about dialogues: those that a conversation states, or else those of its utterances."""
        if self._known is None:
            return facts
        own = native_ids.to_frame(_KEY).join(self._known, on=_KEY, how="left", maintain_order="left")
        both = [
            own[placeholder].zip_with(own[placeholder].is_not_null(), facts[placeholder]) for placeholder in self._paths
        ]
        return facts.with_columns(both)


def read_convokit(
    declaration: Declaration, speakers: Speakers, files: Iterable[tuple[SourceFile, Files]], memory: Memory
) -> Iterator[Outcome]:
    """Read utterances first, for the other files name their conversations and speakers.

    What ``[dialogue]`` asks of conversations is looked up before. Raises SourceError where there are no utterances.
    """
    entries = list(files)
    check_utterances(declaration, entries)
    kinds = [(file_kind(file.path), file, entry) for file, entry in entries]
    talks = [(file, entry) for kind, file, entry in kinds if kind == "utterances"]
    facts = ConversationFacts(declaration)
    keys: dict[str, str] = {}

    def remember(dialogues: pl.DataFrame, _: pl.DataFrame) -> None:
        for native_id, key in dialogues.select("native_id", "dialogue_id").iter_rows():
            keys.setdefault(native_id, key)

    facts.read(file for kind, file, _ in kinds if kind == "conversations")
    build = RowsBuild(
        declaration,
        speakers,
        utterance_columns(declaration),
        memory,
        remember,
        has_several_files=len(talks) > 1,
        labels_inside=[Labels(spec, declaration) for spec in declaration.annotations if spec.on == "turn"],
        conversations=facts.over,
    )
    for file, entry in talks:
        yield from read_file(build, file, entry)
    members = _MemberFiles(build, keys, facts)
    for kind, file, entry in kinds:
        match kind:
            case "utterances":
                pass
            case None:
                yield Unrecognised(file, "not a file of a ConvoKit corpus")
            case _:
                yield from members.read(kind, file, entry)


class _MemberFiles:
    def __init__(self, build: RowsBuild, keys: Mapping[str, str], facts: ConversationFacts) -> None:
        self._build, self._keys, self._facts = build, keys, facts
        self._declaration = build.declaration
        self._records = WholeRecords(build.declaration, build.identity)
        specs = [Labels(spec, self._declaration) for spec in self._declaration.annotations]
        self._labels: dict[Kind, list[Labels]] = {
            "conversations": [labels for labels in specs if labels.spec.on == "dialogue"],
            "speakers": [labels for labels in specs if labels.spec.on == "record"],
        }

    def read(self, kind: Kind, file: SourceFile, entry: Files) -> Iterator[Outcome]:
        """Read one file: a record for each member, or one for the whole."""
        form: RecordForm = "file" if kind == "whole" else "member"
        yield from self._records.read(file, entry, form, partial(self._rows, kind))

    def _rows(self, kind: Kind, member: RawRecord, record: Record, findings: list[ReaderFinding]) -> Iterator[Row]:
        key = member.key or ""
        if kind == "conversations":
            record.dialogue_id = self._keys.get(key)
            self._facts.read_facts(member.raw, findings)
        elif kind == "speakers" and self._declaration.speaker.scope == "corpus":
            speaker, is_new = self._build.speakers.of_corpus(key, NO_ROLE)
            record.main_speaker_id = speaker.speaker_id
            yield from [speaker] if is_new else []
        meta = with_meta(member.raw)
        for labels in self._labels.get(kind, ()):
            for label in labels.read(meta, ParsedDialogue([]), findings):
                yield label.row(record.record_id, record.dialogue_id)
