with
labels as (from ${annotations}),
published as (
    select dialogue_id from labels
    group by dialogue_id
    having min(record_id) <> max(record_id) or count(persona_set) > 0
)
select max(label_count) > 1
from (select count(*) as label_count from labels semi join published using (dialogue_id) group by ${key})
