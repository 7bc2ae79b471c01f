create or replace table owner_splits as
select
    kind,
    owner,
    coalesce(list(distinct split order by split) filter (split is not null), []) as splits,
    coalesce(list(distinct standard_split order by standard_split) filter (standard_split is not null), [])
        as standard_splits,
from came
left join (select distinct * from (${owners}) as owners(kind, owner, split, standard_split)) using (kind, owner)
group by kind, owner
