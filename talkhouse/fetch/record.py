"""The record of what was fetched: from where, when, how many bytes, and their checksum."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from talkhouse.ingest.files.source_errors import forbidden
from talkhouse.schema.errors import SourceError
from talkhouse.system.atomic_output import atomic_file


class Fetched(msgspec.Struct, frozen=True, omit_defaults=True):
    """One file, as it was fetched."""

    path: str
    """In the corpus's folder."""
    url: str
    fetched_at: str
    """UTC."""
    bytes: int
    sha256: str
    is_published: bool
    """Whether the checksum is the publisher's too; otherwise it is that of the first download."""
    moved_to: str | None = None
    """The address that the server gives as the new one."""


class _Record(msgspec.Struct):
    corpus: str
    files: list[Fetched]


def read_record(file: Path) -> dict[str, Fetched]:
    """Read a record, by path; empty where there is none. Raises SourceError for one that is damaged."""
    try:
        record = msgspec.json.decode(file.read_bytes(), type=_Record)
    except FileNotFoundError:
        return {}
    except PermissionError as error:
        raise forbidden(file) from error
    except (OSError, msgspec.DecodeError) as error:
        raise SourceError(
            "the record of what was fetched can't be read",
            where=file,
            found=str(error),
            next_step="remove it: checksums that no publisher gives are then taken from the files anew",
        ) from error
    return {file.path: file for file in record.files}


def write_record(file: Path, corpus_id: str, files: Mapping[str, Fetched]) -> None:
    """Write a record. Raises UsageError or OutputFailed."""
    record = _Record(corpus_id, [files[path] for path in sorted(files)])
    with atomic_file(file) as part:
        part.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")
