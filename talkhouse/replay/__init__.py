"""Reads the quarantine again after a reader or a rule has changed.

It reads the warehouse alone, and loads what passes.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import duckdb

from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.files.limits import DEFAULT, Limits
from talkhouse.ingest.outcomes import FileEnvelope, Loaded, Outcome, Rejected
from talkhouse.ingest.progress import Progress
from talkhouse.ingest.registry import all_corpora
from talkhouse.ingest.sources import FileBuffer, SourceFile
from talkhouse.load.plan import Plan, PublishedState, present, read_published
from talkhouse.load.quality_gate import check_quarantine
from talkhouse.load.request import BuildRequest, Input, QuarantineLimit
from talkhouse.load.run import DEFAULT_LIMIT, DEFAULT_MEMORY, explain_failures
from talkhouse.load.staging import Stage
from talkhouse.load.workspace import Workspace, acquire_workspace, migrate_old, publish, template_of
from talkhouse.restore.output_paths import RestoredSource, sources
from talkhouse.restore.raw_record import consistent
from talkhouse.restore.write_back import fill
from talkhouse.schema import warehouse
from talkhouse.schema.errors import BuildFailed
from talkhouse.system.memory import MemoryLimit
from talkhouse.warehouse.readers import kept_declarations, reader_of
from talkhouse.warehouse.relations import check_corpus
from talkhouse.warehouse.rows_hash import hashes_of

_SOURCE = "the warehouse itself"
_ALL = QuarantineLimit("100%")


class QuarantinedRecord(NamedTuple):
    """A record in quarantine: where it was published, and why it was refused."""

    file: str
    pointer: str
    rule: str
    detail: str


@dataclass(frozen=True)
class Replayed:
    """What became of the quarantined records of one corpus."""

    corpus_id: str
    quarantined: int
    """Records that were in quarantine."""
    passed: int
    """Of these, records that are loaded now."""
    refused: Counter[str]
    """Counts of the records that are still in quarantine, by the rule that they break now."""
    newly: list[QuarantinedRecord]
    """Records that were loaded before and are refused now."""
    loaded: tuple[int, int]
    """Records of the corpus that were loaded before, and that are loaded now."""
    tables: list[str]
    """Tables whose rows have changed."""


@dataclass(frozen=True)
class ReplayResult:
    """What a replay found in each corpus, and whether there is a new warehouse."""

    path: Path
    corpora: list[Replayed]
    is_published: bool


def replay(
    path: Path,
    progress: Progress,
    *,
    only: tuple[str, ...] = (),
    wait: bool = True,
    limit: QuarantineLimit = DEFAULT_LIMIT,
    memory_limit: MemoryLimit = DEFAULT_MEMORY,
    input_limits: Limits = DEFAULT,
    dry_run: bool = False,
    corpus_roots: tuple[Path, ...] = (),
    query_roots: tuple[Path, ...] = (),
    on_write_back: Callable[[str], None] = lambda _: None,
) -> ReplayResult:
    """Read the corpora that have quarantined records again, and publish a warehouse if that changes anything.

    The corpora are written back into a private folder and loaded from there, so that neither the data folder nor the
    network is needed; what the warehouse says about the publisher's files stays. ``only``: these corpora and no others.
    ``limit``: how much of a corpus may be in quarantine in a warehouse that is published. ``memory_limit``: how much
    memory DuckDB may take. ``input_limits``: how much of a file is read. ``on_write_back`` is called with the id of
    each corpus before it is written back; ``progress`` is about reading it again.
    """
    known = all_corpora(corpus_roots)
    with explain_failures(path, memory_limit), acquire_workspace(path, wait=wait, on_wait=progress.note) as workspace:
        with warehouse.connect(workspace.old, shown=path) as con:
            names = _quarantined(con, only)
            known = known.with_origins(kept_declarations(con))
            wanted = {name: reader_of(con, known, name) for name in names}
        published = read_published(workspace.old, shown=path)
        if published is None or not names:
            return ReplayResult(path, [], is_published=False)
        migrate_old(workspace)
        request = _write_back(workspace, wanted, published, input_limits, on_write_back)
        keep = tuple(sorted(published.readers.keys() - set(names)))
        plan = Plan(request.inputs, keep, (), (), is_current=False)
        of_all = present(known, query_roots, plan, published, workspace.old)
        Stage(workspace, progress, of_all, request, plan, memory_limit).build(_ALL)
        replayed = [_compare(workspace, name) for name in names]
        is_changed = any(outcome.tables for outcome in replayed)
        if is_changed:
            with warehouse.connect(workspace.stage) as con:
                check_quarantine(con, wanted.values(), limit)
        if is_changed and not dry_run:
            publish(workspace, template_of(workspace.published) and "")
        return ReplayResult(path, replayed, is_published=is_changed and not dry_run)


def _quarantined(con: duckdb.DuckDBPyConnection, only: tuple[str, ...]) -> list[str]:
    """List the corpora that have something in quarantine; UsageError for one that is not in the warehouse."""
    for name in only:
        check_corpus(con, name)
    rows = con.execute("select distinct corpus_id from meta.quarantine order by all").fetchall()
    return [name for (name,) in rows if not only or name in only]


def _write_back(
    workspace: Workspace,
    wanted: Mapping[str, Corpus],
    published: PublishedState,
    limits: Limits,
    on_write_back: Callable[[str], None],
) -> BuildRequest:
    """Write corpora back into the workspace, archives as archives, and return a request to read them from there."""
    inputs = []
    with warehouse.connect(workspace.old, shown=workspace.published) as con:
        for name, corpus in wanted.items():
            on_write_back(name)
            folder = workspace.folder / "published" / name
            folder.mkdir(parents=True)
            with consistent(name):
                restored = fill(con, corpus, folder, archives=True, placeholders=True)
            if restored.failed:
                raise restored.failed[0]
            reader = ReaderOfCopies(corpus, {source.id: source for source in sources(con, name)})
            _, is_sample = published.readers[name]
            inputs.append(Input(replace(corpus, read=reader.read), disk_files(folder, name, limits), is_sample))
    # A replay says nothing about folders that are not read: what was found of them stays.
    return BuildRequest(tuple(inputs), frozenset(wanted), _SOURCE, tuple(sorted(published.ignored)), is_replay=True)


def _compare(workspace: Workspace, corpus_id: str) -> Replayed:
    """Compare the previous warehouse and the staged one."""
    with warehouse.connect(workspace.old, shown=workspace.published) as con:
        old, loaded, before = _quarantine(con, corpus_id), _loaded(con, corpus_id), hashes_of(con, corpus_id)
    with warehouse.connect(workspace.stage) as con:
        new, loads, after = _quarantine(con, corpus_id), _loaded(con, corpus_id), hashes_of(con, corpus_id)
    locations, now = {record[:2] for record in old}, {record[:2] for record in new}
    refused_whole = {file for file, pointer in now if not pointer}
    newly = [record for record in new if record[:2] not in locations and (record.file, "") not in locations]
    return Replayed(
        corpus_id,
        quarantined=len(old),
        passed=sum(location not in now and location[0] not in refused_whole for location in locations),
        refused=Counter(record.rule for record in new if record not in newly),
        newly=newly,
        loaded=(loaded, loads),
        tables=[name for name in {**before, **after} if before.get(name) != after.get(name)],
    )


def _quarantine(con: duckdb.DuckDBPyConnection, corpus_id: str) -> list[QuarantinedRecord]:
    query = "select source_file_id, pointer, rule, detail from meta.quarantine where corpus_id = ? order by all"
    return [QuarantinedRecord(*row) for row in con.execute(query, [corpus_id]).fetchall()]


def _loaded(con: duckdb.DuckDBPyConnection, corpus_id: str) -> int:
    counts = con.execute("select count(*) from main.records where corpus_id = ?", [corpus_id]).fetchall()
    return int(counts[0][0])


@dataclass(frozen=True)
class ReaderOfCopies:
    """Passes a corpus's reader copies of its files as if they were the publisher's."""

    corpus: Corpus
    known: Mapping[str, RestoredSource]

    def read(self, files: list[SourceFile]) -> Iterator[Outcome]:
        """Read the copies; BuildFailed where the reader now takes a file whose content the warehouse does not have."""
        for outcome in self.corpus.read([_Copy(file, self.known[file.id].sha256) for file in files]):
            file = _file_of(outcome)
            if file is not None and not self.known[file.id].is_data:
                raise BuildFailed(
                    "the reader now accepts a file that was not data before, and its content is not in the warehouse",
                    where=file.id,
                    next_step="read it from the publisher's files, with: talkhouse build --data DIR",
                )
            yield outcome


def _file_of(outcome: Outcome) -> SourceFile | None:
    match outcome:
        case Loaded(location) | Rejected(location):
            return location.file
        case FileEnvelope(file):
            return file
        case _:
            return None


class _Copy(SourceFile):
    """A file that was written back: JSON is spelled in another way, and the hash is that of the publisher's file."""

    def __init__(self, file: SourceFile, published_sha256: str) -> None:
        super().__init__(file.disk, file.member, file.size)
        self._file, self._published_sha256 = file, published_sha256

    def read(self) -> bytes:
        """Return the bytes."""
        raw = self._file.read()
        self._note()
        return raw

    def hold(self) -> FileBuffer:
        """Return the bytes in memory that can be freed bit by bit."""
        buffer = self._file.hold()
        self._note()
        return buffer

    def chunks(self) -> Iterator[bytes]:
        """Return the bytes in pieces."""
        for piece in self._file.chunks():
            self._note()
            yield piece
        self._note()

    def _note(self) -> None:
        self.has_bom, self.sha256 = self._file.has_bom, self._published_sha256
