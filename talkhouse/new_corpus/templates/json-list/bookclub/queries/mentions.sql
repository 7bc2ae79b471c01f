-- Mentions: each span of an utterance that names a book or a part of one, with its words.
-- grain: record_id, turn_index, item_index
--   what: What the span names.
--   words: The words of the span.
select
    annotations.record_id,
    annotations.turn_index,
    annotations.item_index,
    annotations.dialogue_id,
    annotations.label as what,
    annotations.start_index,
    annotations.end_index,
    turns.text[annotations.start_index + 1:annotations.end_index] as words,
from main.annotations
inner join main.turns
    on turns.dialogue_id = annotations.dialogue_id and turns.turn_index = annotations.turn_index
where annotations.scheme = 'bookclub.mention'
