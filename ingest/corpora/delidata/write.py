"""Rows back to the groups' files, equal byte for byte."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from ingest.corpora.delidata.cells import HEADER
from ingest.corpora.delidata.render import cells, extra
from ingest.corpus import Published
from ingest.decode import pointer


def write(records: Iterable[Published]) -> Iterator[tuple[str, bytes]]:
    """Give (path inside the corpus's folder, bytes) of every file; archives are folders of their members."""
    for published in records:
        yield published.path, published.mark + _content(published)


def _content(published: Published) -> bytes:
    """Write one file: the cells as the tables have them, or as this record states them differently."""
    record = published.record
    if record is None:
        return published.raw or b""
    found = extra(record)
    differs = found.get("differs", {})
    by_turn = defaultdict(list)
    for annotation in published.annotations:
        by_turn[annotation.turn_index].append(annotation)
    lines = [HEADER]
    for turn in published.turns:
        row = cells(record.native_id or "", turn, by_turn[turn.turn_index])._asdict()
        lines.append("\t".join(differs.get(pointer(turn.turn_index, name), cell) for name, cell in row.items()))
    return ("\n".join(lines) + ("" if found.get("lacks_final_newline") else "\n")).encode()
