"""The files of a corpus as the warehouse knows them: where they were read, and the paths that they are written to."""

import gzip
import shutil
import tarfile
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import duckdb

from talkhouse.ingest.files.archives import points_outside, unpacked
from talkhouse.ingest.files.disk_files import DiskFile, disk_files, listing
from talkhouse.ingest.files.limits import DEFAULT, Boundary, Limits
from talkhouse.ingest.registry import Registry
from talkhouse.ingest.sources import BOM, BOM_NOTE
from talkhouse.load.request import from_data, from_paths, from_samples
from talkhouse.schema.errors import UsageError, WarehouseDamaged
from talkhouse.schema.sql_files import sql_of

_MEMBERS = ".talkhouse.members"
"""Folder of an archive's members until they are packed."""


class RestoredSource(NamedTuple):
    """A file as the warehouse knows it."""

    id: str
    path: str
    member: str | None
    kind: str
    note: str | None
    sha256: str
    size: int

    @property
    def is_data(self) -> bool:
        """Whether its content is in the tables or in the quarantine."""
        return self.kind in ("read", "refused")

    @property
    def bom(self) -> bytes:
        """The byte order mark that the file began with, if it did; a file quarantined whole has it in its bytes."""
        return BOM if self.note == BOM_NOTE else b""

    @property
    def on_disk(self) -> str:
        """Path of the file or of its archive inside the corpus's folder."""
        return self.path.partition("/")[2]

    @property
    def name(self) -> str:
        """Path inside the corpus's folder, archives as folders of their members."""
        return str(unpacked(self.path, self.member)).partition("/")[2]


def sources(con: duckdb.DuckDBPyConnection, corpus_id: str) -> list[RestoredSource]:
    """List the files of a corpus, by id."""
    return [RestoredSource(*row) for row in con.execute(sql_of(__file__, "source_files"), [corpus_id]).fetchall()]


class OutputPaths:
    """The path of each file of one corpus; members of archives are kept in a folder of their own until packed.

    With ``archives`` a .7z, which is not written, is a folder under its whole name; ``for_build``: a .tar.gz, which a
    build tells by its first bytes.
    """

    def __init__(self, folder: Path, *, archives: bool, for_build: bool = False) -> None:
        self.files: list[Path] = []
        self._folder, self.archives, self._for_build = folder, archives, for_build
        self._paths: dict[str, Path] = {}
        self._members: defaultdict[str, dict[str, Path]] = defaultdict(dict)

    def path(self, source: RestoredSource) -> Path:
        """Return the path to write a file to; WarehouseDamaged for a name that leads out of the folder or archive."""
        if source.id not in self._paths:
            self._paths[source.id] = self._new(source)
        return self._paths[source.id]

    def _new(self, source: RestoredSource) -> Path:
        is_packed = self._for_build or not source.on_disk.lower().endswith(".7z")
        if self.archives and source.member is not None and is_packed:
            members = self._members[source.on_disk]
            if source.member in members or (source.is_data and points_outside(source.member)):
                raise _bad_name(source.id)
            path = members[source.member] = self._folder / _MEMBERS / str(len(self._paths))
            return path
        keeps_name = self.archives and source.member is not None
        path = self._inside(f"{source.on_disk}/{source.member}" if keeps_name else source.name)
        self.files.append(path)
        return path

    def _inside(self, name: str) -> Path:
        parts = name.split("/")
        if parts[0] == _MEMBERS or "\0" in name or any(part in ("", ".", "..") for part in parts):
            raise _bad_name(name)
        return self._folder / name

    def discard(self, source: RestoredSource) -> None:
        """Remove what was written of a file, if anything was."""
        path = self._paths.pop(source.id, None)
        if path is None:
            return
        path.unlink(missing_ok=True)
        if path in self.files:
            self.files.remove(path)
        else:
            del self._members[source.on_disk][source.member or ""]
            if not self._members[source.on_disk]:
                del self._members[source.on_disk]

    def pack(self, others: Iterable[str]) -> None:
        """Pack the members into their archives; ``others`` are archives that may have none."""
        for name in sorted({*self._members, *others}):
            archive = self._inside(name)
            archive.parent.mkdir(parents=True, exist_ok=True)
            (_zip if archive.name.lower().endswith(".zip") else _tar)(archive, self._members[name])
            self.files.append(archive)
            for path in self._members[name].values():
                path.unlink()
        if (self._folder / _MEMBERS).exists():
            (self._folder / _MEMBERS).rmdir()


def _bad_name(name: str) -> WarehouseDamaged:
    """Return the error for a name that a build would never have stored."""
    return WarehouseDamaged(
        "the file's name points outside its folder or archive, or is not a possible file name",
        where=ascii(name),
        next_step="build the warehouse again from the publisher's files",
    )


_FIRST_TIME = (1980, 1, 1, 0, 0, 0)
_RIGHTS = 0o644


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


_IS_SAMPLE = "select is_sample from main.corpora where corpus_id = ?"


def files_built_from(
    con: duckdb.DuckDBPyConnection,
    known: Registry,
    corpus_id: str,
    limits: Limits = DEFAULT,
    *,
    follow_links: bool = False,
) -> list[DiskFile]:
    """List the files that a corpus was last read from; UsageError where they are no longer where they were.

    Links are followed as by the build.
    """
    if con.execute(_IS_SAMPLE, [corpus_id]).fetchall() == [(True,)]:
        return from_samples(known, [corpus_id]).inputs[0].files
    row = con.execute(sql_of(__file__, "last_source"), {"corpus": corpus_id}).fetchone()
    source = str(row[0]) if row else ""
    folder = Path(source) / corpus_id
    if row and _is_there(folder) and folder.is_dir():
        return from_data(known, Path(source), [corpus_id], limits, follow_links=follow_links).inputs[0].files
    paths = [Path(source)] if _is_there(Path(source)) else [Path(path) for path in source.split(" ")]
    if row and all(map(_is_there, paths)):
        return from_paths(known, corpus_id, paths, limits, follow_links=follow_links).inputs[0].files
    raise UsageError(
        f"the files that '{corpus_id}' was built from are no longer there",
        where=source or None,
        next_step="with --data DIR, name the folder that has them in a folder named by the corpus id",
    )


def _is_there(path: Path) -> bool:
    """Whether there is something at a path that a warehouse names, which may be any text."""
    try:
        return path.exists()
    except OSError:
        return False


def files_in_folder(
    known: Registry, data: Path, present: list[str], limits: Limits = DEFAULT, *, follow_links: bool = False
) -> dict[str, list[DiskFile]]:
    """List the files of each corpus in a data folder; a corpus of the warehouse without a folder there has none.

    Raises UsageError where there is no such folder, or none of these corpora in it.
    """
    with listing(data):
        is_folder = data.is_dir()
        names = {path.name for path in data.iterdir() if path.is_dir()} if is_folder else set()
    if not is_folder:
        raise UsageError("there is no such data folder", where=data, next_step="check the path, as seen from here")
    if not names & set(present):
        raise UsageError(
            "the folder has none of these corpora",
            where=data,
            expected=f"a folder named {' or '.join(present)}",
            found=", ".join(sorted(names)) or "no folder at all",
            next_step="name the folder with the folders of the corpora",
        )
    boundary = Boundary.around(data, follow_links=follow_links)
    return {
        name: disk_files(data / name, name, limits, boundary) if name in names else []
        for name in sorted({*present, *(names & known.keys())})
    }
