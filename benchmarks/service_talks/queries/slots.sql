-- Slots: each span of a turn that is the value of a slot, with its words.
-- grain: record_id, turn_index, item_index
--   slot: The slot, with its service.
--   words: The words of the span.
select
    annotations.record_id,
    annotations.turn_index,
    annotations.item_index,
    annotations.dialogue_id,
    annotations.label as slot,
    annotations.start_index,
    annotations.end_index,
    turns.text[annotations.start_index + 1:annotations.end_index] as words,
from main.annotations
inner join main.turns
    on turns.dialogue_id = annotations.dialogue_id and turns.turn_index = annotations.turn_index
where annotations.scheme = 'service_talks.slot'
