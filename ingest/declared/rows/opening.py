"""Opens a file of rows by its ending."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.declared.documents.labels import Labels
from talkhouse.ingest.declared.record_files.by_ending import CSV, open_records, open_rows
from talkhouse.ingest.declared.record_files.content import ending
from talkhouse.ingest.declared.rows.columns import RowColumns
from talkhouse.ingest.declared.rows.csv_frames import CsvFrames
from talkhouse.ingest.declared.rows.frames import RowFrames
from talkhouse.ingest.declared.rows.json_frames import JsonFrames
from talkhouse.ingest.declared.shapes import Shapes
from talkhouse.ingest.sources import SourceFile


def is_csv(path: PurePosixPath) -> bool:
    """Tell by a file's path whether it has cells, not objects."""
    return ending(path) in CSV


def open_frames(
    file: SourceFile,
    columns: RowColumns,
    declaration: Declaration,
    shapes: Shapes,
    *,
    with_raw: bool = False,
    labels: Sequence[Labels] = (),
) -> RowFrames:
    """Open a file of rows, ``with_raw``: and keep each row itself; ``labels`` are inside JSON rows.

    Raises BadRecord where the file is to be refused, here or when it is iterated.
    """
    if is_csv(file.path):
        return CsvFrames(open_rows(file, declaration), columns, declaration, shapes, with_raw=with_raw)
    records = open_records(file, declaration, "item")
    return JsonFrames(records, columns, declaration, shapes, with_raw=with_raw, labels=labels)
