"""Writes a lake: compares what it holds with the warehouse, writes what is new, keeps the rest, and swaps."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import duckdb

from talkhouse import migrations
from talkhouse.lake import files, folder
from talkhouse.lake.documents import are_there, documents
from talkhouse.lake.documents import write as write_documents
from talkhouse.lake.folder import Found, Workspace
from talkhouse.lake.inside import Inside
from talkhouse.lake.manifest import FORMAT, File, Manifest, Table
from talkhouse.lake.plan import Part, Plan, PlannedTable, Progress, make_plan
from talkhouse.lake.relations import check_views
from talkhouse.lake.translated import Translation
from talkhouse.lake.translation.translate import translate
from talkhouse.lake.warehouses import Warehouses, attached
from talkhouse.queries.catalogue import catalogue
from talkhouse.schema import warehouse
from talkhouse.schema.errors import OutputFailed
from talkhouse.schema.guard import Settings
from talkhouse.settings import version
from talkhouse.system import interrupt


class Outcome(StrEnum):
    """What a command did."""

    WRITTEN = "written"
    UNCHANGED = "unchanged"
    DRY_RUN = "dry run"


class Done(NamedTuple):
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


@dataclass(frozen=True)
class Result:
    """What was written, or would be."""

    outcome: Outcome
    lake: Path
    snapshot: str
    """The folder of the snapshot; of a dry run, the one that it would be."""
    corpora: tuple[str, ...]
    removed: tuple[str, ...]
    """Corpora that were in the lake before, and are no longer."""
    parts: tuple[Done, ...]
    recovered: bool
    """Whether snapshots were there without a manifest that says which is the current one: all of them stay."""
    left: tuple[str, ...]
    """What stays though it is named like an old snapshot: it is not the lake's, or something else lies in it."""
    seconds: float


def write_lake(
    lake: Path, paths: Sequence[Path], progress: Progress, *, only: Sequence[str] = (), dry_run: bool = False
) -> Result:
    """Write the tables of one or several warehouses to a lake, whole or not at all.

    ``only``: these corpora, and the rows that belong to none; the lake then has no others. What is the same as in the
    snapshot before is not written again. ``dry_run``: say what would be written.

    Raises UsageError and NotALake for what can't be written or replaced, OutputFailed where there is no room, and what
    opening a warehouse raises.
    """
    begun = time.monotonic()
    folder.check(lake)
    with attached(paths, only, _settings(lake)) as found, interrupt.stoppable(found.con, None) as stop:
        translation = _translate(found)
        if dry_run:
            there, left = folder.check(lake), set[str]()
            plan = make_plan(found, lake, there.current, progress)
            done = _planned(found, lake, plan, there, translation)
        else:
            with folder.acquire(lake) as workspace, _explained(lake):
                there, left = workspace.found, workspace.left
                done = _written(found, workspace, translation, stop.check, progress)
        before = there.current.corpus_ids if there.current else []
        return Result(
            done.outcome,
            lake,
            done.snapshot,
            found.corpora,
            tuple(corpus for corpus in before if corpus not in found.corpora),
            done.parts,
            there.is_missing,
            tuple(sorted({*there.snapshots.others, *left})),
            time.monotonic() - begun,
        )


def _translate(found: Warehouses) -> Translation:
    """Translate the views; SchemaMismatch for a warehouse that has others than this Talkhouse."""
    own = catalogue()
    for one in found.all:
        one.check_views()
        check_views(one, own)
    return translate(found.con, own, found.split_views)


class _Snapshot(NamedTuple):
    """A snapshot that is there, or would be."""

    outcome: Outcome
    snapshot: str
    parts: tuple[Done, ...]


def _planned(found: Warehouses, lake: Path, plan: Plan, there: Found, translation: Translation) -> _Snapshot:
    """Say what would be written: nothing, where the current snapshot is what the new one would be."""
    current = there.current
    if current is None:
        return _Snapshot(Outcome.DRY_RUN, there.next, _done(plan, _kept(plan, there.next)))
    tables = _kept(plan, current.snapshot)
    done = _done(plan, tables)
    if (
        not there.is_missing
        and _manifest(found, current.snapshot, tables) == current
        and are_there(documents(lake, current, translation), Inside(lake, current.snapshot))
    ):
        return _Snapshot(Outcome.UNCHANGED, current.snapshot, done)
    return _Snapshot(Outcome.DRY_RUN, there.next, done)


def _written(
    found: Warehouses,
    workspace: Workspace,
    translation: Translation,
    check_complete: Callable[[], None],
    progress: Progress,
) -> _Snapshot:
    """Write and publish a snapshot, unless the current one is what it would be."""
    plan = make_plan(found, workspace.lake, workspace.found.current, progress)
    planned = _planned(found, workspace.lake, plan, workspace.found, translation)
    if planned.outcome is Outcome.UNCHANGED:
        return planned
    folder.start(workspace)
    tables = _write(found, plan, workspace, progress)
    made = _manifest(found, workspace.snapshot.name, tables)
    write_documents(documents(workspace.lake, made, translation), workspace.snapshot)
    folder.publish(workspace, made, check_complete)
    return _Snapshot(Outcome.WRITTEN, made.snapshot, _done(plan, tables))


def _done(plan: Plan, tables: Sequence[Table]) -> tuple[Done, ...]:
    """Say what became of each part; ``tables`` are those of the plan, in its order."""
    done = []
    for planned, table in zip(plan, tables, strict=True):
        for part in planned.parts:
            found = [file for file in table.files if file.corpus == part.content.corpus]
            size = sum(file.bytes for file in found) if found else None
            row = part.content
            done.append(
                Done(row.full_name, row.corpus, row.rows, not part.kept, len(found) or None, size, part.damaged)
            )
    return tuple(done)


def _settings(lake: Path) -> Settings:
    """Let DuckDB sort in the private folder of the lake, and draw no bar of its own."""
    return {
        "enable_progress_bar": False,
        "temp_directory": str(folder.private_path(lake) / "sorting"),
    }


def _write(found: Warehouses, plan: Plan, workspace: Workspace, progress: Progress) -> list[Table]:
    """Write the snapshot: what is new, and second names of what is kept."""
    progress.begin(
        "writing",
        records=sum(part.content.rows for table in plan for part in table.parts if not part.kept),
        unit="rows",
    )

    def written(part: Part) -> list[File]:
        if part.kept:
            return files.keep(part.kept, workspace.lake, workspace.snapshot)
        with warehouse.explain_damage(found.path(part.content.corpus)):
            return files.write(found.con, part.content, workspace.snapshot, progress.advance)

    return [
        _table(planned, workspace.snapshot.name, [file for part in planned.parts for file in written(part)])
        for planned in plan
    ]


def _kept(plan: Plan, snapshot: str) -> list[Table]:
    """Describe the tables of the current snapshot, with the files that are kept."""
    return [_table(planned, snapshot, [file for part in planned.parts for file in part.kept]) for planned in plan]


def _table(planned: PlannedTable, snapshot: str, found: list[File]) -> Table:
    table = planned.table
    return Table(
        schema=str(table.schema or "main"),
        name=str(table.name),
        comment=table.comment or "",
        grain=list(table.info["grain"]),
        folder=f"{snapshot}/{files.folder_of(table)}",
        rows=planned.rows,
        columns=list(planned.columns),
        fingerprints={part.content.corpus: part.content.fingerprint for part in planned.parts},
        files=found,
    )


def _manifest(found: Warehouses, snapshot: str, tables: list[Table]) -> Manifest:
    return Manifest(
        format=FORMAT,
        snapshot=snapshot,
        talkhouse=version(),
        revision=migrations.head(),
        catalogue=found.catalogue,
        builds=[one.build for one in found.all],
        corpora=[corpus for one in found.all for corpus in one.corpora if corpus["corpus_id"] in found.corpora],
        tables=tables,
    )


@contextmanager
def _explained(lake: Path) -> Iterator[None]:
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
