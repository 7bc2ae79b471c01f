"""Tells, from the system catalogs alone, what in a database belongs to the role that publishes and is as it made it.

To read a view, or a table with row security, may call functions of other roles with the rights of the one that reads.
So nothing of a copy is read, granted, moved or dropped before this has found it to be the role's own. It stays so
afterwards: only their owner can replace or change a table or rename a schema, whatever others may create in it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from psycopg import Connection

from talkhouse.postgres.server import run
from talkhouse.schema.sql import quoted
from talkhouse.visible import visible

TABLE, VIEW = "r", "v"
"""Kinds of relations that a publication makes, as the catalog names them."""

_KINDS = {
    TABLE: "table",
    VIEW: "view",
    "S": "sequence",
    "c": "composite type",
    "f": "foreign table",
    "m": "materialized view",
    "p": "partitioned table",
}

_ME = "(select oid from pg_catalog.pg_roles where rolname = current_user)"

_PARTS = """
select 'pg_catalog.pg_trigger'::regclass as kind, oid, tgrelid as relation
from pg_catalog.pg_trigger where not tgisinternal
union all
select 'pg_catalog.pg_policy'::regclass, oid, polrelid from pg_catalog.pg_policy
union all
select 'pg_catalog.pg_rewrite'::regclass, oid, ev_class from pg_catalog.pg_rewrite where ev_type <> '1'
union all
-- Built-in functions and types are in no dependency; a view may read tables beside it, of the same owner.
select d.classid, d.objid, owner.relation
from (
    select 'pg_catalog.pg_class'::regclass as kind, indexrelid as oid, indrelid as relation from pg_catalog.pg_index
    union all
    select 'pg_catalog.pg_constraint'::regclass, oid, conrelid from pg_catalog.pg_constraint
    union all
    select 'pg_catalog.pg_attrdef'::regclass, oid, adrelid from pg_catalog.pg_attrdef
    union all
    select 'pg_catalog.pg_rewrite'::regclass, oid, ev_class from pg_catalog.pg_rewrite where ev_type = '1'
) as owner
join pg_catalog.pg_depend d on d.classid = owner.kind and d.objid = owner.oid
left join pg_catalog.pg_class used on d.refclassid = 'pg_catalog.pg_class'::regclass and used.oid = d.refobjid
left join pg_catalog.pg_class self on self.oid = owner.relation
where case
    when used.oid is null then d.refclassid <> 'pg_catalog.pg_constraint'::regclass
    else owner.kind = 'pg_catalog.pg_rewrite'::regclass and used.oid <> self.oid
        and not (used.relkind = 'r' and used.relnamespace = self.relnamespace and used.relowner = self.relowner)
end
"""
"""What hangs on a table or view and is not made by a publication, or uses what is not built in."""

_RELATIONS = f"""
with parts as materialized ({_PARTS})
select n.nspname, c.relname, c.relkind::text,
    array(
        select a.attname || ' ' || format_type(a.atttypid, null) from pg_catalog.pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped order by a.attnum
    ),
    array_remove(array[
        case when n.nspowner <> {_ME}
            then format('its schema belongs to the role %%I', pg_get_userbyid(n.nspowner)) end,
        case when c.relowner <> {_ME} then format('it belongs to the role %%I', pg_get_userbyid(c.relowner)) end,
        case when c.relpersistence <> 'p' then 'it is not permanent' end,
        case when c.relrowsecurity or c.relforcerowsecurity then 'it has row security' end,
        case when exists (select from pg_catalog.pg_inherits i where c.oid in (i.inhrelid, i.inhparent))
            then 'it inherits, or is inherited from' end
    ], null) || array(
        select distinct 'it has the ' || pg_describe_object(p.kind, p.oid, 0) from parts p where p.relation = c.oid
    )
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where n.nspname = any(%s) and c.relkind not in ('i', 'I', 't')
"""

_INSIDE = """
select n.nspname, c.relname, pg_describe_object(d.classid, d.objid, 0)
from pg_catalog.pg_depend d
join pg_catalog.pg_namespace n on d.refclassid = 'pg_catalog.pg_namespace'::regclass and n.oid = d.refobjid
left join pg_catalog.pg_class c on d.classid = 'pg_catalog.pg_class'::regclass and c.oid = d.objid
where n.nspname = any(%s) and d.deptype = 'n'
order by 3
"""

_MARKED = f"""
select nspname from pg_catalog.pg_namespace
where nspowner = {_ME} and obj_description(oid, 'pg_namespace') = %s order by 1
"""

_OWNERS = f"""
select nspname, nspowner = {_ME}, pg_get_userbyid(nspowner) from pg_catalog.pg_namespace
where nspname = any(%s) order by 1
"""

_WRITERS = """
select distinct case when a.grantee = 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
join lateral (
    select grantee, privilege_type from aclexplode(c.relacl)
    union all
    select x.grantee, x.privilege_type from pg_catalog.pg_attribute t, aclexplode(t.attacl) x where t.attrelid = c.oid
) as a on a.grantee <> c.relowner and a.privilege_type in ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE')
where n.nspname = %s and c.relname = any(%s)
order by 1
"""

_NAMES = f"""
select oid::regclass::text from pg_catalog.pg_class
where relowner = {_ME} and relkind::text = any(%s) and relnamespace = any(%s::regnamespace[])
"""

_LIKE_TEXT = "character varying"
"""The type of the revision's table, which Alembic makes; DuckDB has no other text than text."""


class OwnRelation(NamedTuple):
    """A table, view or the like that the catalog has."""

    kind: str
    columns: list[str]
    """Each with its type: ``text_id text``."""
    oddities: list[str]
    """What a publication of this role would not have made so."""

    def differs(self, kind: str, columns: Sequence[str] | None = None) -> str | None:
        """Return how it differs from what the role made, and so must not be read; None where it does not."""
        differences = list(self.oddities)
        if self.kind != kind:
            differences.insert(0, f"it is a {_KINDS.get(self.kind, self.kind)}")
        elif columns is not None and self.columns != list(columns):
            differences.append(f"it has the columns {', '.join(self.columns) or '(none)'}")
        return visible("; ".join(differences)) or None


def relations(server: Connection[Any], schemas: Iterable[str]) -> dict[tuple[str, str], OwnRelation]:
    """Describe what is in some schemas, by the names of schema and relation."""
    return {
        (schema, name): OwnRelation(kind, [_as_text(column) for column in columns], oddities)
        for schema, name, kind, columns, oddities in run(server, _RELATIONS, [sorted(schemas)])
    }


def _as_text(column: str) -> str:
    name, _, kind = column.rpartition(f" {_LIKE_TEXT}")
    return f"{name} text" if name and not kind else column


def strange(server: Connection[Any], schemas: Collection[str], listed: Mapping[tuple[str, str], str]) -> list[str]:
    """Describe what is in some schemas and not listed (with its kind), or is listed and not as the role made it."""
    existing, descriptions = relations(server, schemas), []
    for schema, name, description in run(server, _INSIDE, [sorted(schemas)]):
        relation, kind = existing.get((schema, name)), listed.get((schema, name))
        if relation is None or kind is None:
            descriptions.append(visible(description))
        elif why := relation.differs(kind):
            descriptions.append(f"{visible(description)}: {why}")
    return descriptions


def marked(server: Connection[Any], mark: str) -> list[str]:
    """Name the role's own schemas that have a mark as their comment, which only their owner can write."""
    return [name for (name,) in run(server, _MARKED, [mark])]


def owners(server: Connection[Any], schemas: Iterable[str]) -> dict[str, str | None]:
    """Name the owners of those schemas that exist; None for one of this role's own."""
    return {name: None if is_own else owner for name, is_own, owner in run(server, _OWNERS, [sorted(schemas)])}


def writers(server: Connection[Any], schema: str, names: Sequence[str]) -> list[str]:
    """Name, as SQL does, the other roles that may write tables."""
    return [role for (role,) in run(server, _WRITERS, [schema, list(names)])]


def own_relations(server: Connection[Any], schemas: Iterable[str], kinds: Sequence[str] = (TABLE, VIEW)) -> list[str]:
    """Name, as SQL does, the role's own tables and views in some schemas."""
    return [name for (name,) in run(server, _NAMES, [list(kinds), [quoted(schema) for schema in schemas]])]
