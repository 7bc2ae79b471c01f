# /// script
# requires-python = ">=3.11"
# dependencies = []
# ///
"""Parses JSON with the standard library: a file, every file of a folder, or every file of a zip, one after the other.

json_load.py PATH
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO
from zipfile import ZipFile


def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open one file after the other."""
    if path.suffix == ".zip":
        with ZipFile(path) as archive:
            for name in archive.namelist():
                with archive.open(name) as stream:
                    yield stream
        return
    for file in sorted(path.rglob("*.json")) if path.is_dir() else [path]:
        with file.open("rb") as stream:
            yield stream


for stream in opened(Path(sys.argv[1])):
    json.load(stream)
