"""Archives, .zip and .tar.gz: their members are read in memory and never extracted."""

import tarfile
import zipfile
from pathlib import Path, PurePosixPath
from typing import IO, TypeAlias

ARCHIVES = (".zip", ".tar.gz", ".tgz")

Archive: TypeAlias = zipfile.ZipFile | tarfile.TarFile


def is_archive(name: str) -> bool:
    """Whether a file's name says that it is an archive that is opened."""
    return name.lower().endswith(ARCHIVES)


def open_archive(path: Path) -> tuple[Archive, list[tuple[str, int]]]:
    """Open an archive; returns it, for the caller to close, and the name and size of each file in it."""
    if path.name.lower().endswith(".zip"):
        archive = zipfile.ZipFile(path)
        return archive, [(info.filename, info.file_size) for info in archive.infolist() if not info.is_dir()]
    tar = tarfile.open(path)  # noqa: SIM115 - the caller closes it
    return tar, [(info.name, info.size) for info in tar.getmembers() if info.isfile()]


def open_member(archive: Archive, member: str) -> IO[bytes]:
    """Open one file of an archive."""
    if isinstance(archive, zipfile.ZipFile):
        return archive.open(member)
    stream = archive.extractfile(member)
    if stream is None:
        raise tarfile.TarError(f"no file {member}")
    return stream


def unpacked(path: str, member: str | None) -> PurePosixPath:
    """Return the path of a file on disk, or of a member as if its archive were a folder without the ending."""
    if member is None:
        return PurePosixPath(path)
    ending = next(ending for ending in ARCHIVES if path.lower().endswith(ending))
    return PurePosixPath(path[: -len(ending)], _with_slashes(member))


def points_outside(member: str) -> bool:
    """Whether the name of a member would lead out of the folder that its archive stands for."""
    parts = PurePosixPath(_with_slashes(member)).parts
    return ".." in parts or "/" in parts


def _with_slashes(member: str) -> str:
    """Return the path of a member; archives that are made on Windows may have backslashes."""
    return member if "/" in member else member.replace("\\", "/")
