with wanted as (
    select unnest($dialogues::varchar[]) as dialogue_id, unnest($turns::integer[]) as turn_index
)
select dialogue_id, turn_index, first(label order by vote_count desc, label) as label
from bi.label_counts
inner join wanted using (dialogue_id, turn_index)
where scheme = $scheme and is_default
group by dialogue_id, turn_index
