"""Talkhouse: a SQL warehouse of dialogue corpora. In Python: ``talkhouse.open()`` returns a read-only connection.

``talkhouse.warehouse()`` has its tasks, dialogues and scores, ``talkhouse.build()`` makes one: docs/python.md.
"""

import talkhouse.warehouse  # noqa: F401 - first: imported later, it would replace the function of its name

TYPE_CHECKING = False  # what reads types takes it for true; the module typing alone takes longer than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import Any

    import duckdb

    from talkhouse.api.dialogue import Dialogue
    from talkhouse.api.publish import BuildReport, Release
    from talkhouse.api.score import Score
    from talkhouse.api.task import Task
    from talkhouse.api.warehouse import Warehouse
    from talkhouse.schema.errors import TalkhouseError
    from talkhouse.schema.guard import Settings

    __version__: str

__all__ = [
    "BuildReport",
    "Dialogue",
    "Release",
    "Score",
    "TalkhouseError",
    "Task",
    "Warehouse",
    "__version__",
    "build",
    "open",
    "release",
    "warehouse",
]


def open(  # noqa: A001 - read as talkhouse.open
    path: "str | Path | None" = None, *, settings: "Settings | None" = None, unsafe: bool = False
) -> "duckdb.DuckDBPyConnection":
    """Open a warehouse read-only.

    Views of any file, a stranger's too, can't reach other files, the network or Python's variables; nor can queries.
    Each call opens what is published at that moment, in an instance of DuckDB of its own: connections that the process
    has already neither change it nor are changed.

    Parameters
    ----------
    path : str or pathlib.Path, optional
        A file, or ``"release:NAME"``; without it ``$TALKHOUSE_DB``, then ``talkhouse.duckdb`` in this folder.
    settings : mapping, optional
        Settings of DuckDB by name, made before it takes no others, except memory_limit, threads and TimeZone.
    unsafe : bool
        Guard nothing, for a file that you trust: to copy rows to a file, or to query a data frame by its name.

    Returns
    -------
    duckdb.DuckDBPyConnection
        A connection, whose cursors share its instance.

    Raises
    ------
    talkhouse.TalkhouseError
        The file is missing, held by a writer, open for writing in this process, of another schema revision, or not a
        warehouse; the error says what to do.
    """
    from talkhouse.api.options import connect

    return connect(path, settings=settings or {}, unsafe=unsafe)


def warehouse(path: "str | Path | None" = None, *, unsafe: bool = False) -> "Warehouse":
    """Open a warehouse with all that Python has of it.

    Parameters
    ----------
    path, unsafe
        As in ``talkhouse.open``.

    Returns
    -------
    Warehouse
        What is published now: a snapshot, to be closed by ``with`` or ``close()``.

    Raises
    ------
    talkhouse.TalkhouseError
        As in ``talkhouse.open``.
    """
    from talkhouse.api.warehouse import Warehouse

    return Warehouse(path, unsafe=unsafe)


def build(
    data: "str | Path | None" = None,
    *,
    db: "str | Path | None" = None,
    corpora: "str | Path | Sequence[str | Path] | None" = None,
    jobs: int | None = None,
    max_quarantine: int | str | None = None,
    on_progress: "Callable[[str, int, int], None] | None" = None,
) -> "BuildReport":
    """Build or refresh a warehouse and publish it in one step, as ``talkhouse build``; readers are never blocked.

    Parameters
    ----------
    data : str or pathlib.Path, optional
        The folder with a folder for each corpus; without it, the invented samples that come with Talkhouse.
    db : str or pathlib.Path, optional
        The warehouse; without it ``$TALKHOUSE_DB``, then ``talkhouse.duckdb`` in this folder.
    corpora : str, pathlib.Path or several, optional
        Folders with corpora of your own, whose code and SQL are run; without them ``$TALKHOUSE_CORPORA``.
    jobs : int, optional
        Processes that read; without it as many as the machine has room for.
    max_quarantine : int or str, optional
        Stop where more records of a corpus can't be loaded: a number, or a share of its records such as ``"5%"``.
        Default: 1 %.
    on_progress : callable, optional
        Called with the step (str), how many records or bytes of it are done (int), and how many there are (int, 0
        where that is not known).

    Returns
    -------
    BuildReport
        Where it is, how long it took, and what it has of each corpus.

    Raises
    ------
    talkhouse.TalkhouseError
        A corpus can't be loaded, where the others are published all the same; or the build stopped, and what was
        published is unchanged.
    """
    from talkhouse.api.publish import build as build_file

    return build_file(data, db=db, corpora=corpora, jobs=jobs, max_quarantine=max_quarantine, on_progress=on_progress)


def release(name: str, *, db: "str | Path | None" = None, store: "str | Path | None" = None) -> "Release":
    """Make a release of a warehouse, as ``talkhouse release create``: a state under a name, which never changes.

    Parameters
    ----------
    name : str
        Its name, such as ``2026-11``.
    db : str or pathlib.Path, optional
        The warehouse, as in ``talkhouse.build``.
    store : str or pathlib.Path, optional
        The folder of releases; without it ``$TALKHOUSE_RELEASES``, then ``releases`` next to the warehouse.

    Returns
    -------
    Release
        Its name, the id of its contents, and where it is.

    Raises
    ------
    talkhouse.TalkhouseError
        There is one of that name, a check of the warehouse fails, or there is no room; nothing is left then.
    """
    from talkhouse.api.publish import release as make_release

    return make_release(name, db=db, store=store)


_CLASSES = {
    "BuildReport": "talkhouse.api.publish",
    "Dialogue": "talkhouse.api.dialogue",
    "Release": "talkhouse.api.publish",
    "Score": "talkhouse.api.score",
    "TalkhouseError": "talkhouse.schema.errors",
    "Task": "talkhouse.api.task",
    "Warehouse": "talkhouse.api.warehouse",
}
"""Where each public class is; it is imported when it is first asked for."""


def __getattr__(name: str) -> "Any":
    if name == "__version__":
        from talkhouse.settings import version

        return version()
    if name in _CLASSES:
        from importlib import import_module

        return getattr(import_module(_CLASSES[name]), name)
    raise AttributeError(f"module 'talkhouse' has no attribute '{name}'")
