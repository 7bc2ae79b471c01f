"""The manifest of a lake: what its current snapshot is, and every table and file in it.

Whoever can write a lake can write its manifest, so only what Talkhouse writes is taken: the names of tables, columns
and corpora have its form, and a path is the one that follows from them.
"""

import re
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from talkhouse import migrations
from talkhouse.lake_format.inside import Inside
from talkhouse.schema import refusals
from talkhouse.schema.errors import LakeDamaged, NotALake, SchemaMismatch
from talkhouse.translation.spark_types import check_type
from talkhouse.translation.translated import Identifier, LeftOut, check_once

NAME = "manifest.json"
FORMAT = 1
"""Raised when what lies in a lake is laid out so that an older Talkhouse can't read it; another one is refused."""

LONGEST = 256_000_000
"""Bytes that a document in a lake may have."""

Count = Annotated[int, Meta(ge=0, le=10**18)]

Facts = dict[str, str | bool | int | float | list[dict[str, str]] | dict[str, str] | None]
"""What is told about a build or a corpus, whose authors are a list of objects and whose publication is one."""

_FILE = re.compile(r"part-[0-9]{5,9}\.parquet")


class Column(msgspec.Struct, frozen=True):
    """A column as it is declared; ``type`` in DuckDB's words."""

    name: Identifier
    type: str
    nullable: bool
    comment: str

    def __post_init__(self) -> None:
        """Refuse a type that no table has."""
        check_type(self.type)


class File(msgspec.Struct, frozen=True):
    """A file of Parquet; ``path`` is relative to the lake."""

    path: str
    corpus: Identifier
    """The corpus of its rows; ``shared`` where they belong to none."""
    rows: Count
    bytes: Count
    sha256: Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]


class Table(msgspec.Struct, frozen=True):
    """A table with its columns and files; ``folder`` is relative to the lake."""

    schema: Annotated[str, Meta(pattern=r"\A(main|meta)\Z")]
    name: Identifier
    comment: str
    grain: list[Identifier]
    """The columns that together name one row, by which the rows are sorted."""
    folder: str
    rows: Count
    columns: list[Column]
    fingerprints: dict[str, str]
    """Corpus -> a hash of its rows and of how they are written: the same means the same files."""
    files: list[File]

    @property
    def full_name(self) -> str:
        """The name as SQL writes it."""
        return f"{self.schema}.{self.name}"

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


class Manifest(msgspec.Struct, frozen=True):
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
    builds: list[Facts]
    """The build of each warehouse whose tables are in it."""
    corpora: list[Facts]
    """The corpora with their titles, licences and terms."""
    tables: list[Table]
    left_out: list[LeftOut] = []
    """The views that are not in it, or not all of whose rows are, and why."""

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

    def table(self, name: str) -> Table | None:
        """Return a table by its name with the schema."""
        return next((table for table in self.tables if table.full_name == name), None)


class _Head(msgspec.Struct):
    format: int


def encode(manifest: Manifest) -> bytes:
    """Write a manifest as JSON."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"


def find(lake: Path) -> Manifest | None:
    """Read the manifest of a lake, None where there is none; errors as ``read`` has them."""
    return read(lake) if Inside(lake).exists(NAME) else None


def read(lake: Path) -> Manifest:
    """Read the manifest of a lake.

    Raises NotALake where there is none or it is no regular file, LakeDamaged where it can't be read or has something
    that Talkhouse does not write, SchemaMismatch for another layout. A lake of an older schema revision is read as any
    other: whatever belongs to it lies in it.
    """
    path = lake / NAME
    try:
        return _decoded(document(Inside(lake), NAME), path)
    except (FileNotFoundError, NotADirectoryError):
        raise NotALake(
            "this is not a lake",
            where=lake,
            expected=f"a folder with a {NAME}",
            next_step="write one with: talkhouse lake DIR",
        ) from None
    except OSError as error:
        raise NotALake("the lake can't be read", where=path, **refusals.error_text(error, path)) from error
    except (ValueError, RecursionError) as error:  # msgspec's are ValueErrors
        raise LakeDamaged(
            "the lake's manifest is damaged, and was left as it is",
            where=path,
            expected="the JSON that Talkhouse wrote",
            found=str(error),
            next_step="move the folder away and write the lake again",
        ) from error


def read_of(snapshot: Inside) -> Manifest | None:
    """Read the manifest in a snapshot; None where there is none of Talkhouse's, or that of another snapshot."""
    try:
        manifest = _decoded(document(snapshot, NAME), snapshot.lake / snapshot.path)
    except (OSError, ValueError, RecursionError, SchemaMismatch):
        return None
    return manifest if manifest.snapshot == snapshot.name else None


def document(folder: Inside, name: str) -> bytes:
    """Read a document in a lake; OSError where it is no regular file, ValueError where it is too long."""
    with folder.reading(name) as stream:
        content = stream.read(LONGEST + 1)
    if len(content) > LONGEST:
        raise ValueError(f"it is longer than {LONGEST:,} bytes")
    return content


def _decoded(content: bytes, path: Path) -> Manifest:
    head = msgspec.json.decode(content, type=_Head)
    if head.format != FORMAT:
        raise _other("layout", FORMAT, head.format, path)
    return msgspec.json.decode(content, type=Manifest)


def check_revision(manifest: Manifest, lake: Path) -> None:
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
