"""Archives of files: the same bytes whenever they are made, since times and owners are left out."""

import gzip
import shutil
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

_FIRST_TIME = (1980, 1, 1, 0, 0, 0)
_RIGHTS = 0o644


def pack(archive: Path, members: Mapping[str, Path]) -> None:
    """Make a .zip or .tar.gz (its name decides) of files by their names inside it; one file at a time is read.

    Raises OSError, FileExistsError where something is there already.
    """
    archive.parent.mkdir(parents=True, exist_ok=True)
    (_zip if archive.name.lower().endswith(".zip") else _tar)(archive, members)


def _zip(archive: Path, members: Mapping[str, Path]) -> None:
    with zipfile.ZipFile(archive, "x") as target:
        for name, path in sorted(members.items()):
            info = zipfile.ZipInfo(name, _FIRST_TIME)
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, _RIGHTS << 16
            info.file_size = path.stat().st_size  # by this it knows whether 32 bits are enough
            with path.open("rb") as source, target.open(info, "w") as stream:
                shutil.copyfileobj(source, stream)


def _tar(archive: Path, members: Mapping[str, Path]) -> None:
    with (
        archive.open("xb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as target,
    ):
        for name, path in sorted(members.items()):
            info = tarfile.TarInfo(name)
            info.size, info.mode = path.stat().st_size, _RIGHTS
            with path.open("rb") as source:
                target.addfile(info, source)
