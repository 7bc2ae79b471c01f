"""The files of a package as Croissant lists them: each with its checksum, and the set of those of a record set."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from talkhouse.packages.content import DataFile

PARQUET = "application/x-parquet"
"""The media type by which mlcroissant chooses how to read a file."""


def file_object(file: DataFile, node_id: str) -> dict[str, Any]:
    """Describe a file: it alone has a checksum, and nothing reads rows from it."""
    return {
        "@type": "cr:FileObject",
        "@id": node_id,
        "name": file.path.name,
        "contentUrl": file.path.as_posix(),
        "contentSize": f"{file.bytes} B",
        "encodingFormat": PARQUET,
        "sha256": file.sha256,
    }


def file_set(files: Sequence[DataFile], node_id: str) -> dict[str, Any]:
    """Describe the files of a record set, from which its rows are read.

    Without ``containedIn``: mlcroissant then looks for them beside the description. With the file objects there it
    takes the description for valid and fails on the first row.
    """
    folder = re.sub(r"([*?\[])", r"[\1]", files[0].path.parent.as_posix())
    return {
        "@type": "cr:FileSet",
        "@id": node_id,
        "name": node_id,
        "encodingFormat": PARQUET,
        "includes": f"{folder}/*.parquet",
    }


def split_pattern(names: Iterable[str]) -> str:
    r"""Return the pattern of file names that has the split in it.

    mlcroissant makes globs of it when it filters, and of patterns knows ``^``, ``$``, ``\.``, ``.*`` and ``(?:...)?``:
    with anything else it finds no row, and says nothing. Without a filter it applies the pattern to the split that it
    found too, and writes a warning for each row unless that fits: so the rest is optional.
    """
    return rf"^({'|'.join(map(re.escape, names))})(?:-.*\.parquet)?$"
