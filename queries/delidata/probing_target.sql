-- Target of probing: each message of the type Probing with the one before it and what it is about.
-- grain: split, example_index
--   message_id: The publisher's id of the message, verbatim.
--   previous: Text of the MESSAGE before it in the group (a SUBMIT is none), quotes decoded; BEGIN for the first.
--   message: Text of the message, quotes decoded.
--   label: Moderation, Reasoning or Solution.
--   message_raw: The message as the reference reader gives it: the cell with its own quotes, leading blanks taken off.
select
    examples.split,
    records.standard_split,
    examples.example_index,
    examples.dialogue_id,
    records.native_id,
    examples.turn_index,
    messages.message_id,
    messages.previous,
    messages.message,
    coalesce(annotations.label, '') as label,
    messages.message_raw,
    examples.record_id,
from main.examples
inner join main.records on records.record_id = examples.record_id
inner join delidata.messages
    on messages.dialogue_id = examples.dialogue_id and messages.turn_index = examples.turn_index
left join main.annotations
    on annotations.record_id = examples.record_id
    and annotations.turn_index = examples.turn_index
    and annotations.scheme = 'delidata.target'
where examples.corpus_id = 'delidata' and examples.task = 'probing_target'
