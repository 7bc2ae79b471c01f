"""Reads the files of formats in which a dialogue is a group of rows."""

from collections.abc import Iterable, Iterator

from talkhouse.ingest.declared.declaration.model import Declaration, Files
from talkhouse.ingest.declared.identity import Identity
from talkhouse.ingest.declared.rows.batch import Build
from talkhouse.ingest.declared.rows.columns import columns_of
from talkhouse.ingest.declared.rows.convokit import read_convokit
from talkhouse.ingest.declared.rows.known_dialogues import KnownDialogues
from talkhouse.ingest.declared.rows.label_files import LabelFiles
from talkhouse.ingest.declared.rows.read_file import read_file
from talkhouse.ingest.outcomes import Outcome
from talkhouse.ingest.sources import SourceFile


def read_rows_format(declaration: Declaration, files: Iterable[tuple[SourceFile, Files]]) -> Iterator[Outcome]:
    """Read the files of a corpus of turns, or of ConvoKit."""
    read = read_convokit if declaration.format == "convokit" else _read_turns
    yield from read(declaration, list(files))


def _read_turns(declaration: Declaration, entries: list[tuple[SourceFile, Files]]) -> Iterator[Outcome]:
    """Read files of turns in their order, then files of labels."""
    talks = [entry for entry in entries if entry[1].holds == "dialogues"]
    labels = [entry for entry in entries if entry[1].holds == "annotations"]
    with KnownDialogues() as known:
        build = Build(
            declaration,
            columns_of(declaration),
            Identity(declaration.corpus_id),
            known if labels else None,
            has_several_files=len(talks) > 1,
        )
        for file, entry in talks:
            yield from read_file(build, file, entry)
        yield from LabelFiles(declaration, build.identity, known).read(labels)
