"""The manifest of a lake: what its current snapshot is, and every table and file in it."""

from pathlib import Path
from typing import Annotated, Any

import msgspec

import migrations
from schema.errors import LakeDamaged, NotALake, SchemaMismatch

NAME = "manifest.json"
FORMAT = 1
"""The number of this layout; another one can't be read."""


class Column(msgspec.Struct, frozen=True):
    """A column as it is declared; ``type`` in DuckDB's words."""

    name: str
    type: str
    nullable: bool
    comment: str


class File(msgspec.Struct, frozen=True):
    """A file of Parquet; ``path`` is relative to the lake."""

    path: str
    corpus: str
    """The corpus of its rows; ``shared`` where they belong to none."""
    rows: int
    bytes: int
    sha256: str


class Table(msgspec.Struct, frozen=True):
    """A table with its columns and files; ``folder`` is relative to the lake."""

    schema: str
    name: str
    comment: str
    grain: list[str]
    """The columns that together name one row, by which the rows are sorted."""
    folder: str
    rows: int
    columns: list[Column]
    fingerprints: dict[str, str]
    """Corpus -> a hash of its rows and of how they are written: the same means the same files."""
    files: list[File]

    @property
    def full_name(self) -> str:
        """The name as SQL writes it."""
        return f"{self.schema}.{self.name}"


class Manifest(msgspec.Struct, frozen=True):
    """What lies in a lake."""

    format: int
    snapshot: Annotated[str, msgspec.Meta(pattern=r"^snapshot-[1-9]\d*$")]
    """The folder of the current snapshot."""
    talkhouse: str
    """The version of Talkhouse that wrote it."""
    revision: str
    """The schema revision of its tables."""
    catalogue: str
    """SHA-256 over the SQL of the views."""
    builds: list[dict[str, Any]]
    """The build of each warehouse whose tables are in it."""
    corpora: list[dict[str, Any]]
    """The corpora with their titles, licences and terms."""
    tables: list[Table]

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
    return read(lake) if (lake / NAME).exists() else None


def read(lake: Path) -> Manifest:
    """Read the manifest of a lake.

    Raises NotALake where there is none, LakeDamaged where it can't be read, SchemaMismatch for another layout. A lake
    of an older schema revision is read as any other: whatever belongs to it lies in it.
    """
    path = lake / NAME
    try:
        content = path.read_bytes()
        head = msgspec.json.decode(content, type=_Head)
        if head.format != FORMAT:
            raise _other("layout", FORMAT, head.format, path)
        return msgspec.json.decode(content, type=Manifest)
    except (FileNotFoundError, NotADirectoryError):
        raise NotALake(
            "this is not a lake",
            where=lake,
            expected=f"a folder with a {NAME}",
            next_step="write one with: talkhouse lake DIR",
        ) from None
    except OSError as error:
        raise NotALake("the lake can't be read", where=path, found=error.strerror or str(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise LakeDamaged(
            "the lake's manifest is damaged, and was left as it is",
            where=path,
            expected="the JSON that Talkhouse wrote",
            found=str(error),
            next_step="move the folder away and write the lake again",
        ) from error


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
