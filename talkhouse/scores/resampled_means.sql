with
counts as (
    select sample, kind, count(*) as times from ${drawn} as drawn inner join ${kinds} using (part) group by all
),
weights as (
    select sample, list(coalesce(times, 0)::double order by kind) as times,
    from range(${first}, ${last}) as s(sample)
    cross join (select distinct kind from ${kinds}) as every
    left join counts using (sample, kind)
    group by sample
)
select
    name,
    sample,
    case
        when not is_share then list_inner_product(times, numerators) / nullif(total, 0)
        when list_inner_product(times, numerators) > 0 then list_inner_product(times, numerators) / total
        when list_inner_product(times, presences) > 0 then 0
    end,
from (select *, list_inner_product(times, denominators) as total from weights cross join ${sums})
