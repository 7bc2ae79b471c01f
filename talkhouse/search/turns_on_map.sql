with always as (select unnest($dialogues::varchar[]) as dialogue_id, unnest($turns::integer[]) as turn_index),
chosen as (
    select dialogue_id, turn_index
    from main.vectors
    where group_no in (select unnest($groups::integer[]))
    order by md5_number_lower(dialogue_id || '#' || turn_index), dialogue_id, turn_index
    limit $most
)
select dialogue_id, turn_index, corpus_id, role, x, y
from main.vectors
inner join (from chosen union from always) using (dialogue_id, turn_index)
inner join main.groups using (group_no)
order by dialogue_id, turn_index
