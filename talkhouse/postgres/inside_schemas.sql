select n.nspname, c.relname, pg_describe_object(d.classid, d.objid, 0)
from pg_catalog.pg_depend d
join pg_catalog.pg_namespace n on d.refclassid = 'pg_catalog.pg_namespace'::regclass and n.oid = d.refobjid
left join pg_catalog.pg_class c on d.classid = 'pg_catalog.pg_class'::regclass and c.oid = d.objid
where n.nspname = any(%s) and d.deptype = 'n'
order by 3
