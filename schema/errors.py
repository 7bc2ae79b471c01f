"""One exception class per situation; each says what is wrong, where, and what to do next."""

from collections.abc import Sequence
from typing import Any


class TalkhouseError(Exception):
    """Something that the user can fix; the command line prints it without a traceback."""

    exit_code = 1
    corpus_id: str | None = None
    """The corpus that could not be loaded, where the others can."""
    built: Any = None
    """The ``build.run.Result`` of the others, where they are published."""

    def __init__(
        self,
        what: str,
        *,
        where: object = None,
        expected: str | None = None,
        found: str | None = None,
        next_step: str | None = None,
    ) -> None:
        """Keep the parts, and join those that are not None into one readable message."""
        self.what, self.where, self.expected = what, where, expected
        self.found, self.next_step = found, next_step
        parts = [
            what if where is None else f"{where}: {what}",
            f"  expected: {expected}" if expected else "",
            f"  found:    {found}" if found else "",
            f"  next:     {next_step}" if next_step else "",
        ]
        super().__init__("\n".join(part for part in parts if part))


def joined(errors: Sequence[TalkhouseError]) -> TalkhouseError:
    """Return one error that says all that some say, a wrong use where all are."""
    if len(errors) == 1:
        return errors[0]
    told = TalkhouseError("\n".join(map(str, errors)))
    told.exit_code = min(error.exit_code for error in errors)
    return told


class UsageError(TalkhouseError):
    """The command was given something that it can't work with."""

    exit_code = 2


class NothingLeft(UsageError):
    """No row of a view or table is as the filters want it."""


def check_unicode(text: str, what: str) -> None:
    """Raise UsageError for a text of the command line that is not Unicode."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{what} is not valid Unicode", found=str(error), next_step="type it in UTF-8") from error


class WarehouseMissing(UsageError):
    """There is no warehouse at that path."""


class WarehouseLocked(TalkhouseError):
    """Another process holds the file open for writing, or is building it."""


class OpenedOtherwise(TalkhouseError):
    """The file is open in this process already, with other settings."""


class NotAWarehouse(UsageError):
    """The file is not a DuckDB database, or is one that Talkhouse did not make."""


class WarehouseDamaged(TalkhouseError):
    """A part of the file is not what DuckDB or Talkhouse wrote there."""


class SchemaMismatch(TalkhouseError):
    """The file has another schema revision than this Talkhouse."""


class NotALake(UsageError):
    """There is no lake in that folder, or the folder is something else."""


class LakeDamaged(TalkhouseError):
    """A part of a lake is missing, or is not what Talkhouse wrote there."""


class ReleaseDamaged(TalkhouseError):
    """A release is not what its manifest says, or the manifest is none."""


class BadName(UsageError):
    """A database file may not be named after a schema."""


class SourceError(TalkhouseError):
    """An input can't be read at all: missing, empty, forbidden, or a damaged archive."""


class FetchFailed(TalkhouseError):
    """A file of a corpus can't be had from its publisher, or what came or lies in its place is not that file."""


class TermsNotAccepted(TalkhouseError):
    """Nobody has accepted the terms of a corpus."""


class NothingLoaded(TalkhouseError):
    """No record of a corpus could be loaded."""


class RegistryError(TalkhouseError):
    """A corpus folder is broken, or there is no corpus by that name."""


class CorpusFailed(TalkhouseError):
    """The code of a corpus, its reader or its writer, raised an exception or broke its contract."""

    source_file_id: str | None = None
    """The only file that could not be written, where the others can."""


class CatalogueError(TalkhouseError):
    """A file of the catalogue is broken."""


class QueryFailed(TalkhouseError):
    """A query could not be run."""


class OutputFailed(TalkhouseError):
    """An output file could not be completed for a reason outside the command, such as a full disk."""


class CheckFailed(TalkhouseError):
    """A check of severity error found rows; nothing was published."""


class TooMuchQuarantined(TalkhouseError):
    """More of a corpus is unreadable than the user allows; nothing was published."""


class BuildFailed(TalkhouseError):
    """A build stopped for a reason outside the input, such as a full disk."""


class ServerFailed(TalkhouseError):
    """A PostgreSQL server can't be reached, refuses, or fails."""


class SparkFailed(TalkhouseError):
    """A Spark cluster can't be reached, refuses, or fails."""
