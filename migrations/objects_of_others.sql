with me as (select oid from pg_catalog.pg_roles where rolname = current_user),
ours as (select * from pg_catalog.pg_namespace where nspname = any(:schemas))
select pg_describe_object('pg_catalog.pg_namespace'::regclass, oid, 0) from ours where nspowner <> (select oid from me)
union all
select pg_describe_object('pg_catalog.pg_class'::regclass, c.oid, 0) from pg_catalog.pg_class c
join ours on ours.oid = c.relnamespace where c.relowner <> (select oid from me)
union all
select pg_describe_object('pg_catalog.pg_proc'::regclass, p.oid, 0) from pg_catalog.pg_proc p
join ours on ours.oid = p.pronamespace where p.proowner <> (select oid from me)
union all
select pg_describe_object('pg_catalog.pg_operator'::regclass, o.oid, 0) from pg_catalog.pg_operator o
join ours on ours.oid = o.oprnamespace where o.oprowner <> (select oid from me)
order by 1
