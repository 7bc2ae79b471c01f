"""What is found in a folder of files: by a corpus's reader alone, or by a build of it."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import duckdb

from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.outcomes import Loaded, LoadedBatch, Outcome, ReaderFinding, Rejected, Unrecognised
from talkhouse.ingest.registry import rules_of
from talkhouse.ingest.sources import opened


class Told(NamedTuple):
    """A finding: its rule, how severe it is, where (``FILE#POINTER`` inside the corpus's folder), and its detail."""

    rule: str
    severity: str
    place: str
    detail: str

    @property
    def file(self) -> str:
        """The file, inside the corpus's folder."""
        return self.place.partition("#")[0]


class Reading(NamedTuple):
    """What a reader made of a folder."""

    told: Counter[Told]
    loaded: int
    """Records."""


def read_folder(corpus: Corpus, folder: Path) -> Reading:
    """Read a corpus's folder; returns what its reader finds, and how many records it loads."""
    rules = rules_of(corpus)
    told, loaded = Counter[Told](), 0
    with opened(disk_files(folder, corpus.id)) as (files, _):
        for outcome in corpus.read(files):
            loaded += outcome.records if isinstance(outcome, LoadedBatch) else isinstance(outcome, Loaded)
            for one in _findings(outcome):
                severity = one.severity or rules[one.rule].severity
                told[Told(one.rule, severity, _place(corpus, one), one.detail)] += 1
    return Reading(told, loaded)


def stored_findings(corpus: Corpus, con: duckdb.DuckDBPyConnection) -> Counter[Told]:
    """Return what a warehouse has of what its reader and the checks found in files."""
    query = "select rule, severity, source_file_id, pointer, detail from meta.findings where source_file_id is not null"
    return Counter(
        Told(rule, severity, f"{file.removeprefix(f'{corpus.id}/')}#{pointer or ''}", detail)
        for rule, severity, file, pointer, detail in con.execute(query).fetchall()
    )


def _findings(outcome: Outcome) -> Iterator[ReaderFinding]:
    """List the findings of an outcome, each at its place in the file."""
    match outcome:
        case Loaded(location, _, findings, _):
            yield from (location.finding(one, "") for one in findings)
        case LoadedBatch():
            yield from outcome.findings
        case Rejected(location, rule, detail, at=at):
            yield ReaderFinding(rule, detail, location.file, location.pointer + at)
        case Unrecognised(file, detail):
            yield ReaderFinding("TH-05", detail, file)
        case ReaderFinding():
            yield outcome


def _place(corpus: Corpus, finding: ReaderFinding) -> str:
    file = finding.file.id.removeprefix(f"{corpus.id}/") if finding.file else ""
    return f"{file}#{finding.pointer or ''}"
