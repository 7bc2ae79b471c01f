-- Act: each labelled call.
-- grain: release, split, example_index
-- label: label
-- scheme: radio_calls.act
--   shouted: What was said, loud.
--   label: What the call does.
select
    examples.split,
    records.standard_split,
    examples.example_index,
    examples.dialogue_id,
    records.native_id,
    examples.release,
    examples.turn_index,
    radio_calls.shout(turns.text) as shouted,
    annotations.label,
    examples.record_id,
from main.examples
inner join main.records on records.record_id = examples.record_id
inner join main.turns on turns.dialogue_id = examples.dialogue_id and turns.turn_index = examples.turn_index
inner join main.annotations
    on annotations.record_id = examples.record_id and annotations.turn_index = examples.turn_index
where examples.corpus_id = 'radio_calls' and examples.task = 'act'
