-- Everybody whom the INITIAL row names has a row in the group.
-- severity: warn
-- remedy: Nothing; count who speaks in main.turns and who is named in main.participants.
select
    records.record_id,
    speakers.name || ' is named in the INITIAL row and has no row' as detail,
from main.records
inner join main.participants on participants.dialogue_id = records.dialogue_id
inner join main.speakers on speakers.speaker_id = participants.speaker_id
anti join main.turns
    on turns.dialogue_id = participants.dialogue_id and turns.speaker_id = participants.speaker_id
where records.corpus_id = 'delidata'
order by records.record_id, speakers.name
