"""Opens a file of rows by its ending."""

from pathlib import PurePosixPath

from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.declared.record_files.content import ending
from talkhouse.ingest.declared.record_files.read import CSV, open_records, open_rows
from talkhouse.ingest.declared.rows.columns import RowColumns
from talkhouse.ingest.declared.rows.frames import CsvFrames, JsonFrames, RowFrames
from talkhouse.ingest.declared.shapes import Shapes
from talkhouse.ingest.sources import SourceFile


def is_csv(path: PurePosixPath) -> bool:
    """Tell by a file's path whether it has cells, not objects."""
    return ending(path) in CSV


def open_frames(
    file: SourceFile, columns: RowColumns, declaration: Declaration, shapes: Shapes, *, with_raw: bool = False
) -> RowFrames:
    """Open a file of rows, ``with_raw``: and keep each row itself.

    Raises BadRecord where the file is to be refused, here or when it is iterated.
    """
    if is_csv(file.path):
        return CsvFrames(open_rows(file, declaration), columns, declaration, shapes, with_raw=with_raw)
    return JsonFrames(open_records(file, declaration), columns, declaration, shapes, with_raw=with_raw)
