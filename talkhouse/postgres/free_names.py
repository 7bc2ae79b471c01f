"""Refuses to replace what Talkhouse did not publish: schemas of others, and what others have put into its own."""

from collections.abc import Iterable
from typing import Any

from psycopg import Connection

from schema.errors import UsageError
from schema.warehouse import HOUSEKEEPING
from talkhouse.postgres.record import PUBLICATION, RELATIONS, Published
from talkhouse.postgres.server import run

_EXISTING = "select nspname from pg_namespace where nspname = any(%s) order by 1"

_INSIDE = """
select pg_describe_object(d.classid, d.objid, 0)
from pg_depend d
join pg_namespace n on d.refclassid = 'pg_namespace'::regclass and n.oid = d.refobjid
left join pg_class c on d.classid = 'pg_class'::regclass and c.oid = d.objid
where n.nspname = any(%s) and d.deptype = 'n' and (c.oid is null or n.nspname || '.' || c.relname <> all(%s))
order by 1
"""


def check_free(server: Connection[Any], prefix: str, schemas: Iterable[str], published: Published | None) -> None:
    """Raise UsageError where a schema (its name in PostgreSQL) is somebody else's, or holds what is not published."""
    own = published.schemas if published else []
    taken = [name for (name,) in run(server, _EXISTING, [sorted(set(schemas) - set(own))])]
    if taken:
        raise UsageError(
            f"there is a schema that Talkhouse did not publish: {', '.join(taken)}",
            next_step="put something before the names of the copy's schemas: --schema-prefix talkhouse_",
        )
    if published is None:
        return
    relations = [f"{prefix}{name}" for name in published.proofs]
    relations += [f"{prefix}{HOUSEKEEPING}.{name}" for name in (PUBLICATION, RELATIONS)]
    inside = [what for (what,) in run(server, _INSIDE, [own, relations])]
    if inside:
        raise UsageError(
            "the schemas of the copy hold what Talkhouse did not publish, and are replaced as a whole",
            found=", ".join(inside),
            next_step="move it to a schema of your own, for instance: alter view bi.mine set schema team",
        )
