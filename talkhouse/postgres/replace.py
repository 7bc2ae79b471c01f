"""Replaces the published schemas by new ones, all at once: readers see the old or the new.

Schemas are only renamed, which itself waits for no reader and lets none wait. But a statement looks its tables up one
after the other, and must not find one of the old copy and one of the new: so it waits for the moment that this takes.
What others have built on the old tables is moved: rights are granted again, and views are replaced by themselves, which
binds them to the new tables. Only the role's own views: to write one again runs functions of the types that it names.
"""

import re
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, NamedTuple

import psycopg
from psycopg import Connection

from talkhouse.escaping import visible
from talkhouse.postgres.plan import SUFFIX
from talkhouse.postgres.record import Published, read_record
from talkhouse.postgres.server import TABLE, VIEW, impatient, marked, own_relations, owners, run, strange, where
from talkhouse.schema.errors import ServerFailed, UsageError
from talkhouse.schema.sql import literal, quoted
from talkhouse.schema.sql_files import sql_of
from talkhouse.schema.warehouse import HOUSEKEEPING

_ATTEMPTS = 20
"""How often to try what has to wait for readers."""

_REPLACED = re.compile(r"(?P<schema>.*)~old(?P<number>\d+)")


class DependentView(NamedTuple):
    """A view in a schema that is not published, which reads one that is: a row of ``dependent_views.sql``."""

    name: str
    definition: str
    options: str | None
    obstacle: str | None
    """Why it can't be bound to other tables."""


_DEFAULTS = """
select nspname from pg_catalog.pg_default_acl join pg_catalog.pg_namespace n on n.oid = defaclnamespace
where nspname = any(%(schemas)s) order by 1
"""


def replace_former(
    server: Connection[Any], prefix: str, staged: Mapping[str, str], published: Sequence[str]
) -> list[str]:
    """Rename the published schemas out of the way, and new ones to their names; return what was lost.

    ``staged``: what a new schema is called now -> its name. ``published``: those that are to be replaced.
    """
    args = {"schemas": list(published)}
    dependent = _dependent(server, published)
    held = _hold_readers(server, published, [view.name for view in dependent if not view.obstacle])
    grants = [grant for (grant,) in run(server, sql_of(__file__, "grants"), args)]
    lost = [held] if held else []
    lost += [f"alter default privileges again, for the schema {schema}" for (schema,) in run(server, _DEFAULTS, args)]
    renamed = named_freely(server, published, "~old", lambda now, new: _rename(server, now, new)) if published else {}
    for old in renamed.values():
        run(server, f"comment on schema {quoted(old)} is {literal(_replaced_mark(prefix))}")
    views = list(_views(server, prefix))
    for now, name in staged.items():
        _rename(server, now, name)
        run(server, f"comment on schema {quoted(name)} is {literal(published_mark(prefix))}")
    lost += [f"not granted again: {grant}: {why}" for grant in grants if (why := _tried(server, f"grant {grant}"))]
    return lost + [note for view in views if (note := _moved(server, view))]


def drop_replaced(server: Connection[Any], prefix: str) -> list[str]:
    """Drop what newer publications have replaced; return what must stay, as it is read or for another reason."""
    notes = []
    for number, schemas in _replaced(server, prefix).items():
        try:
            with impatient(server):
                why = _obstacle(server, prefix, number, list(schemas))
                if why is None:
                    _drop(server, list(schemas))
        except (psycopg.errors.DependentObjectsStillExist, psycopg.errors.LockNotAvailable) as error:
            why = error.diag.message_detail or "somebody is reading it"
        if why:
            notes.append(f"the replaced copy in {', '.join(schemas)} stays for now: {'; '.join(why.splitlines())}")
    return notes


def _obstacle(server: Connection[Any], prefix: str, number: int, schemas: Sequence[str]) -> str | None:
    """Return the objects in replaced schemas that were not published there."""
    try:
        published = read_record(server, f"{prefix}{HOUSEKEEPING}~old{number}")
    except UsageError as error:
        return f"{error.what}: {error.found}"
    others = strange(server, schemas, published.listed(prefix, f"~old{number}") if published else {})
    return f"it holds what Talkhouse did not publish: {'; '.join(others)}" if others else None


def _drop(server: Connection[Any], schemas: Sequence[str]) -> None:
    for kind, what in ((VIEW, "view"), (TABLE, "table")):
        if names := own_relations(server, schemas, [kind]):
            run(server, f"drop {what} {', '.join(names)}")
    run(server, f"drop schema {', '.join(map(quoted, schemas))}")


def _hold_readers(server: Connection[Any], schemas: Sequence[str], views: Sequence[str]) -> str | None:
    """Make new statements wait until the transaction ends, as soon as those that run have ended.

    The views of users come first: who has looked one up will wait for its tables, and would be waited for. Returns a
    note where a statement ran too long to wait for.
    """
    names = [*views, *(name for kind in (TABLE, VIEW) for name in own_relations(server, schemas, [kind]))]
    why = names and _tried(server, f"lock table {', '.join(names)} in access exclusive mode", _ATTEMPTS)
    return f"queries of this very moment may have read some of the old copy and some of the new: {why}" if why else None


def _rename(server: Connection[Any], now: str, name: str) -> None:
    run(server, f"alter schema {quoted(now)} rename to {quoted(name)}")


def _replaced(server: Connection[Any], prefix: str) -> dict[int, dict[str, str]]:
    """Find what was set aside, by number: what it is called now -> what it was called."""
    by_number: dict[int, dict[str, str]] = {}
    for schema in marked(server, _replaced_mark(prefix)):
        if match := _REPLACED.fullmatch(schema):
            by_number.setdefault(int(match["number"]), {})[schema] = match["schema"]
    return by_number


def _views(server: Connection[Any], prefix: str) -> Iterator[DependentView]:
    """Yield the views in other schemas that read what was set aside.

    Their SQL names tables as they are called at the moment, so these have their former names for that moment.
    """
    for schemas in _replaced(server, prefix).values():
        views = []
        try:
            with impatient(server) as part:
                for now, name in schemas.items():
                    _rename(server, now, name)
                views = [*_dependent(server, schemas.values())]
                raise psycopg.Rollback(part)
        except _TAKEN:  # by somebody who has made a schema of that name since
            views = [
                view._replace(obstacle=view.obstacle or "a schema that it reads is gone")
                for view in _dependent(server, schemas)
            ]
        yield from views


def _dependent(server: Connection[Any], schemas: Iterable[str]) -> Iterator[DependentView]:
    return map(DependentView._make, run(server, sql_of(__file__, "dependent_views"), {"schemas": list(schemas)}))


def _moved(server: Connection[Any], view: DependentView) -> str | None:
    """Bind a view to the new tables; return a note where that can't be, and it goes on reading the old ones."""
    options = f" with ({view.options})" if view.options else ""
    bind = f"create or replace view {view.name}{options} as {view.definition}"
    why = view.obstacle or _tried(server, bind, _ATTEMPTS)
    return why and f"{view.name} still reads the replaced copy: {why}"


def _tried(server: Connection[Any], statement: str, attempts: int = 1) -> str | None:
    """Run a statement that may fail; return its error."""
    why = None
    for _ in range(attempts):
        try:
            with impatient(server):
                run(server, statement)
            return None
        except psycopg.errors.LockNotAvailable:
            why = "readers leave no moment for it"
        except psycopg.errors.OperationalError:
            raise
        except psycopg.Error as error:
            return error.diag.message_primary or str(error)
    return why


_TAKEN = (psycopg.errors.DuplicateSchema, psycopg.errors.UniqueViolation, psycopg.errors.LockNotAvailable)
"""What is raised where a name is taken, or about to be."""

_SHOWN = 10
"""Names that are shown of what stands in the way."""

_NUMBERS, _GUESSES = 9, 200
"""Numbers tried in order, and how many unguessable ones after them."""


def published_mark(prefix: str) -> str:
    """Return the comment of a schema that is published under a prefix."""
    return f"Published by talkhouse (prefix '{prefix}'); the next publication replaces everything in it."


def _replaced_mark(prefix: str) -> str:
    return f"Replaced by a newer publication (prefix '{prefix}'); the next one drops it, unless somebody reads it."


def is_marked(server: Connection[Any], prefix: str) -> bool:
    """Whether the copy under a prefix has marks; an earlier Talkhouse made none."""
    return f"{prefix}{HOUSEKEEPING}" in marked(server, published_mark(prefix))


def replaceable(
    server: Connection[Any], prefix: str, schemas: Collection[str], published: Published | None
) -> list[str]:
    """Return the schemas of the former copy; ``schemas`` are those (their names in PostgreSQL) that the new one needs.

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
        free = {name: f"{name}{ending}{number}" for name in names}
        if owners(server, free.values()):
            continue
        try:
            with impatient(server):
                for name, new in free.items():
                    make(name, new)
        except _TAKEN:
            continue
        return free
    raise ServerFailed(
        "no name is free for the schemas of a copy",
        where=where(server),
        found=f"others have schemas whose names end in {ending} and a number",
        next_step="ask the owner of the database who makes them, and publish again",
    )


def _numbers() -> Iterator[int]:
    digits = SUFFIX - len("~old")
    return chain(range(1, _NUMBERS + 1), (secrets.randbelow(10**digits) for _ in repeat(None, _GUESSES)))
