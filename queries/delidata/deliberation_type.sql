-- Deliberation type: each message with the one before it and what it does for the group's deliberation.
-- grain: split, example_index
-- label: label
-- scheme: delidata.type
-- task_category: text-classification
--   message_id: The publisher's id of the message, verbatim.
--   previous: Text of the MESSAGE before it in the group (a SUBMIT is none), quotes decoded; BEGIN for the first.
--   message: Text of the message, quotes decoded.
--   label: Probing, Non-probing-deliberation, None or 0, as published; the reference classifier joins the last two.
--   message_raw: The message as delitoolkit's reader returns it: the cell with its single quotes, without leading spaces, and without the double quotes that begin it, which the reader takes for its own.
select
    examples.split,
    records.standard_split,
    examples.example_index,
    examples.dialogue_id,
    records.native_id,
    examples.turn_index,
    labelled_messages.message_id,
    labelled_messages.previous,
    labelled_messages.message,
    labelled_messages.annotation_type as label,
    labelled_messages.message_raw,
    examples.record_id,
    true as is_default,
from main.examples
inner join main.records on records.record_id = examples.record_id
inner join delidata.labelled_messages
    on labelled_messages.record_id = examples.record_id
    and labelled_messages.dialogue_id = examples.dialogue_id
    and labelled_messages.turn_index = examples.turn_index
where examples.corpus_id = 'delidata' and examples.task = 'deliberation_type'
