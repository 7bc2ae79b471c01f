"""Rows of scattered dialogues, put in the order of their lines; they wait in a temporary file."""

from array import array
from collections.abc import Iterable, Iterator
from tempfile import SpooledTemporaryFile

import msgspec

from talkhouse.ingest.declared.rows.stored_row import StoredRow

_IN_MEMORY = 16_000_000


def in_order_of_lines(rows: Iterable[StoredRow]) -> Iterator[StoredRow]:
    """Yield rows by their lines, those of one line as they come; memory: 100 bytes for each row."""
    lines, places = array("q"), array("q")
    with SpooledTemporaryFile(max_size=_IN_MEMORY) as file:
        end = 0
        for row in rows:
            lines.append(row.line)
            places.append(end)
            raw = msgspec.msgpack.encode(row)
            file.write(len(raw).to_bytes(8) + raw)
            end += 8 + len(raw)
        for number in sorted(range(len(lines)), key=lines.__getitem__):
            file.seek(places[number])
            size = int.from_bytes(file.read(8))
            yield msgspec.msgpack.decode(file.read(size), type=StoredRow)
