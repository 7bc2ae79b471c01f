"""Builds declared corpora from a folder, and tells what is not as it must be."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import duckdb

from talkhouse.build.progress import Silent
from talkhouse.build.request import QuarantineLimit
from talkhouse.build.run import build
from talkhouse.ingest.files.limits import DEFAULT
from talkhouse.ingest.registry import all_corpora
from talkhouse.restore.output_paths import files_built_from
from talkhouse.restore.verify import verify
from talkhouse.schema import warehouse
from talkhouse.warehouse.readers import kept_declarations, reader_of
from tests.declared.invented_corpora import Invented


def laid_out(corpora: Mapping[str, Invented], data: Path) -> None:
    """Write corpora as a data folder."""
    for corpus_id, corpus in corpora.items():
        files = {"corpus.toml": corpus.declaration.encode(), **corpus.usual, **corpus.files}
        for name, raw in files.items():
            path = data / corpus_id / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw)


def problems_of(corpora: Mapping[str, Invented], folder: Path) -> list[str]:
    """Build corpora in a folder, and list what is not restored, not counted, or wrong by a check."""
    laid_out(corpora, folder / "data")
    path = folder / "w.duckdb"
    build(path, Silent(), data=folder / "data", limit=QuarantineLimit("100%"))
    with warehouse.connect(path) as con:
        return [*_counts(con), *not_restored(con, list(corpora))]


def not_restored(con: duckdb.DuckDBPyConnection, corpora: list[str]) -> Iterator[str]:
    """List the files that ``verify`` doesn't find equal."""
    known = all_corpora().with_origins(kept_declarations(con))
    for corpus_id in corpora:
        verdicts = verify(con, reader_of(con, known, corpus_id), files_built_from(con, known, corpus_id, DEFAULT))
        yield from (str(verdict) for verdict in verdicts if verdict.status not in ("equal", "not data"))


def _counts(con: duckdb.DuckDBPyConnection) -> Iterator[str]:
    """List files of which a record is neither loaded nor in quarantine, and checks that fail."""
    uncounted = "records_in is distinct from records_loaded + records_quarantined"
    rows = con.execute(f"select source_file_id, records_in from meta.source_files where {uncounted}").fetchall()
    yield from (f"not counted: {row}" for row in rows)
    failed = con.execute("select check_name from meta.checks where severity = 'error' and offending > 0").fetchall()
    yield from (f"check: {name}" for (name,) in failed)
