"""``release.json``: what a release is, as it lies in a store, which may be a stranger's: names have one form."""

import hashlib
import re
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from talkhouse.warehouse.rows_hash import RowsHash, TableHash, TaskHash, added
from talkhouse.warehouse.rows_hash import content_id as content_id_of

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
"""The name of a release, which is that of a folder."""

FORMAT, SPLIT_FORMAT = 1, 2
"""Raised when an older Talkhouse can't read what a release is; others are refused. The second: a table has objects."""

MANIFEST = "release.json"
CHECKSUM = "release.json.sha256"

_Hex = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
_Corpus = Annotated[str, Meta(pattern=r"\A[a-z][a-z0-9_]*\Z", max_length=100)]
_Table = Annotated[str, Meta(pattern=r"\A(main|meta)\.[a-z][a-z0-9_]*\Z", max_length=100)]
_Count = Annotated[int, Meta(ge=0, le=10**18)]
_Text = Annotated[str, Meta(max_length=1_000_000)]


class Previous(msgspec.Struct, frozen=True):
    """The newest release that was in the store before."""

    name: Annotated[str, Meta(pattern=rf"\A{NAME.pattern}\Z")]
    content_id: _Hex


class ReleasedCorpus(msgspec.Struct, frozen=True):
    """A corpus, with what a user of it has to know."""

    corpus_id: _Corpus
    title: _Text
    reader_version: _Count
    licence: _Text
    licence_url: _Text | None
    terms: _Text
    citation: _Text
    is_sample: bool
    content_id: _Hex


class ReleasedSource(msgspec.Struct, frozen=True):
    """A file of a publisher that rows come from."""

    source_file_id: _Text
    corpus_id: _Corpus
    sha256: _Hex
    size: _Count


class Checks(msgspec.Struct, frozen=True):
    """How many checks found something."""

    errors: _Count
    warnings: _Count


class ReleasedObject(msgspec.Struct, frozen=True):
    """A file of rows of a corpus in a table."""

    rows: _Count
    rows_hash: _Hex
    file: str
    bytes: _Count
    sha256: _Hex


class ReleasedTable(msgspec.Struct, frozen=True, omit_defaults=True):
    """The rows of a corpus in a table, and the object that has them, or the objects of a large table."""

    table: _Table
    corpus: _Corpus
    rows: _Count
    rows_hash: _Hex
    file: str | None
    """None where there are several."""
    bytes: _Count
    """Of all of them."""
    sha256: _Hex | None
    objects: list[ReleasedObject] = []

    @property
    def files(self) -> list[ReleasedObject]:
        """The objects, also where it is one."""
        whole = ReleasedObject(self.rows, self.rows_hash, self.file or "", self.bytes, self.sha256 or "")
        return self.objects or [whole]

    def __post_init__(self) -> None:
        """Refuse a file that is not the object of these rows, and objects that are not all of them."""
        for file in self.files:
            if file.file != object_name(self.table, self.corpus, file.rows_hash):
                raise ValueError(f"{self.table} of {self.corpus} has another file: {file.file[:100]!r}")
        together = added(RowsHash(file.rows, file.rows_hash) for file in self.files)
        is_whole = (*together, sum(file.bytes for file in self.files)) == (self.rows, self.rows_hash, self.bytes)
        if not is_whole or (self.objects and (self.file, self.sha256) != (None, None)):
            raise ValueError(f"{self.table} of {self.corpus} has other rows than its files")


class ReleasedTask(msgspec.Struct, frozen=True):
    """The examples of a task in one of the publisher's releases and one split."""

    task: Annotated[str, Meta(pattern=r"\A[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*\Z", max_length=200)]
    release: _Text | None
    split: _Text | None
    rows: _Count
    rows_hash: _Hex
    content_hash: _Hex
    view_fingerprint: Annotated[str, Meta(pattern=r"\A[0-9a-f]{32}\Z")] | None


class Frame(msgspec.Struct, frozen=True):
    """The file of all tables, views and macros, without rows."""

    file: Annotated[str, Meta(pattern=r"\Aframe-[0-9]{4}-[0-9a-f]{32}\.duckdb\Z")]
    bytes: _Count
    sha256: _Hex


class ReleaseManifest(msgspec.Struct, frozen=True):
    """What a release is; keys are written in this order, and unknown ones are ignored."""

    format: int
    name: Annotated[str, Meta(pattern=rf"\A{NAME.pattern}\Z")]
    note: _Text | None
    created_at: Annotated[str, Meta(pattern=r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z\Z")]
    content_id: _Hex
    previous: Previous | None
    talkhouse_version: _Text
    schema_revision: Annotated[str, Meta(pattern=r"\A[0-9]{4}\Z")]
    catalogue_hash: _Text
    duckdb_version: _Text
    corpora: list[ReleasedCorpus]
    sources: list[ReleasedSource]
    checks: Checks
    quarantined: _Count
    tables: list[ReleasedTable]
    tasks: list[ReleasedTask]
    frame: Frame

    def __post_init__(self) -> None:
        """Refuse what is there twice, and another format."""
        if self.format != (expected := format_of(self.tables)):
            raise ValueError(f"format {self.format}; this Talkhouse reads such a release in format {expected}")
        datetime.fromisoformat(self.created_at)  # ValueError for a date that is none
        for keys in (
            [corpus.corpus_id for corpus in self.corpora],
            [(table.table, table.corpus) for table in self.tables],
            [file.file for table in self.tables for file in table.files],
        ):
            if len({*keys}) < len(keys):
                raise ValueError("something is there twice")

    @property
    def rows(self) -> int:
        """The number of rows of all tables."""
        return sum(table.rows for table in self.tables)

    @property
    def files(self) -> list[ReleasedObject | Frame]:
        """All files that the release has."""
        return [*(file for table in self.tables for file in table.files), self.frame]

    @property
    def expected_id(self) -> str:
        """The content id that follows from its tables and tasks."""
        tables = [TableHash(table.table, table.corpus, table.rows, table.rows_hash) for table in self.tables]
        return content_id_of(tables, (TaskHash(*msgspec.structs.astuple(task)) for task in self.tasks))


def format_of(tables: Iterable[ReleasedTable]) -> int:
    """Return the format of a release with these tables."""
    return SPLIT_FORMAT if any(table.objects for table in tables) else FORMAT


def object_name(table: str, corpus: str, rows_hash: str) -> str:
    """Return the name of the file of some rows."""
    return f"{table}-{corpus}-{rows_hash[:32]}.parquet"


def encode(release: ReleaseManifest) -> bytes:
    """Write a manifest."""
    return msgspec.json.format(msgspec.json.encode(release), indent=2) + b"\n"


class NewerFormat(ValueError):
    """A newer Talkhouse wrote a manifest; its text names the format."""


class _Format(msgspec.Struct):
    format: int


def decode(content: bytes) -> ReleaseManifest:
    """Read a manifest; NewerFormat, or ValueError for what Talkhouse does not write."""
    if (found := msgspec.json.decode(content, type=_Format).format) > SPLIT_FORMAT:
        raise NewerFormat(f"format {found}")  # whatever else it has
    return msgspec.json.decode(content, type=ReleaseManifest)


def as_data(release: ReleaseManifest) -> dict[str, Any]:
    """Return a manifest as JSON has it."""
    data: dict[str, Any] = msgspec.to_builtins(release)
    return data


def sha256(content: bytes) -> str:
    """Hash the bytes of a manifest."""
    return hashlib.sha256(content).hexdigest()
