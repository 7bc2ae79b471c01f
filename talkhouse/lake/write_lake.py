"""Writes a lake: compares what it holds with the warehouse, writes what is new, keeps the rest, and swaps."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import duckdb
from msgspec import structs

from talkhouse import migrations
from talkhouse.ingest.progress import Progress
from talkhouse.lake import folder, lake_files
from talkhouse.lake.folder import LakeState, LakeWorkspace
from talkhouse.lake.lake_files import Plan, PlannedCorpus, PlannedTable, Warehouses, attached, check_views, make_plan
from talkhouse.lake_format.documents import are_there, documents
from talkhouse.lake_format.documents import write as write_documents
from talkhouse.lake_format.inside import Inside
from talkhouse.lake_format.lake_manifest import FORMAT, LakeFile, LakeManifest, LakeTable
from talkhouse.schema import warehouse
from talkhouse.schema.errors import OutputFailed, SchemaMismatch
from talkhouse.schema.guard import Settings
from talkhouse.settings import version
from talkhouse.system import interrupt
from talkhouse.translation.translate import translate
from talkhouse.translation.translated import LeftOutView, TranslatedViews
from talkhouse.warehouse.content_ids import known_ids


class LakeOutcome(StrEnum):
    """What a command did."""

    WRITTEN = "written"
    UNCHANGED = "unchanged"
    DRY_RUN = "dry run"


class PartOfLake(NamedTuple):
    """The rows of a corpus in a table, or of a large one a run of them, and what became of them."""

    table: str
    corpus: str
    rows: int
    is_new: bool
    """Whether they were written; otherwise the files of the snapshot before are kept."""
    files: int | None
    bytes: int | None
    """Both None if that is known only once they are written."""
    damaged: tuple[str, ...]
    """Files of the snapshot before that were missing or had changed, and so were written again."""


class LakeResult(NamedTuple):
    """What was written, or would be."""

    outcome: LakeOutcome
    lake: Path
    snapshot: str
    """The folder of the snapshot; of a dry run, the one that it would be."""
    corpora: tuple[str, ...]
    removed: tuple[str, ...]
    """Corpora that were in the lake before, and are no longer."""
    parts: tuple[PartOfLake, ...]
    left_out: tuple[LeftOutView, ...]
    """Views that are not in it, or not all of whose rows are, and why."""
    recovered: bool
    """Whether snapshots were there without a manifest that says which is the current one: all of them stay."""
    delta: bool
    """Whether each table has a log of Delta."""
    left: tuple[str, ...]
    """What stays though it is named like an old snapshot: it is not the lake's, or something else lies in it."""
    seconds: float
    notes: tuple[str, ...] = ()
    """What the user should know of the files that were loaded."""


def write_lake(
    lake: Path,
    paths: Sequence[Path],
    progress: Progress,
    *,
    only: Sequence[str] = (),
    delta: bool = False,
    dry_run: bool = False,
) -> LakeResult:
    """Write the tables of one or several warehouses to a lake, whole or not at all.

    ``only``: these corpora, and the rows that belong to none; the lake then has no others. What is the same as in the
    snapshot before is not written again. ``delta``: with a log of Delta for each table; a lake that has them keeps
    them. ``dry_run``: say what would be written.

    Raises UsageError and NotALake for what can't be written or replaced, OutputFailed where there is no room, and what
    opening a warehouse raises.
    """
    begun = time.monotonic()
    folder.check(lake)
    with attached(paths, only, settings_of(lake)) as warehouses, interrupt.stoppable(warehouses.con, None) as stop:
        translation = _translate(warehouses)
        if dry_run:
            result = NewSnapshot(warehouses, lake, folder.check(lake), translation, progress, delta=delta).would_be()
        else:
            with folder.acquire(lake) as workspace, explained(lake):
                new = NewSnapshot(warehouses, lake, workspace.state, translation, progress, delta=delta)
                result = new.written(workspace, stop.check)
        return result._replace(seconds=time.monotonic() - begun)


@dataclass(frozen=True)
class NewSnapshot:
    """The snapshot that a lake is to have of some warehouses."""

    warehouses: Warehouses
    lake: Path
    state: LakeState
    """What is in the lake."""
    translation: TranslatedViews
    progress: Progress
    delta: bool
    """Whether logs of Delta are asked for."""

    @property
    def _has_delta(self) -> bool:
        return self.delta or self.state.has_delta_logs

    def would_be(self) -> LakeResult:
        """Say what would be written."""
        return self._result(self._planned(self._plan()))

    def written(self, workspace: LakeWorkspace, check_complete: Callable[[], None]) -> LakeResult:
        """Write and publish it, in a lake that is held already, unless the current one is what it would be."""
        plan = self._plan()
        planned = self._planned(plan)
        if planned.outcome is LakeOutcome.UNCHANGED:
            return self._result(planned, workspace.left)
        folder.start(workspace)
        tables = _write(self.warehouses, plan, workspace, self.progress)
        manifest = self._manifest(workspace.snapshot.name, tables)
        write_documents(documents(self.lake, manifest, self.translation), workspace.snapshot)
        folder.publish(workspace, manifest, check_complete)
        return self._result(_Snapshot(LakeOutcome.WRITTEN, manifest.snapshot, _parts(plan, tables)), workspace.left)

    def _plan(self) -> Plan:
        return make_plan(self.warehouses, self.lake, self.state.current, self.progress)

    def _planned(self, plan: Plan) -> "_Snapshot":
        """Return the result of a dry run: nothing to write if the current snapshot equals the new one."""
        current = self.state.current
        if current is None:
            return _Snapshot(LakeOutcome.DRY_RUN, self.state.next, _parts(plan, _unchanged(plan, self.state.next)))
        tables = _unchanged(plan, current.snapshot)
        if (
            not self.state.is_missing
            # Which version of Talkhouse would write it says nothing about what that would be; the format numbers do.
            and structs.replace(self._manifest(current.snapshot, tables), talkhouse=current.talkhouse) == current
            and are_there(documents(self.lake, current, self.translation), Inside(self.lake, current.snapshot))
        ):
            return _Snapshot(LakeOutcome.UNCHANGED, current.snapshot, _parts(plan, tables))
        return _Snapshot(LakeOutcome.DRY_RUN, self.state.next, _parts(plan, tables))

    def _manifest(self, snapshot: str, tables: list[LakeTable]) -> LakeManifest:
        warehouses = self.warehouses.all
        wanted = self.warehouses.corpora
        return LakeManifest(
            format=FORMAT,
            snapshot=snapshot,
            talkhouse=version(),
            revision=migrations.head(),
            catalogue=self.warehouses.catalogue,
            builds=[each.build for each in warehouses],
            corpora=[corpus for each in warehouses for corpus in each.corpora if corpus["corpus_id"] in wanted],
            tables=tables,
            left_out=self.translation.left_out,
            delta=self._has_delta,
            **_ids(self.warehouses),
        )

    def _result(self, snapshot: "_Snapshot", left: Iterable[str] = ()) -> LakeResult:
        before = self.state.current.corpus_ids if self.state.current else []
        return LakeResult(
            snapshot.outcome,
            self.lake,
            snapshot.name,
            self.warehouses.corpora,
            tuple(corpus for corpus in before if corpus not in self.warehouses.corpora),
            snapshot.parts,
            tuple(self.translation.left_out),
            self.state.is_missing,
            self._has_delta,
            tuple(sorted({*self.state.snapshots.others, *left})),
            0.0,
        )


def _translate(warehouses: Warehouses) -> TranslatedViews:
    """Translate the views; SchemaMismatch for a warehouse that has others than its SQL makes, or than the first has."""
    first, *others = warehouses.all
    for each in warehouses.all:
        each.check_views()
        check_views(each, first.catalogue)
    for other in others:
        if other.catalogue.hash != first.catalogue.hash:
            raise SchemaMismatch(
                "the warehouses have views of different corpora",
                where=other.path,
                expected=f"the views of {first.path}",
                next_step="build both with the same packages installed and the same --corpora, or write a lake of each",
            )
    return translate(warehouses.con, first.catalogue, warehouses.split_views)


class _Snapshot(NamedTuple):
    """A snapshot that is there, or would be."""

    outcome: LakeOutcome
    name: str
    parts: tuple[PartOfLake, ...]


def _parts(plan: Plan, tables: Sequence[LakeTable]) -> tuple[PartOfLake, ...]:
    """Return the outcome of each part; ``tables`` are those of the plan, in its order."""
    return tuple(
        _part(part, [file for file in table.files if file.corpus == part.content.corpus])
        for planned, table in zip(plan, tables, strict=True)
        for part in planned.parts
    )


def _part(part: PlannedCorpus, of_corpus: list[LakeFile]) -> PartOfLake:
    of_run = [file for file in of_corpus if part.content.run is None or file.fingerprint == part.content.fingerprint]
    rows, files = part.content, part.files or of_run
    size = sum(file.bytes for file in files) if files else None
    return PartOfLake(rows.full_name, rows.corpus, rows.rows, not part.files, len(files) or None, size, part.damaged)


def settings_of(lake: Path) -> Settings:
    """Return settings with which DuckDB sorts in the private folder of the lake, and draws no bar of its own."""
    return {"enable_progress_bar": False, "temp_directory": str(folder.private_path(lake) / "sorting")}


def _write(warehouses: Warehouses, plan: Plan, workspace: LakeWorkspace, progress: Progress) -> list[LakeTable]:
    """Write the snapshot: what is new, and second names of what is kept."""
    progress.begin(
        "writing",
        records=sum(part.content.rows for table in plan for part in table.parts if not part.files),
        unit="rows",
    )

    def written(corpus: str, parts: list[PlannedCorpus]) -> list[LakeFile]:
        linked = lake_files.link((file for part in parts for file in part.files), workspace.lake, workspace.snapshot)
        new = [part.content for part in parts if not part.files]
        if not new:
            return linked
        if rows := warehouses.written.get((new[0].full_name, corpus)):
            return lake_files.link(rows.files, rows.folder, workspace.snapshot)
        runs, hashes = [part.run for part in new if part.run], warehouses.hashes_of(corpus)
        query = hashes.select(new[0].table, runs) if hashes and runs else new[0].sorted
        with warehouse.explain_damage(warehouses.path(corpus)):
            con, snapshot = warehouses.con, workspace.snapshot
            return linked + lake_files.write(con, new, query, snapshot, progress.advance, first=len(linked))

    def of_corpus(part: PlannedCorpus) -> str:
        return part.content.corpus

    return [
        _table(
            planned,
            workspace.snapshot.name,
            [file for corpus, parts in groupby(planned.parts, of_corpus) for file in written(corpus, [*parts])],
        )
        for planned in plan
    ]


def _unchanged(plan: Plan, snapshot: str) -> list[LakeTable]:
    """Describe the tables of the current snapshot, with the files that are kept."""
    return [_table(planned, snapshot, [file for part in planned.parts for file in part.files]) for planned in plan]


def _table(planned: PlannedTable, snapshot: str, written: list[LakeFile]) -> LakeTable:
    table = planned.table
    return LakeTable(
        schema=str(table.schema or "main"),
        name=str(table.name),
        comment=table.comment or "",
        grain=list(table.info["grain"]),
        folder=f"{snapshot}/{lake_files.folder_of(table)}",
        rows=planned.rows,
        columns=list(planned.columns),
        fingerprints={**planned.fingerprints},
        files=written,
    )


def _ids(warehouses: Warehouses) -> dict[str, str | None]:
    """Return the release and the content id of the one warehouse that all of is in the lake, where they are known."""
    first, *others = warehouses.all
    if others or {*first.corpus_ids} != {*warehouses.corpora}:
        return {}
    return known_ids(first.con, first.database, first.path)._asdict()


@contextmanager
def explained(lake: Path) -> Iterator[None]:
    """Turn what DuckDB raises where it can't sort on the disk, or in the memory that there is, into OutputFailed."""
    try:
        yield
    except duckdb.Error as error:
        raise OutputFailed(
            "the lake could not be written; the one that was there is unchanged",
            where=lake,
            found=str(error).strip().splitlines()[0],
            next_step="make room on the disk of this folder if it is full, and write the lake again",
        ) from error
