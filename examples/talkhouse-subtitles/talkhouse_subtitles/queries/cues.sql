-- Cues: what each voice says, when it begins, and how fast one has to read.
-- grain: dialogue_id, turn_index
--   speaker_name: The voice that the file names; null where it names none.
--   begins: Seconds after the beginning of the recording.
--   characters_per_second: Characters of the text for each second that it is shown.
select
    turns.dialogue_id,
    turns.turn_index,
    speakers.name as speaker_name,
    turns.text,
    turns.start_ms / 1000.0 as begins,
    length(turns.text) * 1000.0 / nullif(turns.end_ms - turns.start_ms, 0) as characters_per_second,
from main.turns
left join main.speakers on speakers.speaker_id = turns.speaker_id
where starts_with(turns.dialogue_id, 'subtitles:')
