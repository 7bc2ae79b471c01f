"""CSV and TSV as files of records: each row is an object of its cells; and rows on their way back."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Dialect
from talkhouse.ingest.declared.record_files.content import Content
from talkhouse.ingest.declared.record_files.csv_cells import row_writer
from talkhouse.ingest.declared.record_files.csv_rows import CsvRows, layout_cells
from talkhouse.ingest.declared.record_files.record import BadRawRecord, RawRecord, WrittenRecord, WrittenRow, gaps_of
from talkhouse.ingest.decode import BadRecord, decoder

_PIECE = 1_000_000


class CsvRecords:
    """A file of rows on its way in, each as a JSON object of texts; a ``RecordFile``.

    It is read twice: one that can't be told apart to its end is refused before a record of it is loaded.
    """

    def __init__(self, content: Content, dialect: Dialect) -> None:
        for _ in CsvRows(content, dialect):
            pass
        self._rows = CsvRows(content, dialect)
        twice = [column for column, count in Counter(self._rows.columns).items() if count > 1]
        if twice:
            raise BadRecord("GF-12", f"the column {twice[0]!r} is there twice", "/0")

    @property
    def envelope(self) -> dict[str, Any]:
        """That of the rows."""
        return self._rows.envelope

    def __iter__(self) -> Iterator[RawRecord | BadRawRecord]:
        """Yield the rows."""
        return self.texts()

    def check(self, record: RawRecord) -> RawRecord | BadRawRecord:
        """Return a row as it is: cells are told apart and written by us."""
        return record

    def texts(self) -> Iterator[RawRecord]:
        """Yield the rows."""
        index, encode = 0, msgspec.json.encode
        for chunk, texts in self._rows.with_texts():
            for position, (row, line, text) in enumerate(zip(chunk.rows, chunk.lines, texts, strict=True)):
                verbatim = text.removesuffix("\n").removesuffix("\r").encode()
                cells = chunk.cells.get(position)
                raw = encode(dict(zip(chunk.columns, row, strict=True)))
                yield RawRecord(index, f"/{line}", raw, cells=cells, verbatim=verbatim)
                index += 1


def write_csv_records(
    layout: Mapping[str, Raw], records: Iterable[WrittenRecord], path: PurePosixPath
) -> Iterator[bytes]:
    """Write rows from objects of their cells; a quarantined one is the text of its row."""
    columns = _columns(layout, path)
    write = row_writer(layout_cells(layout, path), columns)
    cells_of = decoder(dict[str, str])
    texts = (
        record.raw.decode()
        if record.is_verbatim
        else write([cells_of.decode(record.raw)[column] for column in columns], record.cells or {})
        for record in records
    )
    return _pieces(layout, texts)


def write_csv_rows(
    layout: Mapping[str, Raw], columns: Sequence[str], rows: Iterable[WrittenRow], path: PurePosixPath
) -> Iterator[bytes]:
    """Write rows, to the byte."""
    write = row_writer(layout_cells(layout, path), columns)
    texts = (write(list(row.cells), row.as_written) if row.verbatim is None else row.verbatim.decode() for row in rows)
    return _pieces(layout, texts)


def _columns(layout: Mapping[str, Raw], path: PurePosixPath) -> list[str]:
    """Return the columns of a file on its way back."""
    if "header" not in layout:
        return []
    row = layout_cells(layout, path).row_at(msgspec.json.decode(layout["header"]), 0)
    return row.values if row else []


def _pieces(layout: Mapping[str, Raw], texts: Iterable[str]) -> Iterator[bytes]:
    """Write the header and the rows, with what stands between; yield pieces of about a megabyte."""
    gaps = gaps_of(layout)
    parts, size = [next(gaps)], 0
    if "header" in layout:
        parts += (msgspec.json.decode(layout["header"], type=str).encode(), next(gaps))
    for text in texts:
        parts += (text.encode(), next(gaps))
        size += len(text)
        if size > _PIECE:
            yield b"".join(parts)
            parts, size = [], 0
    yield b"".join(parts)
