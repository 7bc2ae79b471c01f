"""Takes over a warehouse of an older schema: a copy is migrated, the published file stays as it is."""

import shutil

import migrations
from schema import warehouse
from talkhouse.publish import Workshop


def bring_up_to_date(bench: Workshop) -> None:
    """Put a migrated copy in the place of the old file, if that is of an older schema; its inode is only read."""
    if not bench.old.exists():
        return
    held = warehouse.connect(bench.old, shown=bench.published)
    try:
        if warehouse.revision(held, bench.published) == migrations.head():
            return
        bench.old.rename(bench.outdated)
        # It is held open meanwhile, so that nobody writes to it while it is copied.
        shutil.copyfile(bench.outdated, bench.old)
    finally:
        held.close()
    migrations.upgrade(bench.old)
