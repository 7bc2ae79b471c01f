"""Writes a lake: compares what it holds with the warehouse, writes what is new, keeps the rest, and swaps."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
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
    """The rows of a corpus in a table, and what became of them."""

    table: str
    corpus: str
    rows: int
    is_new: bool
    """Whether they were written; otherwise the files of the snapshot before are kept."""
    files: int | None
    bytes: int | None
    """Both None where that is known only when they are written."""
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
            result = _would_be(warehouses, lake, folder.check(lake), translation, progress, delta=delta)
        else:
            with folder.acquire(lake) as workspace, explained(lake):
                result = write_warehouses(warehouses, workspace, translation, stop.check, progress, delta=delta)
        return result._replace(seconds=time.monotonic() - begun)


def write_warehouses(
    warehouses: Warehouses,
    workspace: LakeWorkspace,
    translation: TranslatedViews,
    check_complete: Callable[[], None],
    progress: Progress,
    *,
    delta: bool,
    dry_run: bool = False,
) -> LakeResult:
    """Write and publish a snapshot of what warehouses have, in a lake that is held already."""
    if dry_run:
        return _would_be(warehouses, workspace.lake, workspace.state, translation, progress, delta=delta)
    delta = delta or workspace.state.has_delta_logs
    snapshot = _written(warehouses, workspace, translation, check_complete, progress, delta=delta)
    return _result(warehouses, workspace.lake, workspace.state, workspace.left, translation, snapshot, delta=delta)


def _would_be(
    warehouses: Warehouses,
    lake: Path,
    state: LakeState,
    translation: TranslatedViews,
    progress: Progress,
    *,
    delta: bool,
) -> LakeResult:
    delta = delta or state.has_delta_logs
    plan = make_plan(warehouses, lake, state.current, progress)
    snapshot = _planned(warehouses, lake, plan, state, translation, delta=delta)
    return _result(warehouses, lake, state, (), translation, snapshot, delta=delta)


def _result(
    warehouses: Warehouses,
    lake: Path,
    state: LakeState,
    left: Iterable[str],
    translation: TranslatedViews,
    snapshot: "_Snapshot",
    *,
    delta: bool,
) -> LakeResult:
    before = state.current.corpus_ids if state.current else []
    return LakeResult(
        snapshot.outcome,
        lake,
        snapshot.name,
        warehouses.corpora,
        tuple(corpus for corpus in before if corpus not in warehouses.corpora),
        snapshot.parts,
        tuple(translation.left_out),
        state.is_missing,
        delta,
        tuple(sorted({*state.snapshots.others, *left})),
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


def _planned(
    warehouses: Warehouses, lake: Path, plan: Plan, state: LakeState, translation: TranslatedViews, *, delta: bool
) -> _Snapshot:
    """Return what would be written: nothing, where the current snapshot is what the new one would be."""
    current = state.current
    if current is None:
        return _Snapshot(LakeOutcome.DRY_RUN, state.next, _parts(plan, _kept(plan, state.next)))
    tables = _kept(plan, current.snapshot)
    manifest = _manifest(warehouses, current.snapshot, tables, translation, delta=delta)
    if (
        not state.is_missing
        # Which version of Talkhouse would write it says nothing about what that would be; the format numbers do.
        and structs.replace(manifest, talkhouse=current.talkhouse) == current
        and are_there(documents(lake, current, translation), Inside(lake, current.snapshot))
    ):
        return _Snapshot(LakeOutcome.UNCHANGED, current.snapshot, _parts(plan, tables))
    return _Snapshot(LakeOutcome.DRY_RUN, state.next, _parts(plan, tables))


def _written(
    warehouses: Warehouses,
    workspace: LakeWorkspace,
    translation: TranslatedViews,
    check_complete: Callable[[], None],
    progress: Progress,
    *,
    delta: bool,
) -> _Snapshot:
    """Write and publish a snapshot, unless the current one is what it would be."""
    plan = make_plan(warehouses, workspace.lake, workspace.state.current, progress)
    planned = _planned(warehouses, workspace.lake, plan, workspace.state, translation, delta=delta)
    if planned.outcome is LakeOutcome.UNCHANGED:
        return planned
    folder.start(workspace)
    tables = _write(warehouses, plan, workspace, progress)
    manifest = _manifest(warehouses, workspace.snapshot.name, tables, translation, delta=delta)
    write_documents(documents(workspace.lake, manifest, translation), workspace.snapshot)
    folder.publish(workspace, manifest, check_complete)
    return _Snapshot(LakeOutcome.WRITTEN, manifest.snapshot, _parts(plan, tables))


def _parts(plan: Plan, tables: Sequence[LakeTable]) -> tuple[PartOfLake, ...]:
    """Return what became of each part; ``tables`` are those of the plan, in its order."""
    return tuple(
        _part(part, [file for file in table.files if file.corpus == part.content.corpus])
        for planned, table in zip(plan, tables, strict=True)
        for part in planned.parts
    )


def _part(part: PlannedCorpus, written: list[LakeFile]) -> PartOfLake:
    rows, size = part.content, sum(file.bytes for file in written) if written else None
    return PartOfLake(rows.full_name, rows.corpus, rows.rows, not part.kept, len(written) or None, size, part.damaged)


def settings_of(lake: Path) -> Settings:
    """Return settings with which DuckDB sorts in the private folder of the lake, and draws no bar of its own."""
    return {"enable_progress_bar": False, "temp_directory": str(folder.private_path(lake) / "sorting")}


def _write(warehouses: Warehouses, plan: Plan, workspace: LakeWorkspace, progress: Progress) -> list[LakeTable]:
    """Write the snapshot: what is new, and second names of what is kept."""
    progress.begin(
        "writing",
        records=sum(part.content.rows for table in plan for part in table.parts if not part.kept),
        unit="rows",
    )

    def written(part: PlannedCorpus) -> list[LakeFile]:
        if part.kept:
            return lake_files.link(part.kept, workspace.lake, workspace.snapshot)
        if made := warehouses.made.get((part.content.full_name, part.content.corpus)):
            return lake_files.link(made.files, made.folder, workspace.snapshot)
        with warehouse.explain_damage(warehouses.path(part.content.corpus)):
            return lake_files.write(warehouses.con, part.content, workspace.snapshot, progress.advance)

    return [
        _table(planned, workspace.snapshot.name, [file for part in planned.parts for file in written(part)])
        for planned in plan
    ]


def _kept(plan: Plan, snapshot: str) -> list[LakeTable]:
    """Describe the tables of the current snapshot, with the files that are kept."""
    return [_table(planned, snapshot, [file for part in planned.parts for file in part.kept]) for planned in plan]


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
        fingerprints={part.content.corpus: part.content.fingerprint for part in planned.parts},
        files=written,
    )


def _manifest(
    warehouses: Warehouses, snapshot: str, tables: list[LakeTable], translation: TranslatedViews, *, delta: bool
) -> LakeManifest:
    return LakeManifest(
        format=FORMAT,
        snapshot=snapshot,
        talkhouse=version(),
        revision=migrations.head(),
        catalogue=warehouses.catalogue,
        builds=[each.build for each in warehouses.all],
        corpora=[
            corpus for each in warehouses.all for corpus in each.corpora if corpus["corpus_id"] in warehouses.corpora
        ],
        tables=tables,
        left_out=translation.left_out,
        delta=delta,
        **_ids(warehouses),
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
