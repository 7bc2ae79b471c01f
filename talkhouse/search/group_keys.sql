create or replace table group_keys as
select groups.group_no, groups.kind, groups.corpus_id, coalesce(groups.role, '') as role, places.place_no
from ${index}.main.groups
inner join places using (splits, standard_splits)
