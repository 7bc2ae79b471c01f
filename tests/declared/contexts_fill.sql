insert into main.dialogues (dialogue_id, corpus_id) select distinct dialogue_id, 'salon' from said;
insert into main.turns by name select *, 'role of ' || text as role, 'message' as kind from said;
insert into main.records by name
    select distinct 'salon/' || dialogue_id as record_id, dialogue_id, 'salon' as corpus_id, 'train' as split,
        0 as record_index, 'f' as source_file_id, '' as source_pointer from said;
insert into main.annotations by name
    select 'salon/' || dialogue_id as record_id, dialogue_id, turn_index, 'salon.mood' as scheme,
        0 as annotator_index, 0 as item_index, 'calm' as label from said;
insert into main.texts (text_id, corpus_id, text) values ('salon:x', 'salon', 'x');
insert into main.candidates by name
    select 'salon/' || dialogue_id as record_id, dialogue_id, turn_index, 'completion' as candidate_set, position,
        0 as item_index, 'salon:x' as text_id, position = 0 as is_gold from said, range(2) as places(position);
drop table said;
