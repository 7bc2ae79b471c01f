"""Which schemas a publication may replace, and which names are free.

A schema is replaced if it belongs to the role that publishes, has the mark of a publication, and everything in it was
published and is the role's own. Anything else stops the publication before it begins, by name.
"""

import secrets
from collections.abc import Callable, Collection, Iterator
from itertools import chain, repeat
from typing import Any

import psycopg
from psycopg import Connection

from talkhouse.postgres.own import marked, owners, strange
from talkhouse.postgres.plan import SUFFIX
from talkhouse.postgres.record import Published
from talkhouse.postgres.server import impatient, where
from talkhouse.schema.errors import ServerFailed, UsageError
from talkhouse.schema.sql import literal
from talkhouse.schema.warehouse import HOUSEKEEPING
from talkhouse.visible import visible

TAKEN = (psycopg.errors.DuplicateSchema, psycopg.errors.UniqueViolation, psycopg.errors.LockNotAvailable)
"""What is raised where a name is taken, or about to be."""

_SHOWN = 10
"""Names that are shown of what stands in the way."""

_NUMBERS, _GUESSES = 9, 200
"""Numbers that are tried in their order, and how many after them that nobody can guess."""


def published_mark(prefix: str) -> str:
    """Return the comment of a schema that is published under a prefix."""
    return f"Published by talkhouse (prefix '{prefix}'); the next publication replaces everything in it."


def replaced_mark(prefix: str) -> str:
    """Return the comment of a schema that was replaced."""
    return f"Replaced by a newer publication (prefix '{prefix}'); the next one drops it, unless somebody reads it."


def is_marked(server: Connection[Any], prefix: str) -> bool:
    """Tell whether the copy under a prefix has marks; an earlier Talkhouse made none."""
    return f"{prefix}{HOUSEKEEPING}" in marked(server, published_mark(prefix))


def replaceable(
    server: Connection[Any], prefix: str, schemas: Collection[str], published: Published | None
) -> list[str]:
    """Name the schemas of the former copy; ``schemas`` are those (their names in PostgreSQL) that the new one needs.

    Raises UsageError where one that is needed is somebody else's, or one of the copy holds what was not published. Of
    a copy without marks, those are replaced that are recorded, needed again, and the role's own.
    """
    own = marked(server, published_mark(prefix)) if published else []
    existing = owners(server, schemas)
    if published and not is_marked(server, prefix):
        own = sorted({schema for schema, other in existing.items() if other is None} & {*published.schemas})
    if taken := {schema: other for schema, other in existing.items() if schema not in own}:
        named = [f"{schema}, of the role {visible(other)}" if other else schema for schema, other in taken.items()]
        unmarked = [
            schema for schema, other in taken.items() if published and other is None and schema in published.schemas
        ]
        mark = literal(published_mark(prefix))
        or_mark = f"   or, if it is a part of the copy: comment on schema {unmarked[0]} is {mark}" if unmarked else ""
        raise UsageError(
            f"there is a schema that Talkhouse did not publish: {'; '.join(named)}",
            where=where(server),
            next_step=f"put something before the names of the copy's schemas: --schema-prefix talkhouse_{or_mark}",
        )
    inside = strange(server, own, published.listed(prefix)) if published else []
    if inside:
        more = f"; {len(inside) - _SHOWN} more" if len(inside) > _SHOWN else ""
        raise UsageError(
            "the schemas of the copy hold what Talkhouse did not publish, and are replaced as a whole",
            where=where(server),
            found="; ".join(inside[:_SHOWN]) + more,
            next_step="drop it, or move it to a schema of your own, for instance: alter view bi.mine set schema team",
        )
    return own


def named_freely(
    server: Connection[Any], names: Collection[str], ending: str, make: Callable[[str, str], object]
) -> dict[str, str]:
    """Make schemas with the same ending and number behind their names; return them.

    ``make`` is given a name, and what is to be made. Names that others have taken, or are about to take, are none of
    ours.
    """
    for number in _numbers():
        made = {name: f"{name}{ending}{number}" for name in names}
        if owners(server, made.values()):
            continue
        try:
            with impatient(server):
                for name, new in made.items():
                    make(name, new)
        except TAKEN:
            continue
        return made
    raise ServerFailed(
        "no name is free for the schemas of a copy",
        where=where(server),
        found=f"others have schemas whose names end in {ending} and a number",
        next_step="ask the owner of the database who makes them, and publish again",
    )


def _numbers() -> Iterator[int]:
    digits = SUFFIX - len("~old")
    return chain(range(1, _NUMBERS + 1), (secrets.randbelow(10**digits) for _ in repeat(None, _GUESSES)))
