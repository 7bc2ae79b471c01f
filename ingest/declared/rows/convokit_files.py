"""The files of a ConvoKit corpus, with their new names and the old ones."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Literal, TypeAlias

from talkhouse.ingest.declared.declaration.model import Declaration, Files
from talkhouse.ingest.declared.rows.columns import ID, REPLY_TO, SPEAKER, Hole, RowColumns, columns_of
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
