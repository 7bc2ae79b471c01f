"""``talkhouse files``: what lies next to a warehouse, whether it fits, and whether it may be deleted."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import click

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import decimal, output, print_table
from talkhouse.escaping import visible, visible_json
from talkhouse.schema import errors
from talkhouse.settings import bookmarks, database, name_bookmarks

_AGAIN, _SOURCES, _YOURS, _LEAVE = "may be deleted", "back up, or build again", "back up", "leave it"

_FITS, _STRANGE, _UNREADABLE, _NO_WAREHOUSE = "fits", "not Talkhouse's", "can't be read", "no warehouse"
_IN_USE, _PERHAPS = "in use", "in use or left over"
_ERRORS = {
    errors.WarehouseMissing: _NO_WAREHOUSE,
    errors.SchemaMismatch: "another Talkhouse",
    errors.WarehouseLocked: _IN_USE,
    errors.WarehouseDamaged: "damaged",
    errors.ReleaseDamaged: "damaged",
}
"""States of a file that can't be opened; at any other error it is not Talkhouse's."""


class _Kind(NamedTuple):
    """A kind of file that lasts, or of folder, and where that of a warehouse is."""

    name: str
    path: Path
    made_by: str
    advice: str
    open: Callable[[Path], AbstractContextManager[Any]]
    """Opens it, guarded; raises what is raised where the file is used."""
    is_of_build: bool = False
    """Whether it has a table ``run`` with the fingerprint of its warehouse."""


class _State(NamedTuple):
    """The state of a file by itself, or next to its warehouse."""

    name: str
    why: str | None = None
    """Why it does not fit, and what to do."""
    fingerprint: str | None = None
    """Of its warehouse."""


_PASSING = (
    ("build lock", ".{}.lock", "talkhouse build"),
    ("build folder", ".{}.build", "talkhouse build"),
    ("write-ahead log", "{}.wal", "another program"),
    ("private folder", ".{}.part", "any command"),
    ("lock", ".{}.part.lock", "any command"),
    ("spilled rows", "{}.tmp", "any command"),
)
"""What commands that run, or were killed, have next to a file of a name: kind, its name, what makes it."""

_File = dict[str, Any]
"""A file as --json has it; columns in their order."""


@options.command
@options.db
@options.as_json
def command(db: Path | None, as_json: bool) -> None:
    r"""List the files next to a warehouse: what they are, whether they fit, and whether they may be deleted.

    Each file has its kind, its size, when it was changed (UTC), a state, the command that makes it, and advice. Nothing
    is changed. A release (--db release:NAME) is first checked out into the cache, as for every command.

    A file fits if Talkhouse can use it with this warehouse. Otherwise it belongs to another build or another version of
    Talkhouse, is not Talkhouse's, is damaged, can't be read, is in use, was left behind by a killed command, or there
    is no warehouse to compare it with. The reasons, and what to do, follow below the list.

    On a terminal the files are a table. Elsewhere each is one line of tab-separated columns: path, kind, bytes, time,
    state, command, advice; control characters are written as \n, \t, \x1b.

    Examples:
        talkhouse files
        talkhouse files --db talkhouse.duckdb --json
    """
    found = [*_files(database(db))]
    if as_json:
        print(visible_json(found))
        return
    rows = [
        [visible("" if cell is None else str(cell)) for name, cell in file.items() if name != "why"] for file in found
    ]
    if output.is_terminal:
        here = f"{Path(found[0]['path']).parent}{os.sep}"
        for file, row in zip(found, rows, strict=True):
            row[0], row[2] = row[0].removeprefix(here), "" if file["bytes"] is None else decimal(file["bytes"])
        print_table(["file", "kind", "size", "changed (UTC)", "state", "made by", "advice"], rows, right=["size"])
    else:
        for row in rows:
            print("\t".join(row))
    for file in found:
        if file["why"]:
            click.echo(visible(f"{Path(file['path']).name}: {file['why']}"), err=True)


def _files(warehouse: Path) -> Iterator[_File]:
    """Yield the warehouse, also where there is none, and what lies next to it.

    What is damaged, foreign or closed has a state that says so. Raises OSError where the folder of the warehouse may
    not be entered.
    """
    with suppress(FileNotFoundError):
        warehouse.stat()
    (first, *others), now = _kinds(warehouse), None
    for kind in (first, *(kind for kind in others if os.path.lexists(kind.path))):
        state = _state(kind)
        if kind is first:
            now = state.fingerprint
        elif kind.is_of_build and state.name == _FITS and now is None:
            state = _State(_NO_WAREHOUSE)
        elif kind.is_of_build and state.name == _FITS and state.fingerprint != now:
            why = f"the warehouse has changed since; make it again with: {kind.made_by}"
            state = _State("another build", why)
        yield _file(kind.name, kind.path, state, kind.made_by, kind.advice)
    for path in (kind.path for kind in (first, *others) if kind.name not in ("releases", "cache")):
        yield from _passing(path, is_warehouse=path == first.path)


def _kinds(warehouse: Path) -> list[_Kind]:
    """Return the kinds with their paths; the warehouse is the first."""
    from talkhouse.notes import notes_file
    from talkhouse.overlap import overlap_file
    from talkhouse.releases.store import store_of
    from talkhouse.scores import saved_runs
    from talkhouse.search.search_index import INDEX
    from talkhouse.search.turn_vectors import VECTORS
    from talkhouse.system.cache import cache_folder, is_kept
    from talkhouse.warehouse.opened import opened

    is_release = is_kept(warehouse)
    first = ("talkhouse release checkout", _AGAIN) if is_release else ("talkhouse build", _SOURCES)
    notes, runs, overlap = notes_file.path_for(warehouse), saved_runs.path_for(warehouse), overlap_file.path_to_read
    marks, cache = bookmarks(None if is_release else warehouse), cache_folder()
    # Talkhouse 0.6 wrote notes and bookmarks of a release's pages next to the file that it is checked out to.
    of_pages = any((cache / path.name).exists() for path in (notes, runs, marks))
    return [
        _Kind("warehouse", warehouse.resolve(), *first, opened),
        _Kind("ranked search", INDEX.path(warehouse), INDEX.made_by, _AGAIN, INDEX.open, is_of_build=True),
        _Kind("vectors", VECTORS.path(warehouse), VECTORS.made_by, _AGAIN, VECTORS.open, is_of_build=True),
        _Kind("overlap", overlap(warehouse), "talkhouse overlap", _AGAIN, overlap_file.open_overlap, is_of_build=True),
        _Kind("notes", notes, "talkhouse notes --add", _YOURS, notes_file.open_notes),
        _Kind("saved runs", runs, "talkhouse score --save NAME", _YOURS, _open_runs),
        _Kind("bookmarks", marks, "talkhouse dashboard", _YOURS, _open_bookmarks),
        _Kind("releases", store_of(None, warehouse), "talkhouse release create", _YOURS, _open_store),
        _Kind("cache", cache, "any command", _YOURS if of_pages else _AGAIN, _open_folder),
    ]


def _passing(path: Path, *, is_warehouse: bool) -> Iterator[_File]:
    """Yield what commands that run, or were killed, have next to a file."""
    for name, form, made_by in _PASSING:
        beside = path.with_name(form.format(path.name))
        if (is_warehouse or made_by != "talkhouse build") and os.path.lexists(beside):
            yield _file(name, beside, _State(_PERHAPS), made_by, _AGAIN)
    with suppress(OSError):
        for stale in sorted(path.parent.iterdir()):
            if stale.name.startswith(f"{path.name}.wal.stale-"):
                yield _file("stale log", stale, _State("moved aside"), "another program", _AGAIN)


def _file(kind: str, path: Path, state: _State, made_by: str, advice: str) -> _File:
    """Describe a file; of a folder, the size is that of all in it, unless it is not Talkhouse's."""
    size, changed = None, None
    inside = (Path(folder, name) for folder, _, names in os.walk(path) for name in names)
    for place in (path, *(inside if state.name != _STRANGE and not path.is_symlink() else ())):
        with suppress(OSError, OverflowError, ValueError):  # a command may have removed it; not every time is a date
            info = place.lstat()
            size = (size or 0) + (0 if stat.S_ISDIR(info.st_mode) else info.st_size)
            changed = max(changed or "", f"{datetime.fromtimestamp(info.st_mtime, UTC):%Y-%m-%d %H:%M:%S}")
    if state.name in (_STRANGE, _UNREADABLE, _IN_USE, _PERHAPS):
        advice = _LEAVE
    elif size is None:
        advice = ""
    return {
        "path": str(path.absolute()),
        "kind": kind,
        "bytes": size,
        "changed_at": changed,
        "state": state.name,
        "why": state.why,
        "made_by": made_by,
        "advice": advice,
    }


def _state(kind: _Kind) -> _State:
    """Return the state of a file by itself."""
    import duckdb

    from talkhouse.schema.sql import identifier
    from talkhouse.warehouse.build_facts import fingerprint

    if kind.path.exists() and not os.access(kind.path, os.R_OK, effective_ids=os.access in os.supports_effective_ids):
        return _State(_UNREADABLE, f"allow it with: {errors.chmod(kind.path, 'r')}")
    try:
        with kind.open(kind.path) as file:
            if kind.name == "warehouse":
                return _State(_FITS, fingerprint=fingerprint(file.con, identifier(file.database)))
            if kind.is_of_build:
                ((of_build,),) = file.execute("select warehouse_fingerprint from main.run").fetchall()
                return _State(_FITS, fingerprint=of_build)
            return _State(_FITS)
    except errors.TalkhouseError as error:
        found = error.found and f"found {error.found.splitlines()[0]}"
        why = "; ".join(filter(None, (error.what, found, error.next_step)))
        return _State(_ERRORS.get(type(error), _STRANGE), why)
    except (duckdb.Error, OSError) as error:
        return _State(_STRANGE, str(error).partition("\n")[0])


def _not_ours(what: str, path: Path, found: str) -> errors.UsageError:
    return errors.UsageError(f"this is not {what}", where=path, found=found, next_step="move it away")


def _open_runs(path: Path) -> AbstractContextManager[Any]:
    """Open a file that has names of runs; the rest is known where runs are saved."""
    from talkhouse.warehouse.sidecar import SOME, open_beside

    def check(con: Any, _: Path) -> None:
        con.execute("select run from main.runs limit 0")

    return open_beside(path, check, {"runs": {SOME: ["run"]}}, partial(_not_ours, "a file of saved runs"))


def _open_bookmarks(path: Path) -> AbstractContextManager[Any]:
    if not path.is_file():  # a named pipe would have it wait
        raise _not_ours("a file of bookmarks", path, "no file")
    if find_spec("starlette"):  # else there are no pages here that could use it
        from talkhouse.dashboard.bookmarks import read

        name_bookmarks(path)
        read()
    return nullcontext()


def _open_store(store: Path) -> AbstractContextManager[Any]:
    from talkhouse.releases.store import OBJECTS, read_all

    _, damaged = read_all(store)
    if damaged:
        raise damaged[0]
    return _open_folder(store / OBJECTS)


def _open_folder(folder: Path) -> AbstractContextManager[Any]:
    if folder.is_symlink() or not folder.is_dir():
        raise _not_ours("a folder that Talkhouse made", folder, f"{folder.name} is a link, or no folder")
    return nullcontext()
