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
