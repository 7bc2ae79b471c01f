-- Each MESSAGE with the one before it in its group; a Moderating Owl (in raw room dumps only) is passed over.
-- grain: dialogue_id, turn_index
--   message_id: The publisher's id of the message, verbatim.
--   previous: Text of the MESSAGE before it in the group (a SUBMIT is none), quotes decoded; BEGIN for the first.
--   message: Text of the message, quotes decoded.
--   message_raw: The message as the reference reader gives it: the cell with its own quotes, leading blanks taken off.
select
    turns.dialogue_id,
    turns.turn_index,
    turns.native_id as message_id,
    coalesce(
        lag(turns.text) over (partition by turns.dialogue_id order by turns.turn_index), 'BEGIN'
    ) as previous,
    turns.text as message,
    delidata.reference_text(turns.text, turns.extra) as message_raw,
from main.turns
inner join main.speakers on speakers.speaker_id = turns.speaker_id
where starts_with(turns.dialogue_id, 'delidata:')
    and turns.kind = 'message'
    and speakers.name <> 'Moderating Owl'
