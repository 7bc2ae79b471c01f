select
    min("?dialogue".corpus),
    speakers.speaker_id,
    min("?dialogue".after || substr(speakers.speaker_id, len(participants.dialogue_id) + 1)),
from ${side}.main.speakers
inner join ${side}.main.participants using (speaker_id)
inner join "?dialogue" on "?dialogue".before = participants.dialogue_id
where speakers.is_anonymous and starts_with(speakers.speaker_id, participants.dialogue_id || '/')
group by speakers.speaker_id
