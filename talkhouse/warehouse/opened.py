"""The warehouse as commands open it: a connection, and what is asked through it again and again."""

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from talkhouse import migrations
from talkhouse.schema.errors import NotAWarehouse, SchemaMismatch
from talkhouse.schema.guard import NO_SETTINGS, Settings
from talkhouse.schema.warehouse import NOTHING_BESIDE, open_warehouse
from talkhouse.system import interrupt
from talkhouse.system.atomic_output import clear_private_folder
from talkhouse.warehouse import build_facts
from talkhouse.warehouse.byte_copy import own_identity
from talkhouse.warehouse.relations import SplitView, columns_of_each, split_views

if TYPE_CHECKING:
    from talkhouse.queries.catalogue import Catalogue
    from talkhouse.queries.files import Files
    from talkhouse.queries.heads import ViewQuery


_NEXT = "bring it up to date with: talkhouse migrate --db FILE"


def check_views(catalogue_hash: str, where: object, known: "Catalogue") -> None:
    """Raise SchemaMismatch for the hash of views, macros and examples that are not those of a catalogue."""
    own = known.hash
    if catalogue_hash != own:
        raise SchemaMismatch(
            "the warehouse has other views than this Talkhouse",
            where=where,
            expected=f"views with the hash {own[:12]}",
            found=f"views with the hash {catalogue_hash[:12]}" if catalogue_hash else "a build without views",
            next_step=f"bring it up to date with: talkhouse migrate --db {shlex.quote(str(where))}",
        )


@contextmanager
def fits_views(what: str) -> Iterator[None]:
    """Raise SchemaMismatch where a query finds no such view or column, or one of another type: ``what`` needs them."""
    try:
        yield
    except (duckdb.BinderException, duckdb.CatalogException) as error:
        raise SchemaMismatch(
            f"{what} does not fit the views of this warehouse", found=str(error), next_step=_NEXT
        ) from error


@dataclass(frozen=True)
class Warehouse:
    """A warehouse that a connection reads; facts are looked up when they are first asked for, and once."""

    con: duckdb.DuckDBPyConnection
    attached_as: str | None = None
    """Its name in SQL where others are attached next to it; without, it is the current database."""
    check_complete: Callable[[], None] = lambda: None
    """Raises where the user has stopped the command, so that what was read may not be all."""
    own_identity: str | None = None
    """What told, before it was opened, whether the file changes; None where others may write it, or nobody looked."""
    redacted: Mapping[str, Any] | None = None
    """What manifests say of the marks in its texts, if it is the copy that ``personal.redact`` has made."""

    @cached_property
    def database(self) -> str:
        """Its name in SQL."""
        ((current,),) = self.con.execute("select current_database()").fetchall()
        return self.attached_as or str(current)

    @cached_property
    def path(self) -> Path:
        """The file."""
        query = "select path from duckdb_databases() where database_name = ?"
        ((path,),) = self.con.execute(query, [self.database]).fetchall()
        return Path(path)

    @cached_property
    def build(self) -> dict[str, Any]:
        """The build that made it; NotAWarehouse where it names none."""
        last = build_facts.build(self.con, self.database)
        if last is None:
            raise NotAWarehouse(
                "the warehouse does not say which build made it",
                where=self.path,
                next_step="make it with: talkhouse build",
            )
        return last

    @cached_property
    def corpora(self) -> list[dict[str, Any]]:
        """Its corpora with titles, licences and terms."""
        return build_facts.corpora(self.con, self.database)

    @property
    def corpus_ids(self) -> list[str]:
        """The ids of its corpora."""
        return [corpus["corpus_id"] for corpus in self.corpora]

    @cached_property
    def split_views(self) -> Mapping[str, SplitView]:
        """The views of one split, by their full names."""
        return split_views(self.con, self.database)

    @cached_property
    def columns(self) -> Mapping[tuple[str, str], list[dict[str, Any]]]:
        """Name, type and meaning of the columns of every view and table, by schema and name, in order."""
        return columns_of_each(self.con)

    @cached_property
    def query_files(self) -> "Files":
        """The SQL and the charts of Talkhouse, and those that its corpora have brought."""
        from talkhouse.warehouse import query_files

        return query_files.files(self.con, self.database)

    @property
    def catalogue(self) -> "Catalogue":
        """The SQL of its views, and what is declared of them."""
        from talkhouse.queries.catalogue import catalogue_of

        return catalogue_of(self.query_files)

    def task_of(self, name: str) -> str:
        """Return the full name of the view that has the rows of a view of one split; any other name as it is."""
        return self.split_views[name].task if name in self.split_views else name

    def view_file(self, name: str) -> "ViewQuery | None":
        """Return the file of a view by its full name, for a view of one split that of its task; None: it has none."""
        return next((view for view in self.catalogue.views if view.full_name == self.task_of(name)), None)

    def check_views(self) -> None:
        """Raise SchemaMismatch where its views are not those that this Talkhouse makes of its SQL."""
        check_views(self.build["catalogue_hash"], self.path, self.catalogue)


@contextmanager
def opened(
    path: Path,
    *,
    settings: Settings = NO_SETTINGS,
    beside: Mapping[str, Path] = NOTHING_BESIDE,
    unsafe: bool = False,
    seconds: float | None = None,
) -> Iterator[Warehouse]:
    """Open a warehouse read-only for a command, which ends at Ctrl-C, or with QueryFailed after some seconds.

    What a process that was killed while it wrote a file next to the warehouse has left there is removed.

    ``settings``, ``beside`` and ``unsafe`` are as in ``open_warehouse``, which also says what is raised.
    """
    for part in path.parent.glob(f".{escape(path.stem)}.*.duckdb.part"):
        clear_private_folder(part.with_name(part.name[1:].removesuffix(".part")))
    # DuckDB would draw a progress bar of its own among the output.
    all_settings, before = {"enable_progress_bar": False, **settings}, own_identity(path)
    with (
        open_warehouse(path, migrations.head(), beside=beside, settings=all_settings, unsafe=unsafe) as con,
        interrupt.stoppable(con, seconds) as stop,
    ):
        yield Warehouse(con, check_complete=stop.check, own_identity=before)


def described_with_ids(
    warehouse: Warehouse, path: Path, folders: tuple[Path, ...] = (), *, is_hashed: bool = False
) -> dict[str, Any]:
    """Return the counts of ``status``, and ``release`` and ``content_id`` as far as these are known.

    ``folders`` have corpora of the user's own. ``is_hashed``: compute the id, which reads every value.
    """
    from talkhouse.ingest.registry import all_corpora
    from talkhouse.warehouse.content_ids import ContentIds, contents_of, keep_ids, known_ids
    from talkhouse.warehouse.readers import current_versions

    versions = current_versions(warehouse.con, all_corpora(folders))
    ids = known_ids(warehouse.con, warehouse.database, path)
    if is_hashed:
        found = contents_of(warehouse.con, warehouse.database).content_id
        ids = ContentIds(ids.release if ids.content_id == found else None, found)
        keep_ids(warehouse.con, warehouse.database, path, ids)
    return {**build_facts.status(warehouse.con, path, versions), **ids._asdict()}
