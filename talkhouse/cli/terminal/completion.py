"""What the shell completes at TAB: the names of views, tables, corpora and layouts."""

import typer

from talkhouse.schema.errors import TalkhouseError
from talkhouse.settings import corpus_folders, database
from talkhouse.visible import visible


def relations(context: typer.Context, incomplete: str) -> list[str]:
    """List the views and tables whose names begin with what was typed."""
    import talkhouse
    from talkhouse.warehouse.relations import relations

    try:
        with talkhouse.open(database(context.params.get("db"))) as con:
            names = [f"{relation['schema']}.{relation['name']}" for relation in relations(con)]
    except TalkhouseError:
        return []  # there is no warehouse, and a message would disturb the command line
    return [name for name in names if name.startswith(incomplete) and name == visible(name)]


def corpora(context: typer.Context, incomplete: str) -> list[str]:
    """List the corpora that are known here and whose ids begin with what was typed; none is imported."""
    from talkhouse.ingest.registry import all_corpora

    try:
        known = all_corpora(corpus_folders(context.params.get("folders")))
    except TalkhouseError:
        return []
    return [name for name in known if name.startswith(incomplete) and name == visible(name)]


def layouts(context: typer.Context, incomplete: str) -> list[str]:
    """List the values of ``--format``: those of the task, where one is named already."""
    from talkhouse.scores.tasks.options import AUTO, TABLE, layout_names
    from talkhouse.scores.tasks.task import task
    from talkhouse.warehouse.opened import opened

    name = context.params.get("name") or ""
    try:
        try:
            with opened(database(context.params.get("db"))) as warehouse:
                known = task(name, warehouse.catalogue)
        except TalkhouseError:
            known = task(name)
        names = [layout.name for layout in known.layouts]
    except TalkhouseError:
        names = layout_names()
    return [name for name in (AUTO, TABLE, *names) if name.startswith(incomplete)]
