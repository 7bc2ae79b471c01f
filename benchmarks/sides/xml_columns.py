"""Reads Posts.xml and Comments.xml of a dump to columns, as MANtIS's maker does, and no further.

python -m benchmarks.sides.xml_columns FOLDER
"""

import sys
from pathlib import Path

from talkhouse.ingest.corpora.mantis.make.site import Row, XmlRows

_PIECE = 1_000_000
_COLUMNS = ("Id", "PostTypeId", "ParentId", "OwnerUserId", "CreationDate", "Score", "Title", "Body")


def columns(path: Path) -> None:
    """Read a file to columns, a block of rows at a time."""
    values: list[list[str | None]] = []

    def take(rows: list[Row]) -> None:
        values[:] = [[row.get(column) for row in rows] for column in _COLUMNS]

    rows = XmlRows(path.name, path.stem.lower(), take, lambda *_: None)
    with path.open("rb") as stream:
        while piece := stream.read(_PIECE):
            rows.feed(piece)
    rows.close()


if __name__ == "__main__":
    for name in ("Posts.xml", "Comments.xml"):
        columns(Path(sys.argv[1]) / name)
