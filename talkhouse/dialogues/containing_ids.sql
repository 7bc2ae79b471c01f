with known as (
    select 'dialogue' as kind, dialogue_id as id, dialogue_id as name from main.dialogues
    union all
    select 'dialogue', dialogue_id, native_id from main.dialogues where native_id is not null
    union all
    select 'record', record_id, record_id from main.records
)
select kind, id
from known
where lower(name) = lower($text) or (not $whole and contains(lower(name), lower($text)))
group by kind, id
order by bool_or(lower(name) = lower($text)) desc, kind, id
limit $limit
