"""What the shell completes at TAB: the names of views, tables and corpora."""

import typer

from talkhouse.schema.errors import TalkhouseError
from talkhouse.settings import database
from talkhouse.visible import visible


def relations(context: typer.Context, incomplete: str) -> list[str]:
    """List the views and tables whose names begin with what was typed."""
    import talkhouse
    from talkhouse.relations import relations

    try:
        with talkhouse.open(database(context.params.get("db"))) as con:
            names = [f"{relation['schema']}.{relation['name']}" for relation in relations(con)]
    except TalkhouseError:
        return []  # there is no warehouse, and a message would disturb the command line
    return [name for name in names if name.startswith(incomplete) and name == visible(name)]


def corpora(incomplete: str) -> list[str]:
    """List the corpora that Talkhouse can read whose ids begin with what was typed."""
    from talkhouse.ingest.registry import corpora

    return [name for name in corpora() if name.startswith(incomplete)]
