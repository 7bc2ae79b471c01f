-- The rows of a warehouse of some dialogues.
insert into meta.loads select ${build}, '2026-11-30', '2026-11-30', '', '', '${build}', '', '{}', '{}';
insert into main.dialogues by name select 'c:' || number as dialogue_id, 'c' as corpus_id from new_dialogues;
insert into main.records by name select 'c:r' || number as record_id, 'c' as corpus_id, 'c:' || number as dialogue_id,
    split, number as record_index, 'c:f' as source_file_id, '' as source_pointer from new_dialogues;
insert into main.turns by name select 'c:' || number as dialogue_id, turn_index, role, 'message' as kind, text
    from new_turns;
-- Some texts are candidates, too.
insert into main.texts by name select distinct 'c:' || text as text_id, 'c' as corpus_id, text from new_turns
    where text > 't';
insert into main.candidates by name select distinct on (text) 'c:r' || number as record_id, 'all' as candidate_set,
    number as position, 0 as item_index, 'c:' || text as text_id from new_turns where text > 't' order by text, number;
