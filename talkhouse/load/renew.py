"""Brings a warehouse to the newest schema and the views of this Talkhouse; its rows stay as they are."""

import shutil
from collections.abc import Callable
from pathlib import Path

from talkhouse import migrations
from talkhouse.ingest.loading.vocabulary import declare_again
from talkhouse.ingest.registry import Registry, all_corpora
from talkhouse.load.run import DEFAULT_MEMORY, explain_failures
from talkhouse.load.workspace import PUBLISHED, acquire_workspace, publish
from talkhouse.queries.views import create_split_views, create_views
from talkhouse.schema import contents, warehouse
from talkhouse.schema.sql import quoted
from talkhouse.schema.sql_files import sql_of
from talkhouse.settings import corpus_folders, note_on_newer, version
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.readers import changed_declarations
from talkhouse.warehouse.relations import common_splits


def migrate(path: Path, say: Callable[[str], None], *, wait: bool = True) -> bool:
    """Replace a warehouse by a copy that ``renew`` has made of it, with what its corpora declare of themselves today.

    False where there is nothing to do.

    ``say`` gets a line on who is waited for, and where a newer Talkhouse made the views.
    Readers of the former file keep it. Raises what ``connect`` raises for what is no warehouse, WarehouseLocked,
    CatalogueError and BuildFailed; the warehouse is unchanged then.
    """
    with (
        explain_failures(path, DEFAULT_MEMORY),
        acquire_workspace(path, wait=wait, on_wait=say) as workspace,
        # It is held open meanwhile, so that no process writes to it while it is copied.
        warehouse.connect(workspace.old, shown=workspace.published) as con,
    ):
        of = Warehouse(con)
        revision = contents.revision(con, workspace.published)
        # Its rows are as they were; its views are no template's.
        template = PUBLISHED.note_of(workspace.published) and ""
        warehouse.check_revision(revision, migrations.head(), workspace.published)
        known = all_corpora(corpus_folders())
        if revision == migrations.head() and _is_current(of, known):
            return False
        shutil.copyfile(workspace.old, workspace.stage)
        workspace.stage.chmod(0o600)
        renew(workspace.stage)
        with warehouse.create(workspace.stage, guarded=True) as con:
            con.execute("begin")
            for corpus in changed_declarations(con, known):
                declare_again(con, corpus)
            con.execute("commit")
            con.execute("checkpoint")
        publish(workspace, template)
        if revision == migrations.head() and (note := note_on_newer(of.build["talkhouse_version"])):
            say(note)
    return True


def _is_current(of: Warehouse, known: Registry) -> bool:
    """Whether a warehouse of the newest schema has the views and declarations of this Talkhouse."""
    has_all = {view.full_name for view in of.catalogue.views} <= {f"{schema}.{name}" for schema, name in of.columns}
    is_same = has_all and of.build["catalogue_hash"] == of.catalogue.hash
    return is_same and not any(changed_declarations(of.con, known))


def renew(path: Path) -> None:
    """Migrate a private file, and make its views anew; its last build is then one of this schema and these views.

    The file may be a stranger's. Raises CatalogueError where the SQL of a corpus that it has brought does not fit.
    """
    with warehouse.create(path, guarded=True) as con:
        contents.check_before_writing(con, path)
        is_older = contents.revision(con, path) != migrations.head()
    if is_older:
        migrations.upgrade(path)
    with warehouse.create(path, guarded=True) as con:
        of = Warehouse(con)
        catalogue, splits = of.catalogue, common_splits(of.split_views.values())
        con.execute("begin")
        for kind, *name in con.execute(sql_of(__file__, "older_views")).fetchall():
            con.execute(f"drop {kind} {quoted(*name)}")
        create_views(con, catalogue)
        create_split_views(con, catalogue, splits)
        con.execute(
            "update meta.loads set schema_revision = $1, catalogue_hash = $2, talkhouse_version = $3 "
            "where load_id = (select max(load_id) from meta.loads)",
            [migrations.head(), catalogue.hash, version()],
        )
        con.execute("commit")
        con.execute("checkpoint")
