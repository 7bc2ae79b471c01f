"""Puts new schemas in the place of the published ones, all at once: readers see the old or the new.

Schemas are only renamed, which itself waits for no reader and lets none wait. But a statement looks its tables up one
after the other, and must not find one of the old copy and one of the new: so it waits for the moment that this takes.
What others have built on the old tables is moved: rights are granted again, and views are replaced by themselves, which
binds them to the new tables.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import psycopg
from psycopg import Connection

from schema.sql import literal, quoted
from talkhouse.postgres.server import run

_ATTEMPTS = 20
"""How often to try what has to wait for readers."""

_PATIENCE = "200ms"
"""How long each time; readers that come meanwhile wait as long. Servers look for deadlocks after a second."""

_REPLACED = re.compile(r"(?P<schema>.*)~old(?P<number>\d+)")

_VIEWS = """
select distinct format('%%I.%%I', n.nspname, v.relname), pg_get_viewdef(v.oid), array_to_string(v.reloptions, ', '),
    case when v.relkind <> 'v' then 'it is no plain view'
        when not pg_has_role(v.relowner, 'usage') then 'it belongs to another role' end
from pg_depend d
join pg_rewrite r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
join pg_class v on v.oid = r.ev_class
join pg_namespace n on n.oid = v.relnamespace
join pg_class read on d.refclassid = 'pg_class'::regclass and read.oid = d.refobjid
join pg_namespace ours on ours.oid = read.relnamespace
where ours.nspname = any(%(schemas)s) and n.nspname <> all(%(schemas)s)
order by 1
"""

_GRANTS = """
with granted as (
    select format('schema %%I', nspname) as target, a.*, nspowner as owner, null as name
    from pg_namespace, aclexplode(nspacl) a where nspname = any(%(schemas)s)
    union all
    select format('table %%I.%%I', nspname, relname), a.*, relowner, null
    from pg_class c join pg_namespace n on n.oid = relnamespace, aclexplode(relacl) a where nspname = any(%(schemas)s)
    union all
    select format('table %%I.%%I', nspname, relname), a.*, relowner, attname
    from pg_attribute t join pg_class c on c.oid = attrelid join pg_namespace n on n.oid = relnamespace,
        aclexplode(attacl) a
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
select nspname from pg_default_acl join pg_namespace n on n.oid = defaclnamespace
where nspname = any(%(schemas)s) order by 1
"""


def swap(server: Connection[Any], prefix: str, staged: Mapping[str, str], published: Sequence[str]) -> list[str]:
    """Rename new schemas to their names, and those that are published out of the way; return what could not be kept.

    ``staged``: what a new schema is called now -> its name. ``published``: those that are to be replaced.
    """
    ours = {"schemas": list(published)}
    held = _hold_readers(server, published, [name for name, *_, obstacle in run(server, _VIEWS, ours) if not obstacle])
    grants = [grant for (grant,) in run(server, _GRANTS, ours)]
    lost = [held] if held else []
    lost += [f"alter default privileges again, for the schema {schema}" for (schema,) in run(server, _DEFAULTS, ours)]
    _set_aside(server, prefix, published)
    views = list(_views(server, prefix))
    for now, name in staged.items():
        run(server, f"alter schema {quoted(now)} rename to {quoted(name)}")
    lost += [f"not granted again: {grant}: {why}" for grant in grants if (why := _tried(server, f"grant {grant}"))]
    return lost + [note for view in views if (note := _moved(server, *view))]


def drop_replaced(server: Connection[Any], prefix: str) -> list[str]:
    """Drop what newer publications have replaced; return what must stay since somebody reads it."""
    kept = []
    for schemas in _replaced(server, prefix).values():
        try:
            with server.transaction():
                run(server, f"set local lock_timeout = {literal(_PATIENCE)}")
                for kind, what in (("v", "view"), ("r", "table")):
                    if names := _relations(server, kind, schemas):
                        run(server, f"drop {what} {', '.join(names)}")
                run(server, f"drop schema {', '.join(map(quoted, schemas))}")
        except (psycopg.errors.DependentObjectsStillExist, psycopg.errors.LockNotAvailable) as error:
            why = error.diag.message_detail or "somebody is reading it"
            kept.append(f"the replaced copy in {', '.join(schemas)} stays for now: {'; '.join(why.splitlines())}")
    return kept


def _hold_readers(server: Connection[Any], schemas: Sequence[str], views: Sequence[str]) -> str | None:
    """Let statements that come now wait until the transaction ends, as soon as those that run have ended.

    The views of users come first: who has looked one up will wait for its tables, and would be waited for. Returns a
    note where a statement ran too long to wait for.
    """
    names = [*views, *(name for kind in "rv" for name in _relations(server, kind, schemas))]
    why = names and _tried(server, f"lock table {', '.join(names)} in access exclusive mode", _ATTEMPTS)
    return f"queries of this very moment may have read some of the old copy and some of the new: {why}" if why else None


def _set_aside(server: Connection[Any], prefix: str, schemas: Sequence[str]) -> None:
    taken = _replaced(server, prefix)
    number = next(one for one in count(1) if one not in taken)
    for schema in schemas:
        old = quoted(f"{schema}~old{number}")
        run(server, f"alter schema {quoted(schema)} rename to {old}")
        run(server, f"comment on schema {old} is {literal(_comment(prefix))}")


def _comment(prefix: str) -> str:
    """Return what marks schemas that were replaced, and of which prefix they were."""
    return f"Replaced by a newer publication (prefix '{prefix}'); the next one drops it, unless somebody reads it."


def _replaced(server: Connection[Any], prefix: str) -> dict[int, dict[str, str]]:
    """Find what was set aside, by number: what it is called now -> what it was called."""
    found: dict[int, dict[str, str]] = {}
    query = "select nspname from pg_namespace where obj_description(oid, 'pg_namespace') = %s order by 1"
    for (schema,) in run(server, query, [_comment(prefix)]):
        if match := _REPLACED.fullmatch(schema):
            found.setdefault(int(match["number"]), {})[schema] = match["schema"]
    return found


def _views(server: Connection[Any], prefix: str) -> Iterator[tuple[str, str, str | None, str | None]]:
    """Yield name, SQL, options and obstacle of views in other schemas that read what was set aside.

    Their SQL names tables as they are called at the moment, so these have their former names for that moment.
    """
    for schemas in _replaced(server, prefix).values():
        for now, name in schemas.items():
            run(server, f"alter schema {quoted(now)} rename to {quoted(name)}")
        yield from run(server, _VIEWS, {"schemas": list(schemas.values())}).fetchall()
        for now, name in schemas.items():
            run(server, f"alter schema {quoted(name)} rename to {quoted(now)}")


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
            with server.transaction():
                run(server, f"set local lock_timeout = {literal(_PATIENCE)}")
                run(server, statement)
            return None
        except psycopg.errors.LockNotAvailable:
            why = "readers leave no moment for it"
        except psycopg.errors.OperationalError:
            raise
        except psycopg.Error as error:
            return error.diag.message_primary or str(error)
    return why


def _relations(server: Connection[Any], kind: str, schemas: Iterable[str]) -> list[str]:
    """Name the tables (r) or views (v) of some schemas."""
    query = (
        "select oid::regclass::text from pg_class where relkind::text = %s and relnamespace = any(%s::regnamespace[])"
    )
    return [name for (name,) in run(server, query, [kind, [quoted(schema) for schema in schemas]])]
