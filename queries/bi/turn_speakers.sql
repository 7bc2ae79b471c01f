-- Each speaker of each turn: one row of most turns, several where several say it together.
-- grain: dialogue_id, turn_index, position
-- scope: dialogue
--   corpus_id: Corpus of the dialogue.
--   turn_index: The turn.
--   position: 0-based position in the published list of speakers; 0 where there is one.
--   speaker_name: Name or alias of the speaker.
--   speaker_kind: human, bot or system.
--   role: Role of who said the turn: user, system, agent ...
--   kind: message, seed, initial, submit ...
--   speaker_count: Speakers of the turn.
with
named as (
    select dialogue_id, turn_index, 0 as position, speaker_id, 1 as speaker_count
    from main.turns
    where speaker_id is not null
    union all
    select
        dialogue_id,
        turn_index,
        position,
        speaker_id,
        count(*) over (partition by dialogue_id, turn_index) as speaker_count,
    from main.turn_speakers
)

select
    dialogues.corpus_id,
    named.dialogue_id,
    named.turn_index,
    named.position,
    named.speaker_id,
    speakers.name as speaker_name,
    speakers.kind as speaker_kind,
    turns.role,
    turns.kind,
    named.speaker_count,
from named
inner join main.dialogues on dialogues.dialogue_id = named.dialogue_id
inner join main.turns on turns.dialogue_id = named.dialogue_id and turns.turn_index = named.turn_index
inner join main.speakers on speakers.speaker_id = named.speaker_id
