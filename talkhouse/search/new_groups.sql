create or replace table new_groups as
select
    row_number() over (order by kind, corpus_id, role, splits, standard_splits) + (select coalesce(max(group_no), 0) from ${index}.main.groups) as group_no,
    *,
from (
    select kind, corpus_id, nullif(role, '') as role, splits, standard_splits
    from (select distinct kind, corpus_id, role, place_no from standing)
    inner join places using (place_no)
    except
    select kind, corpus_id, role, splits, standard_splits from ${index}.main.groups
)
