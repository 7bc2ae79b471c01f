"""Makes a release: hashes a warehouse, writes the rows that no release has yet, and last its name, by one rename."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
from sqlalchemy import Table

from talkhouse.load.workspace import PUBLISHED
from talkhouse.queries.checks import checks, run
from talkhouse.releases import manifest
from talkhouse.releases.manifest import ReleasedObject, ReleasedTable, ReleaseManifest
from talkhouse.releases.objects import WrittenObject, frame_address, write_frame, write_rows
from talkhouse.releases.store import OBJECTS, RELEASES, checksum_line, held, names, objects_in, part_folder, read_all
from talkhouse.schema.errors import CheckFailed, OutputFailed, ReleaseDamaged, UsageError, check_unicode
from talkhouse.schema.sql import dicts, literal, quoted
from talkhouse.schema.tables import metadata
from talkhouse.system.atomic_output import OutputMessages, database_errors, output_errors
from talkhouse.system.files import new_folder, sync
from talkhouse.system.memory import in_little_memory
from talkhouse.warehouse.content_ids import ContentIds, Contents, contents_of, keep_ids
from talkhouse.warehouse.file_hashes import Run, hashes_of, identity_of
from talkhouse.warehouse.opened import Warehouse, opened
from talkhouse.warehouse.relations import check_corpus
from talkhouse.warehouse.rows_hash import RowsHash, TableHash, corpora_of, corpus_of

_MEMORY = 250_000_000
"""Bytes that DuckDB may hold, unless it needs more."""

_FULL = OutputMessages(
    "there is no room for the release; nothing of it was left",
    "make room, or name a store on another disk: --store DIR",
    "the release can't be written",
)


@dataclass(frozen=True)
class ReleaseRequest:
    """What is to become a release."""

    name: str
    note: str | None = None
    corpora: tuple[str, ...] = ()
    """Only these; empty: all."""
    repair: bool = False
    dry_run: bool = False
    wait: bool = True
    on_wait: Callable[[str], None] = lambda _: None


class Created(NamedTuple):
    """A release, or what it would be."""

    data: dict[str, Any]
    """The manifest; of a dry run without the bytes and hashes of files that are not there."""
    new: int
    """Files that were written, or would be."""
    old: int
    """Files that the store had."""
    new_bytes: int | None


def create(store: Path, db: Path, request: ReleaseRequest) -> Created:
    """Make a release of a warehouse; raises what opening a warehouse raises, and why a release can't be.

    OutputFailed where the name exists or there is no room, CheckFailed where a check of the warehouse fails,
    ReleaseDamaged where the store has a wrong file under the address of one that is needed.
    """
    check_unicode(request.note or "", "the note")
    store = store.absolute()  # by which DuckDB is told where it may write
    _check_name(store, request.name)
    if request.dry_run:
        with opened(db) as warehouse:
            return _Creation(store, warehouse, request).plan()
    with output_errors(store, _FULL):
        store.mkdir(exist_ok=True)
    with (
        database_errors(store, _FULL),
        output_errors(store, _FULL),
        held(store, wait=request.wait, on_wait=request.on_wait),
    ):
        _check_name(store, request.name)  # again: another process may have made it
        part = part_folder(store)
        settings = {"allowed_directories": [str(part)], "temp_directory": str(part / "sorting")}
        with new_folder(part), opened(db, settings=settings) as warehouse:
            created = in_little_memory(
                warehouse.con, _MEMORY, lambda: _Creation(store, warehouse, request).create(part)
            )
            if not request.corpora:
                ids = ContentIds(request.name, created.data["content_id"])
                keep_ids(warehouse.con, warehouse.database, db, ids)
    return created


def _check_name(store: Path, name: str) -> None:
    if not manifest.NAME.fullmatch(name):
        raise UsageError(
            "this can't be the name of a release",
            expected="up to 64 lower case letters, digits, '.', '_' and '-', the first a letter or digit",
            found=f"'{name:.100}'",
            next_step="name it by its month or version, such as 2026-11 or v1.2",
        )
    if name in names(store):
        raise OutputFailed(
            f"there is a release '{name}' already, and a release never changes",
            where=store,
            next_step="choose another name",
        )


_CORPORA = """
select corpus_id, title, reader_version, licence, licence_url, terms, citation, is_sample
from {}.main.corpora order by corpus_id
"""
_SOURCES = "select source_file_id, corpus_id, sha256, size from {}.meta.source_files order by source_file_id"
_QUARANTINED = "select corpus_id from {}.meta.quarantine"


class _Creation:
    """One release that is being made."""

    def __init__(self, store: Path, warehouse: Warehouse, request: ReleaseRequest) -> None:
        for corpus in request.corpora:
            check_corpus(warehouse.con, corpus)
        self.store, self.warehouse, self.request = store, warehouse, request
        self.con, self.database = warehouse.con, warehouse.database
        self.con.execute(f"use {quoted(self.database)}")
        self.corpora = sorted(request.corpora or warehouse.corpus_ids)
        self.file_hashes = hashes_of(warehouse)
        self.before, damaged = read_all(store)
        if damaged and not request.repair:
            raise damaged[0]

    def plan(self) -> Created:
        """Return the release that would be created."""
        errors, warnings = self._check()
        contents, reusable = self._contents(), self._reusable()
        names = [*(name for table in contents.tables for name in self._objects(table)), self._frame_name]
        files = {name: reusable.get(name) or WrittenObject(name, 0, "0" * 64) for name in names}
        data = manifest.as_data(self._release(contents, files, errors, warnings))
        for table in (*data["tables"], data["frame"]):
            for file in table.get("objects", [table]):
                if file["file"] not in reusable:
                    file["bytes"] = file["sha256"] = table["bytes"] = None
        new = sum(name not in reusable for name in names)
        return Created(data, new, len(names) - new, None)

    def create(self, part: Path) -> Created:
        """Write what is new into a private folder, move it into the store, and give it its name."""
        errors, warnings = self._check()
        contents, reusable = self._contents(), self._reusable()
        written: list[WrittenObject] = []
        for table in contents.tables:
            self.warehouse.check_complete()
            if new := {name: run for name, run in self._objects(table).items() if name not in reusable}:
                written += self._write(table, new, part)
        if self._frame_name not in reusable:
            written.append(write_frame(self.con, self.database, part / self._frame_name))
        files = {file.file: file for file in (*reusable.values(), *written)}
        release = self._release(contents, files, errors, warnings)
        self.warehouse.check_complete()
        self._publish(release, part, written)
        self.file_hashes.keep()
        new_bytes = sum(file.bytes for file in written)
        return Created(manifest.as_data(release), len(written), len(release.files) - len(written), new_bytes)

    def _contents(self) -> Contents:
        return contents_of(self.con, self.database, self.corpora, self.file_hashes.of)

    def _objects(self, of: TableHash) -> dict[str, Run]:
        """Return the names of the objects of a corpus in a table, each with its rows."""
        runs = self.file_hashes.runs(_table(of), of.corpus) or [Run((), RowsHash(of.rows, of.hash))]
        return {manifest.object_name(of.table, of.corpus, run.same.hash): run for run in runs}

    def _write(self, of: TableHash, objects: Mapping[str, Run], part: Path) -> list[WrittenObject]:
        """Write the rows of some objects, sorted by grain."""
        table, runs = _table(of), [run for run in objects.values() if run.files]
        belongs = f"{corpus_of(table, corpora_of(self.con, self.database))} = {literal(of.corpus)}"
        grain = ", ".join(f"{quoted(column)} nulls last" for column in table.info["grain"])
        whole = f"from {quoted(self.database)}.{of.table} where {belongs} order by {grain}"
        query = self.file_hashes.select(table, runs) if runs else whole
        return write_rows(self.con, query, {name: run.same.rows for name, run in objects.items()}, part)

    def _check(self) -> tuple[int, int]:
        """Count the checks that find something; CheckFailed where one fails.

        None is run that this user's build has run, where nothing has changed since.
        """
        recorded = self.con.execute("select check_name, severity, offending, condition from meta.checks").fetchall()
        wanted = checks(self.warehouse.catalogue, self.warehouse.corpus_ids)
        path = self.warehouse.path
        is_built_here = PUBLISHED.note_of(path) and identity_of(path) == self.file_hashes.key
        have_run = {(name, condition) for name, _, _, condition in recorded}
        if is_built_here and {(check.name, check.condition) for check in wanted} <= have_run:
            found = [(name, severity, offending) for name, severity, offending, _ in recorded]
        else:
            outcomes = run(self.con, wanted)
            found = [(outcome.check.name, outcome.check.severity, outcome.offending) for outcome in outcomes]
        for name, severity, offending, *_ in (*found, *recorded):
            if severity == "error" and offending:
                raise CheckFailed(
                    "the warehouse failed its checks; nothing was released",
                    where=self.warehouse.path,
                    found=f"{offending:,} rows offend against {name}",
                    next_step="see them with: talkhouse check",
                )
        return 0, sum(offending > 0 for _, _, offending in found)

    @cached_property
    def _frame_name(self) -> str:
        address = frame_address(self.con, self.database)
        return f"frame-{self.warehouse.build['schema_revision']}-{address}.duckdb"

    def _reusable(self) -> dict[str, WrittenObject]:
        """Return the files that a release has and that are there; one that none has is written anew."""
        there, reusable = objects_in(self.store), dict[str, WrittenObject]()
        for stored in self.before:
            for file in stored.release.files:
                size = there.get(file.file)
                if size == file.bytes:
                    reusable.setdefault(file.file, WrittenObject(file.file, file.bytes, file.sha256))
                elif not self.request.repair:
                    raise ReleaseDamaged(
                        "the store has a damaged file, which another release needs",
                        where=self.store / OBJECTS / file.file,
                        expected=f"{file.bytes:,} bytes, as {stored.release.name} says",
                        found="no file" if size is None else f"{size:,} bytes",
                        next_step="take the file from a copy of the store, or write it again with: --repair",
                    )
        return reusable

    def _release(
        self, contents: Contents, files: Mapping[str, WrittenObject], errors: int, warnings: int
    ) -> ReleaseManifest:
        """Describe the release; ``files``: its objects and its frame, by their names."""
        build, wanted = self.warehouse.build, {*self.corpora}
        corpora = dicts(self.con.execute(_CORPORA.format(quoted(self.database))))
        sources = dicts(self.con.execute(_SOURCES.format(quoted(self.database))))
        quarantined = self.con.execute(_QUARANTINED.format(quoted(self.database))).fetchall()
        previous = self.before[-1].release if self.before else None
        tables = [self._released(of, files) for of in contents.tables]
        return ReleaseManifest(
            format=manifest.format_of(tables),
            name=self.request.name,
            note=self.request.note,
            created_at=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
            content_id=contents.content_id,
            previous=None if previous is None else manifest.Previous(previous.name, previous.content_id),
            talkhouse_version=build["talkhouse_version"],
            schema_revision=build["schema_revision"],
            catalogue_hash=build["catalogue_hash"],
            duckdb_version=duckdb.__version__,
            corpora=[
                manifest.ReleasedCorpus(**row, content_id=contents.id_of(row["corpus_id"]))
                for row in corpora
                if row["corpus_id"] in wanted
            ],
            sources=[manifest.ReleasedSource(**row) for row in sources if row["corpus_id"] in wanted],
            checks=manifest.Checks(errors, warnings),
            quarantined=sum(corpus in wanted for (corpus,) in quarantined),
            tables=tables,
            tasks=[manifest.ReleasedTask(*task) for task in contents.tasks],
            frame=manifest.Frame(*files[self._frame_name]),
        )

    def _released(self, of: TableHash, files: Mapping[str, WrittenObject]) -> ReleasedTable:
        objects = [ReleasedObject(*run.same, **files[name]._asdict()) for name, run in self._objects(of).items()]
        if len(objects) == 1:
            return ReleasedTable(*of, objects[0].file, objects[0].bytes, objects[0].sha256)
        return ReleasedTable(*of, None, sum(file.bytes for file in objects), None, objects)

    def _publish(self, release: ReleaseManifest, part: Path, written: Sequence[WrittenObject]) -> None:
        """Move the objects into the store, and then the manifest; nothing stays where the latter fails."""
        folder, moved = part / release.name, list[Path]()
        folder.mkdir()
        content = manifest.encode(release)
        for name, text in (
            (manifest.MANIFEST, content),
            (manifest.CHECKSUM, checksum_line(manifest.sha256(content)).encode()),
        ):
            (folder / name).write_bytes(text)
            sync(folder / name)
            (folder / name).chmod(0o444)
        sync(folder)
        folder.chmod(0o755)
        for parent in (RELEASES, OBJECTS):
            (self.store / parent).mkdir(exist_ok=True)
        try:
            for file in written:
                target = self.store / OBJECTS / file.file
                is_new = not target.exists()
                (part / file.file).replace(target)
                if is_new:
                    moved.append(target)
            sync(self.store / OBJECTS)
            folder.rename(self.store / RELEASES / release.name)
        except BaseException:
            for path in moved:
                path.unlink(missing_ok=True)
            raise
        sync(self.store / RELEASES)


def _table(of: TableHash) -> Table:
    return metadata.tables[of.table.removeprefix("main.")]
