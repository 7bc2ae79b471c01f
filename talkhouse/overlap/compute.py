"""Compares all places of a warehouse, and writes the file next to it in one step."""

import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import duckdb

from talkhouse.export.export import check_output
from talkhouse.ingest.progress import Progress, Silent
from talkhouse.overlap.matches import create_matches, insert_examples
from talkhouse.overlap.near import PAIRED, add_pairs, create_near, write_pairs
from talkhouse.overlap.overlap_file import FORMAT, create_tables, kept_run, open_overlap, path_for, path_to_read, tables
from talkhouse.overlap.quotations import create_templates
from talkhouse.overlap.request import OverlapRequest, Unit
from talkhouse.overlap.units import (
    FAMILIES,
    SHORT,
    TooManyPairs,
    UnitFamily,
    create_paths,
    create_places,
    create_turn_texts,
    create_units,
)
from talkhouse.schema.errors import UsageError, closest, listed
from talkhouse.schema.sql import identifier, insert, literal, quoted
from talkhouse.schema.sql_files import sql_of
from talkhouse.schema.warehouse import ROW_GROUP, STORAGE_VERSION
from talkhouse.settings import version
from talkhouse.system.atomic_output import move_into_place, output_errors
from talkhouse.system.files import target_of
from talkhouse.warehouse.build_facts import fingerprint
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.rows_hash import rows_hash
from talkhouse.warehouse.sidecar import writing_beside

_WORK, _RESULT = "talkhouse_overlap_work", "talkhouse_overlap_result"
"""Databases next to the warehouse."""

_STEREOTYPE = 13
_OFTEN = 10
"""A text of fewer words that has more matches in a place is a phrase."""


def overlap(warehouse: Path, request: OverlapRequest, progress: Progress | None = None) -> Path:
    """Write what stands in two places of a warehouse, and return the file.

    One that is there already, of the same warehouse, thresholds and units, keeps its matches; ``force`` computes them
    anew. Raises UsageError for places that are not there, and for an output that is no file of ours; QueryFailed
    where there are too many pairs; what ``opened`` raises. The file that was there before stays then.
    """
    output = request.output or path_for(warehouse)
    _check_output(output, warehouse, force=request.force)
    if request.pairs is not None and not request.against:
        raise UsageError(
            "all pairs are those of some places with all others",
            expected="--pairs together with --against",
            next_step="name a place with --against, such as the training data",
        )
    with _connected(warehouse, output, request) as (opened_warehouse, folder):
        con, database = opened_warehouse.con, identifier(opened_warehouse.database)
        if request.pairs is not None:
            check_output(con, request.pairs, force=request.force)
        con.execute(f"use {_WORK}")
        create_places(con, database)
        against = _create_against(con, request.against)
        print_of_warehouse = fingerprint(con, database)
        previous = request.output or path_to_read(warehouse)
        is_there = not request.force and request.pairs is None and _fits(previous, print_of_warehouse, request)
        part = folder / output.name
        templates: Mapping[str, int] = ((is_there and kept_run(previous)) or {}).get("templates", {})
        if is_there:
            shutil.copyfile(previous, part)
            open_overlap(part).close()  # the copy is what is checked, whatever becomes of the file meanwhile
        con.execute(
            f"attach {literal(str(part))} as {_RESULT} "
            f"(read_write, row_group_size {ROW_GROUP}, storage_version '{STORAGE_VERSION}')"
        )
        if is_there:
            con.execute(f"delete from {_RESULT}.main.examples")
            con.execute(f"delete from {_RESULT}.main.run")
        else:
            create_tables(con, _RESULT)
            con.execute(f"use {_WORK}")
            if Unit.CONTEXT in request.units:
                create_paths(con, database, opened_warehouse.catalogue.views)
            templates = _compare(con, database, request, progress or Silent())
        if against:
            insert_examples(con, database, _RESULT)
        _insert_run(con, request, against, print_of_warehouse, templates)
        opened_warehouse.check_complete()
        con.execute(f"checkpoint {_RESULT}")
        con.execute(f"detach {_RESULT}")
        if request.pairs is not None:
            write_pairs(con, request.pairs, force=request.force)
        move_into_place(part, target_of(output))
    return output


_MORE_ROOM = "make room on the disk, raise --memory-limit, or compare less with --unit"


@contextmanager
def _connected(warehouse: Path, output: Path, request: OverlapRequest) -> Iterator[tuple[Warehouse, Path]]:
    """Open the warehouse next to a private database on the disk, in the folder that is yielded too."""
    settings: dict[str, str] = {}
    if request.memory_limit is not None:
        settings["memory_limit"] = request.memory_limit
    if request.threads is not None:
        settings["threads"] = str(request.threads)
    with writing_beside(warehouse, output, _MORE_ROOM, settings) as (opened_warehouse, folder):
        _ = opened_warehouse.database  # before another one is the current
        opened_warehouse.con.execute(f"attach {literal(str(folder / 'work.duckdb'))} as {_WORK} (read_write)")
        yield opened_warehouse, folder


def _check_output(output: Path, warehouse: Path, *, force: bool) -> None:
    """Raise UsageError for an output that is the warehouse, or a file that is not ours."""
    with output_errors(output):
        if not os.path.lexists(output):
            return
        if output.exists() and warehouse.exists() and output.samefile(warehouse):
            raise UsageError("the output would replace the warehouse", where=output, next_step="name another --output")
    if not force:
        open_overlap(output).close()


def _fits(path: Path, fingerprint_of_warehouse: str, request: OverlapRequest) -> bool:
    """Return whether there is a file, of this warehouse and with these thresholds and units."""
    wanted = {
        "warehouse_fingerprint": fingerprint_of_warehouse,
        "threshold": float(request.threshold),
        "contains": float(request.contains),
        "compared": [str(unit) for unit in Unit if unit in request.units],
        "talkhouse_version": version(),
        "format": FORMAT,
    }
    run = kept_run(path)
    return run is not None and wanted == {name: run[name] for name in wanted}


def _create_against(con: duckdb.DuckDBPyConnection, names: Sequence[str]) -> list[str]:
    """Create the table ``against`` of the places that are named; UsageError for a name of none."""
    known = [place for (place,) in con.execute("select place from places order by place").fetchall()]
    chosen: set[str] = set()
    for name in names:
        beginning = f"{name.rstrip('/')}/"
        found = [place for place in known if place == name or place.startswith(beginning)]
        if not found:
            raise UsageError(
                f"there is no place '{name}'",
                expected=f"one of: {listed(closest(name, known))}" if known else "a place, and nothing stands in any",
                next_step="a place is corpus/release/split, or the beginning of one up to a slash",
            )
        chosen.update(found)
    con.execute("create table against (place varchar)")
    insert(con, "against", [[place] for place in sorted(chosen)])
    return sorted(chosen)


def _compare(
    con: duckdb.DuckDBPyConnection, database: str, request: OverlapRequest, progress: Progress
) -> dict[str, int]:
    """Compare all units; return how many texts are templates by each unit that has too many pairs for its own."""
    templates = dict[str, int]()
    progress.begin("reading texts")
    con.execute(sql_of(__file__, "work_tables"))
    if {"turn", "context", "dialogue"} & {*request.units}:
        create_turn_texts(con, database)
    existing = {name for name, _ in _relations(con)}
    for family in FAMILIES:
        units = [unit for unit in family.units if unit in request.units]
        if units:
            create_units(con, database, units)
            con.execute(sql_of(__file__, "counts", short=SHORT))
            of_units = {name for name, _ in _relations(con)}
            try:
                con.execute(sql_of(__file__, "no_templates"))
                _find_matches(con, request, family, units, progress)
            except TooManyPairs:
                _drop_others(con, of_units)
                number = create_templates(con)
                _find_matches(con, request, family, units, progress, has_templates=True)
                templates[" and ".join(units)] = number
            _drop_others(con, existing)
    progress.begin("writing what was found")
    con.execute(sql_of(__file__, "overlap_rows", result=_RESULT, short=SHORT, stereotype=_STEREOTYPE, often=_OFTEN))
    return templates


def _find_matches(
    con: duckdb.DuckDBPyConnection,
    request: OverlapRequest,
    family: UnitFamily,
    units: Sequence[str],
    progress: Progress,
    *,
    has_templates: bool = False,
) -> None:
    names = " and ".join(units)
    create_near(con, request.threshold, family.shingle, names, progress, has_templates=has_templates)
    create_matches(con, request.contains, names, progress)
    for unit in units:
        if request.pairs is not None and unit in PAIRED:
            add_pairs(con, unit)


def _drop_others(con: duckdb.DuckDBPyConnection, names: Collection[str]) -> None:
    for name, kind in _relations(con):
        if name not in names:
            con.execute(f"drop {kind} {quoted(name)}")


def _relations(con: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    """Return the tables and views of the current database, views first."""
    rows = con.execute("""
select view_name, 'view' from duckdb_views() where database_name = current_database() and not internal
union all
select table_name, 'table' from duckdb_tables() where database_name = current_database()
""")
    return rows.fetchall()


def _insert_run(
    con: duckdb.DuckDBPyConnection,
    request: OverlapRequest,
    against: list[str],
    fingerprint: str,
    templates: Mapping[str, int],
) -> None:
    sums = sha256()
    for table in tables():
        if table != "run":
            rows, hashed = rows_hash(con, f"from {_RESULT}.main.{table}")
            sums.update(f"{table}\t{rows}\t{hashed}\n".encode())
    values = (
        *(FORMAT, float(request.threshold), float(request.contains)),
        *([str(unit) for unit in Unit if unit in request.units], against, fingerprint),
        *(version(), duckdb.__version__, sums.hexdigest(), templates),
    )
    insert(con, f"{_RESULT}.main.run", [values])


_JUDGED = {Unit.TURN, Unit.CONTEXT, Unit.DIALOGUE}
"""Units by which examples are judged."""


def with_verdicts(warehouse: Path, against: Sequence[str], memory_limit: str | None = None) -> Path:
    """Write verdicts against these places into the file next to a warehouse, and return its path.

    What is there already is used, with its thresholds. Raises what ``overlap`` raises.
    """
    request = OverlapRequest(against, memory_limit=memory_limit)
    if run := kept_run(path_to_read(warehouse)):
        request = OverlapRequest(
            against,
            Fraction(repr(run["threshold"])),
            Fraction(repr(run["contains"])),
            tuple(run["compared"]) if {*run["compared"]} >= _JUDGED else tuple(Unit),
            memory_limit=memory_limit,
        )
    return overlap(warehouse, request)
