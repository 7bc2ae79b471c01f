-- A dialogue represents its records, which often have the same native id.
select 'dialogue' as kind, dialogue_id as id from main.dialogues where native_id = $name
union all
select 'record', record_id
from main.records
where native_id = $name
    and (dialogue_id is null or dialogue_id not in (select dialogue_id from main.dialogues where native_id = $name))
order by all
