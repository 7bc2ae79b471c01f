select
    dialogue_id,
    turns.turn_index,
    turns.role,
    turns.kind,
    turns.speaker_id,
    coalesce(speakers.name, case when not speakers.is_anonymous then speakers.native_id end) as speaker,
    turns.said_at,
    turns.text,
    turns.native_id,
    turns.extra,
    turns.reply_to,
    turns.start_ms,
    turns.end_ms,
    together.speakers,
from main.turns
left join main.speakers using (speaker_id)
left join (
    select dialogue_id, turn_index, list(coalesce(speakers.name, speaker_id) order by position) as speakers
    from main.turn_speakers
    left join main.speakers using (speaker_id)
    where dialogue_id in (${ids})
    group by dialogue_id, turn_index
) as together using (dialogue_id, turn_index)
where dialogue_id in (${ids})
order by turn_index
