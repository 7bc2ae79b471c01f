"""Reads the quarantine again after a reader or a rule has changed, from the warehouse alone, and loads what passes."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import duckdb

from ingest.corpus import Corpus
from ingest.file_buffer import FileBuffer
from ingest.outcomes import FileEnvelope, Loaded, Outcome, Rejected
from ingest.registry import DEFAULT_ROOT as CORPORA
from ingest.registry import corpora, pick
from ingest.sources import SourceFile, disk_files
from queries.catalogue import DEFAULT_ROOT as QUERIES
from queries.catalogue import catalogue
from schema import warehouse
from schema.errors import BuildFailed
from talkhouse.build.plan import Old, Plan, look
from talkhouse.build.progress import Progress
from talkhouse.build.publish import publish
from talkhouse.build.quality_gate import limit_quarantine
from talkhouse.build.quarantine_limit import QuarantineLimit
from talkhouse.build.request import Input, Request
from talkhouse.build.run import DEFAULT_LIMIT, clear_failures
from talkhouse.build.staging import Stage
from talkhouse.build.workspace import Workspace, acquire_workspace, migrate_old
from talkhouse.relations import check_corpus
from talkhouse.replay.row_hashes import contents
from talkhouse.restore.output_paths import Source, sources
from talkhouse.restore.write_back import fill

_SOURCE = "the warehouse itself"
_ALL = QuarantineLimit("100%")


class Refusal(NamedTuple):
    """A quarantined record: where it is, and why it is there."""

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
    """Of these, records that are read now."""
    refused: Counter[str]
    """Records that still are in quarantine, by the rule that they break now."""
    newly: list[Refusal]
    """Records that were loaded, and are refused now."""
    loaded: tuple[int, int]
    """Records of the corpus that were and are loaded."""
    tables: list[str]
    """Tables with other rows than before."""


@dataclass(frozen=True)
class Result:
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
    dry_run: bool = False,
    corpus_roots: tuple[Path, ...] = (),
    query_roots: tuple[Path, ...] = (),
    told: Callable[[str], None] = lambda _: None,
) -> Result:
    """Read the corpora that have quarantined records again, and publish a warehouse if that changes anything.

    The corpora are written back into a private folder and loaded from there, so that neither the data folder nor the
    network is needed; what the warehouse says of the publisher's files stays. ``only``: these corpora and no others.
    ``limit``: how much of a corpus may be in quarantine in a warehouse that is published.
    ``told`` hears the id of each corpus that is about to be written back; ``progress`` is about reading it again.
    """
    known = corpora((CORPORA, *corpus_roots))
    with acquire_workspace(path, wait=wait, on_wait=progress.waiting) as workspace, clear_failures(path):
        with warehouse.connect(workspace.old, shown=path) as con:
            names = _quarantined(con, only)
        old = look(workspace.old, shown=path)
        if old is None or not names:
            return Result(path, [], is_published=False)
        migrate_old(workspace)
        request = _written_back(workspace, {name: pick(known, name) for name in names}, old, told)
        keep = tuple(sorted(old.readers.keys() - set(names)))
        todo = Plan(request.inputs, keep, (), (), is_current=False)
        stage = Stage(path, workspace, progress, known, catalogue((QUERIES, *query_roots)), request, todo)
        stage.build(_ALL)
        found = [_compared(workspace, name) for name in names]
        is_changed = any(one.tables for one in found)
        if is_changed:
            with warehouse.connect(workspace.stage) as con:
                limit_quarantine(con, [known[name] for name in names], limit)
        if is_changed and not dry_run:
            publish(workspace)
        return Result(path, found, is_published=is_changed and not dry_run)


def _quarantined(con: duckdb.DuckDBPyConnection, only: tuple[str, ...]) -> list[str]:
    """Name the corpora that have something in quarantine; UsageError for one that is not in the warehouse."""
    for name in only:
        check_corpus(con, name)
    found = con.execute("select distinct corpus_id from meta.quarantine order by all").fetchall()
    return [name for (name,) in found if not only or name in only]


def _written_back(workspace: Workspace, wanted: Mapping[str, Corpus], old: Old, told: Callable[[str], None]) -> Request:
    """Write corpora back into the workspace, archives as archives, and ask for them to be read again from there."""
    inputs = []
    with warehouse.connect(workspace.old, shown=workspace.published) as con:
        for name, corpus in wanted.items():
            told(name)
            folder = workspace.folder / "published" / name
            folder.mkdir(parents=True)
            fill(con, corpus, folder, archives=True, placeholders=True)
            reader = _AsPublished(corpus, {source.id: source for source in sources(con, name)})
            _, is_sample = old.readers[name]
            inputs.append(Input(replace(corpus, read=reader.read), disk_files(folder, name), is_sample))
    # A replay says nothing of folders that are not read: what was found of them stays.
    return Request(tuple(inputs), frozenset(wanted), _SOURCE, tuple(sorted(old.ignored)), is_replay=True)


@dataclass(frozen=True)
class _AsPublished:
    """Shows a corpus's reader copies of its files as if they were the publisher's."""

    corpus: Corpus
    known: Mapping[str, Source]

    def read(self, files: list[SourceFile]) -> Iterator[Outcome]:
        """Let the reader read; BuildFailed where it takes a file now whose content nobody kept."""
        for outcome in self.corpus.read([_Copy(file, self.known[file.id].sha256) for file in files]):
            file = _file_of(outcome)
            if file is not None and not self.known[file.id].is_data:
                raise BuildFailed(
                    "the reader takes a file now that was no data before: its content is not in the warehouse",
                    where=file.id,
                    next_step="read it from the publisher's files, with: talkhouse build --data DIR",
                )
            yield outcome


def _file_of(outcome: Outcome) -> SourceFile | None:
    match outcome:
        case Loaded(place) | Rejected(place):
            return place.file
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
        """Give the bytes."""
        raw = self._file.read()
        self._note()
        return raw

    def hold(self) -> FileBuffer:
        """Give the bytes in memory that can be given back."""
        held = self._file.hold()
        self._note()
        return held

    def chunks(self) -> Iterator[bytes]:
        """Give the bytes in pieces."""
        for piece in self._file.chunks():
            self._note()
            yield piece
        self._note()

    def _note(self) -> None:
        self.has_bom, self.sha256 = self._file.has_bom, self._published_sha256


def _compared(workspace: Workspace, corpus_id: str) -> Replayed:
    """Say what changed between the warehouse before and the staged one."""
    with warehouse.connect(workspace.old, shown=workspace.published) as con:
        old, loaded, before = _refusals(con, corpus_id), _loaded(con, corpus_id), contents(con, corpus_id)
    with warehouse.connect(workspace.stage) as con:
        new, loads, after = _refusals(con, corpus_id), _loaded(con, corpus_id), contents(con, corpus_id)
    was, is_now = {one[:2] for one in old}, {one[:2] for one in new}
    refused_whole = {file for file, pointer in is_now if not pointer}
    newly = [one for one in new if one[:2] not in was and (one.file, "") not in was]
    return Replayed(
        corpus_id,
        quarantined=len(old),
        passed=sum(place not in is_now and place[0] not in refused_whole for place in was),
        refused=Counter(one.rule for one in new if one not in newly),
        newly=newly,
        loaded=(loaded, loads),
        tables=[name for name in after if before[name] != after[name]],
    )


def _refusals(con: duckdb.DuckDBPyConnection, corpus_id: str) -> list[Refusal]:
    query = "select source_file_id, pointer, rule, detail from meta.quarantine where corpus_id = ? order by all"
    return [Refusal(*row) for row in con.execute(query, [corpus_id]).fetchall()]


def _loaded(con: duckdb.DuckDBPyConnection, corpus_id: str) -> int:
    rows = con.execute("select count(*) from main.records where corpus_id = ?", [corpus_id]).fetchall()
    return int(rows[0][0])
