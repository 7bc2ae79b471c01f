"""Rows back to the groups' files, equal byte for byte."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from ingest.corpora.delidata.format import HEADER, LINE_END
from ingest.corpora.delidata.render import cells, extra
from ingest.decode import pointer
from ingest.stored_record import StoredRecord


def write(records: Iterable[StoredRecord]) -> Iterator[tuple[str, bytes]]:
    """Give (path inside the corpus's folder, bytes) of every file; archives are folders of their members."""
    for published in records:
        content = write_record(published) if published.record else published.raw or b""
        yield published.path, content


def write_record(published: StoredRecord) -> bytes:
    """Give a group, the whole of its file: the cells as the tables have them, or as this record states them."""
    record = published.record
    assert record is not None  # noqa: S101 - of a quarantined group there is nothing to write but its raw bytes
    found = extra(record)
    differs = found.get("differs", {})
    line_end: str = found.get("line_end", LINE_END)
    by_turn = defaultdict(list)
    for annotation in published.annotations:
        by_turn[annotation.turn_index].append(annotation)
    lines = [HEADER]
    for turn in published.turns:
        row = cells(record.native_id or "", turn, by_turn[turn.turn_index])._asdict()
        lines.append("\t".join(differs.get(pointer(turn.turn_index, name), cell) for name, cell in row.items()))
    return (line_end.join(lines) + ("" if found.get("lacks_final_newline") else line_end)).encode()
