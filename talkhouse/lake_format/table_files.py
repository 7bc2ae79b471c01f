"""The files of a lake's tables: which of them are whole, and what else lies in their folders."""

import hashlib
import io
import os
from pathlib import Path

from talkhouse.lake_format.inside import Inside
from talkhouse.lake_format.manifest import File, Manifest


def is_whole(file: File, lake: Path) -> bool:
    """Tell whether a file is there, and no link is on the way to it, with the bytes that it was written with."""
    try:
        with Inside(lake).reading(file.path) as stream:
            return os.fstat(stream.fileno()).st_size == file.bytes and sha256(stream) == file.sha256
    except OSError:
        return False


def strangers(manifest: Manifest, lake: Path) -> list[str]:
    """Return the paths in the folders of tables that an engine would read and the manifest does not name.

    Those that begin with a dot or an underscore are hidden from engines. What is named must be a file, and no link.
    """
    others = []
    for table in manifest.tables:
        named = {file.path for file in table.files if _is_file(file, lake)}
        try:
            there = [f"{table.folder}/{path}" for path in Inside(lake, table.folder).files()]
        except OSError:
            there = [table.folder]
        others += [path for path in there if path not in named and not any(map(_is_hidden, path.split("/")))]
    return others


def _is_file(file: File, lake: Path) -> bool:
    try:
        with Inside(lake).reading(file.path):
            return True
    except OSError:
        return False


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "_"))


def sha256(stream: io.BufferedReader) -> str:
    """Hash the bytes of a file: 64 hex digits."""
    return hashlib.file_digest(stream, "sha256").hexdigest()
