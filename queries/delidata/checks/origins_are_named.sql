-- Everybody who speaks or submits is named in the INITIAL row of the group.
-- severity: warn
-- rule: DE-06
select
    records.record_id,
    turns.turn_index,
    'the INITIAL row does not name ' || speakers.name as detail,
from main.records
inner join main.turns on turns.dialogue_id = records.dialogue_id
inner join main.speakers on speakers.speaker_id = turns.speaker_id
anti join main.participants
    on participants.dialogue_id = turns.dialogue_id and participants.speaker_id = turns.speaker_id
where records.corpus_id = 'delidata'
order by records.record_id, turns.turn_index
