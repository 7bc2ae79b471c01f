update main.turns set reply_to = turn_index - 1, start_ms = turn_index * 1000, end_ms = turn_index * 1000 + 900
where turn_index > 0;
update main.turns set reply_to = 0
where turn_index = 3 and dialogue_id = (select max(dialogue_id) from main.turns where turn_index = 3);
insert into main.records by name
select * replace (
    corpus_id || '/annotators' as record_id,
    null as dialogue_id,
    'annotator-attribute' as subset,
    null as split,
    null as standard_split,
    '{"people": {"01_A": {"sex": "F"}}}' as extra
)
from main.records where corpus_id = 'RELEASES' order by record_id limit 1;
update main.annotations set start_index = 0, end_index = 1
where (dialogue_id, turn_index) in (select (dialogue_id, turn_index) from main.turns where text <> '');
insert into main.turn_speakers
select
    participants.dialogue_id,
    0,
    row_number() over (partition by participants.dialogue_id order by participants.speaker_id) - 1,
    participants.speaker_id
from main.participants
inner join main.turns on turns.dialogue_id = participants.dialogue_id and turn_index = 0;
update main.turns set speaker_id = null
where (dialogue_id, turn_index) in (select (dialogue_id, turn_index) from main.turn_speakers);
insert into main.parts (dialogue_id, turn_index, part_index, field, kind, start_index, end_index)
select dialogue_id, turn_index, 0, 'content', 'text', 0, length(text) from main.turns where turn_index < 2;
insert into main.parts (dialogue_id, turn_index, part_index, field, kind, name, call_id, arguments)
select dialogue_id, 0, 1, 'tool_calls', 'tool_call', 'clock', 'call_1', '{"zone": "UTC", "n": [1, 2.50]}'
from main.turns where turn_index = 0;
insert into main.parts (dialogue_id, turn_index, part_index, field, kind, call_id, text)
select dialogue_id, 1, 1, 'content', 'tool_call_response', 'call_1', '☃ 12:00'
from main.turns where turn_index = 1;
update main.turns set extra = json_merge_patch(coalesce(extra, '{}'), json_object('utterance_pos', turn_index))
where dialogue_id in (
    select max(dialogue_id) from main.dialogues where starts_with(dialogue_id, 'POSTS:train')
);
update main.dialogues set derived_from = dialogue_id || '-whole';
update main.examples set item_index = 0;
update main.schemes set kind = 'structure' where scheme = (select min(scheme) from main.schemes);
update main.labels set namespace = split_part(scheme, '.', 2);
insert into main.corpus_terms
select corpus_id, 'all', '["main.turns.text"]', '2011-04-08', null, 'CC-BY-SA-3.0', null, true, true, false, false, ''
from main.corpora;
