"""What a program's package is: how it is planned, and how its files are written."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from talkhouse.packages.content import Package
from talkhouse.query.pseudonyms import Pseudonyms
from talkhouse.query.row_stream import OnRows
from talkhouse.query.selection import Filters
from talkhouse.warehouse.opened import Warehouse


@dataclass(frozen=True)
class Layout:
    """The layout of the packages of one program."""

    plan: Callable[[Warehouse, str, Filters, Pseudonyms | None], Package]
    """Plan what a name stands for, filtered; UsageError for what can't be in such a package."""
    write: Callable[[Package, Path, OnRows], list[dict[str, Any]]]
    """Write the data, and what this program alone has, into a folder; return what the manifest says of each data file.

    It is called again, with the same folder, where the memory was not enough.
    """


def described_file(path: Path, rows: int | None) -> dict[str, Any]:
    """Return what the manifest says of a file of data that lies in the package's folder itself."""
    with path.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    return {"path": path.name, "rows": rows, "bytes": path.stat().st_size, "sha256": sha256}
