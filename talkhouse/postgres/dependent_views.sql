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
