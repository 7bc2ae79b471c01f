"""Brings a warehouse to the newest schema and the views of this Talkhouse; its rows stay as they are."""

import shutil
from collections.abc import Callable
from pathlib import Path

from talkhouse import migrations
from talkhouse.build.run import DEFAULT_MEMORY, explain_failures
from talkhouse.build.workspace import acquire_workspace, publish
from talkhouse.queries.views import create_split_views, create_views
from talkhouse.schema import contents, warehouse
from talkhouse.schema.sql import quoted
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.relations import common_splits


def migrate(path: Path, on_wait: Callable[[str], None], *, wait: bool = True) -> bool:
    """Replace a warehouse by a copy that ``renew`` has made of it; False where there is nothing to do.

    Readers of the former file keep it. Raises what ``connect`` raises for what is no warehouse, WarehouseLocked,
    CatalogueError and BuildFailed; the warehouse is unchanged then.
    """
    with (
        explain_failures(path, DEFAULT_MEMORY),
        acquire_workspace(path, wait=wait, on_wait=on_wait) as workspace,
        # It is held open meanwhile, so that nobody writes to it while it is copied.
        warehouse.connect(workspace.old, shown=workspace.published) as con,
    ):
        of = Warehouse(con)
        revision = contents.revision(con, workspace.published)
        warehouse.check_revision(revision, migrations.head(), workspace.published)
        has_all = {view.full_name for view in of.catalogue.views} <= {f"{schema}.{name}" for schema, name in of.columns}
        if revision == migrations.head() and of.build["catalogue_hash"] == of.catalogue.hash and has_all:
            return False
        shutil.copyfile(workspace.old, workspace.stage)
        workspace.stage.chmod(0o600)
        renew(workspace.stage)
        publish(workspace)
    return True


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
        for kind, *name in con.execute(_OLD).fetchall():
            con.execute(f"drop {kind} {quoted(*name)}")
        create_views(con, catalogue)
        create_split_views(con, catalogue, splits)
        con.execute(
            "update meta.loads set schema_revision = $1, catalogue_hash = $2 "
            "where load_id = (select max(load_id) from meta.loads)",
            [migrations.head(), catalogue.hash],
        )
        con.execute("commit")
        con.execute("checkpoint")


# Functions are named in full: in a file, a macro of the same name would come before DuckDB's own.
_OLD = """
select 'view', schema_name, view_name
from system.main.duckdb_views() where not internal and database_name = system.main.current_database()
union
select if(function_type = 'macro', 'macro', 'macro table'), schema_name, function_name
from system.main.duckdb_functions() where not internal and database_name = system.main.current_database()
"""
