"""Which of the files that a corpus's publisher offers are not there, and which are others than the publisher's."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import duckdb

from talkhouse.ingest.corpus import Corpus, Source
from talkhouse.warehouse.source_files import SourceFile, source_files

_NAMED = 3
"""Files that a note names; the findings have all."""

_MISSING, _OTHER = "TH-08", "TH-09"


@dataclass(frozen=True)
class _Compared:
    """What became of the files that a corpus declares."""

    declared: int
    missing: list[Source]
    others: list[tuple[SourceFile, Source]]


def record_sources(con: duckdb.DuckDBPyConnection, corpora: Iterable[Corpus]) -> list[str]:
    """Record as findings what is missing of the declared files of corpora that were read, and what is another file.

    Returns a line for the user on each. A corpus of whose declared files none is there comes in another form, of which
    nothing can be said.
    """
    notes: list[str] = []
    for corpus in (corpus for corpus in corpora if corpus.sources):
        compared = _compare(corpus.sources, source_files(con, corpus.id))
        if len(compared.missing) == compared.declared:
            continue
        _record(con, corpus.id, compared)
        notes += _notes(corpus.id, compared)
    return notes


def _compare(sources: tuple[Source, ...], files: list[SourceFile]) -> _Compared:
    hashes = {file.sha256 for file in files}
    missing, others = [], []
    for source in sources:
        if source.sha256 in hashes:  # under whatever name
            continue
        there = [file for file in files if file.is_at(source.path)]
        if there and source.sha256 is not None:
            others.append((there[0], source))
        elif not there and not _is_unpacked(source, files):
            missing.append(source)
    return _Compared(len(sources), missing, others)


def _is_unpacked(source: Source, files: list[SourceFile]) -> bool:
    return bool(source.holds) and all(any(file.is_at(path) for file in files) for path in source.holds)


def _record(con: duckdb.DuckDBPyConnection, corpus_id: str, compared: _Compared) -> None:
    rows: list[tuple[str, str, str | None, str]] = []
    if compared.missing:
        named = ", ".join(source.path for source in compared.missing)
        detail = f"{len(compared.missing):,} of {compared.declared:,} files missing: {named}"
        rows.append((_MISSING, "note", None, detail))
    for file, source in compared.others:
        detail = f"SHA-256 {file.sha256}; the corpus declares {source.sha256} for {source.url or source.path}"
        rows.append((_OTHER, "warn", file.id, detail))
    for rule, severity, file_id, detail in rows:
        con.execute(
            "insert into meta.findings by name select $corpus as corpus_id, coalesce(max(finding_index), -1) + 1 as "
            "finding_index, $rule as rule, $severity as severity, $file as source_file_id, $detail as detail "
            "from meta.findings where corpus_id = $corpus",
            {"corpus": corpus_id, "rule": rule, "severity": severity, "file": file_id, "detail": detail},
        )


def _notes(corpus_id: str, compared: _Compared) -> Iterator[str]:
    missing = [source.path for source in compared.missing]
    if missing:
        count = f"{len(missing):,} of {compared.declared:,} files missing"
        yield f"{corpus_id}: {count}: {_some(missing, corpus_id)}"
    if compared.others:
        files = "file is" if len(compared.others) == 1 else "files are"
        named = _some([file.path for file, _ in compared.others], corpus_id)
        yield f"{corpus_id}: {len(compared.others):,} {files} not the publisher's, by checksum: {named}"


def _some(names: list[str], corpus_id: str) -> str:
    more = len(names) - _NAMED
    rest = f" and {more:,} more, see talkhouse findings --corpus {corpus_id}" if more > 0 else ""
    return ", ".join(names[:_NAMED]) + rest
