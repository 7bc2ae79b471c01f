"""Reads a sample by the declaration that was made of it, without a warehouse, and says what came of it."""

import gzip
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from talkhouse.guess.sample import Sample
from talkhouse.ingest.declared.declaration import read_declaration
from talkhouse.ingest.declared.declaration.model import which
from talkhouse.ingest.declared.record_files.content import is_packed
from talkhouse.ingest.declared.speakers import NO_ROLE
from talkhouse.ingest.declared.toml_corpus import read_wanted
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.loading.batches import column_batch_frame, frame
from talkhouse.ingest.outcomes import Loaded, LoadedBatch, Outcome, ReaderFinding, Rejected
from talkhouse.ingest.rows import Dialogue, Row, Speaker, Turn
from talkhouse.ingest.sources import SourceFile
from talkhouse.schema.errors import TalkhouseError
from talkhouse.system.files import temporary_folder


@dataclass(frozen=True)
class FindingSummary:
    """What a reader says of one rule: how often, and where it was first."""

    rule: str
    count: int
    place: str
    detail: str


@dataclass
class Trial:
    """What came of a sample."""

    records: int = 0
    set_aside: int = 0
    """Records that can't be loaded."""
    dialogues: int = 0
    turns: int = 0
    roles: Mapping[str, int] = field(default_factory=dict)
    """Role -> turns, the commonest first."""
    empty: int = 0
    """Turns without words."""
    findings: Sequence[FindingSummary] = ()
    first: Sequence[tuple[str, str]] = ()
    """Who says what in the first dialogue: by role, or by name where no role is told."""
    problem: str | None = None
    """Why the sample could not be read to its end."""

    def as_data(self) -> dict[str, Any]:
        """Return the object that ``--json`` prints."""
        return {
            **vars(self),
            "findings": [vars(summary) for summary in self.findings],
            "first": [{"who": who, "text": text} for who, text in self.first],
        }


_MOST_TURNS = 20
"""Turns of the first dialogue that are kept."""


def read_samples(corpus_id: str, text: str, samples: Mapping[str, tuple[SourceFile, Sample]]) -> Trial:
    """Read samples by a declaration, each by its path in the corpus's folder, and count what comes of them.

    A file that the sample has whole is read itself; of another a file of the sample's records is made.
    """
    trial = Trial()
    reading = _Reading()
    try:
        declaration = read_declaration(corpus_id, text, "corpus.toml")
        with temporary_folder() as folder:
            wanted = [
                (_of_sample(file, taken, folder / str(number), f"{corpus_id}/{path}"), entry)
                for number, (path, (file, taken)) in enumerate(samples.items())
                if (entry := which(declaration, path)) is not None and entry.skip is None
            ]
            for outcome in read_wanted(declaration, wanted):
                reading.take(outcome)
    except TalkhouseError as error:
        trial.problem = str(error).partition("\n")[0]
    reading.summarise(trial)
    return trial


class _Reading:
    def __init__(self) -> None:
        self._turns: list[pl.DataFrame] = []
        self._names: dict[str, str] = {}
        self._dialogues = set[str]()
        self._records = self._set_aside = 0
        self._found: dict[str, list[ReaderFinding]] = {}

    def take(self, outcome: Outcome) -> None:
        match outcome:
            case Loaded(location, rows, findings, column_batches):
                self._records += 1
                self._rows(rows, column_batches)
                self._find([location.finding(finding, "") for finding in findings])
            case LoadedBatch(_, records, _, rows, column_batches, findings):
                self._records += records
                self._rows(rows, column_batches)
                self._find(findings)
            case Rejected(location, rule, detail, at=at):
                self._records += 1
                self._set_aside += 1
                detail = detail.removesuffix(f" - at {at}")  # which the place says
                self._find([ReaderFinding(rule, detail, location.file, location.pointer + at)])
            case ReaderFinding():
                self._find([outcome])

    def _find(self, findings: Iterable[ReaderFinding]) -> None:
        for finding in findings:
            self._found.setdefault(finding.rule, []).append(finding)

    def _rows(self, rows: Iterable[Row], column_batches: Iterable[Any]) -> None:
        turns = [row for row in rows if isinstance(row, Turn)]
        frames = [frame(Turn.TABLE, turns)] if turns else []
        for row in rows:
            if isinstance(row, Speaker) and row.name:
                self._names[row.speaker_id] = row.name
            elif isinstance(row, Dialogue):
                self._dialogues.add(row.dialogue_id)
        for batch in column_batches:
            if batch.kind in (Turn, Dialogue, Speaker) and len(batch):
                columns = column_batch_frame(batch.kind.TABLE, [batch])
                if batch.kind is Turn:
                    frames.append(columns)
                elif batch.kind is Dialogue:
                    self._dialogues.update(columns["dialogue_id"])
                else:
                    named = columns.filter(pl.col("name").is_not_null()).select("speaker_id", "name")
                    self._names.update(named.iter_rows())
        self._turns += [turns.select("dialogue_id", "turn_index", "speaker_id", "role", "text") for turns in frames]

    def summarise(self, trial: Trial) -> None:
        trial.records, trial.set_aside, trial.dialogues = self._records, self._set_aside, len(self._dialogues)
        trial.findings = [
            FindingSummary(rule, len(found), _place(found[0]), found[0].detail)
            for rule, found in sorted(self._found.items())
        ]
        if not self._turns:
            return
        turns = pl.concat(self._turns)
        trial.turns = len(turns)
        trial.roles = dict(Counter(turns["role"]).most_common())
        trial.empty = int((turns["text"] == "").sum())
        first = turns.filter(pl.col("dialogue_id") == turns["dialogue_id"][0]).sort("turn_index").head(_MOST_TURNS)
        trial.first = [
            (role if role != NO_ROLE else self._name(speaker) or role, text)
            for speaker, role, text in first.select("speaker_id", "role", "text").iter_rows()
        ]

    def _name(self, speaker_id: str | None) -> str | None:
        if speaker_id is None:
            return None
        scope, _, own = speaker_id.partition(":")
        return self._names.get(speaker_id) or own.rpartition("/")[2] or scope


def _place(finding: ReaderFinding) -> str:
    """Write where something is: the file inside the corpus's folder, and the place in it."""
    path = str(finding.file.path).partition("/")[2] if finding.file else ""
    return f"{path}#{finding.pointer}" if finding.pointer else path


def _of_sample(file: SourceFile, taken: Sample, target: Path, path: str) -> SourceFile:
    if not taken.beginning:
        return file
    raw = taken.beginning
    target.write_bytes(gzip.compress(raw, 1) if is_packed(PurePosixPath(taken.path)) else raw)
    (disk,) = disk_files(target, path)
    return SourceFile(disk, None, disk.stat.size)
