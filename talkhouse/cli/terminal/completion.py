"""What the shell offers after TAB: names that are in the warehouse, or that there is a reader for."""

import typer

from schema.errors import TalkhouseError
from talkhouse.settings import database


def relations(context: typer.Context, incomplete: str) -> list[str]:
    """Give the views and tables that begin so; ``main.`` may be left out."""
    import talkhouse
    from talkhouse.relations import relations

    try:
        with talkhouse.open(database(context.params.get("db"))) as con:
            names = [f"{one['schema']}.{one['name']}" for one in relations(con)]
    except TalkhouseError:
        return []  # without a warehouse there is nothing to offer, and no place for a message
    return [name for name in names if name.startswith(incomplete)]


def corpora(incomplete: str) -> list[str]:
    """Give the corpora that there is a reader for and that begin so."""
    from ingest.registry import corpora

    return [name for name in corpora() if name.startswith(incomplete)]
