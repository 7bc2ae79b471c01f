select
    dialogue_id,
    participants.speaker_id,
    speakers.native_id,
    speakers.name,
    speakers.kind,
    participants.role,
    speakers.is_anonymous,
    participants.extra,
from main.participants
left join main.speakers using (speaker_id)
where dialogue_id in (${ids})
order by participants.role, participants.speaker_id
