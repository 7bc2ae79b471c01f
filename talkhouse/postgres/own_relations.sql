with parts as materialized (
    -- What depends on a table or view and is not made by a publication, or uses what is not built in.
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
)
select n.nspname, c.relname, c.relkind::text,
    array(
        select a.attname || ' ' || format_type(a.atttypid, null) from pg_catalog.pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped order by a.attnum
    ),
    array_remove(array[
        case when n.nspowner <> ${me}
            then format('its schema belongs to the role %%I', pg_get_userbyid(n.nspowner)) end,
        case when c.relowner <> ${me} then format('it belongs to the role %%I', pg_get_userbyid(c.relowner)) end,
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
