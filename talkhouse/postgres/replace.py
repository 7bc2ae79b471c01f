"""Replaces the published schemas by new ones, all at once: readers see the old or the new.

Schemas are only renamed, which itself waits for no reader and lets none wait. But a statement looks its tables up one
after the other, and must not find one of the old copy and one of the new: so it waits for the moment that this takes.
What others have built on the old tables is moved: rights are granted again, and views are replaced by themselves, which
binds them to the new tables. Only the role's own views: to write one again runs functions of the types that it names.
"""

import re
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any

import psycopg
from psycopg import Connection

from talkhouse.postgres.plan import SUFFIX
from talkhouse.postgres.record import Published, read_record
from talkhouse.postgres.server import TABLE, VIEW, impatient, marked, own_relations, owners, run, strange, where
from talkhouse.schema.errors import ServerFailed, UsageError
from talkhouse.schema.sql import literal, quoted
from talkhouse.schema.warehouse import HOUSEKEEPING
from talkhouse.visible import visible

_ATTEMPTS = 20
"""How often to try what has to wait for readers."""

_REPLACED = re.compile(r"(?P<schema>.*)~old(?P<number>\d+)")

_VIEWS = """
select distinct format('%%I.%%I', n.nspname, v.relname), pg_get_viewdef(v.oid), array_to_string(v.reloptions, ', '),
    case when v.relkind <> 'v' then 'it is no plain view'
        when v.relowner <> (select oid from pg_catalog.pg_roles where rolname = current_user)
            then 'it belongs to another role' end
from pg_catalog.pg_depend d
join pg_catalog.pg_rewrite r on d.classid = 'pg_catalog.pg_rewrite'::regclass and r.oid = d.objid
join pg_catalog.pg_class v on v.oid = r.ev_class
join pg_catalog.pg_namespace n on n.oid = v.relnamespace
join pg_catalog.pg_class read on d.refclassid = 'pg_catalog.pg_class'::regclass and read.oid = d.refobjid
join pg_catalog.pg_namespace ours on ours.oid = read.relnamespace
where ours.nspname = any(%(schemas)s) and n.nspname <> all(%(schemas)s)
order by 1
"""

_GRANTS = """
with granted as (
    select format('schema %%I', nspname) as target, a.*, nspowner as owner, null as name
    from pg_catalog.pg_namespace, aclexplode(nspacl) a where nspname = any(%(schemas)s)
    union all
    select format('table %%I.%%I', nspname, relname), a.*, relowner, null
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = relnamespace, aclexplode(relacl) a
    where nspname = any(%(schemas)s)
    union all
    select format('table %%I.%%I', nspname, relname), a.*, relowner, attname
    from pg_catalog.pg_attribute t join pg_catalog.pg_class c on c.oid = attrelid
        join pg_catalog.pg_namespace n on n.oid = relnamespace, aclexplode(attacl) a
    where nspname = any(%(schemas)s)
)
select format('%%s%%s on %%s to %%s%%s', privilege_type, ' (' || quote_ident(name) || ')', target,
    case when grantee = 0 then 'public' else grantee::regrole::text end,
    case when is_grantable then ' with grant option' else '' end)
from granted
where grantee <> owner
order by 1
"""

_DEFAULTS = """
select nspname from pg_catalog.pg_default_acl join pg_catalog.pg_namespace n on n.oid = defaclnamespace
where nspname = any(%(schemas)s) order by 1
"""


def replace_former(
    server: Connection[Any], prefix: str, staged: Mapping[str, str], published: Sequence[str]
) -> list[str]:
    """Rename the published schemas out of the way, and new ones to their names; return what could not be kept.

    ``staged``: what a new schema is called now -> its name. ``published``: those that are to be replaced.
    """
    ours = {"schemas": list(published)}
    held = _hold_readers(server, published, [name for name, *_, obstacle in run(server, _VIEWS, ours) if not obstacle])
    grants = [grant for (grant,) in run(server, _GRANTS, ours)]
    lost = [held] if held else []
    lost += [f"alter default privileges again, for the schema {schema}" for (schema,) in run(server, _DEFAULTS, ours)]
    made = named_freely(server, published, "~old", lambda now, new: _rename(server, now, new)) if published else {}
    for old in made.values():
        run(server, f"comment on schema {quoted(old)} is {literal(_replaced_mark(prefix))}")
    views = list(_views(server, prefix))
    for now, name in staged.items():
        _rename(server, now, name)
        run(server, f"comment on schema {quoted(name)} is {literal(published_mark(prefix))}")
    lost += [f"not granted again: {grant}: {why}" for grant in grants if (why := _tried(server, f"grant {grant}"))]
    return lost + [note for view in views if (note := _moved(server, *view))]


def drop_replaced(server: Connection[Any], prefix: str) -> list[str]:
    """Drop what newer publications have replaced; return what must stay since somebody reads it, or why else."""
    kept = []
    for number, schemas in _replaced(server, prefix).items():
        try:
            with impatient(server):
                why = _obstacle(server, prefix, number, list(schemas))
                if why is None:
                    _drop(server, list(schemas))
        except (psycopg.errors.DependentObjectsStillExist, psycopg.errors.LockNotAvailable) as error:
            why = error.diag.message_detail or "somebody is reading it"
        if why:
            kept.append(f"the replaced copy in {', '.join(schemas)} stays for now: {'; '.join(why.splitlines())}")
    return kept


def _obstacle(server: Connection[Any], prefix: str, number: int, schemas: Sequence[str]) -> str | None:
    """Return what is in schemas that were replaced, and was not published there."""
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


def _views(server: Connection[Any], prefix: str) -> Iterator[tuple[str, str, str | None, str | None]]:
    """Yield name, SQL, options and obstacle of views in other schemas that read what was set aside.

    Their SQL names tables as they are called at the moment, so these have their former names for that moment.
    """
    for schemas in _replaced(server, prefix).values():
        views = []
        try:
            with impatient(server) as part:
                for now, name in schemas.items():
                    _rename(server, now, name)
                views = run(server, _VIEWS, {"schemas": list(schemas.values())}).fetchall()
                raise psycopg.Rollback(part)
        except _TAKEN:  # by somebody who has made a schema of that name since
            rows = run(server, _VIEWS, {"schemas": list(schemas)}).fetchall()
            views = [(*view, obstacle or "a schema that it reads is gone") for *view, obstacle in rows]
        yield from views


def _moved(
    server: Connection[Any], name: str, definition: str, options: str | None, obstacle: str | None
) -> str | None:
    """Bind a view to the new tables; return a note where that can't be, and it goes on reading the old ones."""
    with_options = f" with ({options})" if options else ""
    why = obstacle or _tried(server, f"create or replace view {name}{with_options} as {definition}", _ATTEMPTS)
    return why and f"{name} still reads the replaced copy: {why}"


def _tried(server: Connection[Any], statement: str, attempts: int = 1) -> str | None:
    """Run a statement that may fail; return why it did."""
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
"""Numbers that are tried in their order, and how many after them that nobody can guess."""


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
        made = {name: f"{name}{ending}{number}" for name in names}
        if owners(server, made.values()):
            continue
        try:
            with impatient(server):
                for name, new in made.items():
                    make(name, new)
        except _TAKEN:
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
