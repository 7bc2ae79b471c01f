"""Loads one corpus into a private warehouse: reader, validation, batches, and the count of every file."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

import duckdb
import polars as pl

from ingest.batches import Batches
from ingest.corpus import Corpus, Loaded, Note, Outcome, Rejected, Unrecognised
from ingest.registry import rules_of
from ingest.rows import FileRow, Finding, Quarantined, Record
from ingest.sources import DiskFile, Skipped, SourceFile, opened
from ingest.validate import ReaderError, Validator
from schema.errors import NothingLoaded, ReconciliationFailed
from schema.tables import metadata, qualified

Advance = Callable[[int, int], None]
"""Told as a load goes on: bytes read since the last call, and records."""


@dataclass
class _Count:
    """What became of one file."""

    kind: str = "read"
    loaded: int = 0
    quarantined: int = 0
    note: str | None = None


@dataclass
class Load:
    """One corpus on its way in."""

    con: duckdb.DuckDBPyConnection
    corpus: Corpus
    advance: Advance
    counts: dict[str, _Count] = field(default_factory=dict)
    findings: int = 0

    def __post_init__(self) -> None:
        """Prepare the batches and the contract."""
        self.rules = rules_of(self.corpus)
        self.batches = Batches(self._insert)
        self.validator = Validator(self.corpus, self.rules)

    def run(self, disk: list[DiskFile], *, is_sample: bool) -> None:
        """Read the files and fill the tables; the caller's transaction makes it whole or nothing."""
        _declare(self.con, self.corpus, is_sample=is_sample)
        with opened(disk) as (files, skipped):
            for item in skipped:
                item.file.read()
                self.counts[item.file.id] = _Count("skipped", note=item.reason)
            for outcome in self.corpus.read(files):
                self._take(outcome)
            self.batches.add(self._file_rows(disk, files, skipped), 0)
            self.batches.flush()
            self._check_loaded(files)
        _complete_vocabulary(self.con, self.corpus)
        _reconcile(self.con, self.corpus)

    def _take(self, outcome: Outcome) -> None:
        match outcome:
            case Loaded(place, rows, notes):
                self.validator.record(outcome)
                count = self._count(place.file)
                count.loaded += 1
                record_id = next(row.record_id for row in rows if isinstance(row, Record))
                self.batches.add(rows, place.file.size if not place.pointer else 0)
                for note in notes:
                    self._find(note, place.file, record_id)
                self.advance(place.file.size if not place.pointer else 0, 1)
            case Rejected(place, rule, detail):
                self._quarantine(outcome)
                self._find(Note(rule, detail, place.file, place.pointer), place.file, None)
                self.advance(place.file.size if not place.pointer else 0, 1)
            case Unrecognised(file, detail):
                file.read()
                self._count(file).kind = "unrecognised"
                self._find(Note("TH-05", detail, file), file, None)
                self.advance(file.size, 0)
            case Note(file=file):
                self._find(outcome, file, outcome.record_id)

    def _count(self, file: SourceFile) -> _Count:
        return self.counts.setdefault(file.id, _Count())

    def _find(self, note: Note, file: SourceFile | None, record_id: str | None) -> None:
        self.validator.rule(note.rule)
        finding = Finding(
            corpus_id=self.corpus.id,
            finding_index=self.findings,
            rule=note.rule,
            severity=note.severity or self.rules[note.rule].severity,
            source_file_id=file.id if file else None,
            pointer=note.pointer,
            record_id=record_id,
            task=note.task,
            turn_index=note.turn_index,
            detail=note.detail,
        )
        self.findings += 1
        self.batches.add([finding], 0)

    def _quarantine(self, rejected: Rejected) -> None:
        place = rejected.place
        count = self._count(place.file)
        count.quarantined += 1
        if not place.pointer:
            count.kind = "refused"
            count.note = f"{rejected.rule}: {rejected.detail}"
        row = Quarantined(
            corpus_id=self.corpus.id,
            source_file_id=place.file.id,
            pointer=place.pointer,
            rule=rejected.rule,
            detail=rejected.detail,
            subset=place.subset,
            release=place.release,
            split=place.split,
            record_index=place.record_index,
            native_id=place.native_id,
            raw=rejected.raw,
        )
        self.batches.add([row], len(rejected.raw))

    def _insert(self, table: str, batch: pl.DataFrame) -> None:
        self.con.register("batch", batch.to_arrow())
        self.con.execute(f"insert into {qualified(metadata.tables[table])} by name select * from batch")
        self.con.unregister("batch")

    def _file_rows(self, disk: list[DiskFile], files: list[SourceFile], skipped: list[Skipped]) -> Iterator[FileRow]:
        for item in [*files, *(entry.file for entry in skipped)]:
            count = self.counts.get(item.id)
            if count is None:
                raise ReaderError(f"the reader of '{self.corpus.id}' passed over {item.id} in silence")
            note = count.note or ("starts with a byte order mark" if item.has_bom else None)
            yield _file_row(self.corpus.id, item.disk, item, count, note)
        members = {item.disk.stat.path for item in [*files, *(entry.file for entry in skipped)] if item.member}
        for archive in (file for file in disk if file.stat.path in members):
            yield _file_row(self.corpus.id, archive, None, _Count("archive"), None)

    def _check_loaded(self, files: list[SourceFile]) -> None:
        """Refuse a load of which nothing came in: most likely these are files of something else."""
        if any(count.loaded for count in self.counts.values()):
            return
        first = next((c.note for c in self.counts.values() if c.kind == "refused"), None)
        some = ", ".join(file.id for file in files[:3]) + (" ..." if len(files) > 3 else "")
        raise NothingLoaded(
            f"nothing of the corpus '{self.corpus.id}' could be loaded",
            expected=self.corpus.files,
            found=f"{len(files):,} files ({some})" + (f"; the first is refused: {first}" if first else ""),
            next_step="check that these are the publisher's files of this corpus; nothing was changed",
        )


def _file_row(corpus_id: str, disk: DiskFile, file: SourceFile | None, count: _Count, note: str | None) -> FileRow:
    is_member = file is not None and file.member is not None
    return FileRow(
        source_file_id=file.id if file else disk.stat.path,
        corpus_id=corpus_id,
        path=disk.stat.path,
        member=file.member if file else None,
        kind=count.kind,
        sha256=file.sha256 if file else disk.sha256(),
        size=file.size if file else disk.stat.size,
        modified_at=datetime.fromtimestamp(disk.stat.mtime_ns / 1e9, UTC).replace(tzinfo=None),
        mtime_ns=None if is_member else disk.stat.mtime_ns,
        inode=None if is_member else disk.stat.inode,
        records_in=count.loaded + count.quarantined,
        records_loaded=count.loaded,
        records_quarantined=count.quarantined,
        note=note,
    )


def _declare(con: duckdb.DuckDBPyConnection, corpus: Corpus, *, is_sample: bool) -> None:
    """Insert the corpus's own row and its vocabulary."""
    con.execute(
        "insert into main.corpora values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            corpus.id,
            corpus.title,
            corpus.description,
            corpus.homepage,
            corpus.licence,
            corpus.licence_url,
            corpus.terms,
            corpus.citation,
            " ".join(corpus.languages),
            corpus.version,
            is_sample,
        ],
    )
    for scheme in corpus.schemes:
        con.execute("insert into main.schemes values (?, ?, ?)", [scheme.name, scheme.description, scheme.target])
        for label, meaning in scheme.labels.items():
            con.execute("insert into main.labels values (?, ?, ?)", [scheme.name, label, meaning])


def _complete_vocabulary(con: duckdb.DuckDBPyConnection, corpus: Corpus) -> None:
    """Add the labels that occur and that no declaration knows, without a meaning."""
    con.execute(
        "insert into main.labels "
        "select distinct scheme, label, null from main.annotations "
        "anti join main.labels using (scheme, label) "
        "where label is not null and starts_with(record_id, ?)",
        [f"{corpus.id}/"],
    )


_UNRECONCILED = """
select source_file_id, records_in, coalesce(loaded, 0), coalesce(quarantined, 0)
from meta.source_files
left join (select source_file_id, count(*) as loaded from main.records group by all) using (source_file_id)
left join (select source_file_id, count(*) as quarantined from meta.quarantine group by all) using (source_file_id)
where corpus_id = ?
    and (records_loaded <> coalesce(loaded, 0) or records_quarantined <> coalesce(quarantined, 0)
        or records_in <> coalesce(loaded, 0) + coalesce(quarantined, 0))
order by source_file_id
"""


def _reconcile(con: duckdb.DuckDBPyConnection, corpus: Corpus) -> None:
    """Count again in the tables: what came in must be loaded or quarantined, file by file."""
    bad = con.execute(_UNRECONCILED, [corpus.id]).fetchall()
    if bad:
        name, came, loaded, quarantined = bad[0]
        raise ReconciliationFailed(
            f"{len(bad):,} files of '{corpus.id}' do not reconcile; the first is {name}",
            expected=f"{came:,} records in tables or quarantine",
            found=f"{loaded:,} loaded and {quarantined:,} quarantined",
            next_step="this is a mistake in Talkhouse: please report it with the file; nothing was published",
        )
