-- Generation of probing: each message of the type Probing, to be written from all that happened in the group before it.
-- grain: split, example_index
-- task_category: text-generation
--   message_id: The publisher's id of the message, verbatim.
--   history: All earlier rows but the INITIAL one, SUBMIT rows too, as origin:text with quotes decoded, in order.
--   probing: Text of the message, quotes decoded.
with
talks as (
    select
        turns.dialogue_id,
        list(speakers.name || ':' || turns.text order by turns.turn_index) as said,
    from main.turns
    inner join main.speakers on speakers.speaker_id = turns.speaker_id
    where starts_with(turns.dialogue_id, 'delidata:')
    group by turns.dialogue_id
)

select
    examples.split,
    records.standard_split,
    examples.example_index,
    examples.dialogue_id,
    records.native_id,
    examples.turn_index,
    turns.native_id as message_id,
    talks.said[2:examples.turn_index] as history,
    turns.text as probing,
    examples.record_id,
    true as is_default,
from main.examples
inner join main.records on records.record_id = examples.record_id
inner join main.turns
    on turns.dialogue_id = examples.dialogue_id and turns.turn_index = examples.turn_index
inner join talks on talks.dialogue_id = examples.dialogue_id
where examples.corpus_id = 'delidata' and examples.task = 'probing_generation'
