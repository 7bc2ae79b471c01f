"""The files that a corpus in a warehouse was read from, and which of the publisher's files they are."""

from collections.abc import Iterable
from dataclasses import dataclass

import duckdb

from talkhouse.ingest.corpus import Source
from talkhouse.ingest.files.archives import unpacked
from talkhouse.schema.sql import quoted

_FILES = """
select source_file_id, path, member, kind, size, sha256
from {}meta.source_files where corpus_id = ? order by all
"""


@dataclass(frozen=True)
class SourceFile:
    """A file that was given, on disk or in an archive."""

    id: str
    path: str
    """Inside the corpus's folder; of an archive its own."""
    unpacked: str
    """The same with archives as folders."""
    is_member: bool
    """Whether it lies in an archive."""
    kind: str
    """``read``, ``archive``, or why it is neither."""
    size: int
    """Bytes."""
    sha256: str

    def is_at(self, path: str) -> bool:
        """Whether it stands there, or in a folder that the user has put around it."""
        return any(f"/{own}".endswith(f"/{path}") for own in (self.path, self.unpacked))

    def published_as(self, sources: Iterable[Source]) -> Source | None:
        """Return which of the publisher's files it is: that with its checksum, or at its path where none is known."""
        declared = tuple(sources)
        same = [source for source in declared if source.sha256 == self.sha256]
        unknown = [source for source in declared if source.sha256 is None and self.is_at(source.path)]
        return next(iter([*same, *unknown]), None)


def source_files(con: duckdb.DuckDBPyConnection, corpus_id: str, database: str | None = None) -> list[SourceFile]:
    """List the files of a corpus, those in archives too, by id; ``database``: the warehouse's name in SQL."""
    of_database = f"{quoted(database)}." if database else ""
    return [_file(*row) for row in con.execute(_FILES.format(of_database), [corpus_id]).fetchall()]


def _file(file_id: str, path: str, member: str | None, kind: str, size: int, sha256: str) -> SourceFile:
    inside = path if member is None else f"{path}!{member}"
    return SourceFile(
        file_id, _within(inside), _within(str(unpacked(path, member))), member is not None, kind, size, sha256
    )


def _within(path: str) -> str:
    return path.partition("/")[2]
