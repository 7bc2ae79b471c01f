select 'record' as kind, record_id as id from main.records where record_id = $name
union all
select 'dialogue', dialogue_id from main.dialogues where dialogue_id = $name
