"""The files of a ConvoKit corpus, with their new names and the old ones, and what they say of conversations."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import Literal, TypeAlias

import polars as pl
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import ISO, Declaration, Files
from talkhouse.ingest.declared.record_files import open_records
from talkhouse.ingest.declared.record_files.content import BadRawRecord
from talkhouse.ingest.declared.rows.columns import (
    DOMAIN,
    ID,
    LANGUAGE,
    REPLY_TO,
    SPEAKER,
    SPLIT,
    STARTED_AT,
    TITLE,
    Hole,
    RowColumns,
    columns_of,
)
from talkhouse.ingest.declared.shapes import LITERAL, KnownShapes, Members, Split, is_null, join, members_of, text_of
from talkhouse.ingest.declared.times import read_time
from talkhouse.ingest.decode import BadRecord, literals, pointer
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.sources import SourceFile
from talkhouse.ingest.stored_record import StoredRecord
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
_OLD: dict[Hole, tuple[str, ...]] = {ID: ("root",), SPEAKER: ("user",), REPLY_TO: ("reply_to",)}
"""Other names of columns: those of versions before, and the one that ConvoKit's documentation has."""


def kind_of(path: PurePosixPath) -> Kind | None:
    """Return what a file is; None for one that is not ConvoKit's."""
    return _KINDS.get(path.name)


def utterance_columns(declaration: Declaration) -> RowColumns:
    """Return what the members of an utterance are, by their new names or the old ones."""
    columns = columns_of(replace(declaration, annotations=()))
    taken = {name for names in columns.holes.values() for name in names}
    holes = {
        hole: (*names, *(name for name in _OLD.get(hole, ()) if name not in taken and hole not in columns.inside))
        for hole, names in columns.holes.items()
    }
    return RowColumns(holes, inside=columns.inside, has_default_ids=True)


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


LEVEL = "member"
"""Of the shapes of members."""

_META = "meta"


def with_meta(raw: bytes) -> Members:
    """Return what an object says of itself: its ``meta``, or where it has none the object itself as that."""
    members = members_of(raw)
    return members if _META in members else {_META: Raw(raw)}


def member_back(stored: StoredRecord, shapes: KnownShapes) -> bytes:
    """Write a member, all of which is in the ``extra`` of its record."""
    extra = literals(stored.loaded.extra)
    return join(shapes.of(LEVEL, extra), extra, lambda _: b"")


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
        self._paths = {hole: path for hole, path in paths.items() if path}
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
        types = {hole: pl.Datetime("us") if hole == STARTED_AT else pl.String for hole in self._paths}
        known = [pl.Series(name, columns[name], types.get(name, pl.String)) for name in (_KEY, *self._paths)]
        self._known = pl.DataFrame(known).unique(_KEY, keep="first", maintain_order=True)

    def _add(self, key: str, raw: bytes, columns: defaultdict[str, list[str | datetime | None]]) -> None:
        try:
            said = self.of(raw, [])
        except BadRecord:
            return
        columns[_KEY].append(key)
        for hole in self._paths:
            columns[hole].append(said.get(hole))

    def of(self, raw: bytes, findings: list[ReaderFinding]) -> dict[Hole, str | datetime | None]:
        """Return what a conversation says of itself; raises BadRecord GF-01 for what is no text or number."""
        said: dict[Hole, str | datetime | None] = {}
        conversation = Split(with_meta(raw), {}) if self._paths else None
        for hole, path in self._paths.items():
            found: Raw | None = conversation.find(path) if conversation is not None else None
            if found is None or is_null(found):
                continue
            at = pointer(*path)
            text, suffix = text_of(found, at, f"'{path[-1]}'")
            said[hole] = text
            if hole == STARTED_AT:
                said[hole] = read_time(text, self._form, is_number=suffix == LITERAL).value
                if said[hole] is None:
                    detail = f"{text!r:.100} is no time of the declared form"
                    findings.append(ReaderFinding("GF-09", detail, pointer=at))
        return said

    def over(self, facts: pl.DataFrame, native_ids: pl.Series) -> pl.DataFrame:
        """Return what is known of dialogues: what a conversation says of itself, or else what its utterances say."""
        if self._known is None:
            return facts
        said = native_ids.to_frame(_KEY).join(self._known, on=_KEY, how="left", maintain_order="left")
        both = [said[hole].zip_with(said[hole].is_not_null(), facts[hole]) for hole in self._paths]
        return facts.with_columns(both)
