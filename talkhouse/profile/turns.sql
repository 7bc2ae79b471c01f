dialogues as (
    select dialogue_id, language, started_at from main.dialogues where corpus_id = $corpus
),

-- What stands in no text, such as a call of a tool, is said nevertheless.
turns as (
    select
        turns.dialogue_id, turns.turn_index, turns.role, turns.kind, turns.text, turns.said_at, turns.speaker_id,
        parts.dialogue_id is not null as has_parts,
    from main.turns
    semi join dialogues on dialogues.dialogue_id = turns.dialogue_id
    left join (select distinct dialogue_id, turn_index from main.parts) as parts
        on parts.dialogue_id = turns.dialogue_id and parts.turn_index = turns.turn_index
)
