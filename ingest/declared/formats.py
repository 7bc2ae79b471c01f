"""The formats that ``corpus.toml`` may name: what reads and what writes each. Each is imported where it is needed."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from talkhouse.ingest.declared.declaration.model import Declaration, Files
from talkhouse.ingest.declared.documents.talk import DocumentFormat
from talkhouse.ingest.outcomes import Outcome
from talkhouse.ingest.sources import SourceFile
from talkhouse.ingest.stored_record import RecordWriter, Writer

FilesReader: TypeAlias = Callable[[Iterable[tuple[SourceFile, Files]]], Iterator[Outcome]]
"""Reads files, each with the ``[[files]]`` that it belongs to."""

_ROWS = ("turns", "convokit")


def reader_of(declaration: Declaration) -> FilesReader:
    """Return what reads the files of a declared corpus."""
    if declaration.format in _ROWS:
        from talkhouse.ingest.declared.rows.read import read_rows_format

        return lambda files: read_rows_format(declaration, files)
    from talkhouse.ingest.declared.documents.read import read_documents

    return lambda files: read_documents(declaration, _document_format(declaration), files)


def writer_of(declaration: Declaration) -> Writer:
    """Return what writes its files."""
    if declaration.format in _ROWS:
        from talkhouse.ingest.declared.rows.write import write_rows_format

        return write_rows_format(declaration)
    from talkhouse.ingest.declared.documents.write import documents_writer

    return documents_writer(_document_format(declaration))


def record_writer_of(declaration: Declaration) -> RecordWriter:
    """Return what writes one of its records."""
    if declaration.format in _ROWS:
        from talkhouse.ingest.declared.rows.write import write_row_group

        return write_row_group(declaration)
    from talkhouse.ingest.declared.documents.write import document_writer

    return document_writer(_document_format(declaration))


def _document_format(declaration: Declaration) -> DocumentFormat:
    match declaration.format:
        case "pairs":
            from talkhouse.ingest.declared.documents.pairs import Pairs

            return Pairs(declaration)
        case "preference":
            from talkhouse.ingest.declared.documents.preference import Preference

            return Preference(declaration)
        case "transcript":
            from talkhouse.ingest.declared.documents.transcript import Transcript

            return Transcript(declaration)
        case "tree":
            from talkhouse.ingest.declared.documents.tree import TreeFormat

            return TreeFormat(declaration)
    from talkhouse.ingest.declared.documents.dialogue import DialogueFormat

    return DialogueFormat(declaration)
