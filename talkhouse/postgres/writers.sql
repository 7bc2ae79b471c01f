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
