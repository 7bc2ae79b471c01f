"""What a warehouse says of its build, its corpora, their licences, and what a user should know of them."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import duckdb

from talkhouse.ingest.corpus import Source
from talkhouse.ingest.files.archives import unpacked
from talkhouse.schema.sql import dicts, quoted

_BUILD = """
select load_id, finished_at::varchar as finished_at, talkhouse_version, catalogue_hash, schema_revision
from {}.meta.loads order by load_id desc limit 1
"""

_CORPORA = """
select
    corpus_id, title, homepage, licence, licence_url, terms, citation, authors, year, reference, is_sample, made_from,
from {}.main.corpora order by corpus_id
"""
_STRUCTURED = ("authors", "reference")


def build(con: duckdb.DuckDBPyConnection, database: str) -> dict[str, Any] | None:
    """Return the last build: its number, its end (UTC), Talkhouse's version, the hash of its views, the revision."""
    return next(iter(dicts(con.execute(_BUILD.format(quoted(database))))), None)


def corpora(con: duckdb.DuckDBPyConnection, database: str) -> list[dict[str, Any]]:
    """Return the corpora, sorted by id: title, licence, terms, citation, whether it is a sample or made.

    ``authors`` is a list of objects with family and given, ``reference`` an object; each is None if not declared.
    """
    found = dicts(con.execute(_CORPORA.format(quoted(database))))
    return [
        {key: json.loads(value) if key in _STRUCTURED and value else value for key, value in corpus.items()}
        for corpus in found
    ]


QUESTIONS = {
    "motivation": "Why was it made?",
    "composition": "What is in it?",
    "collection": "How was it collected?",
    "labelling": "How was it labelled?",
    "uses": "What is it for?",
    "limits": "What can't it show?",
    "quirks": "What surprises in its files?",
    "sources": "Where is this from?",
}
"""What each part of a datasheet answers, in the order of a page."""

NOT_PUBLISHED = "not published"
"""What stands where nobody has said."""


def datasheets(con: duckdb.DuckDBPyConnection, database: str) -> dict[str, dict[str, Any]]:
    """Return the datasheets by corpus, those that are declared: texts, and of quirks and sources lists of texts."""
    rows = con.execute(f"select corpus_id, datasheet from {quoted(database)}.main.corpora where datasheet is not null")
    return {corpus_id: json.loads(datasheet) for corpus_id, datasheet in rows.fetchall()}


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
