"""The manifest of a lake: what its current snapshot is, and every table and file in it.

Anyone who can write a lake can write its manifest, so only what Talkhouse writes is taken: the names of tables, columns
and corpora have its form, and a path is the one that follows from them.
"""

import hashlib
import io
import os
import re
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from talkhouse import migrations
from talkhouse.lake_format.inside import Inside
from talkhouse.schema.errors import LakeDamaged, NotALake, SchemaMismatch, error_text
from talkhouse.translation.translated import Identifier, LeftOutView, check_once, check_type

NAME = "manifest.json"
FORMAT = 1
"""Raised when what lies in a lake is laid out so that an older Talkhouse can't read it; another one is refused."""

_Count = Annotated[int, Meta(ge=0, le=10**18)]

_Facts = dict[str, str | bool | int | float | list[dict[str, str]] | dict[str, str] | None]
"""What is told about a build or a corpus, whose authors are a list of objects and whose publication is one."""

_FILE = re.compile(r"part-[0-9]{5,9}\.parquet")


class LakeColumn(msgspec.Struct, frozen=True):
    """A column as it is declared; ``type`` in DuckDB's words."""

    name: Identifier
    type: str
    nullable: bool
    comment: str

    def __post_init__(self) -> None:
        check_type(self.type)


CORPUS = LakeColumn(
    "corpus", "VARCHAR", True, "The corpus, by the folder that the row is in; shared: it belongs to none."
)
"""The column that engines make of the folders in a table's; no file has it."""


class LakeFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file of Parquet; ``path`` is relative to the lake."""

    path: str
    corpus: Identifier
    """The corpus of its rows; ``shared`` where they belong to none."""
    rows: _Count
    bytes: _Count
    sha256: Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
    fingerprint: str | None = None
    """Of the rows of some source files, where a large table has files of its own for these: as in ``LakeTable``."""


class LakeTable(msgspec.Struct, frozen=True):
    """A table with its columns and files; ``folder`` is relative to the lake."""

    schema: Annotated[str, Meta(pattern=r"\A(main|meta)\Z")]
    name: Identifier
    comment: str
    grain: list[Identifier]
    """The columns that together name one row, by which the rows are sorted."""
    folder: str
    rows: _Count
    columns: list[LakeColumn]
    fingerprints: dict[str, str]
    """Corpus -> a hash of its rows and of how they are written: the same means the same files."""
    files: list[LakeFile]

    @property
    def full_name(self) -> str:
        """The name as a user types it."""
        return f"{self.schema}.{self.name}"

    @property
    def delta_log(self) -> str:
        """The path of its log of Delta, relative to the lake as those of files are."""
        return f"{self.folder}/_delta_log/{0:020}.json"

    def check(self, snapshot: str) -> None:
        """Raise ValueError for a path that is not the one of this table or of a file of it, and for a wrong key."""
        if self.folder != f"{snapshot}/{self.schema}/{self.name}":
            raise ValueError(f"{self.full_name} has another folder: {self.folder[:100]!r}")
        for file in self.files:
            folder, _, name = file.path.rpartition("/")
            if folder != f"{self.folder}/corpus={file.corpus}" or not _FILE.fullmatch(name):
                raise ValueError(f"{self.full_name} has a file elsewhere: {file.path[:100]!r}")
        check_once(file.path for file in self.files)
        names = [column.name for column in self.columns]
        check_once(names)
        if not {*self.grain} <= {*names}:
            raise ValueError(f"{self.full_name} has a key of other columns: {', '.join(self.grain)}")


class LakeManifest(msgspec.Struct, frozen=True):
    """What lies in a lake."""

    format: int
    snapshot: Annotated[str, Meta(pattern=r"\Asnapshot-[1-9][0-9]{0,14}\Z")]
    """The folder of the current snapshot."""
    talkhouse: str
    """The version of Talkhouse that wrote it."""
    revision: Annotated[str, Meta(pattern=r"\A[0-9]{1,9}\Z")]
    """The schema revision of its tables."""
    catalogue: str
    """SHA-256 over the SQL of the views."""
    builds: list[_Facts]
    """The build of each warehouse whose tables are in it."""
    corpora: list[_Facts]
    """The corpora with their titles, licences and terms."""
    tables: list[LakeTable]
    left_out: list[LeftOutView] = []
    """The views that are not in it, or not all of whose rows are, and why."""
    release: Annotated[str, Meta(max_length=64)] | None = None
    """The Talkhouse release that its warehouse is; None: of none, of several, or not known."""
    content_id: Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")] | None = None
    """The id of the contents of that warehouse, where it is known and all of it is in the lake."""
    delta: bool = False
    """Whether each table has a log of Delta next to its files."""

    def __post_init__(self) -> None:
        """Refuse paths that Talkhouse does not write, and what is there twice."""
        for table in self.tables:
            table.check(self.snapshot)
        check_once(table.full_name for table in self.tables)
        msgspec.convert(self.corpus_ids, list[Identifier])

    @property
    def corpus_ids(self) -> list[str]:
        """The ids of its corpora."""
        return [str(corpus.get("corpus_id")) for corpus in self.corpora]

    def table(self, name: str) -> LakeTable | None:
        """Return a table by its name with the schema."""
        return next((table for table in self.tables if table.full_name == name), None)


class _ManifestHead(msgspec.Struct):
    format: int


def encode(manifest: LakeManifest) -> bytes:
    """Write a manifest as JSON."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"


def find(lake: Path) -> LakeManifest | None:
    """Return the manifest of a lake, or None if there is none; errors as ``read`` has them."""
    return read(lake) if Inside(lake).exists(NAME) else None


def read(lake: Path) -> LakeManifest:
    """Read the manifest of a lake.

    Raises NotALake where there is none or it is no regular file, LakeDamaged where it can't be read or has something
    that Talkhouse does not write, SchemaMismatch for another layout. A lake of an older schema revision is read as any
    other: whatever belongs to it lies in it.
    """
    path = lake / NAME
    try:
        return _decoded(Inside(lake).document(NAME), path)
    except (FileNotFoundError, NotADirectoryError):
        raise NotALake(
            "this is not a lake",
            where=lake,
            expected=f"a folder with a {NAME}",
            next_step="write one with: talkhouse lake DIR",
        ) from None
    except OSError as error:
        raise NotALake("the lake can't be read", where=path, **error_text(error, path)) from error
    except (ValueError, RecursionError) as error:  # msgspec's are ValueErrors
        raise LakeDamaged(
            "the lake's manifest is damaged, and was left as it is",
            where=path,
            expected="the JSON that Talkhouse wrote",
            found=str(error),
            next_step="move the folder away and write the lake again",
        ) from error


def read_of(snapshot: Inside) -> LakeManifest | None:
    """Return the manifest in a snapshot, or None if it is not Talkhouse's, or is another snapshot's."""
    try:
        manifest = _decoded(snapshot.document(NAME), snapshot.lake / snapshot.path)
    except (OSError, ValueError, RecursionError, SchemaMismatch):
        return None
    return manifest if manifest.snapshot == snapshot.name else None


def _decoded(content: bytes, path: Path) -> LakeManifest:
    head = msgspec.json.decode(content, type=_ManifestHead)
    if head.format != FORMAT:
        raise _other("layout", FORMAT, head.format, path)
    return msgspec.json.decode(content, type=LakeManifest)


def check_revision(manifest: LakeManifest, lake: Path) -> None:
    """Raise SchemaMismatch for a lake that a newer Talkhouse wrote."""
    if manifest.revision > migrations.head():
        raise _other("schema", migrations.head(), manifest.revision, lake)


def _other(what: str, expected: object, found: object, where: Path) -> SchemaMismatch:
    return SchemaMismatch(
        f"the lake has another {what} than this Talkhouse",
        where=where,
        expected=f"number {expected}",
        found=f"number {found}",
        next_step="use the Talkhouse that wrote it, or write a lake in another folder",
    )


def is_whole(file: LakeFile, lake: Path) -> bool:
    """Whether a file is there, and no link is on the way to it, with the bytes that it was written with."""
    try:
        with Inside(lake).reading(file.path) as stream:
            return os.fstat(stream.fileno()).st_size == file.bytes and sha256(stream) == file.sha256
    except OSError:
        return False


def strangers(manifest: LakeManifest, lake: Path) -> list[str]:
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
        others += [
            path
            for path in there
            if path not in named and not any(part.startswith((".", "_")) for part in path.split("/"))
        ]
    return others


def _is_file(file: LakeFile, lake: Path) -> bool:
    try:
        with Inside(lake).reading(file.path):
            return True
    except OSError:
        return False


def sha256(stream: io.BufferedReader) -> str:
    """Hash the bytes of a file: 64 hex digits."""
    return hashlib.file_digest(stream, "sha256").hexdigest()
